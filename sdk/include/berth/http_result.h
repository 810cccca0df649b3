// HttpResult: what an answer of Host::http() receives.
#ifndef BERTH_HTTP_RESULT_H_
#define BERTH_HTTP_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/internal/http_rules.h>
#include <berth/span.h>
#include <berth/status.h>

namespace berth {

// The end of one HTTP request.
// Lifetime: until the callback that received it returns.
class HttpResult {
 public:
  explicit HttpResult(const berth_http_result& result) : result_(result) {}

  const berth_http_result& abi() const { return result_; }
  // Returns true for an answer with 2xx.
  bool ok() const { return is_answered() && result_.http_status / 100 == 2; }
  // Returns whether the server answered, with whatever status.
  bool is_answered() const { return result_.end == BERTH_HTTP_ANSWERED; }
  // Returns BERTH_HTTP_*.
  uint32_t end() const { return result_.end; }
  // Returns 0 if there was no answer.
  uint32_t http_status() const { return result_.http_status; }
  std::string_view body() const { return Str(result_.body); }
  // Returns the first header of this name, whose case does not matter.
  std::optional<std::string_view> Header(std::string_view name) const {
    for (const berth_http_header& header : Span<const berth_http_header>(result_.headers)) {
      if (internal::IsSameHttpName(Str(header.name), name)) return Str(header.value);
    }
    return std::nullopt;
  }
  // Returns why ok() is false: the error, or "HTTP status 503"; empty for an answer with 2xx.
  std::string error() const {
    if (!is_answered()) return std::string(Str(result_.error));
    return ok() ? std::string() : "HTTP status " + std::to_string(result_.http_status);
  }
  // Returns Success; Error with error(); or CANCELLED when the instance ends.
  Status status() const {
    if (ok()) return Status::Success();
    const bool is_cancelled = result_.end == BERTH_HTTP_CANCELLED;
    return Status(is_cancelled ? BERTH_CANCELLED : BERTH_ERROR, error());
  }

 private:
  const berth_http_result& result_;
};

}  // namespace berth

#endif  // BERTH_HTTP_RESULT_H_

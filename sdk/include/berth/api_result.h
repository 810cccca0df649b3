// ApiResult: what an answer of Host::api() receives.
//
//   host_.api().Request({.path = "/api/v1/nodes/a"}, [](const berth::ApiResult& result) {
//     if (result.ok()) Use(result.value()["metadata"]["name"].AsString());
//   });
//
// Called:    once for each request that was sent, on the scheduling thread, under [event].
#ifndef BERTH_API_RESULT_H_
#define BERTH_API_RESULT_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/span.h>
#include <berth/status.h>
#include <berth/value.h>

namespace berth {

// The answer of the API server to one request.
// Lifetime: until the callback that received it returns.
class ApiResult {
 public:
  explicit ApiResult(const berth_api_result& result) : result_(result) {}

  const berth_api_result& abi() const { return result_; }
  bool ok() const { return result_.code == BERTH_SUCCESS; }
  // Returns the code of berth_api_result.code.
  berth_code code() const { return result_.code; }
  // Returns the code and the error text.
  Status status() const {
    return ok() ? Status() : Status(result_.code, std::string(Str(result_.error)));
  }
  // Returns whether an evicted pod had a place only in the memory of this scheduler, so that
  // nothing was sent to the API server.
  bool in_memory() const { return (result_.flags & BERTH_API_RESULT_IN_MEMORY) != 0; }
  // Returns 0 if there was no response.
  uint32_t http_status() const { return result_.http_status; }
  // Returns 0 if the server did not state when to try again.
  std::chrono::nanoseconds retry_after() const {
    return std::chrono::nanoseconds(result_.retry_after_ns);
  }
  std::string_view body() const { return Str(result_.body); }
  std::string_view error() const { return Str(result_.error); }
  // Returns the decoded body, which is absent if it is not JSON.
  Value value() const { return Value(result_.value); }

 private:
  const berth_api_result& result_;
};

}  // namespace berth

#endif  // BERTH_API_RESULT_H_

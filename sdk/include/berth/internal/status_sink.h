// A berth_status that the plugin passes to a service of the host.
#ifndef BERTH_INTERNAL_STATUS_SINK_H_
#define BERTH_INTERNAL_STATUS_SINK_H_

#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/span.h>
#include <berth/status.h>

namespace berth::internal {

// Collects the reasons that the host adds to a berth_status into a Status.
class StatusSink {
 public:
  StatusSink() : status_{sizeof(berth_status), 0, this, &AddOne, &AddArgument} {}
  StatusSink(const StatusSink&) = delete;
  StatusSink& operator=(const StatusSink&) = delete;

  berth_status* abi() { return &status_; }
  Status Take(berth_code code) {
    Status out(code);
    for (const std::string& reason : reasons_) out.Add(reason);
    reasons_.clear();
    return out;
  }

 private:
  static void AddOne(berth_status* self, berth_str text) noexcept {
    static_cast<StatusSink*>(self->impl)->reasons_.emplace_back(Str(text));
  }
  static void AddArgument(berth_status* self, berth_str path, berth_str text) noexcept {
    std::string reason(Str(path));
    reason.append(": ").append(Str(text));
    static_cast<StatusSink*>(self->impl)->reasons_.push_back(std::move(reason));
  }

  berth_status status_;
  std::vector<std::string> reasons_;
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_STATUS_SINK_H_

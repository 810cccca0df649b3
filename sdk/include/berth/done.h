// Done: the obligation to complete a PreBind or Bind later, exactly once.
#ifndef BERTH_DONE_H_
#define BERTH_DONE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/services.h>
#include <berth/span.h>
#include <berth/status.h>

namespace berth {

// A method that returns Status::Pending() moves its Done away and keeps it, or passes it to
// Api::Bind. Any thread may complete it.
//
// A Done that is destroyed before it was completed completes the call with BERTH_BUG, so that the
// binding fails instead of waiting forever.
class [[nodiscard]] Done {
 public:
  Done() = default;
  Done(const internal::Services& services, berth_done done) : services_(&services), done_(done) {}
  Done(Done&& other) noexcept : services_(other.services_), done_(other.Release()) {}
  Done& operator=(Done&& other) noexcept {
    if (this != &other) {
      Abandon();
      services_ = other.services_;
      done_ = other.Release();
    }
    return *this;
  }
  ~Done() { Abandon(); }

  // True until it is completed or released.
  explicit operator bool() const { return done_.id != 0; }
  // Completes the call, with all reasons. REQUIRES: *this is true. Threading: [any].
  void Complete(const Status& status) {
    std::vector<berth_str> reasons;
    reasons.reserve(status.reasons().size());
    for (const std::string& reason : status.reasons()) reasons.push_back(Str(reason));
    CompleteWith(status.code(), reasons.data(), reasons.size());
  }
  // Releases the promise to the caller, who must complete the call.
  berth_done Release() { return std::exchange(done_, berth_done()); }

 private:
  void Abandon() {
    if (done_.id == 0) return;
    constexpr std::string_view kWhy = "the berth::Done was destroyed before it was completed";
    const berth_str reason = Str(kWhy);
    CompleteWith(BERTH_BUG, &reason, 1);
  }
  void CompleteWith(berth_code code, const berth_str* reasons, std::size_t count) {
    const berth_outcome outcome = {
        sizeof(outcome), code, {reasons, static_cast<uint32_t>(count), sizeof(berth_str)}};
    services_->completion->complete(Release(), &outcome);
  }

  const internal::Services* services_ = nullptr;
  berth_done done_ = {};  // Its id is 0 once it is completed or released.
};

}  // namespace berth

#endif  // BERTH_DONE_H_

// AttemptFailed: tells the plugin why an attempt to place a pod of its profile failed.
//
//   void AttemptFailed(const berth::FailedAttempt& attempt);
//
// Called:    once for each attempt that failed, by any plugin or error; after Unreserve,
//            when the pod is back in the queue. See berth_attempt_failed.
// Threading: [event].
// Must not:  throw. It cannot change the decision; it may reject or allow pods that wait on Permit,
//            and activate other pods.
#ifndef BERTH_ATTEMPT_FAILED_H_
#define BERTH_ATTEMPT_FAILED_H_

#include <concepts>
#include <string_view>

#include <berth/abi.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/pod.h>
#include <berth/span.h>
BERTH_INTERNAL_DETECT(AttemptFailed);

namespace berth {

// Lifetime: the call that passed it.
class FailedAttempt {
 public:
  explicit FailedAttempt(const berth_failed_attempt& attempt) : attempt_(&attempt) {}

  berth::Pod pod() const { return *attempt_->pod; }
  // Returns the code with which the attempt ended: see berth_failed_attempt.code.
  berth_code code() const { return attempt_->code; }
  // Returns whether the pod was rejected; otherwise the attempt ended with an error.
  bool rejected() const {
    return code() == BERTH_UNSCHEDULABLE || code() == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE ||
           code() == BERTH_PENDING;
  }
  // Returns the text of the pod's condition PodScheduled.
  std::string_view message() const { return Str(attempt_->message); }
  // Returns the name of the node that the pod had been given; empty: none.
  std::string_view node() const { return Str(attempt_->node); }
  // Returns the names of the plugins that rejected the pod.
  Span<const berth_str> plugins() const { return Span<const berth_str>(attempt_->plugins); }
  // Returns whether the pod waits for an event of these plugins; otherwise it backs off.
  bool parked() const { return (attempt_->flags & BERTH_FAILED_PARKED) != 0; }
  // Returns whether the pod is not tried again: it was deleted, or another client has bound it.
  bool final() const { return (attempt_->flags & BERTH_FAILED_FINAL) != 0; }

 private:
  const berth_failed_attempt* attempt_;
};

namespace internal {

struct AttemptFailedPoint {
  static constexpr const char* kId = BERTH_POINT_ATTEMPT_FAILED;
  template <class P>
  static constexpr bool kNamed = kHasAttemptFailed<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kFits = requires(P & plugin, const FailedAttempt& attempt) {
      { plugin.AttemptFailed(attempt) } -> std::same_as<void>;
    };
    BERTH_INTERNAL_CHECK_METHOD(AttemptFailed, P, (kFits),
                                "expected\n"
                                "  void AttemptFailed(const berth::FailedAttempt& attempt)");
  }

  template <class I>
  struct Table {
    berth_attempt_failed abi = {sizeof(berth_attempt_failed), 0, &Call};

    explicit Table(const I& /*instance*/) {}
    static void Call(void* self, const berth_failed_attempt* attempt) noexcept {
      I& instance = *static_cast<I*>(self);
      GuardVoid(instance.services, "AttemptFailed",
                [&] { instance.plugin().AttemptFailed(FailedAttempt(*attempt)); });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_ATTEMPT_FAILED_H_

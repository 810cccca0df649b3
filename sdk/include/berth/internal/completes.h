// The results of PreBind and Bind, which complete now or later, but exactly once.
#ifndef BERTH_INTERNAL_COMPLETES_H_
#define BERTH_INTERNAL_COMPLETES_H_

#include <berth/abi.h>
#include <berth/done.h>
#include <berth/internal/guard.h>
#include <berth/internal/services.h>
#include <berth/status.h>

namespace berth::internal {

// Returns the code of a method that has no Done. Pending is an error, because nothing could
// complete the call.
inline berth_code AnswerNow(const Status& answer, berth_status* status) {
  if (answer.code() != BERTH_PENDING) return Answer(answer, status);
  AddReason(status, "returned Pending without keeping a berth::Done that completes it");
  return BERTH_BUG;
}

// Owns the `done` of a call. The destructor returns it to the host, which then completes the call
// with the returned code.
class Promise {
 public:
  Promise(const Services& services, berth_done done) : done_(services, done) {}
  Promise(const Promise&) = delete;
  Promise& operator=(const Promise&) = delete;
  ~Promise() { done_.Release(); }
  Done& done() { return done_; }

 private:
  Done done_;
};

// If the method moved its Done away, that Done completes the call, and the result is PENDING,
// whatever the method returned or threw.
template <class F>
berth_code AnswerLater(const Services& services, berth_done done, berth_status* status, F&& call) {
  if (!services.completion) {
    AddReason(status, "needs the service " BERTH_SERVICE_COMPLETION);
    return BERTH_UNSUPPORTED;
  }
  Promise promise(services, done);
  berth_code code = BERTH_PENDING;
  const berth_code guarded = Guard(status, [&] {
    const Status answer = call(promise.done());
    if (promise.done()) code = AnswerNow(answer, status);
    return BERTH_SUCCESS;
  });
  if (!promise.done()) return BERTH_PENDING;
  return guarded == BERTH_SUCCESS ? code : guarded;
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_COMPLETES_H_

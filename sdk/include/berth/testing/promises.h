// The promises of PreBind and Bind, and the service berth.completion/1.
#ifndef BERTH_TESTING_PROMISES_H_
#define BERTH_TESTING_PROMISES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/report.h>

namespace berth::testing {

// A call that the service berth.completion/1 completes.
struct Completion {
  std::mutex mutex;
  bool completed = false;
  // the call returned another code than Pending, or the instance ended
  bool closed = false;
  Answer answer;
};

// The promises that the host of one instance has given.
//
// Threading: any.
class Promises {
 public:
  enum class Call { kPreBind, kBind };

  // `host` and `reporter` must outlive it.
  Promises(const berth_host* host, Reporter* reporter) : host_(*host), reporter_(*reporter) {}
  Promises(const Promises&) = delete;
  Promises& operator=(const Promises&) = delete;

  // Returns a promise whose completion is recorded in `completion` as long as that exists.
  berth_done New(Call call, const std::shared_ptr<Completion>& completion);
  // Returns whether it is a promise of Bind of this instance that is not completed, and for which
  // the host still waits.
  bool IsOpenForBind(berth_done done);
  // Closes the promises that are open: completing them has no effect any more.
  void Close();
  // Completes a promise as the service does. Reports a promise that was never given, and one that
  // is completed twice while the host waits for it; ignores one for which the host does not wait.
  void Complete(berth_done done, const berth_outcome& outcome);

  static const berth_completion kService;

 private:
  struct Promise {
    Call call;
    std::weak_ptr<Completion> completion;
  };

  const berth_host& host_;
  Reporter& reporter_;
  std::mutex mutex_;                      // guards what follows
  std::map<uint64_t, Promise> promises_;  // by id
  uint64_t last_ = 0;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_PROMISES_H_

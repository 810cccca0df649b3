// One request of the pod writer, from its first try to its outcome.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_TASK_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_TASK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/base/executor.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/http/retry_delay.h"
#include "host/cluster/kubernetes/http/transport.h"
#include "host/cluster/kubernetes/write/bind_fence.h"

namespace berth::host {

struct PodWriterOptions {
  int64_t request_timeout_ns = 34'000'000'000;
  int64_t retry_ns = 30'000'000'000;
  // The API server ends a request after 60 seconds at the latest, with some time for the way.
  int64_t settle_ns = 75'000'000'000;
  RetryDelay::Options delay = {.first_ns = 100'000'000, .max_ns = 5'000'000'000};
  uint64_t seed = 0;
};

struct PodWriterCounts {
  uint64_t binds = 0;  // Requests, repetitions included.
  uint64_t bound = 0;
  uint64_t conflicts = 0;  // 409 that was another client's binding, another uid or a deletion.
  uint64_t foreign = 0;    // Conflicts with the binding of another client.
  uint64_t unknown = 0;    // Answers that were lost; each was resolved by reading the pod.
  uint64_t recovered = 0;  // Unknown bindings that had been executed.
  uint64_t refused_by_fence = 0;
};

// The state that the tasks of one writer share.
struct PodTaskContext {
  Transport& transport;
  Executor& executor;
  BindFence& fence;
  const PodWriterOptions options;
  const Log log;
  PodWriterCounts counts = {};
  bool is_stopping = false;  // No request that writes may be sent.
  // The status of the last patch or deletion that was refused; 0 after one that succeeded.
  uint32_t last_refusal = 0;
};

// Base of the tasks.
//
// Threading: the executor's thread.
// Lifetime:  the owner holds a shared_ptr. Callbacks of requests hold weak ones, so that they do
//            nothing after the destruction of the task. The context outlives the task.
class PodTask : public std::enable_shared_from_this<PodTask> {
 public:
  // Called once, with the outcome, as the last action of the task, within any of its methods.
  using Finished = std::function<void(Status outcome)>;

  PodTask(PodTaskContext& context, const PodName& pod, uint64_t seed, Finished finished);
  virtual ~PodTask() = default;
  PodTask(const PodTask&) = delete;
  PodTask& operator=(const PodTask&) = delete;

  // Begins. Called once.
  void Start();
  // Ends the task if it waits to repeat a request that writes. A task that has not begun ends when
  // it begins, so that the outcomes for one pod stay in order. Called after `is_stopping` was set.
  void Stop();
  // Ends the task with kUnavailable, whatever it waits for, if it has begun.
  void Abandon();

  PodName pod() const { return {ns_, name_, uid_}; }

 protected:
  // Sends the request for the first time, or again.
  virtual void Send() = 0;
  // Receives the answer to a request that SendWrite() sent.
  virtual void OnAnswer(const HttpResponse& response) = 0;

  PodTaskContext& context() { return context_; }
  int64_t NowNs() const { return context_.executor.NowNs(); }
  // Sends a request that needs the fence.
  void SendWrite(HttpRequest request);
  // Sends a request that needs no fence.
  void SendRead(HttpRequest request, std::function<void(const HttpResponse&)> answer);
  // Returns whether the fence refused the last request of SendWrite(), or the writer stops.
  bool was_refused() const { return was_refused_; }
  // Returns how long to wait before the next try, and not less than what the server asked for, up
  // to one minute. If `may_be_quick`, the first call returns only this time.
  int64_t NextDelayNs(const HttpResponse& response, bool may_be_quick);
  // Returns whether a request that is sent after this time is within `retry_ns`.
  bool MayRetryAfter(int64_t delay_ns) const {
    return NowNs() + delay_ns - started_ns_ <= context_.options.retry_ns;
  }
  // Calls Send() after the time, unless the writer stops.
  void SendAfter(int64_t delay_ns);
  // Calls the function after the time, instead of what an earlier call would do.
  void After(int64_t delay_ns, Executor::Task task);
  void Finish(Status outcome);
  std::string Key() const { return ns_ + "/" + name_; }

 private:
  // Decides immediately before the first byte.
  Status MaySend();

  PodTaskContext& context_;
  const std::string ns_;
  const std::string name_;
  const std::string uid_;
  Finished finished_;
  RetryDelay delay_;
  OwnedTimer timer_;
  int64_t started_ns_ = 0;
  bool has_begun_ = false;
  bool has_waited_ = false;     // NextDelayNs() was called.
  bool waits_to_send_ = false;  // SendAfter() was called.
  bool was_refused_ = false;
  bool has_finished_ = false;
};

// Sends a request that may be repeated: a status patch or a deletion.
class SafeTask final : public PodTask {
 public:
  SafeTask(PodTaskContext& context, const PodName& pod, HttpRequest request, uint64_t seed,
           Finished finished);

 private:
  void Send() override;
  void OnAnswer(const HttpResponse& response) override;
  // Logs the first refusal in a row: without permission, every request is refused.
  void LogRefusal(const Status& error, uint32_t http_status);

  const HttpRequest request_;
  bool is_unknown_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_TASK_H_

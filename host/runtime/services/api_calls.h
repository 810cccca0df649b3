// The state of the service berth.api/1 for one instance.
#ifndef BERTH_HOST_RUNTIME_SERVICES_API_CALLS_H_
#define BERTH_HOST_RUNTIME_SERVICES_API_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include <berth/abi.h>

#include "host/cluster/client.h"
#include "host/event/timer_queue.h"
#include "host/runtime/services/services.h"

namespace berth::host {

// The open requests of one instance. Each is answered exactly once, on the scheduling thread and
// never within the call that made it: by the cluster, or with CANCELLED after its time limit or
// when the host is closed.
//
// Lifetime: owned by its InstanceHost; others hold it only while a task runs. The cluster may
//           answer after the services were destroyed; the answer is ignored then.
class ApiCalls final : public ServiceState, public std::enable_shared_from_this<ApiCalls> {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kApi;
  using CallId = uint64_t;  // Never 0.
  // A task for the scheduling thread.
  using Task = std::function<void(ApiCalls& calls)>;

  explicit ApiCalls(InstanceHost& host) : host_(host) {}

  // --- any thread ---

  // Opens a call and runs `begin` on the scheduling thread, at once if this is that thread. Returns
  // the code of the service: SUCCESS; BAD_ARGUMENT without an `answer`; CANCELLED after Stop();
  // CONFLICT if kMaxWaitingWork calls are open.
  berth_code Open(berth_api_answer answer, void* to,
                  std::function<void(ApiCalls& calls, CallId call)> begin);
  // Runs `task` on the scheduling thread, at once if this is that thread. Drops it if the instance
  // is retired before. Returns false, and does nothing, if kMaxWaitingWork tasks wait.
  bool Run(Task task);
  // Returns the callback for the cluster's answer. It may be called on any thread, and at any time.
  // It decodes the body, so that a client with threads of its own does not hold up the scheduling
  // thread with that.
  ResponseCallback AnswerCallback(CallId call);

  // --- the scheduling thread ---

  // Answers the call with CANCELLED after `timeout_ns`, unless it is answered before. 0 means no
  // limit.
  void StartTimer(CallId call, int64_t timeout_ns);
  void Stop() override;
  void Cancel() override;
  void Drop() override;
  size_t open_count() const;

  InstanceHost& host() { return host_; }

 private:
  struct Call {
    berth_api_answer answer = nullptr;
    void* to = nullptr;
    TimerQueue::Id timer = 0;  // 0: none.
  };

  struct Reply;

  // Runs `task` as Run() does, without a limit.
  void OnSchedulingThread(Task task);
  // Answers the call, unless it has been answered.
  void Answer(CallId call, const Reply& reply);
  // Removes and returns an open call; empty if it has been answered.
  Call Take(CallId call);

  InstanceHost& host_;
  const std::thread::id scheduling_thread_ = std::this_thread::get_id();
  mutable std::mutex mutex_;  // Guards what follows.
  std::unordered_map<CallId, Call> open_;
  CallId last_ = 0;
  size_t waiting_tasks_ = 0;  // Tasks of Run() in the inbox.
  bool stopped_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_API_CALLS_H_

// berth.api/1: what it keeps for one instance.
#ifndef BERTH_HOST_RUNTIME_SERVICE_API_H_
#define BERTH_HOST_RUNTIME_SERVICE_API_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include <berth/abi.h>

#include "host/base/status.h"
#include "host/event/timer_queue.h"

namespace berth::host {

class InstanceHost;

// The answers that one instance waits for. Each comes exactly once, on the scheduling thread and
// never within the call that asked: the cluster's, CANCELLED when time is up, or CANCELLED at
// Close().
//
// Lifetime: held by its InstanceHost, and by nobody else for longer than a task takes. The cluster
//           may answer when the services are gone: nobody hears it then.
class ApiCalls : public std::enable_shared_from_this<ApiCalls> {
 public:
  using CallId = uint64_t;  // Never 0.
  // What is done for a call on the scheduling thread.
  using Task = std::function<void(ApiCalls& calls)>;

  explicit ApiCalls(InstanceHost& host) : host_(host) {}
  ApiCalls(const ApiCalls&) = delete;
  ApiCalls& operator=(const ApiCalls&) = delete;

  // --- any thread ---

  // Opens a call, and carries `begin` out on the scheduling thread: at once if that is this one.
  // Returns what the service does: SUCCESS; BAD_ARGUMENT without an `answer`; CANCELLED after
  // Close().
  berth_code Begin(berth_api_answer answer, void* to,
                   std::function<void(ApiCalls& calls, CallId call)> begin);
  // Carries `task` out on the scheduling thread, at once if that is this one; drops it when the
  // instance is gone.
  void OnSchedulingThread(Task task);
  // What takes the cluster's answer to the call, on whichever thread and however late it comes.
  std::function<void(Result<std::string>)> Answerer(CallId call);

  // --- the scheduling thread ---

  // The call is CANCELLED unless it has been answered by then. 0: it may take for ever.
  void StartTimer(CallId call, int64_t timeout_ns);
  // Answers it now, unless it has been answered.
  void Answer(CallId call, berth_code code, std::string_view body);
  // Answers all that is open.
  void Close();
  // Forgets all that is open.
  void Drop();
  size_t open_count() const;

  InstanceHost& host() { return host_; }

 private:
  struct Open {
    berth_api_answer answer = nullptr;
    void* to = nullptr;
    TimerQueue::Id timer = 0;  // 0: none.
  };

  // Empty: it has been answered.
  Open Take(CallId call);

  InstanceHost& host_;
  const std::thread::id home_ = std::this_thread::get_id();
  mutable std::mutex mutex_;  // Guards what follows.
  std::unordered_map<CallId, Open> open_;
  CallId last_ = 0;
  bool closed_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICE_API_H_

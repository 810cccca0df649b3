// Binds, patches and deletes pods.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_WRITER_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_WRITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/executor.h"
#include "host/base/log.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/http/transport.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "host/cluster/kubernetes/write/pod_task.h"

namespace berth::host {

// The outcome of a binding:
//
//   answer                         what follows
//   201                            success
//   409, the only request so far   kConflict; also if the pod has this node: another client bound
//                                  it
//   404                            kNotFound: there is no such pod, or no such namespace
//   400, 401, 403, 413, 422        the error, which is final
//   429, 503 with Retry-After      not executed: again after the time, up to `retry_ns` in all;
//                                  then kUnavailable
//   no byte was sent               not executed: again at once, then with growing delays, up to
//                                  `retry_ns` in all; then kUnavailable
//   refused by the fence           kUnavailable; no byte left
//   anything else, or no answer    unknown: see below
//
// After an unknown request, success and 404 are the only answers to a later request that decide.
// For every other answer, and at once after the unknown request, the pod is read (GET without a
// resourceVersion, a consistent read), until an answer comes:
//   this uid on this node          success
//   this uid on another node       kConflict
//   another uid, or deleting       kConflict
//   no pod                         kNotFound
//   this uid without a node        the request is sent again if the fence is open, up to `retry_ns`
//                                  in all, but once at least. The server executes at most one of
//                                  the two, because each requires a pod without a node, and both
//                                  name the same node. If it is not sent again, the pod is read
//                                  until `settle_ns` after the last unknown request: the server has
//                                  given the request up by then, and the result is the last error;
//                                  kUnavailable without one.
//
// Status patches and deletions may be repeated safely: they are, up to `retry_ns`. After an unknown
// deletion, 404 is success. Patches and deletions also need an open fence: a process that does not
// lead writes nothing.
//
// Threading: the executor's thread.
// Lifetime:  what the constructor receives must outlive it.
class PodWriter {
 public:
  using Options = PodWriterOptions;

  PodWriter(Transport& transport, Executor& executor, BindFence& fence, const Options& options,
            Log log);
  // Calls no callback of an open request.
  ~PodWriter();
  PodWriter(const PodWriter&) = delete;
  PodWriter& operator=(const PodWriter&) = delete;

  // As the methods of Client. Callbacks are called on the executor's thread, never within the call.
  // A pod without a namespace or a name is a kInvalidArgument.
  void Bind(const PodName& pod, std::string_view node, StatusCallback done);
  void PatchStatus(const PodName& pod, const PodStatusPatch& patch, StatusCallback done);
  void Delete(const PodName& pod, std::optional<int64_t> grace_seconds, StatusCallback done);

  // Sends no further request that writes: requests that wait fail with kUnavailable. Waits for the
  // answers to requests that were sent, and reads back bindings whose outcome is unknown, for up to
  // `limit_ns`; requests that are open then fail with kUnavailable. Then `done` is called, after
  // the callbacks of all requests. Later requests fail with kUnavailable. Called once.
  void Stop(int64_t limit_ns, std::function<void()> done);

  const PodWriterCounts& counts() const;
  size_t open() const;  // Requests without an outcome.

 private:
  class Tasks;
  // Tasks share it with the callbacks that they post.
  const std::shared_ptr<Tasks> tasks_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_WRITER_H_

// Binds, patches and deletes pods.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_WRITER_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/executor.h"
#include "host/base/log.h"
#include "host/base/string_map.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "host/http/pacing.h"
#include "host/http/transport.h"

namespace berth::host {

struct PodWriterOptions {
  int64_t request_timeout_ns = 34'000'000'000;
  int64_t retry_ns = 30'000'000'000;
  // The API server ends a request after 60 seconds at the latest, with some time for the way.
  int64_t settle_ns = 75'000'000'000;
  // An API server that has answered with an error has given the request up, and its store finishes
  // what is under way within a few seconds.
  int64_t answered_settle_ns = 10'000'000'000;
  // The requests for one binding that may fail, without those that the server refused with 429.
  // (kube-scheduler: util.BindPod with client-go's retry.DefaultBackoff, #138855)
  uint32_t bind_tries = 4;
  RetryDelay::Options delay = {.first_ns = 100'000'000, .max_ns = 5'000'000'000};
  uint64_t seed = 0;
};

// A longer time without an answer to a binding says nothing about its permission.
inline constexpr int64_t kForbiddenPauseNs = 60'000'000'000;

struct PodWriterCounts {
  uint64_t binds = 0;  // Requests, repetitions included.
  uint64_t bound = 0;
  uint64_t conflicts = 0;  // 409 that was another client's binding, another uid or a deletion.
  uint64_t foreign = 0;    // Conflicts with the binding of another client.
  uint64_t unknown = 0;    // Answers that were lost; each was resolved by reading the pod.
  uint64_t recovered = 0;  // Unknown bindings that had been executed.
  uint64_t refused_by_fence = 0;
  // The bindings in a row, up to the last one, that the authorizer of the server forbade, without
  // a pause of more than kForbiddenPauseNs between two; and when the first and the last of these
  // answers came, by Executor::NowNs().
  uint64_t forbidden_in_row = 0;
  int64_t first_forbidden_ns = 0;
  int64_t last_forbidden_ns = 0;
};

// The outcome of a binding:
//
//   answer                         what follows
//   201                            success
//   409, the only request so far   kConflict; also if the pod has this node: another client bound
//                                  it
//   404                            kNotFound: there is no such pod, or no such namespace
//   400, 401, 403, 413, 422        the error, which is final
//   429                            not executed: again after the time, up to `retry_ns` in all;
//                                  then kUnavailable
//   503 with Retry-After           the same, and `bind_tries` times in all
//   no byte was sent               not executed: again at once, then with growing delays, up to
//                                  `retry_ns` and `bind_tries` times in all; then kUnavailable
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
//   this uid without a node        the request is sent again if the fence is open, up to
//                                  `bind_tries` times in all, the second time at any time, later
//                                  ones within `retry_ns`. The server executes at most one of
//                                  them, because each requires a pod without a node, and all name
//                                  the same node. If it is not sent again, the pod is read until
//                                  the server has given the last unknown request up: for
//                                  `answered_settle_ns` if it answered InternalError or
//                                  ServiceUnavailable, or else for `settle_ns`. The result is the
//                                  last error; kUnavailable without one.
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

  // As the functions of DecisionWriter. Callbacks are called on the executor's thread, never within
  // the call. A pod without a namespace or a name is a kInvalidArgument.
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

// One queue per pod that has requests. Only the first request of a pod is under way.
//
// Threading: one thread.
class PodLanes {
 public:
  // Starts the request. It must lead to one call of Finish() for the same pod, within the call or
  // later.
  using Start = std::function<void()>;

  // Starts the request when those of the same pod before it have finished, perhaps at once.
  void Add(const PodName& pod, Start start);
  // Records that the request of the pod that is under way has finished, after its callback was
  // called, and starts the next one. REQUIRES: a request of the pod is under way.
  void Finish(const PodName& pod);

  // Returns how many pods have requests.
  size_t pods() const { return lanes_.size(); }

 private:
  struct Lane {
    std::deque<Start> waiting;
    bool is_under_way = false;
    bool is_starting = false;  // StartNext() runs for this lane.
  };

  // Starts requests until one is under way, and removes the lane if none is left. It is not
  // recursive: a request that finishes within its start returns to the loop.
  void StartNext(const std::string& key, Lane& lane);

  StringMap<Lane> lanes_;  // By "namespace/name". Every lane has a request under way or waiting.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_WRITER_H_

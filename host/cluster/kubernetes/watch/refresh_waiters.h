// The callers that wait until a watch has delivered everything that the server had at some time.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_REFRESH_WAITERS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_REFRESH_WAITERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/list_splitter.h"
#include "host/base/executor.h"
#include "host/cluster/kubernetes/http/retry_delay.h"
#include "host/cluster/kubernetes/http/transport.h"

namespace berth::host {

// Asks the server for its current resourceVersion with a list of one object, which is a consistent
// read, and waits until the watch has reached it. The owner lists again if that takes too long.
//
// Threading: the executor's thread.
// Lifetime:  transport, executor and owner must outlive it.
class RefreshWaiters {
 public:
  struct Options {
    RetryDelay::Options delay;
    uint64_t seed = 0;
    ListSplitter::Limits list_limits;
    int64_t timeout_ns = 0;
  };

  // Threading: the executor's thread.
  class Owner {
   public:
    virtual ~Owner() = default;

    // A version is known. Calls OnReached() with the current version.
    virtual void OnVersionKnown() = 0;
    // The watch has not reached a version in time. Called again until it has.
    virtual void OnImpatient() = 0;
  };

  RefreshWaiters(Transport& transport, Executor& executor, Owner& owner, Options options);
  ~RefreshWaiters();
  RefreshWaiters(const RefreshWaiters&) = delete;
  RefreshWaiters& operator=(const RefreshWaiters&) = delete;

  // Sets the path of the collection, and asks for the waiters that were not asked for. An empty
  // path stops the questions.
  void SetPath(std::string path);
  void Add(int64_t patience_ns, std::function<void()> done);
  // Calls `done` of those whose version was reached.
  void OnReached(std::string_view version);
  // Calls `done` of all: the server does not serve the kind.
  void ReleaseAll();
  // Returns the newer one of `version` and the versions that are waited for.
  std::string NewestOf(std::string_view version) const;
  bool is_empty() const { return waiters_.empty(); }

 private:
  struct Waiter;

  void Ask(const Waiter& waiter);
  void OnAnswer(uint64_t id, const HttpResponse& response);
  void OnTimer(uint64_t id);
  // Returns the resourceVersion of a list; empty if the answer is none.
  std::string VersionOf(const HttpResponse& response) const;
  Waiter* Find(uint64_t id);

  Transport& transport_;
  Executor& executor_;
  Owner& owner_;
  const Options options_;
  RetryDelay delay_;
  std::string path_;
  std::vector<std::unique_ptr<Waiter>> waiters_;
  uint64_t last_ = 0;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // For callbacks of requests.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_REFRESH_WAITERS_H_

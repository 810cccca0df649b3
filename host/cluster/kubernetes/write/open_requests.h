// The requests that have no answer yet.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_OPEN_REQUESTS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_OPEN_REQUESTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "host/base/assert.h"
#include "host/base/executor.h"
#include "host/base/status.h"

namespace berth::host {

// Calls the callback of each request once: with its answer, or with an error when the owner does
// not wait any longer.
//
// Threading: the executor's thread.
// Lifetime:  a shared_ptr owns it. The functions that Add() returns may outlive it, and do nothing
//            then. The executor must outlive it.
class OpenRequests : public std::enable_shared_from_this<OpenRequests> {
 public:
  explicit OpenRequests(Executor& executor) : executor_(executor), limit_(executor) {}
  OpenRequests(const OpenRequests&) = delete;
  OpenRequests& operator=(const OpenRequests&) = delete;

  // Returns the function to call with the answer. `unanswered` converts an error to an answer.
  // `answer` may be empty.
  template <class R>
  std::function<void(R)> Add(std::function<void(R)> answer, R (*unanswered)(Status error)) {
    const auto held = std::make_shared<const std::function<void(R)>>(std::move(answer));
    const uint64_t id = ++last_;
    open_.emplace(id, [held, unanswered](Status error) {
      if (*held) (*held)(unanswered(std::move(error)));
    });
    return [weak = weak_from_this(), held, id](R result) {
      const std::shared_ptr<OpenRequests> self = weak.lock();
      if (!self || self->open_.erase(id) == 0) return;
      if (*held) (*held)(std::move(result));
      self->FinishStop();
    };
  }

  // Calls `done` when every request has its answer, but after `limit_ns` at the latest: requests
  // that are open then get kUnavailable. `done` is never called within the call. Called once.
  void Stop(int64_t limit_ns, std::function<void()> done) {
    BERTH_ASSERT(!is_stopping_);
    is_stopping_ = true;
    if (open_.empty()) return executor_.Post(std::move(done));
    stopped_ = std::move(done);
    limit_.StartAfter(limit_ns, [this] { Abandon(); });
  }

  bool is_stopping() const { return is_stopping_; }
  size_t size() const { return open_.size(); }

 private:
  void Abandon() {
    // A callback may lead to other requests.
    const auto abandoned = std::exchange(open_, {});
    for (const auto& [id, fail] : abandoned) {
      fail(Status::Unavailable(
          "the client was stopped; it is unknown whether the request was executed"));
    }
    FinishStop();
  }
  void FinishStop() {
    if (!stopped_ || !open_.empty()) return;
    limit_.Stop();
    std::exchange(stopped_, nullptr)();
  }

  Executor& executor_;
  OwnedTimer limit_;
  std::map<uint64_t, std::function<void(Status error)>> open_;  // The oldest first.
  uint64_t last_ = 0;
  bool is_stopping_ = false;
  std::function<void()> stopped_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_OPEN_REQUESTS_H_

// The host's side of berth_done: the promises that plugins get in PreBind and Bind.
#ifndef BERTH_HOST_PLAN_PROMISES_H_
#define BERTH_HOST_PLAN_PROMISES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <berth/abi.h>

#include "host/base/assert.h"

namespace berth::host {

// The promises of one plugin instance. A plugin may complete a promise twice, or after its answer
// has come, or after the host has stopped waiting, and none of this does harm: an id is never
// reused, and an id that is not open is ignored.
//
// Threading: any.
class Promises {
 public:
  // Identifies a promise: berth_done.id. Never 0.
  using Id = uint64_t;
  // Called at most once, on the thread that completes the promise.
  using Answer = std::function<void(berth_code code, std::vector<std::string> reasons)>;
  enum class Kind : uint8_t { kOther, kBind };

  Promises() = default;
  Promises(const Promises&) = delete;
  Promises& operator=(const Promises&) = delete;

  // Returns a new promise, which is open until it is completed or closed. `answer` and what it
  // holds live as long. `kind`: kBind if the promise is for Bind.
  Id Open(Answer answer, Kind kind = Kind::kOther) {
    BERTH_ASSERT(answer != nullptr);
    const std::scoped_lock lock(mutex_);
    open_.emplace(++last_, Entry{std::move(answer), kind});
    return last_;
  }
  // Closes the promise: completing it has no effect any more. Returns false if it was completed or
  // closed before.
  bool Close(Id id) {
    // Destroyed after the lock is released: what it holds may take locks.
    Answer answer;
    const std::scoped_lock lock(mutex_);
    answer = Take(id);
    return answer != nullptr;
  }
  // Closes all promises, and waits for answers that are being called; none is called afterwards.
  // Returns the answers of the open promises, with what they keep alive.
  // Called: when the instance has been quiesced.
  std::vector<Answer> CloseAll() {
    std::vector<Answer> answers;
    const std::unique_lock answering(answering_);
    const std::scoped_lock lock(mutex_);
    answers.reserve(open_.size());
    for (auto& [id, entry] : open_) answers.push_back(std::move(entry.answer));
    open_.clear();
    return answers;
  }
  // Makes IsOpenForBind() false: the host has stopped waiting, so that the plugin must not bind the
  // pod any more. The promise stays open, so that what its answer holds lives until the plugin
  // completes it. Does nothing if it is over.
  void DisallowBind(Id id) {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find(id);
    if (found != open_.end()) found->second.kind = Kind::kOther;
  }

  // Completes an open promise. Does nothing if it is over. Returns false if Open() has never
  // returned this id.
  bool Complete(Id id, berth_code code, std::vector<std::string> reasons) {
    // The lock outlives the answer, so that nothing that the answer holds is destroyed after
    // CloseAll() has returned.
    const std::shared_lock answering(answering_);
    Answer answer;
    {
      const std::scoped_lock lock(mutex_);
      if (id == 0 || id > last_) return false;
      answer = Take(id);
    }
    if (answer) answer(code, std::move(reasons));
    return true;
  }
  // Returns whether it is an open promise of Bind for which binding is allowed.
  bool IsOpenForBind(Id id) const {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find(id);
    return found != open_.end() && found->second.kind == Kind::kBind;
  }

  size_t open_count() const {
    const std::scoped_lock lock(mutex_);
    return open_.size();
  }

 private:
  struct Entry {
    Answer answer;
    Kind kind;
  };

  // Removes and returns the answer; empty if the promise is over. REQUIRES: mutex_ is held.
  Answer Take(Id id) {
    auto node = open_.extract(id);
    return node.empty() ? nullptr : std::move(node.mapped().answer);
  }

  std::shared_mutex answering_;  // Held shared while an answer is called.
  mutable std::mutex mutex_;     // Guards what follows.
  std::unordered_map<Id, Entry> open_;
  Id last_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PLAN_PROMISES_H_

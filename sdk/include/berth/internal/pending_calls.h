// The callbacks that the host calls once, later: posted functions and answers of the API server.
#ifndef BERTH_INTERNAL_PENDING_CALLS_H_
#define BERTH_INTERNAL_PENDING_CALLS_H_

#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace berth::internal {

// The base of a callback that the instance owns.
class Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  virtual ~Kept() = default;
};

// Owns the callbacks until the host calls them. The destructor frees the callbacks that remain
// without a call: the host has dropped them, because create() failed.
//
// Threading: [any].
class PendingCalls {
 public:
  using Place = std::list<std::unique_ptr<Kept>>::iterator;

  PendingCalls() = default;
  PendingCalls(const PendingCalls&) = delete;
  PendingCalls& operator=(const PendingCalls&) = delete;
  // Frees one by one and without the lock, because a destructor may post another function.
  ~PendingCalls() {
    while (!calls_.empty()) Take(calls_.begin());
  }

  // Returns the place of the callback, for Take().
  Place Add(std::unique_ptr<Kept> call) {
    std::list<std::unique_ptr<Kept>> one;
    one.push_back(std::move(call));
    const Place place = one.begin();
    const std::scoped_lock lock(mutex_);
    calls_.splice(calls_.end(), one);
    return place;
  }
  // Passes the callback to the caller. Called: once for each place.
  std::unique_ptr<Kept> Take(Place place) {
    std::list<std::unique_ptr<Kept>> one;
    {
      const std::scoped_lock lock(mutex_);
      one.splice(one.end(), calls_, place);
    }
    return std::move(one.front());
  }

 private:
  std::mutex mutex_;  // Guards what follows.
  std::list<std::unique_ptr<Kept>> calls_;
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_PENDING_CALLS_H_

// The watches of an embedded cluster, and the watch events and callbacks that wait for delivery.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_DELIVERY_QUEUE_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_DELIVERY_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "host/api/objects.h"
#include "host/cluster/client.h"

namespace berth::host {

// One queue for the events of all watches and for all callbacks, so that they are delivered in the
// order in which they were added.
//
// Threading: the thread of the cluster's owner.
class DeliveryQueue {
 public:
  DeliveryQueue() = default;
  // Must not: be destroyed before its watches.
  ~DeliveryQueue();
  DeliveryQueue(const DeliveryQueue&) = delete;
  DeliveryQueue& operator=(const DeliveryQueue&) = delete;

  // Starts a watch of `kind`. Adds a kAdded event for each object in `existing`, and an event of
  // type `last`, kSynced or kNotServed. After Stop() it adds nothing.
  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink,
                                                  std::vector<AnyObject> existing,
                                                  WatchType last = WatchType::kSynced);
  // Adds `event` for every watch of `kind`.
  void Notify(std::string_view kind, const WatchEvent& event);
  // Adds the call of `answer` with `result`. Does nothing if `answer` is empty.
  template <class R>
  void Reply(std::function<void(R)> answer, R result) {
    if (!answer) return;
    waiting_.push_back([answer = std::move(answer), result = std::move(result)]() mutable {
      answer(std::move(result));
    });
  }

  // Delivers the first waiting event or callback. Returns false if none was waiting.
  // Must not: be called from within a delivery. A delivery may call every other method except
  // Stop().
  bool DeliverOne();
  size_t waiting() const { return waiting_.size(); }

  // Ends all watches, and delivers the waiting callbacks within the call.
  // Must not: be called from within a delivery.
  void Stop();
  bool is_stopped() const { return is_stopped_; }

 private:
  class WatchHandle;

  struct WatchDelivery {
    uint64_t watch;
    WatchEvent event;
  };
  using Delivery = std::variant<WatchDelivery, std::function<void()>>;

  void EndWatch(uint64_t watch);
  void Run(Delivery delivery);

  uint64_t last_watch_ = 0;
  size_t open_watches_ = 0;
  std::unordered_map<uint64_t, WatchSink*> sinks_;
  // The watches of each kind, in the order in which they were started.
  std::map<std::string, std::vector<uint64_t>, std::less<>> watches_;
  std::deque<Delivery> waiting_;
  bool is_delivering_ = false;
  bool is_stopped_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_DELIVERY_QUEUE_H_

#include "host/cluster/embedded/delivery_queue.h"

#include "host/base/assert.h"

namespace berth::host {

class DeliveryQueue::WatchHandle final : public Watch {
 public:
  WatchHandle(DeliveryQueue& queue, uint64_t watch) : queue_(queue), watch_(watch) {}
  ~WatchHandle() override { queue_.EndWatch(watch_); }

 private:
  DeliveryQueue& queue_;
  const uint64_t watch_;
};

DeliveryQueue::~DeliveryQueue() {
  BERTH_ASSERT_MSG(open_watches_ == 0, "%zu watches outlive their client", open_watches_);
}

std::unique_ptr<Watch> DeliveryQueue::StartWatch(std::string_view kind, WatchSink& sink,
                                                 std::vector<AnyObject> existing, WatchType last) {
  const uint64_t watch = ++last_watch_;
  ++open_watches_;
  auto handle = std::make_unique<WatchHandle>(*this, watch);
  if (is_stopped_) return handle;
  sinks_.emplace(watch, &sink);
  watches_[std::string(kind)].push_back(watch);
  for (AnyObject& object : existing) {
    waiting_.push_back(WatchDelivery{watch, {WatchType::kAdded, std::move(object), {}, false}});
  }
  waiting_.push_back(WatchDelivery{watch, {last, {}, {}, false}});
  return handle;
}

void DeliveryQueue::EndWatch(uint64_t watch) {
  --open_watches_;
  if (sinks_.erase(watch) == 0) return;
  for (auto& [kind, watches] : watches_) std::erase(watches, watch);
  std::erase_if(waiting_, [watch](const Delivery& delivery) {
    const WatchDelivery* change = std::get_if<WatchDelivery>(&delivery);
    return change != nullptr && change->watch == watch;
  });
}

void DeliveryQueue::Notify(std::string_view kind, const WatchEvent& event) {
  const auto watches = watches_.find(kind);
  if (watches == watches_.end()) return;
  for (const uint64_t watch : watches->second) waiting_.push_back(WatchDelivery{watch, event});
}

bool DeliveryQueue::DeliverOne() {
  BERTH_ASSERT_MSG(!is_delivering_,
                   "DeliverOne() was called from within a callback or watch event");
  if (waiting_.empty()) return false;
  Delivery first = std::move(waiting_.front());
  waiting_.pop_front();
  Run(std::move(first));
  return true;
}

void DeliveryQueue::Run(Delivery delivery) {
  is_delivering_ = true;
  if (WatchDelivery* change = std::get_if<WatchDelivery>(&delivery)) {
    // The watch exists, because EndWatch() removes the waiting deliveries of a watch.
    sinks_.at(change->watch)->OnEvents({&change->event, 1});
  } else {
    std::get<std::function<void()>>(delivery)();
  }
  is_delivering_ = false;
}

void DeliveryQueue::Stop() {
  BERTH_ASSERT_MSG(!is_delivering_, "Stop() was called from within a callback or watch event");
  is_stopped_ = true;
  sinks_.clear();
  watches_.clear();
  std::erase_if(waiting_, [](const Delivery& delivery) {
    return std::holds_alternative<WatchDelivery>(delivery);
  });
  for (size_t open = waiting_.size(); open > 0; --open) DeliverOne();
}

}  // namespace berth::host

// Passes watch events from the thread of the reflectors to the scheduling thread.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_EVENT_MAILBOX_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_EVENT_MAILBOX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <variant>
#include <vector>

#include "host/base/status.h"
#include "host/cluster/client.h"

namespace berth::host {

// Keeps the order within each watch, and the events of one call together. It refuses nothing: when
// it is full, its owner pauses the watches, so that a scheduling thread that does not deliver does
// not let the process grow without limit.
//
// Threading: Put*() any thread; the other methods the scheduling thread.
class EventMailbox {
 public:
  using WatchId = uint64_t;

  // `wake` is called when something is put into an empty mailbox. Threading: any.
  // `limit`: the mailbox is full when at least so many events, errors and tasks wait. `on_room` is
  // called within Deliver(), at its end, if the mailbox was full.
  EventMailbox(std::function<void()> wake, size_t limit, std::function<void()> on_room);
  EventMailbox(const EventMailbox&) = delete;
  EventMailbox& operator=(const EventMailbox&) = delete;

  // Registers the sink of a watch. From Remove() on, its events are dropped. Both may be called
  // within a delivery, also by the sink itself.
  WatchId Add(WatchSink& sink);
  void Remove(WatchId watch);

  // Returns whether the mailbox is full now; `on_room` follows then.
  bool PutEvents(WatchId watch, std::vector<WatchEvent> events);
  void PutError(WatchId watch, Status status);
  // Runs the task on the scheduling thread, after everything that was put before.
  void PutTask(std::function<void()> task);

  // Delivers what was put before the call. Returns the number of events, errors and tasks,
  // including those of watches that were removed.
  // Must not: be called from within a delivery.
  size_t Deliver();
  // Returns how many events, errors and tasks wait; for metrics. Threading: any.
  size_t waiting() const;

 private:
  // A call of one of the Put methods.
  struct Item {
    WatchId watch = 0;  // 0 for a task.
    std::variant<std::vector<WatchEvent>, Status, std::function<void()>> content;

    size_t size() const;
  };

  bool Put(Item item);
  void DeliverOne(Item& item);

  const std::function<void()> wake_;
  const size_t limit_;
  const std::function<void()> on_room_;
  mutable std::mutex mutex_;
  std::vector<Item> items_;  // Guarded by mutex_.
  size_t waiting_ = 0;       // Guarded by mutex_.
  bool was_full_ = false;    // Guarded by mutex_. Since the last Deliver().
  // The fields below are used by the scheduling thread alone.
  std::unordered_map<WatchId, WatchSink*> sinks_;
  WatchId last_ = 0;
  bool is_delivering_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_EVENT_MAILBOX_H_

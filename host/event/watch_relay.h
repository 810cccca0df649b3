// Watch events on their way from a client's thread to the scheduling thread.
#ifndef BERTH_HOST_EVENT_WATCH_RELAY_H_
#define BERTH_HOST_EVENT_WATCH_RELAY_H_

#include <span>

#include "host/cluster/client.h"
#include "host/event/inbox.h"

namespace berth::host {

// Passes everything on to `target`, in order, through the inbox. Events of one call stay together.
// Lifetime: inbox and target outlive the watch, and the target outlives what is then still in the
//           inbox.
class WatchRelay final : public WatchSink {
 public:
  WatchRelay(Inbox& inbox, WatchSink& target) : inbox_(inbox), target_(target) {}

  void OnEvents(std::span<WatchEvent> events) override;
  void OnTrouble(const Status& status) override;

 private:
  Inbox& inbox_;
  WatchSink& target_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_EVENT_WATCH_RELAY_H_

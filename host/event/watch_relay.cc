#include "host/event/watch_relay.h"

#include <iterator>
#include <utility>
#include <vector>

namespace berth::host {

void WatchRelay::OnEvents(std::span<WatchEvent> events) {
  std::vector<WatchEvent> owned(std::make_move_iterator(events.begin()),
                                std::make_move_iterator(events.end()));
  inbox_.Push([&target = target_, owned = std::move(owned)]() mutable { target.OnEvents(owned); });
}

void WatchRelay::OnTrouble(const Status& status) {
  inbox_.Push([&target = target_, status] { target.OnTrouble(status); });
}

}  // namespace berth::host

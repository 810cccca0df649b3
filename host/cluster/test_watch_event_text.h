// Watch events as short texts, for the expectations of tests.
#ifndef BERTH_HOST_CLUSTER_TEST_WATCH_EVENT_TEXT_H_
#define BERTH_HOST_CLUSTER_TEST_WATCH_EVENT_TEXT_H_

#include <string>

#include "host/cluster/client.h"

namespace berth::host {

// Returns "+default/a@1" (added, with its version), "~default/a@2(1)" (modified, with the previous
// version in brackets), "-default/a@3(2)" (deleted), "-default/a@3(2)?" (deleted, with an unknown
// final state), "synced" or "not served".
inline std::string WatchEventText(const WatchEvent& event) {
  if (event.type == WatchType::kSynced) return "synced";
  if (event.type == WatchType::kNotServed) return "not served";
  std::string text(1, event.type == WatchType::kAdded      ? '+'
                      : event.type == WatchType::kModified ? '~'
                                                           : '-');
  text.append(Base(event.object).Key()).append("@").append(event.resource_version());
  if (event.type != WatchType::kAdded) {
    text.append("(").append(Base(event.previous).resource_version()).append(")");
  }
  return text + (event.final_state_unknown ? "?" : "");
}

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_TEST_WATCH_EVENT_TEXT_H_

// A number for every plugin of every profile, the same for as long as the process lives.
#ifndef BERTH_HOST_RUNTIME_PLUGIN_IDS_H_
#define BERTH_HOST_RUNTIME_PLUGIN_IDS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/string_map.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// Threading: the scheduling thread.
class PluginIds {
 public:
  // Given out on first use. Ids are small and without gaps.
  PluginId IdOf(std::string_view scheduler_name, std::string_view plugin) {
    // schedulerName is a DNS name: it has no slash.
    std::string key = std::string(scheduler_name) + "/" + std::string(plugin);
    const auto [found, is_new] = ids_.try_emplace(std::move(key), PluginId(names_.size()));
    if (is_new) names_.emplace_back(plugin);
    return found->second;
  }
  // The plugin's name, without its profile.
  const std::string& NameOf(PluginId id) const { return names_[id]; }

 private:
  StringMap<PluginId> ids_;
  std::vector<std::string> names_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_PLUGIN_IDS_H_

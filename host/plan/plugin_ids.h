// Numbers for the plugins of all profiles, stable for the life of the process.
#ifndef BERTH_HOST_PLAN_PLUGIN_IDS_H_
#define BERTH_HOST_PLAN_PLUGIN_IDS_H_

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
  // Returns the id of a plugin of a profile; the first call for the pair assigns it. Ids are small
  // and have no gaps.
  PluginId IdOf(std::string_view scheduler_name, std::string_view plugin) {
    // schedulerName is a DNS name: it has no slash.
    std::string key = std::string(scheduler_name) + "/" + std::string(plugin);
    const auto [found, is_new] = ids_.try_emplace(std::move(key), PluginId(names_.size()));
    if (is_new) names_.emplace_back(plugin);
    return found->second;
  }
  // Returns the plugin's name, without its profile.
  // REQUIRES: IdOf() returned `id`.
  const std::string& NameOf(PluginId id) const { return names_[id]; }

 private:
  StringMap<PluginId> ids_;
  std::vector<std::string> names_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PLAN_PLUGIN_IDS_H_

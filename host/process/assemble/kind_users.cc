#include "host/process/assemble/kind_users.h"

#include <cstddef>

#include "host/base/kind_name.h"
#include "host/cluster/client.h"
#include "host/plan/plan.h"

namespace berth::host {

KindUsers::KindUsers() : kinds_({{std::string(kPodKind), {}}, {std::string(kNodeKind), {}}}) {}

KindUsers::KindUsers(const PluginCatalog& catalog, std::span<const PlanSpec> profiles)
    : KindUsers() {
  for (const PlanSpec& profile : profiles) {
    for (const PlanSpec::Plugin& plugin : profile.plugins) {
      const auto found = catalog.plugins().find(plugin.name);
      if (found == catalog.plugins().end()) continue;
      for (const std::string& declared : found->second.info->kinds) {
        declared_.insert(declared);
        for (std::string& kind : KindsOf(declared)) kinds_[std::move(kind)].insert(plugin.name);
      }
    }
  }
}

std::string KindUsers::Of(std::string_view kind) const {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return "";
  const std::set<std::string>& plugins = found->second;
  if (plugins.empty()) return "the host";
  std::string text = plugins.size() == 1 ? "the plugin " : "the plugins ";
  size_t left = plugins.size();
  for (const std::string& plugin : plugins) {
    text += plugin;
    --left;
    if (left > 0) text += left == 1 ? " and " : ", ";
  }
  return text;
}

}  // namespace berth::host

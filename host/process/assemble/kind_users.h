// Names who needs the objects of a kind.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_KIND_USERS_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_KIND_USERS_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "host/loader/plugin_catalog.h"
#include "host/plan/plan.h"

namespace berth::host {

// The kinds that the profiles of a scheduler watch, with the plugins that declare them. Every
// version of a kind that a plugin declares is an entry of its own.
//
// Threading: immutable after construction.
class KindUsers {
 public:
  using Map = std::map<std::string, std::set<std::string>, std::less<>>;

  // Contains the pods and nodes of the host alone.
  KindUsers();
  // Contains those of the host and those of the plugins that the profiles enable. A plugin that is
  // not in the catalog is left out.
  KindUsers(const PluginCatalog& catalog, std::span<const PlanSpec> profiles);

  // The names of the plugins that declare each kind; empty for the kinds of the host.
  const Map& kinds() const { return kinds_; }
  // The kinds as the plugins declare them, perhaps in several versions; without those of the host.
  const std::set<std::string>& declared() const { return declared_; }
  // Returns "the host", "the plugin VolumeBinding", "the plugins A and B", "the plugins A, B and
  // C"; an empty text for a kind that is not needed.
  std::string Of(std::string_view kind) const;

 private:
  Map kinds_;
  std::set<std::string> declared_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_KIND_USERS_H_

#include "host/queue/interest_table.h"

#include <algorithm>
#include <string>
#include <vector>

#include "host/api/part_hash.h"
#include "host/base/kind_name.h"

namespace berth::host {
namespace {

// Returns the resource that an interest names. A CUSTOM interest in a kind that has its own
// resource is an interest in that resource.
uint32_t ResourceOf(const Interest& interest) {
  if (interest.resource != BERTH_RESOURCE_CUSTOM) return interest.resource;
  return interest.kind == "v1/Pod" ? uint32_t{BERTH_RESOURCE_POD_ANY}
                                   : EventResourceOf(interest.kind);
}

// Returns whether an interest in one resource covers an event of another. Only an interest that
// names UNSCHEDULED_POD covers those events, because there is one for every new pod.
bool Covers(uint32_t interest, uint32_t event) {
  if (interest == event) return true;
  if (interest == BERTH_RESOURCE_WILDCARD) return event != BERTH_RESOURCE_UNSCHEDULED_POD;
  return interest == BERTH_RESOURCE_POD_ANY &&
         (event == BERTH_RESOURCE_ASSIGNED_POD || event == BERTH_RESOURCE_TARGET_POD);
}

// The second condition keeps an unspecific update (BERTH_ACTION_UPDATE) from matching interests in
// specific updates only.
bool CoversAction(uint32_t interest, uint32_t event) {
  return (interest & event) != 0 && event <= interest;
}

}  // namespace

void InterestTable::Build(std::span<const Interest> interests) {
  for (auto& list : by_resource_) list.clear();
  by_kind_.clear();
  hint_parts_.clear();
  // Create the lists of all kinds first: a WILDCARD interest is added to each of them.
  for (const Interest& interest : interests) {
    if (ResourceOf(interest) != BERTH_RESOURCE_CUSTOM) continue;
    for (const std::string& kind : KindsOf(interest.kind)) by_kind_.try_emplace(kind);
  }
  for (const Interest& interest : interests) {
    const uint32_t named = ResourceOf(interest);
    const std::vector<std::string> kinds =
        named == BERTH_RESOURCE_CUSTOM ? KindsOf(interest.kind) : std::vector<std::string>();
    for (uint32_t resource = 0; resource < kResourceCount; ++resource) {
      const bool is_kind = named == BERTH_RESOURCE_CUSTOM;
      if (!is_kind && Covers(named, resource)) by_resource_[resource].push_back(&interest);
    }
    for (auto& [kind, list] : by_kind_) {
      const bool is_this = std::ranges::find(kinds, kind) != kinds.end();
      if (is_this || named == BERTH_RESOURCE_WILDCARD) list.push_back(&interest);
    }
    if (!interest.has_hint) continue;
    HintParts& parts = hint_parts_[interest.plugin];
    parts.mask |= interest.pod_parts & kAllParts;
    // Without declared parts, or with a part that is unknown to this host, the hint may depend on
    // anything.
    if (interest.pod_parts == 0 || (interest.pod_parts & ~kAllParts) != 0) parts.each_pod = true;
  }
}

void InterestTable::Find(const QueueEvent& event, std::vector<const Interest*>& out) const {
  if (event.resource == BERTH_RESOURCE_WILDCARD || event.resource >= kResourceCount) return;
  const std::vector<const Interest*>* list = &by_resource_[event.resource];
  if (event.resource == BERTH_RESOURCE_CUSTOM) {
    const auto found = by_kind_.find(KindOf(event));
    if (found != by_kind_.end()) list = &found->second;
  }
  for (const Interest* interest : *list) {
    if (CoversAction(interest->actions, event.action)) out.push_back(interest);
  }
}

InterestTable::HintParts InterestTable::PartsOf(PluginId plugin) const {
  const auto found = hint_parts_.find(plugin);
  return found != hint_parts_.end() ? found->second : HintParts{};
}

}  // namespace berth::host

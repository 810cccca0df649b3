#include "host/cluster/control_plane/controlled_pods.h"

namespace berth::host {
namespace {

std::string ControllerKey(std::string_view ns, std::string_view api_version, std::string_view kind,
                          std::string_view name) {
  const size_t slash = api_version.find('/');
  const std::string_view group = slash == api_version.npos ? "" : api_version.substr(0, slash);
  std::string key(ns);
  for (const std::string_view part : {group, kind, name}) key.append("/").append(part);
  return key;
}

}  // namespace

const berth_owner* ControllerOf(const Pod& pod) {
  for (const berth_owner& one : Elements<berth_owner>(pod.meta().owners)) {
    if (one.controller != 0) return &one;
  }
  return nullptr;
}

ControlledPods::ControlledPods(const EmbeddedCluster& cluster) {
  for (const AnyObject& object : cluster.List(kPodKind)) {
    const PodRef& pod = std::get<PodRef>(object);
    if (pod->terminating() || pod->has_ended()) continue;
    const Interner& texts = pod->interner();
    const berth_owner* const owner = ControllerOf(*pod);
    if (owner == nullptr) {
      alone_[std::string(pod->ns())].push_back(pod);
      continue;
    }
    const std::string key = ControllerKey(pod->ns(), texts.Text(owner->api_version),
                                          texts.Text(owner->kind), Text(owner->name));
    by_controller_[key].push_back(pod);
  }
}

std::span<const PodRef> ControlledPods::Of(std::string_view ns, std::string_view api_version,
                                           std::string_view kind, std::string_view name) const {
  const auto found = by_controller_.find(ControllerKey(ns, api_version, kind, name));
  return found == by_controller_.end() ? std::span<const PodRef>() : found->second;
}

void ControlledPods::ForEachController(
    std::string_view ns, std::string_view api_version, std::string_view kind,
    std::string_view prefix, const std::function<void(std::span<const PodRef> pods)>& each) const {
  const std::string begin = ControllerKey(ns, api_version, kind, prefix);
  for (auto at = by_controller_.lower_bound(begin);
       at != by_controller_.end() && at->first.starts_with(begin); ++at) {
    each(at->second);
  }
}

std::span<const PodRef> ControlledPods::WithoutController(std::string_view ns) const {
  const auto found = alone_.find(ns);
  return found == alone_.end() ? std::span<const PodRef>() : found->second;
}

}  // namespace berth::host

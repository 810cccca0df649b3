#include "default_selectors.h"

#include <algorithm>
#include <utility>

#include <berth/selectors.h>
#include <berth/span.h>
#include <berth/value.h>

namespace spread {
namespace {

using Requirements = berth::Span<const berth_requirement>;

// The parsed selectors of controllers that are kept. When the limit is reached, all are dropped.
constexpr std::size_t kControllersMax = 4096;

bool HasSameValues(const berth_requirement& a, const berth_requirement& b) {
  const berth::Span<const berth_id> left(a.values);
  const berth::Span<const berth_id> right(b.values);
  return left.size() == right.size() && std::equal(left.begin(), left.end(), right.begin());
}

void RequireWatch(const berth::Status& status, const char* kind) {
  if (!status.ok()) throw berth::Error(std::string("cannot watch ") + kind);
}

const berth_owner* ControllerOf(const berth::Pod& pod) {
  for (const berth_owner& owner : pod.owners()) {
    if (owner.controller != 0) return &owner;
  }
  return nullptr;
}

}  // namespace

void JoinedSelector::Add(const berth_requirement& requirement) {
  const bool known = std::any_of(
      requirements_.begin(), requirements_.end(), [&requirement](const berth_requirement& each) {
        return each.key == requirement.key && each.op == requirement.op &&
               each.number == requirement.number && HasSameValues(each, requirement);
      });
  if (!known) requirements_.push_back(requirement);
}

void JoinedSelector::Remove(berth_id key) {
  std::erase_if(requirements_,
                [key](const berth_requirement& requirement) { return requirement.key == key; });
}

void JoinedSelector::Finish() {
  selector_.requirements = {requirements_.data(), static_cast<uint32_t>(requirements_.size()),
                            sizeof(berth_requirement)};
}

DefaultSelectors::DefaultSelectors(const berth::Host& host)
    : host_(host),
      kinds_{
          {host.Intern("v1"), host.Intern("ReplicationController"), kReplicationControllers, true},
          {host.Intern("apps/v1"), host.Intern("ReplicaSet"), kReplicaSets, false},
          {host.Intern("apps/v1"), host.Intern("StatefulSet"), kStatefulSets, false}},
      service_need_(host, kServices) {
  for (const ControllerKind& kind : kinds_) controller_needs_.emplace_back(host, kind.objects);
  const berth::Objects objects = host.objects();
  RequireWatch(objects.Watch<&DefaultSelectors::OnService>(kServices, this), kServices);
  for (const ControllerKind& kind : kinds_) {
    RequireWatch(objects.Watch<&DefaultSelectors::OnController>(kind.objects, this), kind.objects);
  }
}

std::shared_ptr<const JoinedSelector> DefaultSelectors::For(const berth::Pod& pod) {
  auto joined = std::make_shared<JoinedSelector>();
  for (const berth_id_pair& label : pod.labels()) {
    const auto found = services_.find({pod.ns(), label});
    if (found == services_.end()) continue;
    for (const Service& service : found->second) {
      const berth_selector* const selector = service.selector.get();
      if (!berth::Matches(selector, pod.labels(), host_)) continue;
      for (const berth_requirement& each : Requirements(selector->requirements)) joined->Add(each);
    }
  }
  AddController(pod, *joined);
  if (joined->empty()) return nullptr;
  joined->Finish();
  return joined;
}

void DefaultSelectors::AddController(const berth::Pod& pod, JoinedSelector& joined) {
  const berth_owner* const owner = ControllerOf(pod);
  if (owner == nullptr) return;
  for (const ControllerKind& kind : kinds_) {
    if (owner->api_version != kind.api_version || owner->kind != kind.kind) continue;
    const berth_object* const object =
        host_.objects().Get(kind.objects, host_.Text(pod.ns()), berth::Str(owner->name));
    if (object == nullptr) return;
    const berth_selector* const selector = SelectorOf(*object, kind.replaces);
    if (selector == nullptr) return;
    for (const berth_requirement& each : Requirements(selector->requirements)) {
      if (kind.replaces) joined.Remove(each.key);
      joined.Add(each);
    }
    return;
  }
}

const berth_selector* DefaultSelectors::SelectorOf(const berth_object& controller, bool is_map) {
  const auto known = controllers_.find(&controller);
  if (known != controllers_.end()) return known->second.get();
  if (controllers_.size() >= kControllersMax) controllers_.clear();
  const berth::Value spec = berth::Value(controller.value)["spec"]["selector"];
  berth::Selector selector =
      is_map ? host_.selectors().FromMap(spec) : host_.selectors().FromValue(spec);
  return controllers_.emplace(&controller, std::move(selector)).first->second.get();
}

DefaultSelectors::LabelOfNamespace DefaultSelectors::PlaceOf(berth_id ns,
                                                             const berth_selector& selector) {
  const berth_requirement& first = *Requirements(selector.requirements).begin();
  return {ns, {first.key, *berth::Span<const berth_id>(first.values).begin()}};
}

void DefaultSelectors::OnService(const berth::ObjectChange& change) {
  // The new version is added first, so that the ids of the namespace and of labels that both have
  // stay valid while the old version is looked up.
  if (change.now != nullptr) AddService(*change.now);
  if (change.old != nullptr) RemoveService(*change.old);
}

void DefaultSelectors::AddService(const berth_object& service) {
  // A Service without a selector selects no pod.
  berth::Selector selector =
      host_.selectors().FromMap(berth::Value(service.value)["spec"]["selector"]);
  if (!selector.ok() || selector.get()->requirements.count == 0) return;
  Service entry{std::string(berth::Str(service.meta->name)),
                host_.InternHeld(host_.Text(service.meta->ns)), std::move(selector)};
  const LabelOfNamespace place = PlaceOf(entry.ns.get(), *entry.selector.get());
  services_[place].push_back(std::move(entry));
}

void DefaultSelectors::RemoveService(const berth_object& service) {
  const berth::Selector selector =
      host_.selectors().FromMap(berth::Value(service.value)["spec"]["selector"]);
  if (!selector.ok() || selector.get()->requirements.count == 0) return;
  const auto found = services_.find(PlaceOf(service.meta->ns, *selector.get()));
  if (found == services_.end()) return;
  // If the place did not change, both versions are in the list, the old one first.
  std::vector<Service>& services = found->second;
  const std::string_view name = berth::Str(service.meta->name);
  const auto old = std::find_if(services.begin(), services.end(),
                                [name](const Service& each) { return each.name == name; });
  if (old != services.end()) services.erase(old);
  if (services.empty()) services_.erase(found);
}

void DefaultSelectors::OnController(const berth::ObjectChange& change) {
  if (change.old != nullptr) controllers_.erase(change.old);
}

}  // namespace spread

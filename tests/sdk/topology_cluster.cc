#include "tests/sdk/topology_cluster.h"

namespace berth::testing {

TopologyHost::TopologyHost()
    : abi_{sizeof(berth_host),
           BERTH_ABI_MAJOR,
           BERTH_ABI_MINOR,
           this,
           Str(std::string_view("topology")),
           Str(std::string_view("1")),
           &GetService,
           [](const berth_host* /*host*/, berth_str /*what*/) noexcept {},
           {3, 4}},
      services_(std::make_unique<::berth::internal::Services>(&abi_, &fault_)) {}

berth_code TopologyHost::GetService(const berth_host* /*host*/, const char* id,
                                    const void** service) noexcept {
  static const berth_strings strings = {
      sizeof(strings),
      0,
      [](const berth_host* of, berth_str text) noexcept {
        ++Of(of).held_;
        return Of(of).ids_.Intern(Str(text));
      },
      [](const berth_host* of, berth_str text) noexcept { return Of(of).ids_.Find(Str(text)); },
      [](const berth_host* of, berth_id text) noexcept { return Str(Of(of).ids_.Text(text)); },
      [](const berth_host* of, berth_id text) noexcept {
        --Of(of).held_;
        Of(of).ids_.Release(text);
      }};
  static const berth_objects objects = {
      sizeof(objects),
      0,
      [](const berth_host* of, berth_str kind, berth_str /*ns*/, berth_str name,
         const berth_object** object) noexcept -> berth_code {
        Of(of).look_ups.push_back("get " + std::string(Str(kind)) + " " + std::string(Str(name)));
        *object = nullptr;
        return BERTH_NOT_FOUND;
      },
      [](const berth_host* of, berth_str kind, berth_str /*ns*/,
         int32_t (*)(void*, const berth_object*) noexcept, void*) noexcept -> berth_code {
        Of(of).look_ups.push_back("list " + std::string(Str(kind)));
        return BERTH_SUCCESS;
      },
      nullptr,
      [](const berth_host* of, berth_str /*kind*/,
         void (*change)(void*, const berth_object_change*) noexcept,
         void* to) noexcept -> berth_code {
        Of(of).changed_ = change;
        Of(of).changed_to_ = to;
        return Of(of).serves_objects ? BERTH_SUCCESS : BERTH_UNSUPPORTED;
      }};
  if (std::string_view(id) == BERTH_SERVICE_STRINGS) return *service = &strings, BERTH_SUCCESS;
  if (std::string_view(id) == BERTH_SERVICE_OBJECTS) return *service = &objects, BERTH_SUCCESS;
  return BERTH_NOT_FOUND;
}

void TopologyHost::Change(const berth_object* old, const berth_object* now) {
  if (changed_ == nullptr) return;
  const berth_object_change change = {
      sizeof(change), 0, (now != nullptr ? now : old)->kind, 0, old, now};
  changed_(changed_to_, &change);
}

berth_change TopologyCluster::Change(uint32_t kind, uint32_t row) {
  const auto node = nodes_.find(row);
  return {sizeof(berth_change),
          kind,
          0,
          row,
          ++sequence_,
          nullptr,
          nullptr,
          node == nodes_.end() ? nullptr : node->second.get(),
          nullptr};
}

void TopologyCluster::PutNode(uint32_t row, const NodeSpec& node) {
  const NodeHandle now(node, ids());
  const auto old = nodes_.find(row);
  berth_change change = Change(BERTH_CHANGE_NODE_ADDED, row);
  if (old != nodes_.end()) {
    change.kind = BERTH_CHANGE_NODE_CHANGED;
    change.old_node = old->second.get();
  }
  change.node = now.get();
  index_.OnChange(change);
  nodes_.insert_or_assign(row, now);
}

void TopologyCluster::RemoveNode(uint32_t row) {
  index_.OnChange(Change(BERTH_CHANGE_NODE_REMOVED, row));
  nodes_.erase(row);
}

PodHandle TopologyCluster::Pod(PodSpec spec) {
  if (spec.ns.empty()) spec.ns = "default";
  return {std::move(spec), ids()};
}

void TopologyCluster::PutPod(uint32_t row, const PodSpec& pod) {
  const PodHandle now = Pod(pod);
  const std::string key = now.spec().ns + "/" + now.spec().name;
  const auto old = pods_.find(key);
  berth_change change = Change(BERTH_CHANGE_POD_ADDED, row);
  change.pod = now.get();
  if (old != pods_.end()) {
    change.row = old->second.row;
    change.kind = BERTH_CHANGE_POD_CHANGED;
    change.old_pod = old->second.pod.get();
  }
  index_.OnChange(change);
  pods_.insert_or_assign(key, PlacedPod{change.row, now});
}

void TopologyCluster::RemovePod(const std::string& name, const std::string& ns) {
  const auto found = pods_.find(ns + "/" + name);
  berth_change change = Change(BERTH_CHANGE_POD_REMOVED, found->second.row);
  change.pod = found->second.pod.get();
  index_.OnChange(change);
  pods_.erase(found);
}

void TopologyCluster::PutNamespace(const std::string& name,
                                   const std::map<std::string, std::string>& labels) {
  ObjectSpec spec = MakeObject("v1/Namespace", "", name);
  spec.labels = labels;
  const ObjectHandle now(spec, ids());
  const auto old = namespaces_.find(name);
  host_.Change(old == namespaces_.end() ? nullptr : old->second.get(), now.get());
  namespaces_.insert_or_assign(name, now);
}

void TopologyCluster::RemoveNamespace(const std::string& name) {
  const auto old = namespaces_.find(name);
  host_.Change(old->second.get(), nullptr);
  namespaces_.erase(old);
}

}  // namespace berth::testing

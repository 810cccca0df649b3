// Changes the metadata of an object that an API server determines.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_WITH_META_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_WITH_META_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "host/api/objects.h"
#include "host/base/arena.h"

namespace berth::host {

struct ServerMeta {
  std::string_view uid;
  std::string_view resource_version;
  int64_t created_ns = 0;
  int64_t deleted_ns = 0;
};

inline ServerMeta MetaOf(const ObjectBase& object) {
  return {object.uid(), object.resource_version(), object.meta().created_ns,
          object.meta().deleted_ns};
}

// Returns a copy of the pod, node or object with other metadata. The copy shares the memory of
// `object` and keeps it alive.
template <class T>
std::shared_ptr<const T> WithMeta(const std::shared_ptr<const T>& object, const ServerMeta& meta) {
  constexpr size_t kFirstChunk = 128;
  Arena arena(kFirstChunk);
  berth_meta changed = object->meta();
  changed.uid = AsStr(arena.CopyString(meta.uid));
  changed.resource_version = AsStr(arena.CopyString(meta.resource_version));
  changed.created_ns = meta.created_ns;
  changed.deleted_ns = meta.deleted_ns;
  ObjectMemory memory(std::move(arena), object->interner(), {}, object);
  return T::Make(std::move(memory), object->view(), changed);
}

inline AnyObject WithMeta(const AnyObject& object, const ServerMeta& meta) {
  return std::visit([&](const auto& ref) -> AnyObject { return WithMeta(ref, meta); }, object);
}

inline AnyObject WithResourceVersion(const AnyObject& object, std::string_view resource_version) {
  return std::visit(
      [&](const auto& ref) -> AnyObject { return WithResourceVersion(ref, resource_version); },
      object);
}

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_WITH_META_H_

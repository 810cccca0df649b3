// The parts that objects are made of. Each function reads one JSON value; see Reader.
#ifndef BERTH_HOST_API_DECODE_PARTS_H_
#define BERTH_HOST_API_DECODE_PARTS_H_

#include <span>
#include <string>
#include <string_view>

#include <berth/abi.h>

#include "host/api/json_reader.h"

namespace berth::host {

// decode_meta.cc
bool ReadMeta(Reader& reader, JsonValue& value, berth_meta* meta);
// A map of texts, as pairs sorted by key id.
bool ReadIdPairs(Reader& reader, JsonValue& value, berth_array* pairs);
bool ReadConditions(Reader& reader, JsonValue& value, berth_array* conditions);
// Reads the values at the JSON pointers `paths`, then leaves `object` at its beginning.
bool KeepFields(Reader& reader, JsonObject& object, std::span<const std::string> paths,
                berth_array* fields);

// decode_tree.cc
// A tree in the object's arena.
bool ReadTree(Reader& reader, JsonValue& value, const berth_value** tree);
// The whole of an object, which is at its beginning, but for metadata.managedFields.
bool ReadWhole(Reader& reader, JsonObject& object, const berth_value** tree);

// decode_resources.cc
// A ResourceList. `sum` is emptied first.
bool ReadResources(Reader& reader, JsonValue& value, ResourceSum* sum);
// In the scratch arena.
bool ReadResources(Reader& reader, JsonValue& value, ResourceList* resources);
// Rounded up, in the object's arena.
bool ReadResources(Reader& reader, JsonValue& value, const berth_resources** resources);
// What pods may request as a whole: cpu, memory, huge pages. In the scratch arena.
bool ReadPodLevelResources(Reader& reader, JsonValue& value, ResourceList* resources);

// decode_selector.cc
bool ReadLabelSelector(Reader& reader, JsonValue& value, berth_selector** selector);
bool ReadNodeSelectorTerm(Reader& reader, JsonValue& value, berth_node_term* term);

// A selector that label keys of the pod are merged into, once its labels are known.
struct KeyMerge {
  berth_selector* selector = nullptr;  // Null: nothing is merged.
  berth_array match = {};              // berth_id: In the pod's value.
  berth_array mismatch = {};           // berth_id: NotIn the pod's value.
};
void MergeKeys(Reader& reader, const berth_array& pod_labels, const KeyMerge& merge);

// decode_affinity.cc
bool ReadAffinity(Reader& reader, JsonValue& value, berth_affinity* affinity,
                  Stack<KeyMerge>* merges);
bool ReadSpreads(Reader& reader, JsonValue& value, berth_array* spreads, Stack<KeyMerge>* merges);
bool ReadTolerations(Reader& reader, JsonValue& value, berth_array* tolerations);
bool ReadEffect(Reader& reader, JsonValue& value, uint32_t* effect);

// decode_containers.cc
struct Containers {
  std::span<berth_container> views;
  std::span<const ContainerRequests> requests;  // Of each; in the scratch arena.
};
bool ReadContainers(Reader& reader, JsonValue& value, Containers* containers);
// Pushes to Reader::container_statuses.
bool ReadContainerStatuses(Reader& reader, JsonValue& value);

// decode_volumes.cc
// The source of ephemeral volumes is left empty: it has the pod's name in it.
bool ReadVolumes(Reader& reader, JsonValue& value, std::span<berth_volume>* volumes);

// decode_object.cc
// A text that can only be `expected`.
bool ExpectText(Reader& reader, JsonValue& value, std::string_view expected);
// Every object has a name.
bool ExpectName(Reader& reader, const berth_meta& meta);

// What an object says that it is.
struct TypeMeta {
  std::string api_version;
  std::string kind;
};

// decode.cc
// Reads `apiVersion` and `kind`, which must be there, then leaves `object` at its beginning.
bool FindType(Reader& reader, JsonObject& object, TypeMeta* type);

// decode_pod.cc, decode_node.cc, decode_object.cc. Whole objects; `object` is at its beginning.
bool ReadPod(Reader& reader, JsonObject& object, PodRef* pod);
bool ReadNode(Reader& reader, JsonObject& object, NodeRef* node);
bool ReadObject(Reader& reader, JsonObject& object, const TypeMeta& type, ObjectRef* result);

}  // namespace berth::host

#endif  // BERTH_HOST_API_DECODE_PARTS_H_

// Functions that decode the parts of objects. Each function reads one JSON value and returns false
// after an error; see Reader.
#ifndef BERTH_HOST_API_DECODE_PARTS_H_
#define BERTH_HOST_API_DECODE_PARTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/internal/selector_text.h>

#include "host/api/json_reader.h"

namespace berth::host {

// ---- decode_object.cc ---------------------------------------------------------------------------

bool ReadMeta(Reader& reader, JsonValue& value, berth_meta* meta);
// Reads a map of strings as pairs, sorted by key id.
bool ReadIdPairs(Reader& reader, JsonValue& value, berth_array* pairs);
bool ReadConditions(Reader& reader, JsonValue& value, berth_array* conditions);
// Reads the values at the JSON pointers `paths`, and copies the text of the object if `keep_text`
// is set: see KeptText(). Then puts `object` back to its beginning.
// REQUIRES: `object` is at its beginning.
bool KeepFields(Reader& reader, JsonObject& object, std::span<const std::string> paths,
                bool keep_text, berth_array* fields);
// Reads a value as a tree in the object's arena.
bool ReadTree(Reader& reader, JsonValue& value, const berth_value** tree);
// Reads a string and fails unless it is `expected`.
bool ExpectText(Reader& reader, JsonValue& value, std::string_view expected);
// Names the object with its generateName if it has no name, and fails if it has neither.
bool ExpectName(Reader& reader, berth_meta* meta);
// Returns true for the kinds that are known to have a namespace, such as "v1/Pod".
bool HasNamespace(std::string_view kind);

// ---- decode_containers.cc -----------------------------------------------------------------------

// Reads a ResourceList of the API into the scratch arena.
bool ReadResources(Reader& reader, JsonValue& value, ResourceList* resources);
// Reads the list into the object's arena and rounds its amounts up.
bool ReadResources(Reader& reader, JsonValue& value, const berth_resources** resources);
// Reads the resources that a pod may request at pod level (cpu, memory and huge pages) into the
// scratch arena. Other resources are skipped.
bool ReadPodLevelResources(Reader& reader, JsonValue& value, ResourceList* resources);
// Reads a list of a pod's status into the scratch arena.
bool ReadPodStatusList(Reader& reader, JsonValue& value, std::optional<PodStatusList>* list);

struct Containers {
  std::span<berth_container> views;
  std::span<const ContainerRequests> requests;  // One per container, in the scratch arena.
};
// Sets BERTH_POD_HAS_BIND_MOUNT_OPTIONS in `*pod_flags` if a container has such options.
bool ReadContainers(Reader& reader, JsonValue& value, Containers* containers, uint32_t* pod_flags);
// Reads containers that have no view, and only for `*pod_flags`.
bool ReadEphemeralContainers(Reader& reader, JsonValue& value, uint32_t* pod_flags);
// Appends the statuses to the stack of the reader.
bool ReadContainerStatuses(Reader& reader, JsonValue& value);
// Leaves the source of ephemeral volumes empty, because it contains the pod's name, which may not
// be known yet.
bool ReadVolumes(Reader& reader, JsonValue& value, std::span<berth_volume>* volumes);

// ---- decode_selector.cc -------------------------------------------------------------------------

bool ReadLabelSelector(Reader& reader, JsonValue& value, berth_selector** selector);
bool ReadNodeTerms(Reader& reader, JsonValue& value, berth_array* terms);
// Makes a selector of requirements on labels, with any operator. Notes in Reader::problems if
// the selector is invalid.
berth_selector* MakeSelector(Reader& reader,
                             std::span<const internal::TextRequirement> requirements);

// A selector into which label keys of the pod are merged when the pod's labels are known.
struct KeyMerge {
  berth_selector* selector = nullptr;  // Null if there is no selector to merge into.
  berth_array match = {};              // berth_id keys that require the pod's value (In).
  berth_array mismatch = {};           // berth_id keys that exclude the pod's value (NotIn).
  // The API server merged the keys that the selector already has: kube-scheduler merges keys of
  // topologySpreadConstraints again, but none of pod affinity terms. Keys that it does not have
  // are those of a manifest that no API server admitted.
  bool only_new_keys = false;
};
void MergeKeys(Reader& reader, const berth_array& pod_labels, const KeyMerge& merge);

bool ReadAffinity(Reader& reader, JsonValue& value, berth_affinity* affinity,
                  Stack<KeyMerge>* merges);
bool ReadSpreads(Reader& reader, JsonValue& value, berth_array* spreads, Stack<KeyMerge>* merges);
bool ReadTolerations(Reader& reader, JsonValue& value, berth_array* tolerations);
bool ReadEffect(Reader& reader, JsonValue& value, uint32_t* effect);

// ---- Whole objects ------------------------------------------------------------------------------

// The type of an object, from its fields apiVersion and kind.
struct TypeMeta {
  std::string api_version;
  std::string kind;
};

// Reads `apiVersion` and `kind`, which must be present, then puts `object` back to its beginning.
bool FindType(Reader& reader, JsonObject& object, TypeMeta* type);

// Each function reads a whole object.
// REQUIRES: `object` is at its beginning.
bool ReadPod(Reader& reader, JsonObject& object, PodRef* pod);
bool ReadNode(Reader& reader, JsonObject& object, NodeRef* node);
bool ReadObject(Reader& reader, JsonObject& object, const TypeMeta& type, ObjectRef* result);

}  // namespace berth::host

#endif  // BERTH_HOST_API_DECODE_PARTS_H_

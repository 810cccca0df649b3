// Checks the paths by which plugins name parts of pods and nodes.
#ifndef BERTH_HOST_LOADER_FIELD_PATH_H_
#define BERTH_HOST_LOADER_FIELD_PATH_H_

#include <optional>
#include <string>
#include <string_view>

namespace berth::host {

// States what a path was expected to be, and what it is.
struct FieldPathError {
  std::string expected;
  std::string found;  // With the nearest path that exists, if one is similar.
};

// Checks a path of berth_plugin_info.fields: "Pod:" or "Node:", followed by a JSON pointer, which
// is empty for the whole object.
//
// The first two segments must exist in the type of Kubernetes 1.37: /metadata, /spec or /status and
// one of its fields, or /apiVersion or /kind. What follows them is checked for its syntax only:
// there is no schema of these types here, and labels, annotations and resources have any key.
// Returns nullopt if the path is valid.
std::optional<FieldPathError> CheckFieldPath(std::string_view path);

// Checks a path of berth_plugin_info.pod_fields, a JSON pointer into a pod, in the same way.
std::optional<FieldPathError> CheckPodFieldPath(std::string_view pointer);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_FIELD_PATH_H_

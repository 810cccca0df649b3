// Applies the patches of an API server to the JSON of an object.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_OBJECT_PATCH_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_OBJECT_PATCH_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/base/status.h"

namespace berth::host {

enum class PatchType : uint8_t {
  kMerge,           // kMergePatch: RFC 7396.
  kStrategicMerge,  // kStrategicMergePatch: see StrategicMerge().
  kJson,            // kJsonPatch: RFC 6902, all six operations.
};

// The most operations of a JSON patch. apiserver: endpoints/handlers/patch.go.
inline constexpr size_t kMaxPatchOperations = 10'000;

// Applies the patch in `body` to an object of `kind`. Only the patch decides what changes; which
// changes are allowed is the caller's matter.
//
// The operations copy and move of a JSON patch may take kMaxBodyBytes together, because a patch of
// a few lines could otherwise double the object with each of them. (An API server limits copy
// alone.)
//
// Returns: the patched object, which is nested as deep as kMaxBodyDepth at most.
// Errors:  kInvalidArgument for a body that is no patch, and as UnprocessableError() for a JSON
//          patch that does not apply: an operation names a place that does not exist, or a test
//          fails; and the errors of StrategicMerge().
//          kOutOfRange for a body of more than kMaxBodyBytes, and a JSON patch of too many
//          operations or with too much to copy.
// REQUIRES: `object` is an object that is nested as deep as kMaxBodyDepth at most.
Result<nlohmann::ordered_json> ApplyPatch(PatchType type, std::string_view kind,
                                          nlohmann::ordered_json object, std::string_view body);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_OBJECT_PATCH_H_

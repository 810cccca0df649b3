// Converts objects to JSON.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_OBJECT_JSON_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_OBJECT_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "host/api/objects.h"

namespace berth::host {

nlohmann::ordered_json ToJson(const berth_value* value);

// Returns the object as it was decoded, with its current metadata.
nlohmann::ordered_json ToJson(const Object& object);

// Sets the metadata in `json` that the server determines: uid, resourceVersion, creationTimestamp
// and deletionTimestamp, and the namespace if the object has one.
// REQUIRES: `json` is an object or null.
void WriteServerMeta(const ObjectBase& object, nlohmann::ordered_json& json);

// Returns the metadata of an object as a PartialObjectMetadata of meta.k8s.io/v1.
nlohmann::ordered_json MetadataOf(const ObjectBase& object);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_OBJECT_JSON_H_

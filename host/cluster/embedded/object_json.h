// Objects as JSON text again.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_OBJECT_JSON_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_OBJECT_JSON_H_

#include <nlohmann/json.hpp>

#include "host/api/objects.h"

namespace berth::host {

nlohmann::ordered_json ToJson(const berth_value* value);

// The object as it was read, with the metadata that it has now.
nlohmann::ordered_json ToJson(const Object& object);

// Puts into `json`, the text of an object, what the server fills in: uid, resourceVersion and the
// times of creation and deletion. REQUIRES: `json` is an object or null.
void WriteServerMeta(const ObjectBase& object, nlohmann::ordered_json& json);

// What there is to say of any object (meta.k8s.io/v1 PartialObjectMetadata).
nlohmann::ordered_json MetadataOf(const ObjectBase& object);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_OBJECT_JSON_H_

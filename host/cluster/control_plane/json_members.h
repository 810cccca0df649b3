// Access to members of JSON objects that were decoded, so that their types are known to be right
// where a type is known.
#ifndef BERTH_HOST_CLUSTER_CONTROL_PLANE_JSON_MEMBERS_H_
#define BERTH_HOST_CLUSTER_CONTROL_PLANE_JSON_MEMBERS_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/base/status.h"

namespace berth::host {

// Returns the value at a JSON pointer such as "/spec/template/0"; null if there is none. The keys
// must not need escapes.
const nlohmann::ordered_json& ValueAt(const nlohmann::ordered_json& json, std::string_view pointer);

// Returns the text at a JSON pointer; "" if there is none.
std::string TextAt(const nlohmann::ordered_json& json, std::string_view pointer);

// Returns metadata.namespace of an object with a namespace, which is "default" if it is absent.
std::string NamespaceOf(const nlohmann::ordered_json& object);

// Returns the member of an object, which becomes an object without members if it is absent or null.
// `json` becomes an object, too.
// Lifetime: until a member is added to `json`.
nlohmann::ordered_json& ObjectIn(nlohmann::ordered_json& json, const char* key);
// As ObjectIn(), for an array.
nlohmann::ordered_json& ArrayIn(nlohmann::ordered_json& json, const char* key);

// Adds the members of `from` that `to` lacks, which may be null. Returns whether there were any.
bool AddMissing(const nlohmann::ordered_json& from, nlohmann::ordered_json& to);

// Returns the value for a message; "nothing" for null.
std::string FoundText(const nlohmann::ordered_json& value);

// Returns the error "<pointer>: expected <expected>, found <found>" (kInvalidArgument).
Status Unexpected(std::string_view pointer, std::string_view expected, std::string_view found);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_CONTROL_PLANE_JSON_MEMBERS_H_

// Finds places in the JSON text of objects, and names the objects, for messages about objects that
// cannot be decoded.
#ifndef BERTH_HOST_API_OBJECT_PLACE_H_
#define BERTH_HOST_API_OBJECT_PLACE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::host {

// These functions accept malformed JSON. Keys and texts are compared and returned as they are
// written: escapes such as \u0041 are not decoded. If a key occurs twice, the first one counts.

// Returns the offset in `json` of the value at a JSON pointer such as "/spec/containers/0". If
// there is no such value, returns the offset of the innermost value on the way to it. The root is
// the first value of the text.
size_t FindPlace(std::string_view json, std::string_view pointer);

// Returns true if the root of `json` is an object that has the member `key`.
bool HasMember(std::string_view json, std::string_view key);

// Returns the keys and indexes of a JSON pointer, without its escapes: "metadata", "a/b" for
// "/metadata/a~1b".
std::vector<std::string> SegmentsOf(std::string_view pointer);

// Returns the JSON pointer at the beginning of a message of Decoder: "/spec/priority" of
// "/spec/priority: expected an integer". Returns "" if there is none.
std::string_view PointerOf(std::string_view message);

// Returns the kind, the namespace and the name of an object: "Pod default/web-0", "Node n1". Leaves
// out what the text does not state; a pod without a namespace is in the namespace "default".
// Returns "" if the text states neither a kind nor a name. `list_type`: the "apiVersion/Kind" of an
// object that does not state its kind, such as "v1/Pod" in a PodList. May be empty.
std::string DescribeObject(std::string_view json, std::string_view list_type = "");

}  // namespace berth::host

#endif  // BERTH_HOST_API_OBJECT_PLACE_H_

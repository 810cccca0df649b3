// The errors and paths of an API server, and its forms of objects in JSON.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_API_PROTOCOL_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_API_PROTOCOL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "host/api/objects.h"
#include "host/base/status.h"

namespace berth::host {

// ---- Errors -------------------------------------------------------------------------------------
//
// The texts are those of k8s.io/apimachinery/pkg/api/errors.

// Returns the resource of a kind: the plural that apimachinery's meta.UnsafeGuessKindToResource
// forms, followed by the group. "v1/Pod" is "pods", and "storage.k8s.io/v1/CSINode" is
// "csinodes.storage.k8s.io".
std::string ResourceOf(std::string_view kind);

// `the server could not find the requested resource`: the path belongs to no resource.
Status NoResourceError();

// `pods "web-0" not found`
Status NotFoundError(std::string_view kind, std::string_view name);

// `pods "web-0" already exists`
Status AlreadyExistsError(std::string_view kind, std::string_view name);

// `Operation cannot be fulfilled on pods "web-0": why`. `resource` is the result of ResourceOf(),
// or a subresource such as "pods/binding".
Status ConflictError(std::string_view resource, std::string_view name, std::string_view why);

// A conflict because the object does not have the expected uid: another object with the same name
// has replaced it.
Status UidConflictError(std::string_view resource, std::string_view name, std::string_view expected,
                        std::string_view found);

// A conflict because the object does not have the expected resourceVersion.
Status VersionConflictError(std::string_view resource, std::string_view name,
                            std::string_view expected, std::string_view found);

// A conflict because an update has a resourceVersion that is not the current one.
Status StaleError(std::string_view kind, std::string_view name);

// `Pod "web-0" is invalid: field: why`
Status InvalidError(std::string_view kind, std::string_view name, std::string_view field,
                    std::string_view why);

// `the server rejected our request due to an error in our request: why`: a patch that does not
// apply to the object. An API server leaves out why.
Status UnprocessableError(std::string_view why);

// `the body of the request was in an unknown format - accepted media types include: ...`
Status MediaTypeError(std::string_view accepted);

// Returns whether MediaTypeError() made the error.
bool IsMediaTypeError(const Status& error);

// Returns whether InvalidError() made the error: the object was decoded, but its content was
// rejected.
bool IsInvalidError(const Status& error);

// ---- Paths --------------------------------------------------------------------------------------

// The parts of a path such as "/apis/storage.k8s.io/v1/csinodes/a?x=y".
struct ApiPath {
  std::string group_version;  // Such as "v1" or "storage.k8s.io/v1".
  std::string ns;             // Empty if the path has no namespace.
  std::string resource;       // Such as "csinodes".
  std::string name;           // Empty for a collection.
  std::string subresource;    // Such as "status"; empty for the object itself.
  std::string query;          // Such as "x=y".

  // Errors: NotFound, with the text of an API server, if `path` is not the path of a resource.
  static Result<ApiPath> Parse(std::string_view path);

  // Returns whether the path belongs to the resource of `kind`, such as
  // "storage.k8s.io/v1/CSINode".
  bool IsPathOf(std::string_view kind) const;
};

// ---- The Status object (meta/v1) of an error ----------------------------------------------------

// Returns the HTTP status of an error, one of those that client.h lists for its ErrorCode:
// kInvalidArgument is 422 for an InvalidError() or UnprocessableError() and 400 otherwise,
// kUnsupported is 415 for a MediaTypeError() and 405 otherwise, and kOutOfRange is 413.
// REQUIRES: !error.ok().
uint32_t HttpStatusOf(const Status& error);

// Returns the Status object of an error as JSON: its HTTP status, reason and message, and the path
// `about` that it concerns.
// REQUIRES: !error.ok().
std::string StatusObject(const Status& error, const ApiPath& about);

// ---- Objects ------------------------------------------------------------------------------------

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

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_API_PROTOCOL_H_

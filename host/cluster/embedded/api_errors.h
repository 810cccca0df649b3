// The errors of an API server, with the same texts (k8s.io/apimachinery/pkg/api/errors).
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_API_ERRORS_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_API_ERRORS_H_

#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

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

// `the body of the request was in an unknown format - accepted media types include: ...`
Status MediaTypeError(std::string_view accepted);

// Returns whether MediaTypeError() made the error.
bool IsMediaTypeError(const Status& error);

// Returns whether InvalidError() made the error: the object was decoded, but its content was
// rejected.
bool IsInvalidError(const Status& error);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_API_ERRORS_H_

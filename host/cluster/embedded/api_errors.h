// The refusals of an API server, in its words (k8s.io/apimachinery/pkg/api/errors).
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_API_ERRORS_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_API_ERRORS_H_

#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// "v1/Pod" is "pods", "storage.k8s.io/v1/CSINode" is "csinodes.storage.k8s.io": the plural as
// apimachinery's meta.UnsafeGuessKindToResource makes it, then the group.
std::string ResourceOf(std::string_view kind);

// `the server could not find the requested resource`: there is nothing at such a path.
Status NoResourceError();

// `pods "web-0" not found`
Status NotFoundError(std::string_view kind, std::string_view name);

// `pods "web-0" already exists`
Status AlreadyExistsError(std::string_view kind, std::string_view name);

// `Operation cannot be fulfilled on pods "web-0": why`. `resource` is what ResourceOf gives, or a
// subresource, "pods/binding".
Status ConflictError(std::string_view resource, std::string_view name, std::string_view why);

// A conflict because the object is not the one that was meant: one of the same name with another
// uid took its place.
Status UidConflictError(std::string_view resource, std::string_view name, std::string_view expected,
                        std::string_view found);

// The same for another resourceVersion than the one that was meant.
Status VersionConflictError(std::string_view resource, std::string_view name,
                            std::string_view expected, std::string_view found);

// A conflict because of a resourceVersion that is not the present one.
Status StaleError(std::string_view kind, std::string_view name);

// `Pod "web-0" is invalid: field: why`
Status InvalidError(std::string_view kind, std::string_view name, std::string_view field,
                    std::string_view why);

// Whether it is one of InvalidError: read and understood, and refused for what it says.
bool IsInvalidError(const Status& error);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_API_ERRORS_H_

// The Status object (meta/v1) that an API server returns for an error.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_STATUS_OBJECT_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_STATUS_OBJECT_H_

#include <cstdint>
#include <string>

#include "host/base/status.h"
#include "host/cluster/embedded/api_path.h"

namespace berth::host {

// Returns the HTTP status of an error, one of those that client.h lists for its ErrorCode:
// kInvalidArgument is 422 for an InvalidError() and 400 otherwise, kUnsupported is 415 for a
// MediaTypeError() and 405 otherwise, and kOutOfRange is 413.
// REQUIRES: !error.ok().
uint32_t HttpStatusOf(const Status& error);

// Returns the Status object of an error as JSON: its HTTP status, reason and message, and the path
// `about` that it concerns.
// REQUIRES: !error.ok().
std::string StatusObject(const Status& error, const ApiPath& about);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_STATUS_OBJECT_H_

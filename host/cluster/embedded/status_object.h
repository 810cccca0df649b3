// The Status object (meta/v1) that an API server returns for an error.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_STATUS_OBJECT_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_STATUS_OBJECT_H_

#include <string>

#include "host/base/status.h"
#include "host/cluster/embedded/api_path.h"

namespace berth::host {

// Returns the Status object of an error as JSON: its HTTP code, reason and message, and the path
// `about` that it concerns. The code is one of those that client.h lists for the ErrorCode:
// kInvalidArgument is 422 for an InvalidError() and 400 otherwise, kUnsupported is 405, and
// kOutOfRange is 413.
// REQUIRES: !error.ok().
std::string StatusObject(const Status& error, const ApiPath& about);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_STATUS_OBJECT_H_

// What an API server answers instead of an object: meta/v1 Status.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_STATUS_OBJECT_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_STATUS_OBJECT_H_

#include <string>

#include "host/base/status.h"
#include "host/cluster/embedded/api_path.h"

namespace berth::host {

// The Status object of an error, as JSON: its HTTP code and reason, its message, and what it is
// about. client.h says which codes an ErrorCode stands for; of several, 400 is what could not be
// read and 422 what InvalidError says, 405 and 413 stand for their like.
// REQUIRES: !error.ok().
std::string StatusObject(const Status& error, const ApiPath& about);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_STATUS_OBJECT_H_

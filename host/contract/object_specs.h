// Converts decoded objects to the specifications that the SDK's test kit builds its views from.
#ifndef BERTH_HOST_CONTRACT_OBJECT_SPECS_H_
#define BERTH_HOST_CONTRACT_OBJECT_SPECS_H_

#include <berth/testing/builders.h>

#include "host/api/objects.h"

namespace berth::host {

// Each function returns a specification whose view in the test kit has the same content as the
// object, except for ids. An object without a uid gets one.
testing::PodSpec SpecOf(const Pod& pod);
// The node has no pods.
testing::NodeSpec SpecOf(const Node& node);
testing::ObjectSpec SpecOf(const Object& object);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_OBJECT_SPECS_H_

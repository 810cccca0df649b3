// Finds services of an instance's host outside of create().
#ifndef BERTH_HOST_RUNTIME_SERVICES_TEST_FIND_SERVICE_H_
#define BERTH_HOST_RUNTIME_SERVICES_TEST_FIND_SERVICE_H_

#include <string_view>

#include <gtest/gtest.h>

#include <berth/abi.h>

#include "host/plan/instance_host.h"

namespace berth::host {

// Returns the service that get_service of an InstanceHost sets in create(). Fails the test, and
// returns null, if the host does not serve it. REQUIRES: the host is not retired. Threading: any.
template <class T>
const T* FindService(const berth_host* host, std::string_view id) {
  const void* functions = nullptr;
  EXPECT_EQ(InstanceHost::FromAbi(host).FindService(id, &functions), BERTH_SUCCESS) << id;
  return static_cast<const T*>(functions);
}

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_TEST_FIND_SERVICE_H_

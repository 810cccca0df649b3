// Finds services of an instance's host outside of create().
#ifndef BERTH_HOST_RUNTIME_SERVICES_TEST_FIND_SERVICE_H_
#define BERTH_HOST_RUNTIME_SERVICES_TEST_FIND_SERVICE_H_

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include <berth/abi.h>

#include "host/runtime/instance_host.h"
#include "host/runtime/services/services.h"

namespace berth::host {

// Returns the service that get_service of an InstanceHost sets in create(). Fails the test, and
// returns null, if the host does not serve it. REQUIRES: the host is not retired. Threading: any.
template <class T>
const T* FindService(const berth_host* host, std::string_view id) {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  const auto services = Services();
  const auto found = std::ranges::find(services, id, &ServiceInfo::id);
  const bool is_served = found != services.end() &&
                         (found->is_served == nullptr || found->is_served(instance.services()));
  EXPECT_TRUE(is_served) << id;
  if (!is_served) return nullptr;
  const void* service = id == BERTH_SERVICE_LOG ? instance.log_service() : found->service;
  return static_cast<const T*>(service);
}

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_TEST_FIND_SERVICE_H_

// Measures the memory that the calls of each function of a plugin keep.
#ifndef BERTH_HOST_CONTRACT_MEMORY_CHECK_H_
#define BERTH_HOST_CONTRACT_MEMORY_CHECK_H_

#include <functional>
#include <memory>
#include <vector>

#include <berth/testing/fake_host.h>

#include "host/contract/contract_cluster.h"
#include "host/contract/memory_growth.h"

namespace berth::host {

// Calls each function of the plugin thousands of times with the pods and nodes of `cluster`, on one
// instance, and returns the functions that leak. The memory of a function that runs after others
// (Score after PreFilter and PreScore) is not measured if one of those leaks already.
//
// `create` returns an instance in the cluster for which the test kit keeps nothing for each call:
// see QuietServices(). `budget`: for each function.
std::vector<MemoryLeak> CheckMemoryOfCalls(
    const std::function<std::unique_ptr<testing::PluginUnderTest>()>& create,
    const ContractCluster& cluster, const MemoryBudget& budget);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_MEMORY_CHECK_H_

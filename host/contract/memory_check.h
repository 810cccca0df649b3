// Measures the memory that the calls of each function of a plugin keep.
#ifndef BERTH_HOST_CONTRACT_MEMORY_CHECK_H_
#define BERTH_HOST_CONTRACT_MEMORY_CHECK_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <berth/testing/fake_host.h>

#include "host/contract/contract_cluster.h"
#include "host/contract/memory_growth.h"

namespace berth::host {

struct MemoryReport {
  std::vector<MemoryLeak> leaks;
  std::vector<std::string> gaps;  // A sentence for each function about which nothing is known.
};

// Calls each function of the plugin thousands of times with the pods and nodes of `cluster`, on one
// instance, and finds the functions that leak. A function that is measured together with earlier
// ones (PostFilter after PreFilter, Permit after Reserve) is not measured if one of those leaks.
//
// `create` returns an instance in the cluster whose checks are switched off, so that the test kit
// keeps nothing for each call. `budget`: for each function.
MemoryReport CheckMemoryOfCalls(
    const std::function<std::unique_ptr<testing::PluginUnderTest>()>& create,
    const ContractCluster& cluster, const MemoryBudget& budget);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_MEMORY_CHECK_H_

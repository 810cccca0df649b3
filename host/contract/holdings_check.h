// Finds out whether a plugin holds more and more ids, references, values and selectors.
#ifndef BERTH_HOST_CONTRACT_HOLDINGS_CHECK_H_
#define BERTH_HOST_CONTRACT_HOLDINGS_CHECK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <berth/testing/fake_host.h>

#include "host/contract/contract_cluster.h"
#include "host/contract/memory_check.h"

namespace berth::host {

// Calls `round` in windows, each of which has twice as many rounds as the one before, and compares
// what is held before and after each window. Something that is held once, or up to a bound (an
// index of what exists, a cache), has a window without growth sooner or later; what is never
// released grows in each.
//
// Growth is found if each of the last kMinHoldingWindows windows grew by at least one for each
// round, and kMaxHoldingRounds or the budget is reached. The search does not decide if the budget
// ends before kMinHoldingRounds: a cache that is not yet full looks like growth.
inline constexpr int kMinHoldingWindows = 3;
inline constexpr uint64_t kMinHoldingRounds = 60;
inline constexpr uint64_t kMaxHoldingRounds = 500;
struct HoldingsSearch {
  testing::Holdings more = {};  // By how much each kind grew over `rounds`; 0: no growth was found.
  uint64_t rounds = 0;          // All rounds, except the first, that are not measured.
  bool is_decided = true;       // False if the budget ended too early.
};
HoldingsSearch FindGrowth(const std::function<void()>& round,
                          const std::function<testing::Holdings()>& held,
                          const MemoryBudget& budget);

struct HoldingsReport {
  std::vector<std::string> leaks;  // "holds 384 ids more after 384 pods came and went"
  std::vector<std::string> gaps;   // A sentence for each search that did not decide.
};

// Lets pods, nodes and objects with new names come and go, like those of `cluster`, and finds what
// the plugin holds of them for ever. Holdings that are left when an instance ends are no violation,
// because the host releases them.
//
// `create` returns an instance in the cluster whose checks are switched off. `budget`: for pods,
// for nodes and for objects.
HoldingsReport CheckHoldings(
    const std::function<std::unique_ptr<testing::PluginUnderTest>()>& create,
    const ContractCluster& cluster, const MemoryBudget& budget);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_HOLDINGS_CHECK_H_

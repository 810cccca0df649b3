// Finds out whether a function that is called again and again keeps more and more memory, and
// measures each function of a plugin so.
#ifndef BERTH_HOST_CONTRACT_MEMORY_CHECK_H_
#define BERTH_HOST_CONTRACT_MEMORY_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <berth/testing/fake_host.h>

#include "host/contract/contract_cluster.h"

namespace berth::host {

// The memory of the process, in bytes.
struct MemoryUse {
  size_t heap = 0;    // What malloc() has returned and free() has not received.
  size_t mapped = 0;  // The address space, which contains also what the heap does not.
};

// Returns the current use of memory. Returns no heap if a sanitizer replaces the heap.
MemoryUse CurrentMemoryUse();
// Returns whether CurrentMemoryUse() contains the heap.
bool CanMeasureHeap();

// How long one function may be measured.
struct MemoryBudget {
  int64_t ns = 0;
  const std::function<int64_t()>& steady_ns;
};

// The growth of one kind of memory or of holdings over windows of calls.
struct Growth {
  int windows = 0;  // The windows in a row that grew.
  size_t amount = 0;
  uint64_t calls = 0;

  // Adds a window, which grew if it grew by at least one for each call and by at least `least`.
  void Add(size_t before, size_t after, uint64_t calls_of_window, size_t least = 1) {
    const size_t more = after > before ? after - before : 0;
    if (more < calls_of_window || more < least) {
      *this = {};
      return;
    }
    ++windows;
    amount += more;
    calls += calls_of_window;
  }
};

struct MemoryLeak {
  std::string function;  // "Filter"
  size_t bytes_per_call = 0;
  uint64_t calls = 0;  // The calls over which the growth was measured.
};

// Returns "Filter leaks about 102416 bytes each call, over 2032 calls".
std::string ToString(const MemoryLeak& leak);

// Calls `call` in windows, each of which has twice as many calls as the one before, and compares
// the use of memory before and after each window. A function that keeps memory once, or a bounded
// amount (a cache, a pool), has a window without growth sooner or later; a leak grows in each. That
// includes an array without bound, whose capacity doubles.
//
// Finds a leak if each of the last kMinWindows windows grew by at least one byte for each call, and
// kMaxCalls, kMaxGrowth or the budget is reached. Does not decide if the budget ends before
// kMinCallsOfBudget: a cache that is not yet full looks like a leak. `use` returns the use of
// memory.
inline constexpr int kMinWindows = 3;
inline constexpr uint64_t kMinCallsOfBudget = 4096;
inline constexpr uint64_t kMaxCalls = uint64_t{1} << 17;
inline constexpr size_t kMaxGrowth = size_t{64} << 20;
struct LeakSearch {
  std::optional<MemoryLeak> leak;
  uint64_t calls = 0;      // All calls.
  bool is_decided = true;  // False if the budget ended too early to know whether there is a leak.
};
LeakSearch FindLeak(const std::string& function, const std::function<void()>& call,
                    const std::function<MemoryUse()>& use, const MemoryBudget& budget);

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

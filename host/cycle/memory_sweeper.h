// Frees columns and interned strings that pods no longer use.
#ifndef BERTH_HOST_CYCLE_MEMORY_SWEEPER_H_
#define BERTH_HOST_CYCLE_MEMORY_SWEEPER_H_

#include <cstddef>

#include "host/base/interner.h"
#include "host/cache/node_table.h"

namespace berth::host {

// Pods bring columns of the node table (one for each host port, for example) and interned strings
// with them. Without a limit both would grow without bound.
//
// Threading: the scheduling thread.
// Lifetime:  table and interner must outlive it.
class MemorySweeper {
 public:
  // The limits of idle columns: of those that no plugin bound when it was created.
  struct Limits {
    size_t idle_column_bytes = size_t{64} << 20;
    size_t idle_columns = 256;  // Every column has a cost for each pod that is added or removed.
  };

  MemorySweeper(NodeTable& table, Interner& interner, const Limits& limits)
      : table_(table), interner_(interner), limits_(limits) {}

  // Drops idle columns beyond the limits, the longest unused first. Sweeps the interner if at least
  // half of its strings are unreferenced, and if these are many: a sweep visits every string, so
  // its cost is proportional to the number of strings that it frees.
  // Must not: be called by code that holds an interned id without a reference to it.
  void Sweep() {
    constexpr size_t kMinUnreferenced = 4096;
    table_.DropIdleColumns(limits_.idle_column_bytes, limits_.idle_columns);
    const size_t unreferenced = interner_.unreferenced();
    if (unreferenced >= kMinUnreferenced && unreferenced >= interner_.size() / 2) {
      interner_.Sweep();
    }
  }

 private:
  NodeTable& table_;
  Interner& interner_;
  const Limits limits_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_MEMORY_SWEEPER_H_

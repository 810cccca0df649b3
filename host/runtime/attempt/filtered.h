// The result of Filter: which nodes can run the pod, and why the others cannot.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_FILTERED_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_FILTERED_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include <berth/abi.h>

#include "host/base/assert.h"
#include "host/cache/node_table.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

// Stands for no plugin where an index into Plan::plugins() is expected.
inline constexpr uint32_t kNoPlugin = UINT32_MAX;

// The verdict of the Filters for a row.
struct RowVerdict {
  uint64_t reasons = 0;
  uint32_t plugin = kNoPlugin;  // The first one that rejects the row.
  uint8_t code = BERTH_SUCCESS;

  bool operator==(const RowVerdict&) const = default;
};

// A row that is not feasible.
struct RejectedRow {
  Row row;
  // If the row has nominated pods, the verdict may be the one that was computed with those pods
  // added.
  RowVerdict verdict;
};

// Lifetime: what it refers to belongs to the Evaluation, and is valid until the next call of its
//           Filter().
struct Filtered {
  // Success; an error when a plugin failed, which fails the cycle. Then nothing else is meaningful.
  PluginStatus status = {};
  // The candidates that passed all Filters; never null.
  const Selection* feasible = &Selection::None();
  // The other candidates, in any order. An evaluation that reuses answers leaves them out if a row
  // is feasible.
  std::span<const RejectedRow> rejected = {};
  // The node that the pod is nominated to passed, and was the only candidate.
  bool nominated_only = false;

  // Returns the verdict of a rejected row, in O(rejected rows). REQUIRES: the row is in `rejected`.
  const RowVerdict& VerdictOf(Row row) const {
    const auto found = std::ranges::find(rejected, row, &RejectedRow::row);
    BERTH_ASSERT(found != rejected.end());
    return found->verdict;
  }
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_FILTERED_H_

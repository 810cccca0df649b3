// Memory that the classes of pods share while one of them is brought up to date.
#ifndef BERTH_HOST_RUNTIME_REUSE_CLASS_MEMORY_H_
#define BERTH_HOST_RUNTIME_REUSE_CLASS_MEMORY_H_

#include <cstdint>
#include <vector>

#include "host/cache/node_table.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

// The contents are meaningful only within one call of PodClass or ClassScores.
struct ClassMemory {
  std::vector<Row> touched;     // Rows that may have another verdict than before, ascending.
  std::vector<Row> rows;        // The rows that the current step is about, ascending.
  std::vector<Row> removed;     // Rows that are not feasible any more.
  Selection selected;           // `rows`, as the argument of a call.
  Selection passed;             // The rows of `selected` that pass.
  std::vector<int64_t> raw;     // Scores of `rows` by one plugin.
  std::vector<int64_t> sums;    // Sums of the scores of `rows`.
  std::vector<int64_t> by_row;  // Totals of all rows of the table.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_REUSE_CLASS_MEMORY_H_

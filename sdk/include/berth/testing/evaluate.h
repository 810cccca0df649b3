// Runs Filter and Score over one block and checks every requirement on their outputs.
#ifndef BERTH_TESTING_EVALUATE_H_
#define BERTH_TESTING_EVALUATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/cycle.h>
#include <berth/testing/table.h>

namespace berth::testing {

// The two points that are called per block.
enum class Step { kFilter, kScore };

inline const char* StepName(Step step) { return step == Step::kFilter ? "Filter" : "Score"; }

// Whether other threads call the same step meanwhile. Crashes and late calls are reported with it.
enum class Threads { kOne, kSeveral };

// The result of a step for one node.
struct RowAnswer {
  Answer answer;      // Filter
  int64_t score = 0;  // Score, raw

  friend bool operator==(const RowAnswer&, const RowAnswer&) = default;
};

std::string ToString(Step step, const RowAnswer& answer);

// The result of a step for a block. `rows` is indexed by block index; an entry is valid if the
// index was selected and `call` is Success.
struct BlockAnswer {
  Answer call;
  std::vector<RowAnswer> rows;
};

// Calls the step for `block`. `where` describes the block in failure messages: "in blocks of 3".
BlockAnswer Evaluate(Cycle& cycle, const Block& block, Step step, const std::string& where = "",
                     Threads threads = Threads::kOne);

}  // namespace berth::testing

#endif  // BERTH_TESTING_EVALUATE_H_

// Checks that the result for a node does not depend on blocks, selections, memory layout, threads
// or repetition.
#ifndef BERTH_TESTING_CHECK_BLOCKS_H_
#define BERTH_TESTING_CHECK_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/attempt.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

// Compares one cycle with the result of the step for the whole table in one block.
class BlockChecker {
 public:
  BlockChecker(Cycle* cycle, Step step, const BlockAnswer& reference);

  void Run();

 private:
  enum class Selection { kNull, kAll, kSecond, kRandom, kNone };
  static constexpr size_t kMostRowsInSmallBlocks = 512;

  // Repeats the rows until there are `count`: a block may hold what-if rows of a node as well as
  // its own row.
  static std::vector<uint32_t> Repeat(const std::vector<uint32_t>& rows, size_t count);

  void RunSize(const std::vector<uint32_t>& allowed, uint32_t size);

  void RunBlock(const std::vector<uint32_t>& rows, Selection selection, Layout layout,
                const std::string& where);

  // Runs without optional columns. The results may differ then, but all other requirements hold.
  void RunWithoutOptional(const std::vector<uint32_t>& allowed);

  void RunAtOnce(const std::vector<uint32_t>& allowed);

  void Compare(const Block& block, const BlockAnswer& answer, Check check,
               const std::string& where);

  std::vector<uint32_t> Select(Selection selection, uint32_t count);
  static const char* SelectionName(Selection selection);
  Layout NextLayout();

  Cycle& cycle_;
  const Step step_;
  const BlockAnswer& reference_;
  Reporter& reporter_;
  std::mt19937 random_{42};
  uint32_t turn_ = 0;
};

// Checks that a new instance returns the same as another new one, even if PreFilter and PreScore
// receive the nodes in other blocks.
void CheckRepeat(const Prober& prober, const Table& table, const PodHandle& pod);

}  // namespace berth::testing

#endif  // BERTH_TESTING_CHECK_BLOCKS_H_

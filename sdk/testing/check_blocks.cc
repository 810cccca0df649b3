#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/attempt.h>
#include <berth/testing/check_blocks.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/instance.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

BlockChecker::BlockChecker(Cycle* cycle, Step step, const BlockAnswer& reference)
    : cycle_(*cycle), step_(step), reference_(reference), reporter_(cycle->instance().reporter()) {}

void BlockChecker::Run() {
  const std::vector<uint32_t> allowed = cycle_.AllowedRows();
  if (allowed.empty() || !reference_.call.ok()) return;
  // A whole Filter receives all nodes, never some of them.
  if (step_ == Step::kFilter && IsWholeFilter(cycle_.instance())) return;
  const auto before = cycle_.slots().Bytes();
  for (const uint32_t size : {1u, 2u, 3u, 7u, 64u, 256u}) RunSize(allowed, size);
  RunSize(allowed, static_cast<uint32_t>(allowed.size()));
  RunWithoutOptional(allowed);
  RunAtOnce(allowed);
  cycle_.slots().CheckUnchanged(before, StepName(step_));
  cycle_.slots().CheckGuards(StepName(step_));
}

std::vector<uint32_t> BlockChecker::Repeat(const std::vector<uint32_t>& rows, size_t count) {
  std::vector<uint32_t> out;
  for (size_t i = 0; i < count; ++i) out.push_back(rows[i % rows.size()]);
  return out;
}

void BlockChecker::RunSize(const std::vector<uint32_t>& allowed, uint32_t size) {
  size_t count = std::max<size_t>(allowed.size(), size > 7 ? size + size_t{1} : size);
  if (size <= 7) count = std::min(count, std::max(kMostRowsInSmallBlocks, size_t{size}));
  const std::vector<uint32_t> rows = Repeat(allowed, count);
  for (const Selection selection : {Selection::kNull, Selection::kAll, Selection::kSecond,
                                    Selection::kRandom, Selection::kNone}) {
    const Layout layout = NextLayout();
    for (size_t begin = 0; begin < rows.size(); begin += size) {
      const size_t end = std::min(rows.size(), begin + size);
      RunBlock({rows.begin() + static_cast<std::ptrdiff_t>(begin),
                rows.begin() + static_cast<std::ptrdiff_t>(end)},
               selection, layout,
               "in blocks of " + std::to_string(size) + SelectionName(selection));
    }
  }
}

void BlockChecker::RunBlock(const std::vector<uint32_t>& rows, Selection selection, Layout layout,
                            const std::string& where) {
  const std::vector<uint32_t> selected = Select(selection, static_cast<uint32_t>(rows.size()));
  const Block block(cycle_.table(), cycle_.columns(), rows,
                    selection == Selection::kNull ? nullptr : &selected, layout);
  Compare(block, Evaluate(cycle_, block, step_, where), Check::kBlocks, where);
}

void BlockChecker::RunWithoutOptional(const std::vector<uint32_t>& allowed) {
  const auto& columns = cycle_.columns();
  if (std::none_of(columns.begin(), columns.end(), [](const ColumnName& c) { return c.optional; }))
    return;
  Layout layout;
  layout.no_optional = true;
  const Block block(cycle_.table(), columns, allowed, nullptr, layout);
  Evaluate(cycle_, block, step_, "without its optional columns");
}

void BlockChecker::RunAtOnce(const std::vector<uint32_t>& allowed) {
  const Instance& instance = cycle_.instance();
  const uint32_t serial = step_ == Step::kFilter ? instance.filter->flags & BERTH_FILTER_SERIAL
                                                 : instance.score->flags & BERTH_SCORE_SERIAL;
  if (serial != 0 || !reporter_.Wants(Check::kConcurrency)) return;
  constexpr size_t kThreads = 4;
  constexpr size_t kRounds = 4;
  const std::vector<uint32_t> rows =
      Repeat(allowed, std::max<size_t>(64, std::min<size_t>(allowed.size(), 256)));
  std::vector<std::unique_ptr<Block>> blocks;
  for (size_t i = 0; i < kThreads; ++i) {
    blocks.push_back(
        std::make_unique<Block>(cycle_.table(), cycle_.columns(), rows, nullptr, NextLayout()));
  }
  std::atomic<size_t> ready{0};
  const auto work = [&](const Block& block) {
    ready.fetch_add(1);
    while (ready.load() < kThreads) std::this_thread::yield();
    for (size_t round = 0; round < kRounds; ++round) {
      const std::string where =
          "in blocks on " + std::to_string(kThreads) + " threads at the same time";
      Compare(block, Evaluate(cycle_, block, step_, where, Threads::kSeveral), Check::kConcurrency,
              where);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (const auto& block : blocks) threads.emplace_back(work, std::cref(*block));
  for (std::thread& thread : threads) thread.join();
}

void BlockChecker::Compare(const Block& block, const BlockAnswer& answer, Check check,
                           const std::string& where) {
  const std::string subject = Subject(step_, cycle_.pod()) + " " + where;
  std::string remedy;
  if (check == Check::kConcurrency) {
    remedy = std::string("; the host, too, calls ") + StepName(step_) +
             " on several threads at the same time: guard everything that its calls share and "
             "change, or set " +
             (step_ == Step::kFilter ? "BERTH_FILTER_SERIAL" : "BERTH_SCORE_SERIAL");
  }
  if (answer.call.code != reference_.call.code) {
    reporter_.Fail(check, subject + ": returns " + ToString(answer.call) + ", but in one block " +
                              ToString(reference_.call) + remedy);
    return;
  }
  const auto differs = [&](uint32_t i) {
    return block.is_selected(i) && answer.rows[i] != reference_.rows[block.index(i)];
  };
  uint32_t i = 0;
  while (i < block.count() && !differs(i)) ++i;
  if (i == block.count()) return;
  reporter_.Fail(check, subject + ": node \"" + block.NodeName(i) + "\" at index " +
                            std::to_string(i) + ": " + ToString(step_, answer.rows[i]) +
                            ", but in one block " +
                            ToString(step_, reference_.rows[block.index(i)]) + remedy);
}

std::vector<uint32_t> BlockChecker::Select(Selection selection, uint32_t count) {
  std::vector<uint32_t> selected;
  for (uint32_t i = 0; i < count; ++i) {
    const bool in = selection == Selection::kAll ||
                    (selection == Selection::kSecond && i % 2 == 1) ||
                    (selection == Selection::kRandom && random_() % 2 == 0);
    if (in) selected.push_back(i);
  }
  return selected;
}

const char* BlockChecker::SelectionName(Selection selection) {
  switch (selection) {
    case Selection::kNull: return "";
    case Selection::kAll: return ", all selected";
    case Selection::kSecond: return ", every second selected";
    case Selection::kRandom: return ", some selected";
    case Selection::kNone: return ", none selected";
  }
  return "";
}

Layout BlockChecker::NextLayout() {
  const uint32_t turn = turn_++;
  return {turn % 4, turn % 3, false, turn % 2 == 1, turn % 2 == 0 ? uint8_t{0x5a} : uint8_t{0xa5}};
}

void CheckRepeat(const Prober& prober, const Table& table, const PodHandle& pod) {
  const Attempt first = prober.Try(table, pod);
  if (!first.asked) return;
  const auto all = [](const Row&) { return true; };
  for (const uint32_t size : {Cycle::kBlockSize, 2u}) {
    const Attempt again = prober.Try(table, pod, size);
    if (again.before != first.before) {
      prober.reporter().Fail(Check::kRepeat, "PreFilter or PreScore of pod " + pod.spec().ns + "/" +
                                                 pod.name() + " returns " + ToString(first.before) +
                                                 ", then " + ToString(again.before));
    }
    const auto difference = Difference(prober.step(), first, again, all);
    if (!difference) continue;
    prober.reporter().Fail(Check::kRepeat, Subject(prober.step(), pod) +
                                               ", called again with the nodes in blocks of " +
                                               std::to_string(size) +
                                               " for PreFilter: " + *difference);
  }
}

}  // namespace berth::testing

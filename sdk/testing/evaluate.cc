#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/instance.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>

namespace berth::testing {
namespace {

// An output array that is filled with poison and surrounded by guard elements.
template <class T>
class GuardedArray {
 public:
  GuardedArray(uint32_t count, uint8_t poison) : count_(count), items_(count + 2 * kGuard) {
    std::memset(items_.data(), poison, items_.size() * sizeof(T));
    poison_ = items_[0];
  }
  T* data() { return items_.data() + kGuard; }
  T operator[](uint32_t i) const { return items_[kGuard + i]; }
  bool IsPoison(uint32_t i) const { return items_[kGuard + i] == poison_; }
  // Returns the index of a guard element that was written, relative to the array.
  std::optional<int64_t> Outside() const {
    for (uint32_t i = 0; i < kGuard; ++i) {
      if (items_[kGuard + count_ + i] != poison_) return int64_t{count_} + i;
      if (items_[kGuard - 1 - i] != poison_) return -1 - int64_t{i};
    }
    return std::nullopt;
  }

 private:
  static constexpr uint32_t kGuard = 64;

  const uint32_t count_;
  std::vector<T> items_;
  T poison_{};
};

class BlockCall {
 public:
  BlockCall(Cycle& cycle, const Block& block, Step step, const std::string& where, Threads threads);

  BlockAnswer Run() {
    if (step_ == Step::kScore) return RunScore();
    return IsWholeFilter(cycle_.instance()) ? RunWholeFilter() : RunFilter();
  }

 private:
  BlockAnswer RunFilter();

  BlockAnswer RunWholeFilter();

  BlockAnswer RunScore();

  // Returns the verdict of the block's node `i`, which stands at `at` in the outputs.
  Answer Verdict(uint32_t i, uint32_t at, const GuardedArray<uint8_t>& codes,
                 const GuardedArray<uint64_t>& reasons);

  std::vector<std::string> Texts(uint32_t i, uint64_t mask);

  template <class T>
  void ExpectInside(const char* what, const GuardedArray<T>& array) {
    const std::optional<int64_t> outside = array.Outside();
    if (!outside) return;
    reporter_.Fail(Check::kOutputs, where_ + " writes " + what + "[" + std::to_string(*outside) +
                                        "], outside the block of " +
                                        std::to_string(block_.count()));
  }
  void ExpectCall(const Answer& call);
  void FailUnselected(uint32_t i);
  void FailUnwritten(const char* what, uint32_t i);
  void FailForeign(uint32_t row);
  std::string Name(uint32_t i) const { return "node \"" + block_.NodeName(i) + "\""; }

  Cycle& cycle_;
  const Block& block_;
  const Step step_;
  const char* const point_;
  Reporter& reporter_;
  std::string where_;
};

const char* PointName(Step step, Threads threads) {
  if (threads == Threads::kOne) return StepName(step);
  return step == Step::kFilter ? "Filter on several threads at the same time"
                               : "Score on several threads at the same time";
}

BlockCall::BlockCall(Cycle& cycle, const Block& block, Step step, const std::string& where,
                     Threads threads)
    : cycle_(cycle),
      block_(block),
      step_(step),
      point_(PointName(step, threads)),
      reporter_(cycle.instance().reporter()) {
  where_ = std::string(StepName(step)) + " of pod " + cycle.pod().spec().ns + "/" +
           cycle.pod().name() + (where.empty() ? "" : " " + where);
}

BlockAnswer BlockCall::RunFilter() {
  const berth_filter& point = *cycle_.instance().filter;
  GuardedArray<uint8_t> codes(block_.count(), block_.poison());
  GuardedArray<uint64_t> reasons(block_.count(), block_.poison());
  berth_filter_out out{sizeof out, 0, codes.data(), reasons.data()};
  BlockAnswer result;
  result.call = cycle_.Invoke(point_, kBlock, [&](berth_status* status) {
    return point.filter(cycle_.instance().self(), cycle_.abi(), &block_.view(), &out, status);
  });
  ExpectInside("codes", codes);
  ExpectInside("reasons", reasons);
  result.rows.resize(block_.count());
  for (uint32_t i = 0; i < block_.count(); ++i) {
    if (!block_.is_selected(i)) {
      if (!codes.IsPoison(i) || !reasons.IsPoison(i)) FailUnselected(i);
    } else if (result.call.ok()) {
      result.rows[i].answer = Verdict(i, i, codes, reasons);
    }
  }
  ExpectCall(result.call);
  return result;
}

BlockAnswer BlockCall::RunWholeFilter() {
  std::vector<uint32_t> survivors;
  std::vector<int64_t> index_of;  // By row number; -1: the row is not a survivor.
  for (const Row& row : block_.table().rows) {
    index_of.resize(std::max<size_t>(index_of.size(), size_t{row.number} + 1), -1);
  }
  for (uint32_t i = 0; i < block_.count(); ++i) {
    if (!block_.is_selected(i)) continue;
    survivors.push_back(block_.index(i));
    index_of[block_.view().rows[i]] = i;
  }
  const auto row_count = static_cast<uint32_t>(index_of.size());
  GuardedArray<uint8_t> codes(row_count, block_.poison());
  GuardedArray<uint64_t> reasons(row_count, block_.poison());
  berth_filter_whole_out out{sizeof out,
                             row_count,
                             codes.data(),
                             reasons.data(),
                             &cycle_,
                             [](berth_filter_whole_out* self, berth_str text) noexcept {
                               return static_cast<Cycle*>(self->impl)->AddReason(text);
                             }};
  BlockAnswer result;
  {
    Nodes nodes(&cycle_.instance(), block_.table(), cycle_.binder(), std::move(survivors),
                cycle_.block_size());
    result.call = cycle_.Invoke("Filter", kCycle, [&](berth_status* status) {
      return cycle_.instance().filter->filter_whole(cycle_.instance().self(), cycle_.abi(),
                                                    nodes.abi(), &out, status);
    });
  }
  ExpectInside("codes", codes);
  ExpectInside("reasons", reasons);
  result.rows.resize(block_.count());
  for (uint32_t row = 0; row < row_count; ++row) {
    if (index_of[row] < 0) {
      if (!codes.IsPoison(row) || !reasons.IsPoison(row)) FailForeign(row);
    } else if (result.call.ok()) {
      const auto i = static_cast<uint32_t>(index_of[row]);
      result.rows[i].answer = Verdict(i, row, codes, reasons);
    }
  }
  ExpectCall(result.call);
  return result;
}

BlockAnswer BlockCall::RunScore() {
  const berth_score& point = *cycle_.instance().score;
  GuardedArray<int64_t> scores(block_.count(), block_.poison());
  berth_score_out out{sizeof out, 0, scores.data()};
  BlockAnswer result;
  result.call = cycle_.Invoke(point_, kBlock, [&](berth_status* status) {
    return point.score(cycle_.instance().self(), cycle_.abi(), &block_.view(), &out, status);
  });
  ExpectInside("scores", scores);
  result.rows.resize(block_.count());
  for (uint32_t i = 0; i < block_.count(); ++i) {
    if (!block_.is_selected(i)) {
      if (!scores.IsPoison(i)) FailUnselected(i);
    } else if (result.call.ok()) {
      if (scores.IsPoison(i)) FailUnwritten("score", i);
      result.rows[i].score = scores.IsPoison(i) ? 0 : scores[i];
    }
  }
  ExpectCall(result.call);
  return result;
}

Answer BlockCall::Verdict(uint32_t i, uint32_t at, const GuardedArray<uint8_t>& codes,
                          const GuardedArray<uint64_t>& reasons) {
  if (codes.IsPoison(at)) return FailUnwritten("code", i), Answer{BERTH_BUG, {}};
  const uint8_t code = codes[at];
  const bool known = code == BERTH_SUCCESS || code == BERTH_UNSCHEDULABLE ||
                     code == BERTH_PENDING || code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE ||
                     code == BERTH_ERROR;
  if (!known) {
    reporter_.Fail(Check::kCodes, where_ + ": " + CodeName(code) + " for " + Name(i) +
                                      " is not a valid verdict of Filter");
  }
  if (code == BERTH_SUCCESS || !known) return {code, {}};
  if (reasons.IsPoison(at)) return FailUnwritten("reasons", i), Answer{code, {}};
  if (reasons[at] == 0) {
    reporter_.Fail(Check::kCodes,
                   where_ + ": " + CodeName(code) + " for " + Name(i) + " has no reason");
  }
  return MakeAnswer(code, Texts(i, reasons[at]));
}

std::vector<std::string> BlockCall::Texts(uint32_t i, uint64_t mask) {
  std::vector<std::string> texts;
  for (uint32_t bit = 0; bit < 64; ++bit) {
    if ((mask >> bit & 1) == 0) continue;
    if (bit < cycle_.reasons().size()) {
      texts.push_back(cycle_.reasons()[bit]);
      continue;
    }
    reporter_.Fail(Check::kCodes, where_ + ": reason bit " + std::to_string(bit) + " for " +
                                      Name(i) + ", but the reason table has " +
                                      std::to_string(cycle_.reasons().size()));
  }
  return texts;
}

void BlockCall::ExpectCall(const Answer& call) {
  for (const berth_code code : {BERTH_SUCCESS, BERTH_ERROR, BERTH_CANCELLED, BERTH_BUG}) {
    if (call.code == code) return;
  }
  // Any other code fails the cycle with the status' text, so it must be a known code and have a
  // text.
  const bool known = call.code >= 0 && CodeName(call.code).rfind("code ", 0) != 0;
  if (!known) reporter_.Fail(Check::kCodes, where_ + " returns " + CodeName(call.code));
  if (known && call.reasons.empty()) {
    reporter_.Fail(Check::kCodes, where_ + " returns " + CodeName(call.code) + " without a reason");
  }
}

void BlockCall::FailUnselected(uint32_t i) {
  reporter_.Fail(Check::kOutputs, where_ + " writes index " + std::to_string(i) + " (" + Name(i) +
                                      "), which is not selected");
}

void BlockCall::FailForeign(uint32_t row) {
  reporter_.Fail(Check::kOutputs, where_ + " writes row " + std::to_string(row) +
                                      ", which is not one of the survivors");
}

void BlockCall::FailUnwritten(const char* what, uint32_t i) {
  reporter_.Fail(Check::kOutputs, where_ + " leaves the " + what + " of index " +
                                      std::to_string(i) + " (" + Name(i) + ") unwritten");
}

}  // namespace

std::string ToString(Step step, const RowAnswer& answer) {
  return step == Step::kFilter ? ToString(answer.answer) : std::to_string(answer.score);
}

BlockAnswer Evaluate(Cycle& cycle, const Block& block, Step step, const std::string& where,
                     Threads threads) {
  return BlockCall(cycle, block, step, where, threads).Run();
}

}  // namespace berth::testing

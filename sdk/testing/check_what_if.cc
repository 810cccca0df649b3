#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/attempt.h>
#include <berth/testing/check_what_if.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/instance.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

WhatIfChecker::WhatIfChecker(const Prober& prober, const Table& table, const PodHandle& pod,
                             std::span<const PodSpec> others)
    : prober_(prober), table_(table), pod_(pod), others_(others), base_(prober.Try(table, pod)) {}

void WhatIfChecker::Run() {
  if (!base_.asked || !base_.table.call.ok()) return;
  for (const uint32_t row : SampleRows(base_.cycle->AllowedRows(), 4)) {
    for (const PodSpec& guest : Guests(table_.rows[row].node.name())) {
      CheckWith(row, PodHandle(guest, *prober_.world().ids));
    }
    const size_t most = std::min<size_t>(table_.rows[row].pods.size(), 3);
    for (size_t i = 0; i < most; ++i) CheckWithout(row, i);
  }
  CheckTogether();
}

std::vector<PodSpec> WhatIfChecker::Guests(const std::string& node) const {
  std::vector<PodSpec> guests = {CopyOf(pod_.spec(), node)};
  for (const PodSpec& other : others_.first(std::min<size_t>(others_.size(), 2))) {
    guests.push_back(CopyOf(other, node, "guest"));
  }
  return guests;
}

void WhatIfChecker::CheckWith(uint32_t row, const PodHandle& guest) {
  Table changed = table_;
  changed.rows[row].pods.push_back(guest);
  Compare({row, guest, changed, table_, true});
}

void WhatIfChecker::CheckWithout(uint32_t row, size_t pod) {
  Table changed = table_;
  const PodHandle gone = changed.rows[row].pods[pod];
  changed.rows[row].pods.erase(changed.rows[row].pods.begin() + static_cast<std::ptrdiff_t>(pod));
  Compare({row, gone, changed, table_, false});
}

void WhatIfChecker::Compare(const Change& what) {
  const Attempt real = prober_.Try(what.then, pod_);
  const bool decided = real.asked ? real.table.call.ok() : real.before.code == BERTH_SKIP;
  // PreFilter rejects the pod in the changed cluster but not in this one, so that there is no
  // result to compare.
  if (!decided) return;
  const std::unique_ptr<Cycle> clone = base_.cycle->CloneForWhatIf();
  if (clone == nullptr) return;
  const std::string how = std::string(what.add ? "AddPod" : "RemovePod") + " of " + what.pod.name();
  const RowAnswer want = real.asked ? real.On(what.row) : RowAnswer{};
  if (!(want == base_.On(what.row))) prober_.reporter().See(Check::kWhatIf);
  if (!Apply(*clone, what, what.then, what.add)) return;
  ExpectOriginalsUnchanged(how);
  if (!Expect(*clone, what, what.then, want, how)) return;
  if (!Apply(*clone, what, what.now, !what.add)) return;
  Expect(*clone, what, what.now, base_.On(what.row), how + ", and back");
}

void WhatIfChecker::ExpectOriginalsUnchanged(const std::string& how) {
  const BlockAnswer after = EvaluateTable(*base_.cycle, Step::kFilter);
  for (const uint32_t row : base_.cycle->AllowedRows()) {
    if (after.rows[row] == base_.On(row)) continue;
    prober_.reporter().Fail(
        Check::kSlots,
        Subject(Step::kFilter, pod_) + ": " + how +
            " on cloned slots changes the verdict of the original slots for node \"" +
            table_.rows[row].node.name() + "\"");
    return;
  }
}

bool WhatIfChecker::Apply(Cycle& clone, const Change& what, const Table& table, bool add) {
  const auto& point = base_.instance->pre_filter;
  if (!point) return true;
  const auto change = add ? point->add_pod : point->remove_pod;
  if (change == nullptr) return true;
  const Block block(table, clone.columns(), {what.row}, nullptr, {});
  const char* name = add ? "AddPod" : "RemovePod";
  const Answer answer = clone.Invoke(name, kCycle, [&](berth_status* status) {
    return change(base_.instance->self(), clone.abi(), what.pod.get(), &block.view(), 0, status);
  });
  if (answer.ok()) return true;
  prober_.reporter().Fail(Check::kWhatIf, std::string(name) + " of " + what.pod.name() +
                                              " returns " + ToString(answer));
  return false;
}

void WhatIfChecker::CheckTogether() {
  const std::vector<uint32_t> rows = SampleRows(base_.cycle->AllowedRows(), 4);
  if (rows.size() < 2) return;
  const std::unique_ptr<Cycle> clone = base_.cycle->CloneForWhatIf();
  if (clone == nullptr) return;
  Table changed = table_;
  for (size_t i = 0; i < rows.size(); ++i) {
    Row& row = changed.rows[rows[i]];
    // A pod is removed from every second row, if it has one.
    const bool add = i % 2 == 0 || row.pods.empty();
    const PodHandle pod =
        add ? PodHandle(CopyOf(pod_.spec(), row.node.name(), "copy-" + std::to_string(i)),
                        *prober_.world().ids)
            : row.pods.front();
    if (add) {
      row.pods.push_back(pod);
    } else {
      row.pods.erase(row.pods.begin());
    }
    if (!Apply(*clone, {rows[i], pod, changed, table_, add}, changed, add)) return;
  }
  const Attempt real = prober_.Try(changed, pod_);
  // As in Compare().
  if (!(real.asked ? real.table.call.ok() : real.before.code == BERTH_SKIP)) return;
  const std::string how = "after changes of the pods on several nodes together";
  const BlockAnswer got = AnswersOn(*clone, changed, rows, how);
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowAnswer want = real.asked ? real.On(rows[i]) : RowAnswer{};
    if (got.call.ok() && got.rows[i] == want) continue;
    prober_.reporter().Fail(
        Check::kWhatIf,
        Subject(Step::kFilter, pod_) + ", node \"" + changed.rows[rows[i]].node.name() + "\": " +
            how + " it returns " + ToString(got.call.ok() ? got.rows[i].answer : got.call) +
            ", but in a cluster with these changes it returns " + ToString(want.answer));
    return;
  }
}

BlockAnswer WhatIfChecker::AnswersOn(Cycle& clone, const Table& table,
                                     const std::vector<uint32_t>& rows, const std::string& where) {
  if (!IsWholeFilter(clone.instance())) {
    const Block block(table, clone.columns(), rows, nullptr, {});
    return Evaluate(clone, block, Step::kFilter, where);
  }
  const std::vector<uint32_t> allowed = clone.AllowedRows();
  const Block block(table, clone.columns(), clone.AllRows(), &allowed, {});
  const BlockAnswer all = Evaluate(clone, block, Step::kFilter, where);
  BlockAnswer some{all.call, {}};
  for (const uint32_t row : rows) some.rows.push_back(all.rows[row]);
  return some;
}

bool WhatIfChecker::Expect(Cycle& clone, const Change& what, const Table& table,
                           const RowAnswer& want, const std::string& how) {
  const BlockAnswer got = AnswersOn(clone, table, {what.row}, "after " + how);
  if (got.call.ok() && got.rows[0] == want) return true;
  prober_.reporter().Fail(
      Check::kWhatIf,
      Subject(Step::kFilter, pod_) + ", node \"" + table.rows[what.row].node.name() + "\": after " +
          how + " it returns " + ToString(got.call.ok() ? got.rows[0].answer : got.call) +
          ", but in a cluster with this change it returns " + ToString(want.answer));
  return false;
}

}  // namespace berth::testing

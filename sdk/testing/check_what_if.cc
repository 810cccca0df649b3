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

bool WhatIfChecker::Expect(Cycle& clone, const Change& what, const Table& table,
                           const RowAnswer& want, const std::string& how) {
  const Block block(table, clone.columns(), {what.row}, nullptr, {});
  const BlockAnswer got = Evaluate(clone, block, Step::kFilter, "after " + how);
  if (got.call.ok() && got.rows[0] == want) return true;
  prober_.reporter().Fail(
      Check::kWhatIf,
      Subject(Step::kFilter, pod_) + ", node \"" + block.NodeName(0) + "\": after " + how +
          " it returns " + ToString(got.call.ok() ? got.rows[0].answer : got.call) +
          ", but in a cluster with this change it returns " + ToString(want.answer));
  return false;
}

}  // namespace berth::testing

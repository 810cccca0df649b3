#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/call.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/instance.h>
#include <berth/testing/scheduling_services.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>
#include <berth/testing/what_if.h>

namespace berth::testing {

WhatIfRows::WhatIfRows(const Cycle& cycle, std::span<const uint32_t> rows, uint32_t mode)
    : cycle_(cycle), mode_(mode) {
  Table table;
  table.ids = cycle.table().ids;
  for (const uint32_t row : rows) {
    if (is_apart()) table.rows.clear();
    table.rows.push_back(cycle.table().rows[row]);
    if (is_apart()) states_.push_back(MakeState(cycle_, table));
    places_.push_back(is_apart() ? Place{static_cast<uint32_t>(places_.size()), 0}
                                 : Place{0, static_cast<uint32_t>(places_.size())});
  }
  if (!is_apart()) states_.push_back(MakeState(cycle_, std::move(table)));
}

const std::vector<PodHandle>& WhatIfRows::PodsOf(uint32_t i) const {
  return states_[places_[i].state].table.rows[places_[i].row].pods;
}

WhatIfRows::State WhatIfRows::MakeState(const Cycle& from, Table table) const {
  State state{std::move(table), from.CloneForWhatIf(), {}};
  if (state.cycle == nullptr) state.broken = Error("the plugin cannot clone its cycle state");
  return state;
}

WhatIfRows::State WhatIfRows::CopyState(const State& from) const {
  if (!from.broken.ok()) return {from.table, nullptr, from.broken};
  State copy = MakeState(*from.cycle, from.table);
  if (copy.cycle != nullptr) copy.cycle->SetNominated();
  return copy;
}

Answer WhatIfRows::AddPod(uint32_t i, const PodHandle& pod) {
  State& state = states_[places_[i].state];
  state.table.rows[places_[i].row].pods.push_back(pod);
  return Change(state, places_[i].row, pod, true);
}

Answer WhatIfRows::RemovePod(uint32_t i, const berth_pod* pod) {
  State& state = states_[places_[i].state];
  Row& row = state.table.rows[places_[i].row];
  const auto found = std::find_if(row.pods.begin(), row.pods.end(),
                                  [pod](const PodHandle& known) { return known.get() == pod; });
  if (found == row.pods.end()) {
    return MakeAnswer(BERTH_NOT_FOUND, {"the pod is not on node " + row.node.name()});
  }
  const PodHandle gone = *found;
  row.pods.erase(found);
  return Change(state, places_[i].row, gone, false);
}

Answer WhatIfRows::Change(State& state, uint32_t row, const PodHandle& pod, bool add) const {
  if (!state.broken.ok()) return state.broken;
  if (cycle_.skips_filter()) return {};
  const auto& point = cycle_.instance().pre_filter;
  const auto change = !point ? nullptr : add ? point->add_pod : point->remove_pod;
  if (change == nullptr) return {};
  const Block block(state.table, state.cycle->columns(), {row}, nullptr, {});
  const char* const name = add ? "AddPod" : "RemovePod";
  const Answer answer = state.cycle->Invoke(name, kCycle, [&](berth_status* status) {
    return change(cycle_.instance().self(), state.cycle->abi(), pod.get(), &block.view(), 0,
                  status);
  });
  if (!answer.ok()) state.broken = MakeAnswer(BERTH_ERROR, answer.reasons);
  return state.broken;
}

std::vector<Answer> WhatIfRows::Run(State& state, std::span<const uint32_t> rows) const {
  if (!state.broken.ok()) return std::vector<Answer>(rows.size(), state.broken);
  const bool passes = !cycle_.instance().filter || cycle_.skips_filter();
  if (passes || rows.empty()) return std::vector<Answer>(rows.size());
  const Block block(state.table, state.cycle->columns(), {rows.begin(), rows.end()}, nullptr, {});
  const BlockAnswer all = Evaluate(*state.cycle, block, Step::kFilter, "in a what-if question");
  if (!all.call.ok()) {
    return std::vector<Answer>(rows.size(), MakeAnswer(BERTH_ERROR, all.call.reasons));
  }
  std::vector<Answer> answers;
  for (const RowAnswer& row : all.rows) answers.push_back(row.answer);
  return answers;
}

bool WhatIfRows::Counts(const PodHandle& nominated) const {
  const PodHandle& pod = cycle_.pod();
  return nominated->scheduling_gates.count == 0 && nominated->priority >= pod->priority &&
         nominated.spec().uid != pod.spec().uid;
}

Answer WhatIfRows::RunWithNominated(
    std::span<const uint32_t> selected, size_t k,
    std::span<const SchedulingServices::Nomination> nominations) const {
  const Place& place = places_[selected[k]];
  State copy;
  for (const auto& nomination : nominations) {
    const bool here = nomination.node == states_[place.state].table.rows[place.row].node.name();
    if (!here || !Counts(nomination.pod)) continue;
    if (copy.cycle == nullptr && copy.broken.ok()) copy = CopyState(states_[place.state]);
    copy.table.rows[place.row].pods.push_back(nomination.pod);
    (void)Change(copy, place.row, nomination.pod, true);
  }
  if (copy.cycle == nullptr && copy.broken.ok()) return {};
  // The other rows matter only to a whole Filter.
  if (is_apart() || !IsWholeFilter(cycle_.instance())) return Run(copy, {&place.row, 1}).front();
  std::vector<uint32_t> rows;
  for (const uint32_t i : selected) rows.push_back(places_[i].row);
  const std::vector<Answer> answers = Run(copy, rows);
  const auto failed = std::find_if(answers.begin(), answers.end(),
                                   [](const Answer& a) { return a.code == BERTH_ERROR; });
  return failed != answers.end() ? *failed : answers[k];
}

std::vector<Answer> WhatIfRows::RunFilters(
    std::span<const uint32_t> selected,
    std::span<const SchedulingServices::Nomination> nominations) const {
  std::vector<Answer> answers(selected.size());
  std::vector<std::vector<size_t>> of_state(states_.size());
  for (size_t k = 0; k < selected.size(); ++k) {
    answers[k] = RunWithNominated(selected, k, nominations);
    if (answers[k].ok()) of_state[places_[selected[k]].state].push_back(k);
  }
  for (size_t s = 0; s < states_.size(); ++s) {
    std::vector<uint32_t> rows;
    for (const size_t k : of_state[s]) rows.push_back(places_[selected[k]].row);
    const std::vector<Answer> got = Run(states_[s], rows);
    for (size_t i = 0; i < got.size(); ++i) answers[of_state[s][i]] = got[i];
  }
  return answers;
}

}  // namespace berth::testing

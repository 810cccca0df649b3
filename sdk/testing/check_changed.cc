#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/attempt.h>
#include <berth/testing/call.h>
#include <berth/testing/check_changed.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/instance.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {
namespace {

constexpr int64_t kHourNs = 3'600'000'000'000;
constexpr size_t kMostObjectsOfAKind = 2;

}  // namespace

std::string ChangedChecker::What(const Report& report) {
  if (report.result == BERTH_STALE_NONE) return "that no result differs";
  const size_t count = report.rows.size();
  return std::to_string(count) + (count == 1 ? " row" : " rows");
}

ChangedChecker::ChangedChecker(const Prober& prober, const Table& table, const PodHandle& pod,
                               std::span<const PodSpec> others)
    : prober_(prober), pod_(pod), others_(others) {
  states_.push_back({.table = std::make_unique<Table>(table)});
}

void ChangedChecker::Run() {
  const Table& table = *states_.front().table;
  if (table.rows.empty()) return;
  instance_ = std::make_unique<Instance>(prober_.world(), prober_.objects(), prober_.now_ns());
  if (!instance_->ok()) return;
  declared_ = DependenceOf(*instance_, prober_.step());
  if (declared_ == nullptr || declared_->changed == nullptr) return;
  instance_->Replay(table);
  Finish();
  ChangePods();
  ChangeNodes();
  ChangeObjects();
  NewTable("an hour passed");
  instance_->services().Advance(kHourNs);
  Finish();
}

Table& ChangedChecker::NewTable(std::string how) {
  states_.push_back(
      {.how = std::move(how), .table = std::make_unique<Table>(*states_.back().table)});
  return *states_.back().table;
}

void ChangedChecker::Finish() {
  State& now = states_.back();
  now.attempt = prober_.TryOn(*instance_, *now.table, pod_);
  if (!now.attempt.asked) return;
  Ask(now.attempt, &now.token);
  // The latest state first, so that a failure names as few steps as possible.
  for (size_t i = states_.size() - 1; i-- > 0;) Compare(states_[i], now);
}

// ---- Steps --------------------------------------------------------------------------------------

void ChangedChecker::ChangePods() {
  const auto count = static_cast<uint32_t>(states_.front().table->rows.size());
  std::vector<PodSpec> guests = {pod_.spec(), MakePod("stranger").CpuMilli(1000).HostPort(80)};
  guests.insert(guests.end(), others_.begin(),
                others_.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(others_.size(), 2)));
  uint32_t index = 0;
  for (const PodSpec& guest : guests) AddPod(index++ % count, guest);
  RemovePods(0);
  RemovePods(count - 1);
}

void ChangedChecker::AddPod(uint32_t index, const PodSpec& pod) {
  const std::string node = states_.back().table->rows[index].node.name();
  const PodSpec guest = CopyOf(pod, node, "guest");
  Table& table = NewTable("pod " + guest.name + " was added to node \"" + node + "\"");
  Row& row = table.rows[index];
  row.pods.emplace_back(guest, *prober_.world().ids);
  states_.back().pods.insert(row.number);
  instance_->Change(BERTH_CHANGE_POD_ADDED, 0, row, row.pods.back().get());
  Finish();
}

void ChangedChecker::RemovePods(uint32_t index) {
  const Row& before = states_.back().table->rows[index];
  if (before.pods.empty()) return;
  Row& row = NewTable("the pods of node \"" + before.node.name() + "\" were removed").rows[index];
  states_.back().pods.insert(row.number);
  const std::vector<PodHandle> gone = std::exchange(row.pods, {});
  for (const PodHandle& pod : gone) instance_->Change(BERTH_CHANGE_POD_REMOVED, 0, row, pod.get());
  Finish();
}

// Gives the second node the content of the first one, removes the last one, and adds another.
void ChangedChecker::ChangeNodes() {
  NodeSpec spec = states_.back().table->rows.front().node.spec();
  if (states_.back().table->rows.size() > 1) {
    const std::string name = states_.back().table->rows[1].node.name();
    Row& row = NewTable("node \"" + name +
                        "\" got the labels, taints, images and resources of "
                        "node \"" +
                        spec.name + "\"")
                   .rows[1];
    NodeSpec changed = spec;
    changed.name = name;
    changed.uid = row.node.spec().uid;
    const NodeHandle old = std::exchange(row.node, NodeHandle(changed, *prober_.world().ids));
    states_.back().nodes.insert(row.number);
    instance_->Change(BERTH_CHANGE_NODE_CHANGED, 0, row, nullptr, old.get());
    Finish();
    RemovePods(static_cast<uint32_t>(states_.back().table->rows.size() - 1));
    Table& table = NewTable("the last node was removed");
    const Row gone = table.rows.back();
    table.rows.pop_back();
    states_.back().nodes.insert(gone.number);
    instance_->Change(BERTH_CHANGE_NODE_REMOVED, 0, gone, nullptr);
    Finish();
  }
  spec.name += "-added";
  spec.uid += "-added";
  spec.pods.clear();
  Table& table = NewTable("node \"" + spec.name + "\" was added");
  // Numbers of removed rows are not reused here, so that a result belongs to one node.
  uint32_t next = 0;
  for (const State& state : states_) {
    for (const Row& row : state.table->rows) next = std::max(next, row.number + 1);
  }
  table.Add(spec);
  table.rows.back().number = next;
  states_.back().nodes.insert(next);
  instance_->Change(BERTH_CHANGE_NODE_ADDED, 0, table.rows.back(), nullptr);
  Finish();
}

// Removes some objects of each kind and adds them again.
void ChangedChecker::ChangeObjects() {
  std::map<std::string, size_t> changed;
  for (const ObjectHandle& object : prober_.objects()) {
    const std::string& kind = object.spec().kind;
    if (changed[kind]++ >= kMostObjectsOfAKind) continue;
    const std::string what = kind + " \"" + object.name() + "\"";
    NewTable(what + " was removed");
    instance_->services().ChangeObject(&object, nullptr);
    Finish();
    NewTable(what + " was added");
    instance_->services().ChangeObject(nullptr, &object);
    Finish();
  }
}

// ---- Results ------------------------------------------------------------------------------------

ChangedChecker::Report ChangedChecker::Ask(const Attempt& attempt, uint64_t* token) const {
  Report report;
  const CallScope scope(&prober_.reporter(), "changed", kCycle);
  report.result = declared_->changed(
      instance_->self(), attempt.cycle->abi(), token,
      [](void* to, const uint32_t* rows, uint64_t count) noexcept {
        static_cast<std::set<uint32_t>*>(to)->insert(rows, rows + count);
      },
      &report.rows);
  return report;
}

void ChangedChecker::Compare(const State& then, const State& now) {
  if (failed_ || !then.attempt.asked || !HaveEqualSignatures(then.attempt, now.attempt)) return;
  uint64_t token = then.token;
  const Report report = Ask(now.attempt, &token);
  if (report.result != BERTH_STALE_NONE && report.result != BERTH_STALE_ROWS) return;
  std::set<uint32_t> known = RowsThatChanged(then);
  if (report.result == BERTH_STALE_ROWS) known.insert(report.rows.begin(), report.rows.end());
  const auto difference =
      Difference(prober_.step(), then.attempt, now.attempt,
                 [&known](const Row& row) { return !known.contains(row.number); });
  if (!difference) return;
  failed_ = true;
  std::string after;
  for (const State* state = &then + 1; state <= &now; ++state) {
    after += (after.empty() ? "" : ", then ") + state->how;
  }
  prober_.reporter().Fail(Check::kDependence,
                          Subject(prober_.step(), pod_) + ": changed reports " + What(report) +
                              ", but leaves out a row whose result differs: " + *difference +
                              " after " + after);
}

std::set<uint32_t> ChangedChecker::RowsThatChanged(const State& then) const {
  std::set<uint32_t> rows;
  const bool by_pods = (declared_->cluster & BERTH_DEPENDS_NODE_PODS) != 0;
  const bool by_node = by_pods || (declared_->cluster & BERTH_DEPENDS_NODE) != 0;
  for (const State* state = &then + 1; state <= &states_.back(); ++state) {
    if (by_node) rows.insert(state->nodes.begin(), state->nodes.end());
    if (by_pods) rows.insert(state->pods.begin(), state->pods.end());
  }
  return rows;
}

}  // namespace berth::testing

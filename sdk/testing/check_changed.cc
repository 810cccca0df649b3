#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/kinds.h>
#include <berth/testing/attempt.h>
#include <berth/testing/call.h>
#include <berth/testing/check_changed.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/ids.h>
#include <berth/testing/instance.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/report.h>
#include <berth/testing/scheduling_services.h>
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
  ChangePending();
  ChangeNominations();
  ChangeObjects();
  ChangeServed();
  NewTable("an hour passed");
  instance_->services().Advance(kHourNs);
  Finish();
  ExpectToken();
}

// A function that never names a state is of no use. A plugin whose results for this pod cannot be
// reused returns SKIP from `sign`.
void ChangedChecker::ExpectToken() const {
  size_t asked = 0;
  for (const State& state : states_) {
    if (!state.attempt.asked || !state.attempt.signature.is_reusable) continue;
    if (state.token != 0) return;
    ++asked;
  }
  if (asked == 0) return;
  prober_.reporter().Fail(
      Check::kDependence,
      Subject(prober_.step(), pod_) + ": changed leaves *token at 0 in each of " +
          std::to_string(asked) +
          " states of the cluster, so that no result is ever reused; expected a number other than "
          "0 that names the state, such as the number of the last change plus 1");
}

Table& ChangedChecker::NewTable(std::string how) {
  states_.push_back(
      {.how = std::move(how), .table = std::make_unique<Table>(*states_.back().table)});
  return *states_.back().table;
}

void ChangedChecker::Finish() {
  State& now = states_.back();
  instance_->services().scheduling().set_table(now.table.get());
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
  ChangePod(0);
  RemovePods(0);
  RemovePods(count - 1);
}

// Changes a pod in two steps: the cluster confirms it, then its labels and requests change.
void ChangedChecker::ChangePod(uint32_t index) {
  PodSpec pod = states_.back().table->rows[index].pods.back().spec();
  const auto put = [&](const std::string& how) {
    Row& row =
        NewTable("pod " + pod.name + " on node \"" + pod.node_name + "\" " + how).rows[index];
    states_.back().pods.insert(row.number);
    const PodHandle old = std::exchange(row.pods.back(), PodHandle(pod, *prober_.world().ids));
    instance_->ChangePod(row, row.pods.back().get(), old.get());
    Finish();
  };
  pod.resource_version += "1";
  put("was confirmed");
  pod.Label("example.com/changed", "1").CpuMilli(250);
  put("got another label and another request");
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

// Changes, removes, adds and replaces nodes, and lets a removed one come back.
void ChangedChecker::ChangeNodes() {
  const NodeSpec first = states_.back().table->rows.front().node.spec();
  const auto last = static_cast<uint32_t>(states_.back().table->rows.size() - 1);
  const NodeSpec gone = states_.back().table->rows.back().node.spec();
  if (last > 0) {
    CopyNode(first, 1);
    RemovePods(last);
    Table& table = NewTable("the last node was removed");
    RemoveFrom(table, last);
    Finish();
  }
  NodeSpec added = first;
  added.name += "-added";
  added.uid += "-added";
  AddNode(added);
  if (last == 0) return;
  AddNode(gone);
  ReplaceNode(last / 2);
}

void ChangedChecker::CopyNode(const NodeSpec& from, uint32_t index) {
  const std::string name = states_.back().table->rows[index].node.name();
  Row& row =
      NewTable("node \"" + name + "\" got the labels, taints, images and resources of node \"" +
               from.name + "\"")
          .rows[index];
  NodeSpec changed = from;
  changed.name = name;
  changed.uid = row.node.spec().uid;
  const NodeHandle old = std::exchange(row.node, NodeHandle(changed, *prober_.world().ids));
  states_.back().nodes.insert(row.number);
  instance_->Change(BERTH_CHANGE_NODE_CHANGED, 0, row, nullptr, old.get());
  Finish();
}

void ChangedChecker::AddNode(const NodeSpec& node) {
  NodeSpec empty = node;
  empty.pods.clear();
  const Row& row = NewTable("node \"" + node.name + "\" was added").Add(empty);
  states_.back().replaced.insert(row.number);
  instance_->Change(BERTH_CHANGE_NODE_ADDED, 0, row, nullptr);
  Finish();
}

void ChangedChecker::ReplaceNode(uint32_t index) {
  NodeSpec other = states_.back().table->rows[index].node.spec();
  const std::string old = other.name;
  other.name += "-instead";
  other.uid += "-instead";
  other.pods = {CopyOf(pod_.spec(), other.name, "first"),
                CopyOf(pod_.spec(), other.name, "second")};
  Table& table = NewTable("node \"" + old + "\" was removed and node \"" + other.name +
                          "\" was added on its row");
  RemoveFrom(table, index);
  const Row& row = table.Add(other);
  states_.back().replaced.insert(row.number);
  instance_->Change(BERTH_CHANGE_NODE_ADDED, 0, row, nullptr);
  for (const PodHandle& pod : row.pods) {
    instance_->Change(BERTH_CHANGE_POD_ADDED, 0, row, pod.get());
  }
  Finish();
}

void ChangedChecker::RemoveFrom(Table& table, uint32_t index) {
  const Row gone = table.rows[index];
  for (const PodHandle& pod : gone.pods) {
    instance_->Change(BERTH_CHANGE_POD_REMOVED, 0, gone, pod.get());
  }
  table.rows.erase(table.rows.begin() + static_cast<std::ptrdiff_t>(index));
  states_.back().replaced.insert(gone.number);
  instance_->Change(BERTH_CHANGE_NODE_REMOVED, 0, gone, nullptr);
}

// Adds, changes, assumes, forgets and removes a pod without a node.
void ChangedChecker::ChangePending() {
  const auto& changes = instance_->changes;
  if (!changes || (changes->flags & BERTH_CHANGES_FLAG_PENDING) == 0) return;
  Ids& ids = *prober_.world().ids;
  PodSpec spec = pod_.spec();
  spec.name += "-pending";
  spec.uid += "-pending";
  const PodHandle first(spec, ids);
  NewTable("pending pod " + spec.name + " was added").pending.push_back(first);
  instance_->ChangePending(BERTH_CHANGE_PENDING_ADDED, 0, first.get());
  Finish();
  const PodHandle pod(spec.Label("example.com/changed", "1").Priority(7), ids);
  NewTable("the labels and the priority of pending pod " + spec.name + " changed").pending.back() =
      pod;
  instance_->ChangePending(BERTH_CHANGE_PENDING_CHANGED, 0, pod.get(), first.get());
  Finish();
  MovePending(pod, true);
  MovePending(pod, false);
  NewTable("pending pod " + spec.name + " was removed").pending.pop_back();
  instance_->ChangePending(BERTH_CHANGE_PENDING_REMOVED, 0, pod.get());
  Finish();
}

// Assumes the pending pod on the first node, or forgets it there.
void ChangedChecker::MovePending(const PodHandle& pod, bool assume) {
  const std::string node = states_.back().table->rows.front().node.name();
  Table& table = NewTable("pod " + pod.name() + " was " + (assume ? "assumed" : "forgotten") +
                          " on node \"" + node + "\"");
  Row& row = table.rows.front();
  states_.back().pods.insert(row.number);
  if (assume) {
    PodSpec placed = pod.spec();
    table.pending.pop_back();
    row.pods.emplace_back(placed.NodeName(node), *prober_.world().ids);
    instance_->ChangePending(BERTH_CHANGE_PENDING_REMOVED, 0, pod.get());
    instance_->Change(BERTH_CHANGE_POD_ADDED, BERTH_CHANGE_FLAG_ASSUMED, row,
                      row.pods.back().get());
  } else {
    const PodHandle placed = row.pods.back();
    row.pods.pop_back();
    table.pending.push_back(pod);
    instance_->Change(BERTH_CHANGE_POD_REMOVED, BERTH_CHANGE_FLAG_FORGOTTEN, row, placed.get());
    instance_->ChangePending(BERTH_CHANGE_PENDING_ADDED, 0, pod.get());
  }
  Finish();
}

void ChangedChecker::ChangeNominations() {
  SchedulingServices& scheduling = instance_->services().scheduling();
  const std::string node = states_.back().table->rows.front().node.name();
  PodSpec spec = pod_.spec();
  spec.name += "-nominated";
  spec.uid += "-nominated";
  NewTable("pod " + spec.name + " was nominated to node \"" + node + "\"");
  scheduling.Nominate(PodHandle(spec, *prober_.world().ids), node);
  Finish();
  NewTable("the nomination of pod " + spec.name + " ended");
  scheduling.EndNomination(spec.uid);
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
    PutObject(object, false);
    Finish();
    NewTable(what + " was added");
    PutObject(object, true);
    Finish();
  }
}

void ChangedChecker::PutObject(const ObjectHandle& object, bool add) {
  std::vector<ObjectHandle>& objects = states_.back().table->objects;
  if (add) {
    objects.push_back(object);
  } else {
    std::erase_if(objects, [&](const ObjectHandle& o) { return o.get() == object.get(); });
  }
  states_.back().objects.push_back(object);
  instance_->services().ChangeObject(add ? nullptr : &object, add ? &object : nullptr);
}

// Ends to serve the used version of each declared kind, and begins again.
void ChangedChecker::ChangeServed() {
  const char* const* kinds = prober_.world().info->kinds;
  for (; kinds != nullptr && *kinds != nullptr; ++kinds) {
    const std::set<std::string> before = states_.back().table->not_served;
    const std::string kind = UsedKind(*kinds, before);
    if (kind.empty()) continue;
    std::set<std::string> without = before;
    without.insert(kind);
    NewTable("the server ended to serve " + kind).not_served = without;
    const std::vector<ObjectHandle> all = states_.back().table->objects;
    for (const ObjectHandle& object : all) {
      if (object.spec().kind == kind) PutObject(object, false);
    }
    instance_->services().ChangeServed(without);
    Finish();
    NewTable("the server began to serve " + kind).not_served = before;
    instance_->services().ChangeServed(before);
    for (const ObjectHandle& object : all) {
      if (object.spec().kind == kind) PutObject(object, true);
    }
    Finish();
  }
}

// ---- Results ------------------------------------------------------------------------------------

ChangedChecker::Report ChangedChecker::Ask(const Attempt& attempt, uint64_t* token) const {
  Report report;
  const CallScope scope(&prober_.reporter(), "changed", kCycle, attempt.cycle->abi());
  report.result = declared_->changed(
      instance_->self(), attempt.cycle->abi(), token,
      [](void* to, const uint32_t* rows, uint64_t count) noexcept {
        static_cast<std::set<uint32_t>*>(to)->insert(rows, rows + count);
      },
      &report.rows);
  return report;
}

void ChangedChecker::Compare(const State& then, const State& now) {
  // Results whose token is 0 are not reused.
  if (failed_ || !then.attempt.asked || then.token == 0) return;
  if (!HaveEqualSignatures(then.attempt, now.attempt)) return;
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
    if (by_node) AddRowsOfObjects(*state, &rows);
    // A row whose node was added is evaluated again, and one without a node has no result.
    rows.insert(state->replaced.begin(), state->replaced.end());
  }
  return rows;
}

// A change of the object that a column "object:<kind>" shows counts as a change of the node.
void ChangedChecker::AddRowsOfObjects(const State& state, std::set<uint32_t>* rows) const {
  if (state.objects.empty()) return;
  const State& now = states_.back();
  for (const ColumnName& column : now.attempt.cycle->columns()) {
    const std::string_view kinds = ObjectKindOf(column.name);
    if (kinds.empty() || !column.is_declared) continue;
    const std::vector<std::string> versions = berth::internal::KindsOf(kinds);
    for (const ObjectHandle& object : state.objects) {
      const ObjectSpec& spec = object.spec();
      const bool is_shown = spec.ns.empty() && std::find(versions.begin(), versions.end(),
                                                         spec.kind) != versions.end();
      for (const Row& row : now.table->rows) {
        if (is_shown && row.node.name() == spec.name) rows->insert(row.number);
      }
    }
  }
}

}  // namespace berth::testing

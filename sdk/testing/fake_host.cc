#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/args.h>
#include <berth/testing/attempt.h>
#include <berth/testing/call.h>
#include <berth/testing/check_blocks.h>
#include <berth/testing/check_dependence.h>
#include <berth/testing/check_hints.h>
#include <berth/testing/check_leaks.h>
#include <berth/testing/check_shape.h>
#include <berth/testing/check_what_if.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/fake_host.h>
#include <berth/testing/ids.h>
#include <berth/testing/instance.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/parts.h>
#include <berth/testing/placement.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/quantity.h>
#include <berth/testing/queue_sort.h>
#include <berth/testing/queued.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

template <class T>
T PluginUnderTest::Flushed(T value) {
  reporter_.Flush();
  return value;
}

template <class Call>
Answer PluginUnderTest::Invoke(const char* point, Word word, Call call) {
  Status status;
  const CallScope scope(&reporter_, point, word);
  const berth_code code = call(status.abi());
  return status.With(code);
}

PluginUnderTest::PluginUnderTest(const berth_entry& entry, Scenario scenario)
    : PluginUnderTest(Library(entry), std::move(scenario)) {}

PluginUnderTest PluginUnderTest::FromLibrary(const std::string& path, Scenario scenario) {
  return PluginUnderTest(Library::Open(path), std::move(scenario));
}

Answer PluginUnderTest::CreateFromLibrary(const std::string& path, Scenario scenario) {
  return Create(Library::Open(path), std::move(scenario));
}

Answer PluginUnderTest::Create(const berth_entry& entry, Scenario scenario) {
  return Create(Library(entry), std::move(scenario));
}

PluginUnderTest::~PluginUnderTest() {
  instance_.reset();
  reporter_.Flush();
}

Answer PluginUnderTest::PreEnqueue(const QueuedSpec& queued) {
  Need(instance_->pre_enqueue.has_value(), "PreEnqueue");
  Answer answer;
  WithQueued(queued, *world_.ids, [&](berth_queued view) {
    view.kind = queued.group.empty() ? BERTH_QUEUED_POD : BERTH_QUEUED_MEMBER;
    answer = Invoke("PreEnqueue", kQueue, [&](berth_status* status) {
      return instance_->pre_enqueue->pre_enqueue(instance_->self(), &view, status);
    });
  });
  return Flushed(answer);
}

SortKey PluginUnderTest::Key(const QueuedSpec& queued) {
  Need(instance_->queue_sort && instance_->queue_sort->key != nullptr, "QueueSort with a key");
  return Flushed(QueueSortCaller(instance_.get(), world_.ids.get()).Key(queued));
}

bool PluginUnderTest::Less(const QueuedSpec& a, const QueuedSpec& b) {
  Need(instance_->queue_sort.has_value(), "QueueSort");
  return Flushed(QueueSortCaller(instance_.get(), world_.ids.get()).Less(a, b));
}

uint64_t PluginUnderTest::Lane(const QueuedSpec& queued) {
  Need(instance_->queue_sort && instance_->queue_sort->lane != nullptr, "QueueSort with lanes");
  return Flushed(QueueSortCaller(instance_.get(), world_.ids.get()).Lane(queued));
}

size_t PluginUnderTest::Next(const std::vector<QueuedSpec>& active) {
  const bool has_sort = instance_->queue_sort.has_value();
  Need(has_sort || instance_->entity.has_value(), "QueueSort or Entity");
  if (active.empty()) Misuse("Next() needs an active pod");
  const auto is_next = [this](uint64_t lane, const QueuedSpec& pod) {
    return entity_runs_.IsNext(lane, EntityName(pod), pod.pod.uid);
  };
  size_t next = 0;
  uint64_t lane = 0;
  if (has_sort) {
    const QueueSortCaller sort(instance_.get(), world_.ids.get());
    next = sort.Next(active, is_next);
    if (instance_->queue_sort->lane != nullptr) lane = sort.Lane(active[next]);
  } else {
    const auto first = std::find_if(active.begin(), active.end(),
                                    [&](const QueuedSpec& pod) { return is_next(0, pod); });
    if (first != active.end()) next = static_cast<size_t>(first - active.begin());
  }
  entity_runs_.Take(lane, EntityName(active[next]), active[next].pod.uid);
  return Flushed(next);
}

std::string PluginUnderTest::Entity(const PodSpec& pod) {
  Need(instance_->entity.has_value(), "Entity");
  const PodHandle handle(pod, *world_.ids);
  std::vector<std::string> texts[2];
  for (std::vector<std::string>& put : texts) {
    const CallScope scope(&reporter_, "Entity", kQueue);
    const berth_put_text add = [](void* to, berth_str text) noexcept {
      static_cast<std::vector<std::string>*>(to)->emplace_back(FromAbi(text));
    };
    instance_->entity->entity(instance_->self(), handle.get(), add, &put);
  }
  if (texts[0] != texts[1]) reporter_.Fail(Check::kRepeat, "Entity returns two texts for one pod");
  if (texts[0].size() > 1) reporter_.Fail(Check::kCodes, "Entity calls put more than once");
  return Flushed(texts[0].empty() ? std::string() : texts[0].back());
}

std::string PluginUnderTest::EntityName(const QueuedSpec& queued) {
  if (!instance_->entity || !queued.group.empty()) return "";
  const std::string text = Entity(queued.pod);
  return text.empty() ? text : queued.pod.ns + "/" + text;
}

uint32_t PluginUnderTest::Hint(const PodSpec& pod, const EventSpec& event) {
  Need(instance_->enqueue_extensions.has_value(), "EnqueueExtensions");
  HintCaller hint_caller(instance_.get());
  const PodHandle handle(pod, *world_.ids);
  const EventView seen(HintCaller::SeenFrom(pod, event), *world_.ids);
  uint32_t hint = BERTH_HINT_SKIP;
  for (uint32_t i = 0; i < hint_caller.count(); ++i) {
    if (!hint_caller.IsFor(seen.spec(), i)) continue;
    uint32_t answer = BERTH_HINT_QUEUE;
    if (hint_caller.interest(i).has_hint != 0) {
      answer = hint_caller.Invoke(handle, seen, i);
      if (reporter_.Wants(Check::kHints)) {
        HintChecker(hint_caller, MutationsOf(handle), ids()).Run(seen, i, answer);
      }
    }
    hint = std::max(hint, answer);
  }
  Remember(pod);
  return Flushed(hint);
}

FilterResult PluginUnderTest::Filter(const PodSpec& pod) {
  Need(instance_->filter || instance_->pre_filter, "PreFilter or Filter");
  const PodHandle view(pod, *world_.ids);
  Cycle cycle(instance_.get(), &table_, view);
  FilterResult result;
  result.pre_filter = cycle.PreFilter();
  result.only_nodes = cycle.only_nodes();
  if (instance_->filter) {
    if (result.pre_filter.ok()) AddVerdicts(cycle, &result);
    RunChecks(view, Step::kFilter);
  } else if (result.pre_filter.ok()) {
    for (const Row& row : table_.rows) result.nodes[row.node.name()] = LeftOut(cycle, row);
  }
  Remember(pod);
  return Flushed(result);
}

ScoreResult PluginUnderTest::Score(const PodSpec& pod) {
  Need(instance_->score.has_value(), "Score");
  const PodHandle view(pod, *world_.ids);
  Cycle cycle(instance_.get(), &table_, view);
  ScoreResult result;
  result.pre_filter = cycle.PreFilter();
  if (result.pre_filter.ok() || result.pre_filter.code == BERTH_SKIP) {
    result.pre_score = cycle.PreScore();
    result.skipped = result.pre_score.code == BERTH_SKIP;
    if (result.pre_score.ok()) AddScores(cycle, &result);
    RunChecks(view, Step::kScore);
  }
  Remember(pod);
  return Flushed(result);
}

Placement PluginUnderTest::Place(const PodSpec& pod) {
  return Placement(instance_.get(), &table_, PodHandle(pod, *world_.ids));
}

PermitResult PluginUnderTest::Permit(const PodSpec& pod, const std::string& node) {
  return Place(pod).Permit(node);
}

void PluginUnderTest::AddNode(const NodeSpec& node) {
  const Row& row = table_.Add(node);
  instance_->Change(BERTH_CHANGE_NODE_ADDED, 0, row, nullptr);
  for (const PodHandle& pod : row.pods)
    instance_->Change(BERTH_CHANGE_POD_ADDED, 0, row, pod.get());
  reporter_.Flush();
}

void PluginUnderTest::ChangeNode(const NodeSpec& node) {
  Row& row = NeedRow(node.name);
  const NodeHandle old = std::exchange(row.node, NodeHandle(node, *world_.ids));
  instance_->Change(BERTH_CHANGE_NODE_CHANGED, 0, row, nullptr, old.get());
  reporter_.Flush();
}

void PluginUnderTest::RemoveNode(const std::string& name) {
  Row& row = NeedRow(name);
  for (const PodHandle& pod : row.pods)
    instance_->Change(BERTH_CHANGE_POD_REMOVED, 0, row, pod.get());
  instance_->Change(BERTH_CHANGE_NODE_REMOVED, 0, row, nullptr);
  std::erase_if(table_.rows, [&](const Row& r) { return r.node.name() == name; });
  reporter_.Flush();
}

void PluginUnderTest::AddPod(PodSpec pod, const std::string& node, uint32_t flags) {
  Row& row = NeedRow(node);
  row.pods.emplace_back(std::move(pod.NodeName(node)), *world_.ids);
  instance_->Change(BERTH_CHANGE_POD_ADDED, flags, row, row.pods.back().get());
  reporter_.Flush();
}

void PluginUnderTest::RemovePod(const std::string& name, const std::string& node, uint32_t flags) {
  Row& row = NeedRow(node);
  const PodHandle gone = NeedPod(name, node);
  std::erase_if(row.pods, [&](const PodHandle& pod) { return pod.get() == gone.get(); });
  instance_->Change(BERTH_CHANGE_POD_REMOVED, flags, row, gone.get());
  reporter_.Flush();
}

void PluginUnderTest::ChangePod(PodSpec pod, const std::string& node) {
  const Row& row = NeedRow(node);
  PodHandle& place = NeedPod(pod.name, node);
  const PodHandle now(std::move(pod.NodeName(node)), *world_.ids);
  const PodHandle old = std::exchange(place, now);
  instance_->ChangePod(row, now.get(), old.get());
  reporter_.Flush();
}

void PluginUnderTest::ConfirmPod(const std::string& name, const std::string& node) {
  PodSpec confirmed = NeedPod(name, node).spec();
  confirmed.resource_version += "1";
  ChangePod(std::move(confirmed), node);
}

void PluginUnderTest::AddPendingPod(const PodSpec& pod) {
  table_.pending.emplace_back(pod, *world_.ids);
  instance_->ChangePending(BERTH_CHANGE_PENDING_ADDED, 0, table_.pending.back().get());
  reporter_.Flush();
}

void PluginUnderTest::ChangePendingPod(const PodSpec& pod) {
  PodHandle& place = *NeedPending(pod.name);
  const PodHandle old = std::exchange(place, PodHandle(pod, *world_.ids));
  instance_->ChangePending(BERTH_CHANGE_PENDING_CHANGED, 0, place.get(), old.get());
  reporter_.Flush();
}

void PluginUnderTest::RemovePendingPod(const std::string& name) {
  const auto found = NeedPending(name);
  const PodHandle gone = *found;
  table_.pending.erase(found);
  instance_->ChangePending(BERTH_CHANGE_PENDING_REMOVED, 0, gone.get());
  reporter_.Flush();
}

void PluginUnderTest::AssumePod(const std::string& name, const std::string& node) {
  PodSpec pod = NeedPending(name)->spec();
  RemovePendingPod(name);
  AddPod(std::move(pod), node, BERTH_CHANGE_FLAG_ASSUMED);
}

void PluginUnderTest::ForgetPod(const std::string& name, const std::string& node) {
  PodSpec pod = NeedPod(name, node).spec();
  RemovePod(name, node, BERTH_CHANGE_FLAG_FORGOTTEN);
  AddPendingPod(pod.NodeName(""));
}

void PluginUnderTest::SetServed(const std::string& kind, bool served) {
  if (served) {
    table_.not_served.erase(kind);
  } else {
    const auto objects = table_.objects;
    for (const ObjectHandle& object : objects) {
      if (object.spec().kind == kind) RemoveObject(object.spec());
    }
    table_.not_served.insert(kind);
  }
  world_.not_served = table_.not_served;
  instance_->services().ChangeServed(table_.not_served);
  reporter_.Flush();
}

void PluginUnderTest::PutObject(const ObjectSpec& object) {
  const ObjectHandle now(object, *world_.ids);
  const auto old = FindObject(object);
  std::erase_if(table_.objects,
                [&](const ObjectHandle& o) { return old && o.get() == old->get(); });
  table_.objects.push_back(now);
  instance_->services().ChangeObject(old ? &*old : nullptr, &now);
  reporter_.Flush();
}

void PluginUnderTest::RemoveObject(const ObjectSpec& object) {
  const auto old = FindObject(object);
  if (!old) Misuse("there is no object \"" + object.name + "\"");
  std::erase_if(table_.objects, [&](const ObjectHandle& o) { return o.get() == old->get(); });
  instance_->services().ChangeObject(&*old, nullptr);
  reporter_.Flush();
}

void PluginUnderTest::Nominate(const PodSpec& pod, const std::string& node) {
  instance_->services().scheduling().Nominate(PodHandle(pod, *world_.ids),
                                              NeedRow(node).node.name());
}

void PluginUnderTest::AddWaiting(const PodSpec& pod) {
  instance_->services().scheduling().AddWaiting(PodHandle(pod, *world_.ids));
}

void PluginUnderTest::FailAttempt(const PodSpec& pod, const FailedAttemptSpec& failed) {
  if (!instance_->attempt_failed) Misuse("the plugin has no AttemptFailed");
  const PodHandle handle(pod, *world_.ids);
  std::vector<berth_str> names;
  for (const std::string& name : failed.plugins) names.push_back(ToAbi(name));
  const berth_failed_attempt attempt = {
      sizeof attempt,
      failed.flags,
      handle.get(),
      failed.code,
      0,
      ToAbi(failed.node),
      ToAbi(failed.message),
      {names.data(), static_cast<uint32_t>(names.size()), sizeof(berth_str)}};
  const CallScope scope(&reporter_, "AttemptFailed", kEvent);
  instance_->attempt_failed->attempt_failed(instance_->self(), &attempt);
  reporter_.Flush();
}

SavedState PluginUnderTest::Save() {
  Need(instance_->hand_over.has_value(), "HandOver");
  return Flushed(instance_->Save());
}

void PluginUnderTest::Advance(int64_t ns) {
  now_ns_ += ns;
  instance_->services().Advance(ns);
  reporter_.Flush();
}

void PluginUnderTest::End() {
  instance_->End();
  reporter_.Flush();
}

PluginUnderTest::PluginUnderTest(Library library, Scenario scenario)
    : reporter_(""), world_(library) {
  SetUp(scenario);
  instance_ =
      std::make_unique<Instance>(world_, table_.objects, now_ns_, std::move(scenario.shared));
  if (!instance_->ok())
    Misuse(std::string(world_.info->name) + ": create returns " + ToString(instance_->created()));
  ShapeChecker(world_, *instance_).Run();
  instance_->Replay(table_);
  reporter_.Flush();
}

Answer PluginUnderTest::Create(Library library, Scenario scenario) {
  Reporter reporter("");
  World world(library);
  Fill(library, scenario, &reporter, &world);
  const Instance instance(world, {}, 0);
  return instance.created();
}

void PluginUnderTest::Fill(const Library& library, Scenario& scenario, Reporter* reporter,
                           World* world) {
  world->info = &library.Find(scenario.plugin);
  world->SetProfile(scenario.profile, scenario.points, scenario.deadline_ns);
  world->emulated_version = scenario.emulated_version;
  std::vector<std::string> fields;
  for (const char* const* path = world->info->fields; path != nullptr && *path != nullptr; ++path) {
    fields.emplace_back(*path);
  }
  world->ids->set_fields(std::move(fields));
  world->args = std::move(scenario.args);
  if (scenario.handed_over && scenario.handed_over->answer.ok()) {
    world->handed_over = std::move(scenario.handed_over);
  }
  world->scripted = std::move(scenario.services);
  world->reporter = reporter;
  reporter->set_plugin(world->info->name);
  reporter->set_handler(std::move(scenario.on_failure));
  reporter->set_observer(scenario.observer);
  for (const Check check : scenario.without) reporter->Without(check);
  // Without the check that reports stale ids, the kit keeps nothing for each of them.
  world->ids->set_keeps_dropped(reporter->Wants(Check::kShape));
}

void PluginUnderTest::SetUp(Scenario& scenario) {
  Fill(world_.library, scenario, &reporter_, &world_);
  table_.ids = world_.ids.get();
  for (const NodeSpec& node : scenario.nodes) table_.Add(node);
  table_.not_served = {scenario.not_served.begin(), scenario.not_served.end()};
  world_.not_served = table_.not_served;
  for (const PodSpec& pod : scenario.pending) table_.pending.emplace_back(pod, *world_.ids);
  for (const ObjectSpec& object : scenario.objects)
    table_.objects.emplace_back(object, *world_.ids);
}

void PluginUnderTest::Need(bool has, const char* what) const {
  if (!has) Misuse(std::string(world_.info->name) + " has no " + what);
}

Row& PluginUnderTest::NeedRow(const std::string& node) {
  Row* row = table_.Find(node);
  if (row == nullptr) Misuse("the test has no node \"" + node + "\"");
  return *row;
}

PodHandle& PluginUnderTest::NeedPod(const std::string& name, const std::string& node) {
  Row& row = NeedRow(node);
  const auto found = std::find_if(row.pods.begin(), row.pods.end(),
                                  [&](const PodHandle& pod) { return pod.name() == name; });
  if (found == row.pods.end()) Misuse("node \"" + node + "\" has no pod \"" + name + "\"");
  return *found;
}

std::vector<PodHandle>::iterator PluginUnderTest::NeedPending(const std::string& name) {
  const auto found = std::find_if(table_.pending.begin(), table_.pending.end(),
                                  [&](const PodHandle& pod) { return pod.name() == name; });
  if (found == table_.pending.end()) Misuse("the test has no pending pod \"" + name + "\"");
  return found;
}

std::optional<ObjectHandle> PluginUnderTest::FindObject(const ObjectSpec& object) const {
  const auto* found = testing::FindObject(table_.objects, object.kind, object.ns, object.name);
  return found != nullptr ? std::optional<ObjectHandle>(*found) : std::nullopt;
}

Answer PluginUnderTest::LeftOut(const Cycle& cycle, const Row& row) {
  const auto& only = cycle.only_nodes();
  const bool in = !only || std::binary_search(only->begin(), only->end(), row.node.name());
  return in ? Success() : Unresolvable(kLeftOutByPreFilter);
}

void PluginUnderTest::AddVerdicts(Cycle& cycle, FilterResult* result) {
  const BlockAnswer all = EvaluateTable(cycle, Step::kFilter);
  result->filter = all.call;
  if (!all.call.ok()) return;
  for (size_t i = 0; i < table_.rows.size(); ++i) {
    const Answer left_out = LeftOut(cycle, table_.rows[i]);
    result->nodes[table_.rows[i].node.name()] = left_out.ok() ? all.rows[i].answer : left_out;
  }
  BlockChecker(&cycle, Step::kFilter, all).Run();
}

void PluginUnderTest::AddScores(Cycle& cycle, ScoreResult* result) {
  const BlockAnswer all = EvaluateTable(cycle, Step::kScore);
  result->score = all.call;
  if (!all.call.ok()) return;
  const std::vector<uint32_t> allowed = cycle.AllowedRows();
  std::vector<int64_t> scores;
  for (const uint32_t i : allowed) {
    scores.push_back(all.rows[i].score);
    result->raw[table_.rows[i].node.name()] = all.rows[i].score;
  }
  BlockChecker(&cycle, Step::kScore, all).Run();
  result->score = Normalize(cycle, allowed, &scores);
  for (size_t i = 0; i < allowed.size(); ++i) {
    result->normalized[table_.rows[allowed[i]].node.name()] = scores[i];
  }
}

void PluginUnderTest::RunChecks(const PodHandle& pod, Step step) {
  const Prober prober(world_, table_.objects, now_ns_, step);
  if (reporter_.Wants(Check::kRepeat)) CheckRepeat(prober, table_, pod);
  if (step == Step::kFilter && reporter_.Wants(Check::kWhatIf)) {
    WhatIfChecker(prober, table_, pod, known_).Run();
  }
  if (reporter_.Wants(Check::kDependence))
    DependenceChecker(prober, table_, pod, MutationsOf(pod), known_).Run();
  if (reporter_.Wants(Check::kLeaks) && !leaks_checked_) {
    LeakChecker(prober, table_, pod).Run();
    leaks_checked_ = true;
  }
}

MutatedPods& PluginUnderTest::MutationsOf(const PodHandle& pod) {
  const bool is_kept = mutated_ != nullptr && mutated_->others() == known_.size() &&
                       mutated_->hashes() == HashesOf(*pod);
  if (!is_kept) mutated_ = std::make_unique<MutatedPods>(pod.spec(), known_);
  return *mutated_;
}

void PluginUnderTest::Remember(const PodSpec& pod) {
  constexpr size_t kMost = 6;
  if (known_.size() < kMost) known_.push_back(pod);
}

}  // namespace berth::testing

#include "tests/simulation/live_run.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/base/assert.h"
#include "host/base/json_text.h"

namespace berth::host {
namespace {

constexpr uint64_t kMaxLiveSteps = 600'000;
// After the last act, the simulation must become idle within this time.
constexpr int64_t kMaxRestNs = 120 * kMinute;
// After this time, pods in error backoff do not count as unfinished work, because some pods fail in
// every attempt.
constexpr int64_t kMaxBackoffsNs = 30 * kMinute;
// The boot times of machines differ by multiples of this time.
constexpr int64_t kBootDistanceNs = 1000 * kSecond;

ApiModel::Options ModelOptionsOf(const LiveScenario& scenario) {
  ApiModel::Options options;
  options.serves_initial_events = scenario.serves_initial_events;
  options.watch_window = scenario.watch_window;
  return options;
}

}  // namespace

LiveRun::LiveRun(const PluginCatalog& catalog, uint64_t seed, std::FILE* trace)
    : scenario_(MakeLiveScenario(seed)),
      trace_(clock_, trace),
      random_(seed),
      setup_{catalog, scenario_.base, clock_, interner_},
      decoder_(interner_),
      cluster_({.clock = clock_, .max_events = 100, .serve = nullptr}),
      model_(cluster_, decoder_, ModelOptionsOf(scenario_)),
      world_(
          scenario_.base, random_.Split(), decoder_, cluster_, [this] { return BindingPods(); },
          trace_),
      live_world_{scenario_,   setup_,      cluster_, server_,
                  room_audit_, bind_audit_, trace_,   findings_},
      machines_(scenario_.processes) {
  world_.Listen([this](const std::string& json) { model_.Note(ParseOrderedJson(json)); });
  for (Machine& machine : machines_) {
    machine.boot_ns = clock_.NowNs() - random_.Between(1, 100) * kBootDistanceNs;
    for (auto& link : machine.links) link = std::make_unique<ModelTransport>(model_, server_);
  }
}

LiveRun::~LiveRun() {
  for (Machine& machine : machines_) {
    if (machine.process != nullptr) Kill(machine);
  }
  server_.Discard();
}

std::string LiveRun::Play() {
  trace_.Line(scenario_.Text());
  world_.Populate();
  model_.Sync();
  for (Machine& machine : machines_) Start(machine);
  for (size_t i = 0; i < scenario_.base.rounds && ok(); ++i) Round();
  for (Machine& machine : machines_) Kill(machine);
  return findings_.first();
}

std::vector<std::string> LiveRun::BindingPods() const {
  std::vector<std::string> names;
  for (const Machine& machine : machines_) {
    if (machine.process == nullptr) continue;
    for (const auto& [uid, binding] : machine.process->loop().bindings()) {
      names.emplace_back(binding->pod()->name());
    }
  }
  return names;
}

// ---- Processes ----------------------------------------------------------------------------------

void LiveRun::Start(Machine& machine) {
  const auto number = static_cast<size_t>(&machine - machines_.data());
  const std::string identity =
      std::string(1, static_cast<char>('A' + number)) + std::to_string(++machine.starts);
  WireAudit& wire = wires_.emplace_back(bind_audit_, trace_);
  machine.process = std::make_unique<LiveProcess>(live_world_, identity, machine.boot_ns,
                                                  machine.links, wire, random_.Split());
  machine.process->SetFaults(has_faults_);
}

void LiveRun::Retire(Machine& machine) {
  const Audit::Counts& counts = machine.process->audit().counts();
  counts_.assumed += counts.assumed;
  counts_.bound += counts.bound;
  counts_.failed += counts.failed;
  counts_.skipped += counts.skipped;
  counts_.spread_checks += counts.spread_checks;
  counts_.affinity_checks += counts.affinity_checks;
  machine.process.reset();
}

void LiveRun::Kill(Machine& machine) {
  machine.process->Kill();
  Retire(machine);
}

void LiveRun::Stop(Machine& machine) {
  LiveProcess& process = *machine.process;
  process.Stop([&](const std::function<bool()>& is_done) { RunProcess(process, is_done); });
  Retire(machine);
}

void LiveRun::RunProcess(LiveProcess& process, const std::function<bool()>& is_done) {
  while (!is_done()) {
    if (server_.RunOne() || process.RunOne()) continue;
    std::optional<int64_t> next = process.NextNs();
    if (const auto due = server_.NextNs()) next = std::min(next.value_or(*due), *due);
    BERTH_ASSERT(next.has_value() && *next > clock_.NowNs());
    clock_.AdvanceTo(*next);
  }
}

void LiveRun::SetFaults(bool has_faults) {
  has_faults_ = has_faults;
  for (Machine& machine : machines_) {
    machine.process->SetFaults(has_faults);
    if (has_faults) continue;
    machine.process->PauseUntil(0);
    for (const auto& link : machine.links) link->SetLag(0);
  }
}

// ---- Rounds -------------------------------------------------------------------------------------

void LiveRun::Round() {
  SetFaults(true);
  RunActs();
  if (!ok()) return;
  SetFaults(false);
  world_.pods().FinishAllDeletions();
  model_.Sync();
  Rest();
  if (!ok()) return;
  CheckRest("at rest");
  if (!ok()) return;
  // No pod stays parked longer than this, whatever happened.
  RunUntil(clock_.NowNs() + scenario_.base.queue.flush_after_ns + 30 * kSecond +
           scenario_.base.queue.max_backoff_ns);
  Rest();
  if (!ok()) return;
  CheckRest("after a flush");
}

void LiveRun::RunActs() {
  for (size_t left = scenario_.base.acts; left > 0 && ok(); --left) {
    RunUntil(clock_.NowNs() + random_.Delay(scenario_.base.max_pause_ns));
    if (!ok()) return;
    Disturb();
    if (!ok()) return;
    world_.PerformAct();
    model_.Sync();
    room_audit_.Check();
  }
}

void LiveRun::Disturb() {
  Machine& machine = machines_[random_.Below(machines_.size())];
  if (random_.Percent(scenario_.kill_percent)) {
    Kill(machine);
    Start(machine);
  } else if (random_.Percent(scenario_.stop_percent) && !machine.process->is_paused() &&
             !machine.process->has_ended()) {
    Stop(machine);
    Start(machine);
  } else if (random_.Percent(scenario_.pause_percent)) {
    const int64_t pause_ns = random_.Between(0, scenario_.max_pause_ns);
    trace_.Line(machine.process->identity(), ": pauses");
    machine.process->PauseUntil(clock_.NowNs() + pause_ns);
  }
  if (random_.Percent(scenario_.base.reload_percent) && !machine.process->is_paused()) {
    trace_.Line(machine.process->identity(), ": reloads its profiles");
    const Status status = machine.process->loop().Reload(
        setup_.catalog, ProfilesOf(setup_, scenario_.base.has_chaos));
    BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
    machine.process->audit().CheckPlaces();
  }
  if (random_.Percent(scenario_.cut_percent)) {
    trace_.Line("server: restarts");
    for (Machine& each : machines_) each.process->CutEverything();
  }
  if (random_.Percent(scenario_.compact_percent)) {
    trace_.Line("server: compacts");
    model_.Compact();
  }
  if (random_.Percent(scenario_.lag_percent)) {
    const int64_t lag_ns = random_.OneIn(2) ? random_.Delay(scenario_.max_lag_ns) : 0;
    machine.links[random_.Below(LiveProcess::kLinks)]->SetLag(lag_ns);
  }
}

void LiveRun::CheckRest(const char* when) {
  LiveProcess* leader = nullptr;
  for (Machine& machine : machines_) {
    machine.process->audit().CheckRest();
    if (machine.process->leads()) leader = machine.process.get();
  }
  if (!ok()) return;
  const auto fresh = StartFreshScheduler(setup_, cluster_, leader->audit());
  fresh_audit_.Compare(leader->loop(), *fresh);
  fresh_audit_.CheckParked(when, leader->loop(), *fresh);
}

std::string LiveRun::Unrest(bool backoffs_count) const {
  size_t leaders = 0;
  for (const Machine& machine : machines_) {
    std::string why = machine.process->Unrest(backoffs_count);
    if (!why.empty()) return machine.process->identity() + ": " + why;
    if (machine.process->leads()) ++leaders;
  }
  return leaders == 1 ? "" : std::to_string(leaders) + " processes lead";
}

void LiveRun::Rest() {
  const int64_t began = clock_.NowNs();
  while (ok()) {
    while (ok() && StepOnce()) {
    }
    if (!ok()) return;
    const int64_t waited = clock_.NowNs() - began;
    const std::string why = Unrest(waited < kMaxBackoffsNs);
    if (why.empty()) return;
    if (waited > kMaxRestNs) {
      return findings_.Add("the simulation does not come to rest: " + why);
    }
    clock_.AdvanceTo(NextNs(INT64_MAX));
  }
}

// ---- Time ---------------------------------------------------------------------------------------

void LiveRun::RunUntil(int64_t at_ns) {
  while (ok()) {
    while (ok() && StepOnce()) {
    }
    if (!ok() || clock_.NowNs() >= at_ns) return;
    clock_.AdvanceTo(NextNs(at_ns));
  }
}

int64_t LiveRun::NextNs(int64_t at_ns) {
  int64_t next = at_ns;
  if (const auto due = server_.NextNs()) next = std::min(next, *due);
  for (const Machine& machine : machines_) {
    if (const auto due = machine.process->NextNs()) next = std::min(next, *due);
  }
  if (next <= clock_.NowNs()) {
    findings_.Add("an action is due, but no component executes it");
    return clock_.NowNs();
  }
  return next;
}

bool LiveRun::StepOnce() {
  if (++steps_ > kMaxLiveSteps) {
    findings_.Add("the simulation exceeds the maximum number of steps");
    return false;
  }
  const size_t first = random_.Below(machines_.size() + 1);
  bool did = false;
  for (size_t i = 0; i <= machines_.size() && !did; ++i) {
    const size_t which = (first + i) % (machines_.size() + 1);
    did = which == machines_.size() ? server_.RunOne() : machines_[which].process->RunOne();
  }
  CheckFences();
  for (Machine& machine : machines_) {
    if (!machine.process->has_ended()) continue;
    // The process ends with status 1, and is started again.
    Kill(machine);
    Start(machine);
    did = true;
  }
  if (did && random_.OneIn(4)) clock_.Advance(random_.Between(0, 3 * kMillisecond));
  return did;
}

void LiveRun::CheckFences() {
  const auto open = std::ranges::count_if(
      machines_, [](const Machine& machine) { return machine.process->has_open_fence(); });
  if (open > 1) findings_.Add("two processes have an open fence");
}

}  // namespace berth::host

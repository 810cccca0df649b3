#include "tests/simulation/run.h"

#include <algorithm>

#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr uint64_t kMaxSteps = 300'000;
// After the last act, the simulation must become idle within this time.
constexpr int64_t kMaxSettleNs = 120 * kMinute;
// After this time, pods in error backoff do not count as unfinished work, because some pods fail in
// every attempt.
constexpr int64_t kMaxErrorBackoffNs = 30 * kMinute;
constexpr uint32_t kRenewedPercent = 30;
constexpr int64_t kDeadlineNs = 10 * kMinute;

}  // namespace

Run::Run(const PluginCatalog& catalog, uint64_t seed, std::FILE* trace)
    : scenario_(MakeScenario(seed)),
      trace_(clock_, trace),
      random_(seed),
      setup_{catalog, scenario_, clock_, interner_},
      decoder_(interner_),
      cluster_({.clock = clock_, .max_events = 100, .serve = nullptr}),
      audit_(scenario_, cluster_, clock_, trace_, room_audit_, bind_audit_, findings_),
      world_(
          scenario_, random_.Split(), decoder_, cluster_,
          [this] {
            std::vector<std::string> names;
            if (loop_ == nullptr) return names;
            for (const auto& [uid, binding] : loop_->bindings()) {
              names.emplace_back(binding->pod()->name());
            }
            return names;
          },
          trace_) {}

Run::~Run() {
  if (loop_ != nullptr) Kill();
}

std::string Run::Play() {
  trace_.Line(scenario_.Text());
  world_.Populate();
  Start();
  for (size_t i = 0; i < scenario_.rounds && ok(); ++i) Round();
  Kill();
  audit_.CheckReservations();
  return findings_.first();
}

// ---- The scheduler ------------------------------------------------------------------------------

void Run::Start() {
  trace_.Line("the scheduler starts");
  client_ = std::make_unique<FaultyClient>(cluster_, clock_, random_.Split(), audit_, trace_);
  loop_ = StartScheduler(setup_, *client_, pool_, audit_);
  audit_.SetLoop(loop_.get());
}

void Run::Reload() {
  trace_.Line("the profiles are reloaded");
  ++reloads_;
  std::vector<PlanSpec> profiles = ProfilesOf(setup_, scenario_.has_chaos);
  for (PlanSpec& profile : profiles) {
    for (PlanSpec::Plugin& plugin : profile.plugins) {
      // A plugin with another deadline gets a new instance; the others keep theirs.
      if (random_.Percent(kRenewedPercent)) plugin.deadline_ns = kDeadlineNs + reloads_;
    }
  }
  const Status status = loop_->Reload(setup_.catalog, profiles);
  BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
  audit_.CheckPlaces();
}

// Simulates that the scheduler's process is killed.
void Run::Kill() {
  trace_.Line("the scheduler is killed");
  client_->Stop();
  audit_.SetLoop(nullptr);
  pool_.Clear();
  loop_.reset();
  client_.reset();
}

// ---- Time ---------------------------------------------------------------------------------------

void Run::Round() {
  client_->SetFaults(scenario_.faults);
  RunActs();
  if (!ok()) return;
  client_->SetFaults(Faults());
  world_.pods().FinishAllDeletions();
  Rest();
  if (!ok()) return;
  CheckRest("at rest");
  if (!ok()) return;
  // No pod stays parked longer than this, whatever happened.
  RunUntil(clock_.NowNs() + scenario_.queue.flush_after_ns + 30 * kSecond +
           scenario_.queue.max_backoff_ns);
  Rest();
  if (!ok()) return;
  CheckRest("after a flush");
}

void Run::CheckRest(const char* when) {
  audit_.CheckRest();
  if (!ok()) return;
  const std::unique_ptr<SchedulingLoop> fresh = StartFreshScheduler(setup_, cluster_, audit_);
  fresh_audit_.Compare(*loop_, *fresh);
  fresh_audit_.CheckParked(when, *loop_, *fresh);
}

void Run::RunActs() {
  for (size_t left = scenario_.acts; left > 0 && ok(); --left) {
    RunUntil(clock_.NowNs() + random_.Delay(scenario_.max_pause_ns));
    if (!ok()) return;
    if (random_.Percent(scenario_.restart_percent)) {
      if (random_.OneIn(2)) loop_->Stop();
      for (size_t more = random_.Below(20); more > 0 && StepOnce(); --more) {
      }
      Kill();
      Start();
      client_->SetFaults(scenario_.faults);
    }
    if (random_.Percent(scenario_.reload_percent)) Reload();
    world_.PerformAct();
    room_audit_.Check();
  }
}

void Run::Rest() {
  const int64_t began = clock_.NowNs();
  while (ok()) {
    while (ok() && StepOnce()) {
    }
    const int64_t waited = clock_.NowNs() - began;
    if (IsAtRest(waited < kMaxErrorBackoffNs)) return;
    if (waited > kMaxSettleNs) return findings_.Add("the simulation does not come to rest");
    const int64_t next = NextNs(INT64_MAX);
    if (next == INT64_MAX) {
      return findings_.Add("nothing is due, but the simulation is not at rest");
    }
    clock_.AdvanceTo(next);
  }
}

bool Run::IsAtRest(bool backoffs_count) const {
  if (client_->NextNs().has_value() || pool_.NextNs().has_value() || !loop_->AtRest()) return false;
  return !backoffs_count || loop_->queue().CountIn(QueuePlace::kErrorBackoff) == 0;
}

void Run::RunUntil(int64_t at_ns) {
  while (ok()) {
    while (ok() && StepOnce()) {
    }
    if (clock_.NowNs() >= at_ns) return;
    clock_.AdvanceTo(NextNs(at_ns));
  }
}

int64_t Run::NextNs(int64_t at_ns) {
  int64_t next = at_ns;
  if (const auto due = client_->NextNs()) next = std::min(next, *due);
  if (const auto due = loop_->NextStepNs()) next = std::min(next, *due);
  if (const auto due = pool_.NextNs()) next = std::min(next, *due);
  if (next <= clock_.NowNs()) {
    findings_.Add("an action is due, but no component executes it");
    return clock_.NowNs();
  }
  return next;
}

bool Run::StepOnce() {
  if (++steps_ > kMaxSteps) {
    findings_.Add("the simulation exceeds the maximum number of steps");
    return false;
  }
  const bool client_first = random_.OneIn(2);
  bool did = pool_.RunOne() || (client_first && client_->RunOne());
  if (!did) did = loop_->Step();
  if (!did && !client_first) did = client_->RunOne();
  if (!did) return false;
  audit_.CheckPlaces();
  if (random_.OneIn(4)) clock_.Advance(random_.Between(0, 3 * kMillisecond));
  return true;
}

}  // namespace berth::host

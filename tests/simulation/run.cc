#include "tests/simulation/run.h"

#include <algorithm>
#include <utility>

#include "host/base/assert.h"
#include "host/guard/point.h"
#include "tests/harness/default_profile.h"

namespace berth::host {
namespace {

constexpr uint64_t kMaxSteps = 300'000;
// After the last act, the simulation must become idle within this time.
constexpr int64_t kMaxSettleNs = 120 * kMinute;
// After this time, pods in error backoff do not count as unfinished work, because some pods fail in
// every attempt.
constexpr int64_t kMaxErrorBackoffNs = 30 * kMinute;

}  // namespace

Run::Run(const PluginCatalog& catalog, uint64_t seed, std::FILE* trace)
    : catalog_(catalog),
      scenario_(MakeScenario(seed)),
      trace_(clock_, trace),
      random_(seed),
      decoder_(interner_),
      cluster_({.clock = clock_, .max_events = 100, .serve = nullptr}),
      audit_(scenario_, cluster_, clock_, trace_, room_audit_, findings_),
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

std::vector<PlanSpec> Run::Profiles(bool has_chaos) const {
  PlanSpec spec = DefaultPlanSpec(catalog_);
  const auto use = [&](const char* name, bool first) {
    spec.plugins.push_back({name, nullptr, ""});
    for (const std::string& id : catalog_.plugins().find(name)->second.info->points) {
      const PointInfo* info = FindPoint(id);
      auto& uses = spec.points[static_cast<size_t>(info->point)];
      uses.insert(first ? uses.begin() : uses.end(), {name, 1});
    }
  };
  if (has_chaos) {
    use("test.ChaosA", true);
    use("test.ChaosB", true);
    // At Filter and Reserve, moves ChaosB from the front to the end. At the other points the chaos
    // plugins stay first.
    for (const Point point : {Point::kFilter, Point::kReserve}) {
      auto& uses = spec.points[static_cast<size_t>(point)];
      std::ranges::rotate(uses, uses.begin() + 1);
    }
  }
  std::vector<PlanSpec> specs;
  for (const std::string& name : scenario_.profiles) {
    spec.scheduler_name = name;
    specs.push_back(spec);
  }
  return specs;
}

void Run::Start() {
  trace_.Line("the scheduler starts");
  client_ = std::make_unique<FaultyClient>(cluster_, clock_, random_.Split(), audit_, trace_);
  SchedulingLoop::Options options;
  options.seed = scenario_.seed;
  options.clock = &clock_;
  options.sink = &audit_;
  options.log = &audit_;
  options.logs_decisions = false;
  options.pool = &pool_;
  options.queue = scenario_.queue;
  if (scenario_.drops_columns) options.memory.idle_column_bytes = 0;
  if (!scenario_.has_quarantine) options.quarantine.faults = 0;
  const std::vector<PlanSpec> profiles = Profiles(scenario_.has_chaos);
  auto loop = SchedulingLoop::Create(interner_, *client_, catalog_, profiles, std::move(options));
  BERTH_ASSERT_MSG(loop.ok(), "%s", loop.status().ToString().c_str());
  loop_ = std::move(loop).value();
  audit_.SetLoop(loop_.get());
}

void Run::Reload() {
  trace_.Line("the profiles are reloaded");
  const Status status = loop_->Reload(catalog_, Profiles(scenario_.has_chaos));
  BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
  audit_.CheckPlaces();
}

// Returns a second scheduler, without faults and chaos plugins. It has received the state of the
// cluster, and never schedules a pod.
std::unique_ptr<SchedulingLoop> Run::StartFresh() {
  SchedulingLoop::Options options;
  options.seed = scenario_.seed;
  options.clock = &clock_;
  options.log = &audit_;
  auto loop =
      SchedulingLoop::Create(interner_, cluster_, catalog_, Profiles(false), std::move(options));
  BERTH_ASSERT_MSG(loop.ok(), "%s", loop.status().ToString().c_str());
  cluster_.Deliver();
  return std::move(loop).value();
}

// Simulates that the scheduler's process is killed.
void Run::Kill() {
  trace_.Line("the scheduler is killed");
  client_->Stop();
  audit_.SetLoop(nullptr);
  pool_.tasks.clear();
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
  world_.storage().ClearUnannounced();
  CheckRest("after a flush");
}

void Run::CheckRest(const char* when) {
  audit_.CheckRest();
  if (!ok()) return;
  const std::unique_ptr<SchedulingLoop> fresh = StartFresh();
  fresh_audit_.Compare(*loop_, *fresh);
  fresh_audit_.CheckParked(when, *loop_, *fresh, world_.storage().unannounced());
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
  if (client_->NextNs().has_value() || !pool_.tasks.empty() || !loop_->AtRest()) return false;
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
  if (!pool_.tasks.empty()) next = std::min(next, pool_.tasks.begin()->first);
  if (next <= clock_.NowNs()) {
    findings_.Add("an action is due, but no component executes it");
    return clock_.NowNs();
  }
  return next;
}

// Runs the next pool task that is due. Returns false if there is none.
bool Run::RunPool() {
  if (pool_.tasks.empty() || pool_.tasks.begin()->first > clock_.NowNs()) return false;
  const std::function<void()> task = std::move(pool_.tasks.extract(pool_.tasks.begin()).mapped());
  task();
  return true;
}

bool Run::StepOnce() {
  if (++steps_ > kMaxSteps) {
    findings_.Add("the simulation exceeds the maximum number of steps");
    return false;
  }
  const bool client_first = random_.OneIn(2);
  bool did = RunPool() || (client_first && client_->RunOne());
  if (!did) did = loop_->Step();
  if (!did && !client_first) did = client_->RunOne();
  if (!did) return false;
  audit_.CheckPlaces();
  if (random_.OneIn(4)) clock_.Advance(random_.Between(0, 3 * kMillisecond));
  return true;
}

}  // namespace berth::host

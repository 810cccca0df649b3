#include "tests/simulation/run.h"

#include <algorithm>
#include <utility>

#include "host/base/assert.h"
#include "host/guard/point.h"
#include "tests/runtime/default_profile.h"

namespace berth::host {
namespace {

constexpr uint64_t kMaxSteps = 300'000;
// How long it may take until nothing is under way, once nobody does anything.
constexpr int64_t kMaxUnrestNs = 120 * kMinute;
// After this, pods that only back off from errors count as quiet: some fail for ever.
constexpr int64_t kPatienceNs = 30 * kMinute;

}  // namespace

Run::Run(const PluginCatalog& catalog, uint64_t seed, std::FILE* trace)
    : catalog_(catalog),
      scenario_(MakeScenario(seed)),
      trace_(clock_, trace),
      dice_(seed),
      decoder_(interner_),
      cluster_({.now_ns = [this] { return clock_.NowNs(); }, .max_events = 100, .serve = nullptr}),
      audit_(scenario_, cluster_, clock_, trace_),
      world_(
          scenario_, dice_.Split(), decoder_, cluster_,
          [this] {
            std::vector<std::string> busy;
            if (loop_ == nullptr) return busy;
            for (const auto& [uid, binding] : loop_->bindings()) {
              busy.emplace_back(binding->pod()->name());
            }
            return busy;
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
  audit_.CheckLedger();
  return audit_.finding();
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
    // Behind the default plugins, but for Bind, where the first one that does not skip ends it.
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
  client_ = std::make_unique<FaultyClient>(cluster_, clock_, dice_.Split(), audit_, trace_);
  SchedulingLoop::Options options;
  options.seed = scenario_.seed;
  options.clock = &clock_;
  options.sink = &audit_;
  options.log = [this](uint32_t level, std::string_view plugin, std::string_view message) {
    audit_.OnLog(level, plugin, message);
  };
  options.log_level = BERTH_LOG_INFO;
  options.on_pool = [this](std::function<void()> task) {
    pool_.emplace(clock_.NowNs() + dice_.Delay(10 * kSecond), std::move(task));
    return uint64_t{1};  // Nobody is given up.
  };
  options.queue = scenario_.queue;
  if (scenario_.drops_columns) options.idle_column_bytes = 0;
  if (!scenario_.has_quarantine) options.quarantine.faults = 0;
  const std::vector<PlanSpec> profiles = Profiles(scenario_.has_chaos);
  auto loop = SchedulingLoop::Create(interner_, *client_, catalog_, profiles, std::move(options));
  BERTH_ASSERT_MSG(loop.ok(), "%s", loop.status().ToString().c_str());
  loop_ = std::move(loop).value();
  audit_.SetLoop(loop_.get());
}

void Run::Reload() {
  trace_.Line("the profiles are loaded anew");
  const Status status = loop_->Reload(catalog_, Profiles(scenario_.has_chaos));
  BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
  audit_.CheckPlaces();
}

// Beside the one that runs, without the bad line and without chaos. It is told what there is, and
// never tries a pod.
std::unique_ptr<SchedulingLoop> Run::StartFresh() {
  SchedulingLoop::Options options;
  options.seed = scenario_.seed;
  options.clock = &clock_;
  options.log = [this](uint32_t level, std::string_view plugin, std::string_view message) {
    audit_.OnLog(level, plugin, message);
  };
  auto loop =
      SchedulingLoop::Create(interner_, cluster_, catalog_, Profiles(false), std::move(options));
  BERTH_ASSERT_MSG(loop.ok(), "%s", loop.status().ToString().c_str());
  cluster_.Deliver();
  return std::move(loop).value();
}

// The process ends, in the middle of whatever it does.
void Run::Kill() {
  trace_.Line("the scheduler is killed");
  client_->Stop();
  audit_.SetLoop(nullptr);
  pool_.clear();
  loop_.reset();
  client_.reset();
}

// ---- Time ---------------------------------------------------------------------------------------

void Run::Round() {
  client_->SetFaults(scenario_.faults);
  ActUntilDone();
  if (!ok()) return;
  client_->SetFaults(Faults());
  world_.Calm();
  Rest();
  if (!ok()) return;
  CheckRest("at rest");
  if (!ok()) return;
  // Whatever happened, nobody waits for longer than this.
  GoTo(clock_.NowNs() + scenario_.queue.flush_after_ns + 30 * kSecond +
       scenario_.queue.max_backoff_ns);
  Rest();
  if (!ok()) return;
  world_.ForgetUnannounced();
  CheckRest("after a flush");
}

void Run::CheckRest(const char* when) {
  audit_.CheckRest();
  if (!ok()) return;
  const std::unique_ptr<SchedulingLoop> fresh = StartFresh();
  audit_.CompareWithFresh(*fresh);
  audit_.CheckParked(when, *fresh, world_.unannounced());
}

void Run::ActUntilDone() {
  for (size_t left = scenario_.acts; left > 0 && ok(); --left) {
    GoTo(clock_.NowNs() + dice_.Delay(scenario_.max_pause_ns));
    if (!ok()) return;
    if (dice_.Percent(scenario_.restart_percent)) {
      if (dice_.OneIn(2)) loop_->Stop();
      for (size_t more = dice_.Below(20); more > 0 && StepOnce(); --more) {
      }
      Kill();
      Start();
      client_->SetFaults(scenario_.faults);
    }
    if (dice_.Percent(scenario_.reload_percent)) Reload();
    world_.Act();
    audit_.CheckRoom();
  }
}

void Run::Rest() {
  const int64_t began = clock_.NowNs();
  while (ok()) {
    while (ok() && StepOnce()) {
    }
    const int64_t waited = clock_.NowNs() - began;
    if (IsQuiet(waited < kPatienceNs)) return;
    if (waited > kMaxUnrestNs) return audit_.Complain("it does not come to rest");
    const int64_t next = NextNs(INT64_MAX);
    if (next == INT64_MAX) return audit_.Complain("nothing is due, and it is not at rest");
    clock_.AdvanceTo(next);
  }
}

bool Run::IsQuiet(bool backoffs_count) const {
  if (client_->NextNs().has_value() || !pool_.empty() || !loop_->AtRest()) return false;
  return !backoffs_count || loop_->queue().CountIn(QueuePlace::kErrorBackoff) == 0;
}

void Run::GoTo(int64_t at_ns) {
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
  if (!pool_.empty()) next = std::min(next, pool_.begin()->first);
  if (next <= clock_.NowNs()) {
    audit_.Complain("something is due, and nothing happens");
    return clock_.NowNs();
  }
  return next;
}

// The threads of the pool come to what they were given, one at a time.
bool Run::RunPool() {
  if (pool_.empty() || pool_.begin()->first > clock_.NowNs()) return false;
  const std::function<void()> task = std::move(pool_.extract(pool_.begin()).mapped());
  task();
  return true;
}

bool Run::StepOnce() {
  if (++steps_ > kMaxSteps) {
    audit_.Complain("it does not end");
    return false;
  }
  const bool line_first = dice_.OneIn(2);
  bool did = RunPool() || (line_first && client_->HappenOne());
  if (!did) did = loop_->Step();
  if (!did && !line_first) did = client_->HappenOne();
  if (!did) return false;
  audit_.CheckPlaces();
  if (dice_.OneIn(4)) clock_.Advance(dice_.Between(0, 3 * kMillisecond));
  return true;
}

}  // namespace berth::host

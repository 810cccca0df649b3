#include "tests/simulation/live_process.h"

#include <algorithm>
#include <utility>

#include "host/base/assert.h"
#include "host/cluster/kubernetes/answers/api_error.h"

namespace berth::host {
namespace {

constexpr size_t kReads = 0;
constexpr size_t kWrites = 1;
constexpr size_t kEvents = 2;
constexpr size_t kLeases = 3;
constexpr int64_t kStopLimitNs = 20 * kSecond;
constexpr int64_t kReleaseLimitNs = 5 * kSecond;

ElectionOptions ElectionOf(const std::string& identity, uint64_t seed) {
  ElectionOptions options;
  options.identity = identity;
  options.seed = seed;
  return options;
}

}  // namespace

// ---- The beginning ------------------------------------------------------------------------------

LiveProcess::LiveProcess(const LiveWorld& world, std::string identity, int64_t boot_ns,
                         const Links& links, WireAudit& wire, Random random)
    : world_(world),
      identity_(std::move(identity)),
      boot_ns_(boot_ns),
      random_(random),
      clock_(world.setup.clock),
      executor_(clock_),
      transports_([&] {
        std::array<std::unique_ptr<FaultyTransport>, kLinks> made;
        for (size_t i = 0; i < kLinks; ++i) {
          made[i] = std::make_unique<FaultyTransport>(
              *links[i], FaultyTransport::Options{.client = &executor_,
                                                  .server = &world.server,
                                                  .seed = random_.Next(),
                                                  .audit = &wire});
        }
        return made;
      }()),
      wire_(wire),
      audit_(world.setup.scenario, world.cluster, world.setup.clock, world.trace, world.room,
             world.binds, world.findings),
      fence_([this] { return clock_.NowNs() - boot_ns_; }),
      leases_(*transports_[kLeases], "kube-system", "kube-scheduler"),
      elector_(leases_, executor_, clock_, fence_, ElectionOf(identity_, random_.Next()),
               {.on_started = [this](int64_t /*waited_ns*/) { has_started_ = true; },
                .on_lost =
                    [this](std::string_view why) {
                      world_.trace.Line(identity_, ": lost the lease: ", why);
                      has_lost_ = true;
                    },
                .on_new_leader = {},
                .last_progress_ns = {}},
               Log()),
      pool_(world.setup.clock, random_) {
  world_.trace.Line(identity_, ": starts");
  wire_.SetProcess(this);
  client_ = std::make_unique<KubernetesClient>(world.setup.interner, ClientOptions(), Log());
  observing_.emplace(*client_, static_cast<ClientObserver&>(*this), world.findings);
  loop_ = StartScheduler(world.setup, *observing_, pool_, audit_);
  audit_.SetLoop(loop_.get());
  elector_.Start();
}

LiveProcess::~LiveProcess() {
  if (loop_ != nullptr) Kill();
}

KubernetesClient::Options LiveProcess::ClientOptions() {
  KubernetesClient::Options options;
  options.reads = ChannelOf(kReads);
  options.writes = ChannelOf(kWrites);
  options.events = ChannelOf(kEvents);
  options.wall = &clock_;
  options.fence = &fence_;
  options.seed = random_.Next();
  options.reflector.page = world_.scenario.page;
  options.events_queue.host_name = identity_;
  options.stop_limit_ns = kStopLimitNs;
  options.wait = [this](const std::function<bool()>& is_done) { wait_(is_done); };
  return options;
}

void LiveProcess::SetFaults(bool has_faults) {
  for (size_t i = 0; i < kLinks; ++i) {
    const TransportFaults& faults =
        i == kLeases ? world_.scenario.lease_faults : world_.scenario.faults;
    transports_[i]->SetFaults(has_faults ? faults : TransportFaults());
  }
}

void LiveProcess::CutEverything() {
  for (const auto& transport : transports_) transport->CutEverything();
}

// ---- Running ------------------------------------------------------------------------------------

bool LiveProcess::RunOne() {
  if (is_paused() || has_ended()) return false;
  if (is_ending_) return executor_.RunOne();
  // The work that was due while the process did not run happens before anything is checked.
  const int64_t last_ns = std::exchange(last_run_ns_, clock_.NowNs());
  if (clock_.NowNs() - last_ns > kSecond) loop_->Settle();
  if (has_started_ && !is_refreshing_) OnStarted();
  const size_t first = random_.Below(3);
  for (size_t i = 0; i < 3; ++i) {
    switch ((first + i) % 3) {
      case 0:
        if (executor_.RunOne()) return true;
        break;
      case 1:
        if (client_->Deliver() > 0) {
          audit_.CheckPlaces();
          return true;
        }
        break;
      default:
        if (StepLoop()) return true;
    }
  }
  return false;
}

bool LiveProcess::StepLoop() {
  const bool did = pool_.RunOne() || (leads() ? loop_->Step() : loop_->Settle());
  if (did) audit_.CheckPlaces();
  return did;
}

std::optional<int64_t> LiveProcess::NextNs() const {
  if (is_paused()) return paused_until_ns_;
  if (is_ending_) return executor_.NextNs();
  if (client_->waiting_events() > 0 || has_ended()) return clock_.NowNs();
  std::optional<int64_t> next = executor_.NextNs();
  const auto consider = [&next](std::optional<int64_t> at_ns) {
    if (at_ns) next = std::min(next.value_or(*at_ns), *at_ns);
  };
  consider(pool_.NextNs());
  consider(leads() ? loop_->NextStepNs() : loop_->NextTimerNs());
  return next;
}

void LiveProcess::OnStarted() {
  world_.trace.Line(identity_, ": leads");
  is_refreshing_ = true;
  started_revision_ = world_.cluster.resource_version();
  const std::array kinds = {kPodKind, kNodeKind};
  client_->Refresh(kinds, [this] { OnFresh(); });
}

// Everything that another leader wrote before this one asked must have been delivered.
void LiveProcess::OnFresh() {
  world_.trace.Line(identity_, ": has a fresh cache");
  is_fresh_ = true;
  for (const std::string_view kind : {kPodKind, kNodeKind}) {
    const std::string difference = observing_->Difference(world_.cluster, kind, started_revision_);
    if (difference.empty()) continue;
    world_.findings.Add("the cache is not fresh after a take-over: " + difference);
  }
}

std::string LiveProcess::Unrest(bool backoffs_count) const {
  if (is_paused() || has_ended()) return "the process does not run";
  if (has_started_ && !is_fresh_) return "the cache is being refreshed";
  if (pool_.NextNs() || client_->waiting_events() > 0) return "tasks or events wait";
  if (observing_->open() > 0) return "requests are not answered";
  if (loop_->binding_count() > 0) return "pods are being bound";
  if (leads() && !loop_->AtRest()) return "the loop is not at rest";
  if (leads() && backoffs_count && loop_->queue().CountIn(QueuePlace::kErrorBackoff) > 0) {
    return "pods back off after an error";
  }
  return observing_->Difference(world_.cluster);
}

// ---- The end ------------------------------------------------------------------------------------

void LiveProcess::Kill() {
  world_.trace.Line(identity_, ": is killed");
  is_ending_ = true;
  wire_.SetProcess(nullptr);
  for (const auto& transport : transports_) transport->EndProcess();
  wait_ = [this](const std::function<bool()>& is_done) {
    while (!is_done()) {
      if (executor_.RunOne()) continue;
      const std::optional<int64_t> next = executor_.NextNs();
      BERTH_ASSERT(next.has_value());
      clock_.Advance(*next - clock_.NowNs());
    }
  };
  client_->Stop();
  End();
}

void LiveProcess::Stop(const std::function<void(const std::function<bool()>& is_done)>& run) {
  world_.trace.Line(identity_, ": is stopped");
  is_stopping_ = true;
  loop_->Stop();
  const int64_t until_ns = clock_.NowNs() + kStopLimitNs;
  run([&] { return loop_->binding_count() == 0 || clock_.NowNs() >= until_ns; });
  is_ending_ = true;
  wait_ = run;
  client_->Stop();
  bool is_released = false;
  elector_.Release(kReleaseLimitNs, [&] { is_released = true; });
  run([&] { return is_released; });
  wire_.SetProcess(nullptr);
  for (const auto& transport : transports_) transport->EndProcess();
  End();
}

void LiveProcess::End() {
  audit_.SetLoop(nullptr);
  pool_.Clear();
  loop_.reset();
  client_.reset();
  executor_.Discard();
  audit_.CheckReservations();
}

// ---- Audits -------------------------------------------------------------------------------------

void LiveProcess::OnSent(const HttpRequest& request) {
  if (request.verb == "GET" || request.target.find("/leases") != std::string::npos) return;
  if (!fence_.is_open()) {
    world_.findings.Add(identity_ + " sent " + request.verb + " " + request.target +
                        " with a closed fence");
  }
  if (!is_fresh_ && IsBinding(request)) {
    world_.findings.Add(identity_ + " sent a binding before its cache was refreshed");
  }
}

void LiveProcess::OnBindRequested(const PodName& pod, std::string_view node) {
  world_.trace.Line(identity_, ": bind ", pod.name, " to ", node);
  open_binds_.emplace(pod.uid, node);
  audit_.OnBindRequested(pod, node);
}

void LiveProcess::OnBindExecuted(const PodName& pod, std::string_view node) {
  executed_.emplace(pod.uid, node);
  const auto open = open_binds_.find(pod.uid);
  if (open == open_binds_.end() || open->second != node) {
    world_.findings.Add("a binding was executed after its outcome was reported: " +
                        std::string(pod.uid));
  }
}

void LiveProcess::OnBindCompleted(const PodName& pod, const Status& status) {
  world_.trace.Line(identity_, ": answer to bind ", pod.name, ": ", status.ToString());
  const auto open = open_binds_.extract(std::string(pod.uid));
  audit_.OnBindCompleted(pod, status);
  if (!is_ending_ && !open.empty()) CheckOutcome(pod, open.mapped(), status);
}

void LiveProcess::CheckOutcome(const PodName& pod, const std::string& node, const Status& status) {
  const auto find = [&](const char* why) {
    world_.findings.Add("the outcome of binding " + std::string(pod.uid) + " to " + node + " (" +
                        status.ToString() + ") is not true: " + why);
  };
  const bool was_executed = executed_.contains(pod.uid);
  const PodRef stored = world_.cluster.FindPod(pod.ns, pod.name);
  const bool exists = stored != nullptr && stored->uid() == pod.uid;
  switch (status.code()) {
    case ErrorCode::kOk: {
      // Another scheduler may have bound the pod to this node while the outcome was unknown.
      const std::string_view bound = world_.binds.NodeOf(pod.uid);
      const bool may_be_foreign = world_.setup.scenario.has_other_schedulers && bound.empty();
      if (bound != node && !may_be_foreign) find("the server has not executed it");
      return;
    }
    case ErrorCode::kNotFound:
      if (exists) find("the pod exists");
      return;
    case ErrorCode::kConflict:
      if (was_executed && exists) find("the server has executed it");
      return;
    case ErrorCode::kUnavailable:
      if (was_executed) find("the server has executed it");
      return;
    default: return find("no other outcome is possible");
  }
}

}  // namespace berth::host

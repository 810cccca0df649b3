#include "host/cycle/scheduling_loop.h"

#include <array>

#include "host/base/assert.h"
#include "host/runtime/points/run_attempt_failed.h"

namespace berth::host {
namespace {

// Returns the level of the record about the answer to an eviction. After a conflict, the pod was
// replaced or changed by another client, and the next attempt chooses its victims anew. An API
// server that is away is a problem of the server, which the client reports as well.
uint32_t EvictionLevel(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
    case ErrorCode::kConflict: return BERTH_LOG_INFO;
    case ErrorCode::kUnavailable: return BERTH_LOG_WARN;
    default: return BERTH_LOG_ERROR;
  }
}

}  // namespace

bool PluginRequests::CarryOut() {
  std::vector<std::function<void()>> requests;
  requests.swap(deferred_);
  for (const auto& request : requests) request();
  return !requests.empty();
}

bool PluginRequests::ClearNomination(std::string_view uid) {
  if (queue_.nominator().NodeOf(uid).empty()) return false;
  Defer([this, uid = std::string(uid)] {
    const PodRef pod = queue_.PodOf(uid);
    if (pod == nullptr || queue_.nominator().NodeOf(uid).empty()) return;
    queue_.Nominate(pod, "");
    if (pod->nominated_node().empty()) return;
    PodStatusPatch patch;
    patch.nominated_node = "";
    writer_.PatchPodStatus(NameOf(*pod), patch, nullptr);
  });
  return true;
}

// A pod in its attempt, on Permit or in its binding is not waiting in the queue. If it could be
// activated there, it would be retried without end, each time at once after it failed. The same
// applies to a pod whose attempt begins before the request is carried out. An attempt that ends
// with Pending in PreFilter or PreScore is the exception: the answer that the pod waits for may
// arrive before the pod is parked, and no other event would requeue it.
void PluginRequests::Activate(std::string_view uid) {
  const QueuedEntity* entity = queue_.Find(uid);
  if (entity == nullptr) return;
  const bool is_in_flight = entity->place == QueuePlace::kInFlight;
  Defer([this, is_in_flight, uid = std::string(uid), attempts = entity->attempts] {
    const QueuedEntity* now = queue_.Find(uid);
    const bool waits =
        now != nullptr && now->place != QueuePlace::kInFlight && now->attempts == attempts;
    if (waits && (!is_in_flight || !now->rejection().awaited.empty())) queue_.Activate(uid);
  });
}

bool PluginRequests::Allow(std::string_view uid, PluginId plugin) {
  BindingCycle* binding = waiting_pods_.Find(uid);
  if (binding == nullptr || !binding->WaitsFor(plugin)) return false;
  binding->Allow(plugin);
  if (!binding->is_waiting()) ApplyVerdictLater(uid);
  return true;
}

bool PluginRequests::Reject(std::string_view uid, PluginId plugin, std::string_view reason) {
  BindingCycle* binding = waiting_pods_.Find(uid);
  if (binding == nullptr || !binding->is_waiting()) return false;
  binding->Reject(plugin, reason);
  ApplyVerdictLater(uid);
  return true;
}

void PluginRequests::ApplyVerdictLater(std::string_view uid) {
  Defer([this, uid = std::string(uid)] {
    if (BindingCycle* binding = waiting_pods_.Find(uid)) binding->ApplyVerdict();
  });
}

// --- evictions ----------------------------------------------------------------------------------

struct PluginRequests::Victim {
  std::string ns, name, uid, message;
  bool had_place;  // The pod waited or was being bound when the eviction was requested.

  std::string Key() const { return ns + "/" + name; }
};

void PluginRequests::LogEviction(Log log, const Victim& victim, const Status& status) {
  const uint32_t level = EvictionLevel(status.code());
  if (!log.IsOn(level)) return;
  const std::string key = victim.Key();
  const std::array<LogField, 2> fields = {LogField{"pod", key}, {"reason", victim.message}};
  log.Write(level, status.ok() ? "Evicted" : "Cannot evict", fields, status.message());
}

void PluginRequests::Evict(const PodName& pod, std::string_view message, EvictionCallback done) {
  Victim victim{std::string(pod.ns), std::string(pod.name), std::string(pod.uid),
                std::string(message), waiting_pods_.Find(pod.uid) != nullptr};
  ++evictions_;
  Defer([this, victim = std::move(victim), done = std::move(done)] { EvictNow(victim, done); });
}

// A pod that waits on Permit or is in PreBind goes back to the queue; any other pod is deleted.
void PluginRequests::EvictNow(const Victim& victim, const EvictionCallback& done) {
  BindingCycle* binding = waiting_pods_.Find(victim.uid);
  if (binding != nullptr && binding->Preempt(victim.message)) {
    log_.Info("Preempted a pod before its binding",
              {{"pod", victim.Key()}, {"reason", victim.message}});
    return done(Status(), /*in_memory=*/true);
  }
  // The binding has failed since the eviction was requested, so the pod has no place any more.
  const bool lost_place =
      binding == nullptr && victim.had_place && queue_.PodOf(victim.uid) != nullptr;
  if (lost_place) return done(Status(), /*in_memory=*/true);
  const PodName name{victim.ns, victim.name, victim.uid};
  const std::string message = TruncateConditionMessage(victim.message);
  PodStatusPatch patch;
  patch.disruption_target = PodStatusPatch::Condition{.status = BERTH_CONDITION_TRUE,
                                                      .reason = "PreemptionByScheduler",
                                                      .message = message,
                                                      .transition_ns = clock_.NowNs()};
  writer_.PatchPodStatus(name, patch, nullptr);
  writer_.DeletePod(name, std::nullopt, [log = log_, victim, done](const Status& status) {
    if (status.code() == ErrorCode::kNotFound) return done(Status(), /*in_memory=*/false);
    LogEviction(log, victim, status);
    done(status, /*in_memory=*/false);
  });
}

// --- construction -------------------------------------------------------------------------------

Result<std::unique_ptr<SchedulingLoop>> SchedulingLoop::Create(Interner& interner, Client client,
                                                               const PluginCatalog& catalog,
                                                               std::span<const PlanSpec> profiles,
                                                               Options options) {
  BERTH_ASSERT(options.clock != nullptr);
  std::unique_ptr<SchedulingLoop> loop(new SchedulingLoop(interner, client, std::move(options)));
  if (Status status = loop->profiles_.Load(catalog, profiles); !status.ok()) return status;
  return loop;
}

SchedulingLoop::SchedulingLoop(Interner& interner, Client client, Options options)
    : interner_(interner),
      writer_(client.writer),
      options_(std::move(options)),
      log_(options_.log != nullptr ? Log(*options_.log, kSchedulingLogger) : Log()),
      decision_log_(log_, *options_.clock, options_.sink != nullptr ? *options_.sink : no_sink_),
      sink_(options_.log != nullptr && options_.logs_decisions ? decision_log_
                                                               : decision_log_.next()),
      inbox_(options_.waker),
      plugin_work_(options_.waker),
      calls_{.inbox = &inbox_,
             .pool = options_.pool,
             .timers = &timers_,
             .clock = options_.clock,
             .deadline_ns = options_.bind_deadline_ns},
      cache_(interner, &objects_),
      meter_(options_.metrics != nullptr
                 ? std::make_unique<CycleMeter>(*options_.metrics, *options_.clock,
                                                options_.emulated_version)
                 : nullptr),
      faults_({.quarantine = options_.quarantine,
               .log = options_.log,
               .on_quarantine = options_.on_quarantine,
               .clock = options_.clock}),
      services_(MakeServices()),
      queue_(policy_, order_, *options_.clock, QueueOptions()),
      failures_(queue_, client.writer, *options_.clock, sink_, meter_.get(),
                [this](const PodRef& pod, std::string_view node, const Failure& failure) {
                  TellPlugins(pod, node, failure);
                }),
      router_(cache_, objects_, queue_, RouterOptions()),
      context_{.interner = interner,
               .source = client.source,
               .writer = client.writer,
               .clock = *options_.clock,
               .timers = timers_,
               .calls = calls_,
               .sink = sink_,
               .cache = cache_,
               .queue = queue_,
               .router = router_,
               .failures = failures_,
               .waiting_pods = waiting_pods_,
               .meter = meter_.get(),
               .reuse = options_.reuse},
      waiting_pods_(context_),
      requests_(cache_.table(), queue_, waiting_pods_, client.writer, *options_.clock, log_),
      profiles_(context_, services_, policy_, order_,
                {.seed = options_.seed, .ignored_pod_fields = options_.ignored_pod_fields}),
      group_cycle_(context_, profiles_),
      sweeper_(cache_.table(), interner, options_.memory) {
  services_.scheduler = &requests_;
  if (meter_ == nullptr) return;
  meter_->queue().SetPluginNames(
      [this](PluginId plugin) -> std::string_view { return services_.plugin_ids.NameOf(plugin); });
  queue_.SetMeter(&meter_->queue());
}

void SchedulingLoop::TellPlugins(const PodRef& pod, std::string_view node,
                                 const Failure& failure) const {
  if (failure.rejection.only_awaits()) return;  // A plugin will activate the pod.
  const Profiles::Profile* profile = profiles_.Find(*pod);
  if (profile == nullptr || profile->plan->At(Point::kAttemptFailed).empty()) return;
  // The queue decides: an event during the attempt, or an error of another member, ends the wait.
  const QueuedEntity* entity = queue_.Find(pod->uid());
  FailedAttempt attempt{
      .pod = pod->view(),
      .code = failure.code,
      .node = node,
      .message = failure.message,
      .is_parked = entity != nullptr && entity->place == QueuePlace::kUnschedulable,
      .is_final = failure.is_final};
  for (const PluginId plugin : failure.rejection.All()) {
    attempt.plugins.push_back(services_.plugin_ids.NameOf(plugin));
  }
  RunAttemptFailed(*profile->plan, attempt);
}

// Reservations are undone while queue, cache and plugins still exist. This may lead plugins to
// requests, which are dropped.
SchedulingLoop::~SchedulingLoop() {
  router_.StopWatches();
  waiting_pods_.Clear();
  requests_.Clear();
}

HostServices SchedulingLoop::MakeServices() {
  HostServices services(interner_, objects_);
  services.emulated_version = options_.emulated_version;
  services.log = options_.log;
  services.log_level = LowestLevel(options_.log);
  services.monitor = options_.monitor;
  services.faults = &faults_;
  services.clock = options_.clock;
  services.seed = options_.seed;
  services.inbox = &inbox_;
  services.needs = options_.needs;
  services.client = &writer_;
  services.timers = &timers_;
  services.work = &plugin_work_;
  services.metrics = &metrics_;
  services.http = options_.http;
  return services;
}

SchedulingQueue::Options SchedulingLoop::QueueOptions() const {
  SchedulingQueue::Options options = options_.queue;
  options.emulated_version = options_.emulated_version;
  return options;
}

EventRouter::Options SchedulingLoop::RouterOptions() {
  return {.profiles = {},
          .event_seconds =
              options_.metrics != nullptr ? &options_.metrics->cycles.event_seconds : nullptr,
          .clock = options_.clock,
          .emulated_version = options_.emulated_version,
          .on_assumed_pod_deleting =
              [this](std::string_view uid) {
                if (BindingCycle* binding = waiting_pods_.Find(uid)) binding->OnPodDeleted();
              },
          .on_pod_bound =
              [this](std::string_view uid) {
                if (BindingCycle* binding = waiting_pods_.Find(uid)) binding->OnPodBound();
              },
          .on_inconsistency =
              [this](std::string_view error) {
                log_.Error("Cannot apply an event to the cache", error);
              }};
}

// --- the loop -----------------------------------------------------------------------------------

bool SchedulingLoop::Step() {
  constexpr uint32_t kMaxSettleRounds = 32;
  const bool did_settle = Settle();
  if (stopping_ || !router_.synced()) return did_settle;
  // The next pod may need what was released or requested while settling. A plugin that
  // always requests something must not stop the scheduler, though.
  const bool is_settled = requests_.empty() && !waiting_pods_.has_finished();
  if (!is_settled && ++settle_rounds_ < kMaxSettleRounds) return true;
  settle_rounds_ = 0;
  const QueuedEntity* entity = queue_.Pop();
  if (entity == nullptr) return did_settle;
  ++attempts_;
  Schedule(*entity);
  const size_t evictions = requests_.TakeEvictionCount();
  if (meter_ != nullptr && evictions > 0) meter_->OnEvictions(evictions);
  return true;
}

void SchedulingLoop::Schedule(const QueuedEntity& entity) {
  if (entity.group != nullptr) return group_cycle_.ScheduleGroup(*entity.group);
  const PodRef pod = entity.pod;
  if (const Profiles::Profile* profile = profiles_.Find(*pod))
    return profile->cycle->ScheduleOne(pod);
  // Its profile was removed while it was in flight.
  router_.ReleasePod(pod);
  queue_.Done(pod->uid());
}

bool SchedulingLoop::Settle() {
  const int64_t now = options_.clock->NowNs();
  bool did = inbox_.Drain() > 0;
  did |= timers_.RunDue(now) > 0;
  did |= requests_.CarryOut();
  did |= ReleaseFinishedBindings();
  if (faults_.BeginTrials()) queue_.RequeueAll();
  queue_.Tick();
  sweeper_.Sweep();
  PublishMetrics();
  return did;
}

void SchedulingLoop::PublishMetrics() {
  if (meter_ == nullptr) return;
  meter_->Publish({.nodes = cache_.table().node_count(),
                   .pods = cache_.pod_count(),
                   .assumed_pods = cache_.assumed_count(),
                   .bindings = binding_count()},
                  [this](QueuePlace place) { return queue_.CountIn(place); });
}

// Undoing a reservation may end other bindings; these are released too.
bool SchedulingLoop::ReleaseFinishedBindings() {
  bool did = false;
  while (auto ended = waiting_pods_.TakeFinished()) {
    profiles_.Release(std::move(ended));
    did = true;
  }
  profiles_.DropUnusedRetired();
  return did;
}

std::optional<int64_t> SchedulingLoop::NextStepNs() const {
  const bool may_schedule = !stopping_ && router_.synced();
  const bool has_work =
      !requests_.empty() || waiting_pods_.has_finished() || (may_schedule && queue_.has_ready());
  return has_work ? options_.clock->NowNs() : NextTimerNs();
}

std::optional<int64_t> SchedulingLoop::NextTimerNs() const {
  std::optional<int64_t> next = timers_.NextNs();
  const std::optional<int64_t> trial = faults_.NextTrialNs();
  if (trial.has_value()) next = std::min(next.value_or(*trial), *trial);
  const std::optional<int64_t> tick = stopping_ ? std::nullopt : queue_.NextTickNs();
  if (!next.has_value() || (tick.has_value() && *tick < *next)) next = tick;
  return next;
}

bool SchedulingLoop::AtRest() const {
  return binding_count() == 0 && requests_.empty() && inbox_.size() == 0 && !queue_.has_ready() &&
         queue_.CountIn(QueuePlace::kBackoff) == 0;
}

void SchedulingLoop::Stop() {
  if (std::exchange(stopping_, true)) return;
  waiting_pods_.Stop();
}

Status SchedulingLoop::Reload(const PluginCatalog& catalog, std::span<const PlanSpec> profiles) {
  return profiles_.Load(catalog, profiles);
}

SchedulingCycle* SchedulingLoop::CycleFor(const Pod& pod) const {
  const Profiles::Profile* profile = profiles_.Find(pod);
  return profile != nullptr ? profile->cycle.get() : nullptr;
}

}  // namespace berth::host

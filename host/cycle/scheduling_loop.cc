#include "host/cycle/scheduling_loop.h"

#include <utility>

#include "host/base/assert.h"

namespace berth::host {

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
      decision_log_(log_, options_.sink != nullptr ? *options_.sink : no_sink_),
      sink_(options_.log != nullptr && options_.logs_decisions ? decision_log_
                                                               : decision_log_.next()),
      inbox_(options_.waker),
      calls_{.inbox = &inbox_,
             .pool = options_.pool,
             .timers = &timers_,
             .clock = options_.clock,
             .deadline_ns = options_.bind_deadline_ns},
      cache_(interner, &objects_),
      meter_(options_.metrics != nullptr
                 ? std::make_unique<CycleMeter>(*options_.metrics, *options_.clock)
                 : nullptr),
      faults_({.quarantine = options_.quarantine, .log = options_.log, .clock = options_.clock}),
      services_(MakeServices()),
      queue_(policy_, order_, *options_.clock, options_.queue),
      failures_(queue_, client.writer, *options_.clock, sink_, meter_.get()),
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

// Reservations are undone while queue, cache and plugins still exist. This may lead plugins to
// requests, which are dropped.
SchedulingLoop::~SchedulingLoop() {
  router_.StopWatches();
  waiting_pods_.Clear();
  requests_.Clear();
}

HostServices SchedulingLoop::MakeServices() {
  HostServices services(interner_, objects_);
  services.log = options_.log;
  services.log_level = LowestLevel(options_.log);
  services.monitor = options_.monitor;
  services.faults = &faults_;
  services.clock = options_.clock;
  services.seed = options_.seed;
  services.inbox = &inbox_;
  services.client = &writer_;
  services.timers = &timers_;
  services.metrics = &metrics_;
  return services;
}

EventRouter::Options SchedulingLoop::RouterOptions() {
  return {.profiles = {},
          .event_seconds =
              options_.metrics != nullptr ? &options_.metrics->cycles.event_seconds : nullptr,
          .clock = options_.clock,
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

SchedulingCycle* SchedulingLoop::CycleFor(const Pod& pod) {
  const Profiles::Profile* profile = profiles_.Find(pod);
  return profile != nullptr ? profile->cycle.get() : nullptr;
}

}  // namespace berth::host

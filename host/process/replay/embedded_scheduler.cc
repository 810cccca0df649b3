#include "host/process/replay/embedded_scheduler.h"

#include <algorithm>
#include <set>

#include "host/base/time_units.h"
#include "host/guard/point.h"
#include "host/plan/plan.h"

namespace berth::host {
namespace {

bool WillBeTriedAgain(const QueuedEntity& entity) {
  return entity.place != QueuePlace::kUnschedulable && entity.place != QueuePlace::kGated;
}

size_t CountTriedAgain(const SchedulingQueue& queue) {
  return queue.CountIn(QueuePlace::kActive) + queue.CountIn(QueuePlace::kBackoff) +
         queue.CountIn(QueuePlace::kErrorBackoff) + queue.CountIn(QueuePlace::kInFlight);
}

constexpr int64_t kThreadWaitNs = kSecond;

std::optional<int64_t> Earlier(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return std::min(*a, *b);
}

// Adds the name of the plugin if it is one of the plan and does not run at EnqueueExtensions.
void AddIfWithoutEvents(const Plan& plan, PluginId id, std::set<std::string>& names) {
  const PlannedPlugins plugins = plan.plugins();
  const auto plugin = std::ranges::find(plugins, id, &PlannedPlugin::id);
  if (plugin == plugins.end()) return;
  const auto index = static_cast<uint32_t>(plugin - plugins.begin());
  const auto uses = plan.At(Point::kEnqueueExtensions);
  if (std::ranges::find(uses, index, &PlannedUse::plugin) == uses.end()) names.insert(plugin->name);
}

SchedulerOptions WithNeeds(SchedulerOptions options, ObjectNeeds& needs) {
  options.loop.needs = &needs;
  return options;
}

}  // namespace

void StallDetector::OnProgress() {
  ++progress_;
  ForgetFailures();
}

void StallDetector::ForgetFailures() {
  failures_.clear();
  exhausted_ = 0;
  most_failures_ = 0;
  failure_count_ = 0;
  next_check_ = 0;
}

// A full check visits every entity of the queue, so the next one is due after as many failures.
bool StallDetector::IsStalled(const SchedulingQueue& queue) {
  if (most_failures_ >= kMaxFailuresOfOnePod) return true;
  if (exhausted_ == 0 || failure_count_ < next_check_) return false;
  if (exhausted_ < CountTriedAgain(queue)) return false;
  bool found_other = false;
  size_t visited = 0;
  queue.ForEach([&](const QueuedEntity& entity) {
    ++visited;
    found_other |= WillBeTriedAgain(entity) && entity.AnyPod([this](const PodRef& pod) {
      return FailuresOf(*pod) < kMaxFailures;
    });
  });
  if (!found_other) return true;
  next_check_ = failure_count_ + visited;
  return false;
}

bool StallDetector::HasChangedSince(const Pod& pod) const {
  const Attempt* const last = FindAttempt(pod.uid());
  if (last == nullptr) return true;
  // A pod that had a node does not need one that another pod releases.
  return last->changes != changes_ || (!last->had_node && last->releases != releases_);
}

const StallDetector::Attempt* StallDetector::FindAttempt(std::string_view uid) const {
  if (uid == newest_uid_) return &newest_;
  const auto found = attempts_.find(uid);
  return found == attempts_.end() ? nullptr : &found->second;
}

void StallDetector::SetAttempt(std::string_view uid, const Attempt& attempt) {
  if (!newest_uid_.empty() && newest_uid_ != uid) attempts_[newest_uid_] = newest_;
  if (!attempts_.empty()) {
    if (const auto old = attempts_.find(uid); old != attempts_.end()) attempts_.erase(old);
  }
  newest_uid_ = uid;
  newest_ = attempt;
}

void StallDetector::ForgetAttempt(std::string_view uid) {
  if (uid == newest_uid_) return newest_uid_.clear();
  if (const auto old = attempts_.find(uid); old != attempts_.end()) attempts_.erase(old);
}

void StallDetector::OnAssumed(const PodRef& pod, std::string_view node) {
  SetAttempt(pod->uid(),
             {.changes = changes_, .releases = releases_, .had_node = true, .is_assumed = true});
  sink_.OnAssumed(pod, node);
}

void StallDetector::OnBound(const PodRef& pod, std::string_view node) {
  OnProgress();
  OnChange();
  ForgetAttempt(pod->uid());
  sink_.OnBound(pod, node);
}

void StallDetector::OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) {
  const Attempt* const last = FindAttempt(pod->uid());
  Attempt attempt = {.changes = changes_, .releases = releases_};
  if (last != nullptr && last->is_assumed) {
    attempt = *last;
    attempt.is_assumed = false;
    ++releases_;
  }
  SetAttempt(pod->uid(), attempt);
  const uint32_t failures = ++failures_[std::string(pod->uid())];
  if (failures == kMaxFailures) ++exhausted_;
  most_failures_ = std::max(most_failures_, failures);
  ++failure_count_;
  sink_.OnFailed(pod, node, failure);
}

void StallDetector::OnSkipped(const PodRef& pod, std::string_view message) {
  OnProgress();
  OnChange();
  ForgetAttempt(pod->uid());
  sink_.OnSkipped(pod, message);
}

uint32_t StallDetector::FailuresOf(const Pod& pod) const {
  const auto found = failures_.find(pod.uid());
  return found == failures_.end() ? 0 : found->second;
}

EmbeddedScheduler::EmbeddedScheduler(SchedulerOptions options, Stream stream)
    : interner_(options.hash_key),
      cluster_(interner_, LocalDecodeOptionsFor(*options.plugins, options.loop.emulated_version),
               *options.loop.clock, stream == Stream::kFollowed),
      stalls_(std::exchange(options.loop.sink, &stalls_)),
      wait_(*options.loop.clock),
      host_(interner_, cluster_.client(), WithNeeds(std::move(options), cluster_.needs())) {}

Status EmbeddedScheduler::Start() {
  Status status = host_.Start();
  if (status.ok()) cluster_.Deliver();
  return status;
}

Status EmbeddedScheduler::Reload(std::shared_ptr<const PluginSet> plugins,
                                 std::span<const PlanSpec> profiles) {
  Status status = host_.Reload(std::move(plugins), profiles);
  if (!status.ok()) return status;
  stalls_.OnProgress();
  stalls_.OnChange();
  cluster_.Deliver();
  return {};
}

Result<bool> EmbeddedScheduler::Apply(const StreamEvent& event) {
  Result<bool> changed = cluster_.Apply(event);
  if (changed.ok() && *changed) {
    stalls_.OnProgress();
    stalls_.OnChange();
  }
  return changed;
}

bool EmbeddedScheduler::Step() {
  return StepWith([this] { return loop().Step(); });
}

bool EmbeddedScheduler::Settle() {
  return StepWith([this] { return loop().Settle(); });
}

bool EmbeddedScheduler::StepWith(const std::function<bool()>& step_loop) {
  const uint64_t writes = cluster_.plugin_writes();
  bool did = cluster_.FinishDeletions();
  if (did) {
    stalls_.OnProgress();
    stalls_.OnChange();
  }
  did |= cluster_.Deliver();
  const uint64_t attempts = loop().attempts();
  did |= step_loop();
  const bool has_tried = loop().attempts() > attempts;
  if (wait_.OnStep(loop().plugin_work(), stalls_.progress(), has_tried)) stalls_.ForgetFailures();
  did |= cluster_.Deliver();
  if (cluster_.plugin_writes() > writes) stalls_.OnChange();
  return did;
}

std::optional<int64_t> EmbeddedScheduler::NextStepNs() const {
  return Earlier(cluster_.NextDeletionNs(), loop().NextStepNs());
}

std::optional<int64_t> EmbeddedScheduler::NextTimerNs() const {
  return Earlier(cluster_.NextDeletionNs(), loop().NextTimerNs());
}

bool EmbeddedScheduler::AtRest() const { return loop().AtRest() && cluster_.AtRest(); }

bool EmbeddedScheduler::TryParkedAgain() {
  if (last_try_ == stalls_.progress()) return false;
  const bool any = loop().ActivateParked([this](const QueuedEntity& entity) {
    return !entity.rejection().only_awaits() &&
           entity.AnyPod([this](const PodRef& pod) { return stalls_.HasChangedSince(*pod); });
  });
  if (!any) return false;
  last_try_ = stalls_.progress();
  stalls_.ForgetFailures();
  return true;
}

PluginWait::Awaited EmbeddedScheduler::Awaited() const {
  if (loop().queue().size() == 0) return PluginWait::Awaited::kNothing;
  return wait_.AwaitedOf(loop().plugin_work());
}

StillWaiting EmbeddedScheduler::Waiting() const {
  StillWaiting waiting;
  const bool has_pending = loop().queue().size() > 0;
  for (const auto& [plugin, counts] : loop().plugin_work().CountByPlugin()) {
    if (!has_pending) break;
    const std::string& name = loop().plugin_ids().NameOf(plugin);
    if (counts.timers > 0) waiting.timers[name] += counts.timers;
    if (counts.holds > 0) waiting.threads[name] += counts.holds;
  }
  for (const auto& [uid, binding] : loop().bindings()) {
    if (binding->is_waiting()) ++waiting.on_permit;
  }
  loop().queue().ForEach([&waiting](const QueuedEntity& entity) {
    const bool backs_off =
        entity.place == QueuePlace::kBackoff || entity.place == QueuePlace::kErrorBackoff;
    if (backs_off) entity.ForEachPod([&waiting](const PodRef&) { ++waiting.in_backoff; });
  });
  return waiting;
}

bool EmbeddedScheduler::WaitForThreads(ThreadWaker& waker) const {
  const bool binds = std::ranges::any_of(
      loop().bindings(), [](const auto& binding) { return !binding.second->is_waiting(); });
  return binds && waker.Wait(kThreadWaitNs);
}

std::vector<std::string> EmbeddedScheduler::RejectorsWithoutEvents() const {
  std::set<std::string> names;
  loop().queue().ForEach([&](const QueuedEntity& entity) {
    const SchedulingCycle* cycle = loop().CycleFor(*entity.pod);
    if (cycle == nullptr) return;
    // No event requeues a pod that waits for a plugin (Rejection::awaited).
    for (const std::vector<PluginId>* ids :
         {&entity.rejection().plugins, &entity.rejection().pending}) {
      for (const PluginId id : *ids) AddIfWithoutEvents(cycle->plan(), id, names);
    }
  });
  return {names.begin(), names.end()};
}

}  // namespace berth::host

#include "host/process/replay/embedded_scheduler.h"

#include <algorithm>
#include <utility>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

constexpr int64_t kThreadWaitNs = kSecond;

std::optional<int64_t> Earlier(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return std::min(*a, *b);
}

}  // namespace

EmbeddedScheduler::EmbeddedScheduler(Stream stream, SchedulerOptions options)
    : interner_(options.hash_key),
      cluster_(interner_, DecodeOptionsFor(*options.plugins), *options.loop.clock,
               stream == Stream::kFollowed),
      stalls_(options.loop.sink),
      host_(interner_, cluster_.client(), WithStallDetector(std::move(options))) {}

SchedulerOptions EmbeddedScheduler::WithStallDetector(SchedulerOptions options) {
  options.loop.sink = &stalls_;
  return options;
}

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
  cluster_.Deliver();
  return {};
}

Result<bool> EmbeddedScheduler::Apply(const StreamEvent& event) {
  Result<bool> changed = cluster_.Apply(event);
  if (changed.ok() && *changed) stalls_.OnProgress();
  return changed;
}

bool EmbeddedScheduler::Step() {
  return StepWith([this] { return loop().Step(); });
}

bool EmbeddedScheduler::Settle() {
  return StepWith([this] { return loop().Settle(); });
}

bool EmbeddedScheduler::StepWith(const std::function<bool()>& step_loop) {
  bool did = cluster_.FinishDeletions();
  if (did) stalls_.OnProgress();
  did |= cluster_.Deliver();
  did |= step_loop();
  did |= cluster_.Deliver();
  return did;
}

std::optional<int64_t> EmbeddedScheduler::NextStepNs() const {
  return Earlier(cluster_.NextDeletionNs(), loop().NextStepNs());
}

std::optional<int64_t> EmbeddedScheduler::NextTimerNs() const {
  return Earlier(cluster_.NextDeletionNs(), loop().NextTimerNs());
}

bool EmbeddedScheduler::AtRest() const { return loop().AtRest() && cluster_.AtRest(); }

bool EmbeddedScheduler::WaitForThreads(ThreadWaker& waker) const {
  const bool binds = std::ranges::any_of(
      loop().bindings(), [](const auto& binding) { return !binding.second->is_waiting(); });
  return binds && waker.Wait(kThreadWaitNs);
}

}  // namespace berth::host

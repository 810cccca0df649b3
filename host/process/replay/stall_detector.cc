#include "host/process/replay/stall_detector.h"

#include <algorithm>
#include <string>

namespace berth::host {
namespace {

bool WillBeTriedAgain(const QueuedEntity& entity) {
  return entity.place != QueuePlace::kUnschedulable && entity.place != QueuePlace::kGated;
}

size_t CountTriedAgain(const SchedulingQueue& queue) {
  return queue.CountIn(QueuePlace::kActive) + queue.CountIn(QueuePlace::kBackoff) +
         queue.CountIn(QueuePlace::kErrorBackoff) + queue.CountIn(QueuePlace::kInFlight);
}

}  // namespace

void StallDetector::OnProgress() {
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

void StallDetector::OnAssumed(const PodRef& pod, std::string_view node) {
  sink_.OnAssumed(pod, node);
}

void StallDetector::OnBound(const PodRef& pod, std::string_view node) {
  OnProgress();
  sink_.OnBound(pod, node);
}

void StallDetector::OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) {
  const uint32_t failures = ++failures_[std::string(pod->uid())];
  if (failures == kMaxFailures) ++exhausted_;
  most_failures_ = std::max(most_failures_, failures);
  ++failure_count_;
  sink_.OnFailed(pod, node, failure);
}

void StallDetector::OnSkipped(const PodRef& pod, std::string_view message) {
  OnProgress();
  sink_.OnSkipped(pod, message);
}

uint32_t StallDetector::FailuresOf(const Pod& pod) const {
  const auto found = failures_.find(pod.uid());
  return found == failures_.end() ? 0 : found->second;
}

}  // namespace berth::host

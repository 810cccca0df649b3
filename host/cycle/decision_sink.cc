#include "host/cycle/decision_sink.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace berth::host {
namespace {

// The level and the text of the record about a failure.
struct FailureRecord {
  uint32_t level;
  std::string_view message;
};

FailureRecord RecordOf(const Pod& pod, const Failure& failure) {
  if (failure.is_final) {
    return {BERTH_LOG_INFO, "Pod was deleted or bound meanwhile; not retrying"};
  }
  if (!failure.rejection.empty()) {
    return {BERTH_LOG_INFO, "Unable to schedule pod; no fit; waiting"};
  }
  if (pod.terminating()) return {BERTH_LOG_INFO, "Pod is being deleted; not retrying"};
  return {BERTH_LOG_ERROR, "Error scheduling pod; retrying"};
}

}  // namespace

void DecisionLog::OnAssumed(const PodRef& pod, std::string_view node) {
  if (log_.IsOn(BERTH_LOG_DEBUG)) log_.Debug("Assumed", {{"pod", pod->Key()}, {"node", node}});
  next_.OnAssumed(pod, node);
}

void DecisionLog::OnBound(const PodRef& pod, std::string_view node) {
  if (log_.IsOn(BERTH_LOG_INFO)) {
    log_.Info("Bound", {{"pod", pod->Key()}, {"node", node}, {"profile", pod->scheduler_name()}});
  }
  next_.OnBound(pod, node);
}

void DecisionLog::OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) {
  const FailureRecord record = RecordOf(*pod, failure);
  if (log_.IsOn(record.level)) {
    const std::string key = pod->Key();
    std::array<LogField, 3> fields = {LogField{"pod", key}};
    size_t count = 1;
    if (!node.empty()) fields[count++] = {"node", node};
    const bool is_nominated =
        !failure.is_final && failure.overrides_nomination && !failure.nominated_node.empty();
    if (is_nominated) {
      fields[count++] = {"nominatedNode", failure.nominated_node};
    }
    log_.Write(record.level, record.message, std::span(fields).first(count), failure.message);
  }
  next_.OnFailed(pod, node, failure);
}

void DecisionLog::OnSkipped(const PodRef& pod, std::string_view message) {
  if (log_.IsOn(BERTH_LOG_INFO)) {
    const std::string key = pod->Key();
    const LogField field{"pod", key};
    log_.Write(BERTH_LOG_INFO, "Skip schedule deleting pod", {&field, 1}, message);
  }
  next_.OnSkipped(pod, message);
}

}  // namespace berth::host

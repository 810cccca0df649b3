#include "host/cycle/decision_log.h"

#include <array>
#include <cstddef>
#include <span>

namespace berth::host {

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
  const bool is_parked = !failure.rejection.empty();
  const uint32_t level = is_parked ? BERTH_LOG_INFO : BERTH_LOG_ERROR;
  if (log_.IsOn(level)) {
    const std::string key = pod->Key();
    std::array<LogField, 3> fields = {LogField{"pod", key}};
    size_t count = 1;
    if (!node.empty()) fields[count++] = {"node", node};
    if (failure.overrides_nomination && !failure.nominated_node.empty()) {
      fields[count++] = {"nominatedNode", failure.nominated_node};
    }
    log_.Write(
        level,
        is_parked ? "Unable to schedule pod; no fit; waiting" : "Error scheduling pod; retrying",
        std::span(fields).first(count), failure.message);
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

#include "tests/simulation/audit.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/test_log.h"
#include "host/runtime/reuse/reused_evaluation.h"
#include "tests/simulation/sketch.h"

namespace berth::host {

Audit::Audit(const Scenario& scenario, EmbeddedCluster& cluster, const Clock& clock, Trace& trace,
             RoomAudit& room, BindAudit& binds, Findings& findings)
    : scenario_(scenario),
      cluster_(cluster),
      clock_(clock),
      trace_(trace),
      room_(room),
      binds_(binds),
      findings_(findings),
      reservations_(scenario.has_quarantine) {}

void Audit::SetLoop(SchedulingLoop* loop) {
  loop_ = loop;
  places_.reset();
  rest_.reset();
  observed_.delivered_pods.clear();
  observed_.delivered_nodes.clear();
  if (loop == nullptr) return;
  places_.emplace(scenario_, clock_, *loop, observed_, findings_);
  rest_.emplace(cluster_, *loop, observed_, findings_);
}

// ---- Log messages -------------------------------------------------------------------------------

void Audit::Write(const LogRecord& record) {
  if (!IsOn(record.level)) return;
  trace_.Line("log: ", record.logger, ": ", MessageOf(record));
  const bool is_chaos = record.logger.starts_with("test.Chaos");
  // The server may refuse an eviction, and its answer may be lost.
  const bool may_fail = record.message == "Cannot evict";
  if (record.level >= BERTH_LOG_ERROR && !may_fail &&
      (!is_chaos || record.message.starts_with("state"))) {
    return findings_.Add("an error was logged: " + MessageOf(record));
  }
  const auto uid = std::ranges::find(record.fields, "uid", &LogField::key);
  if (!is_chaos || uid == record.fields.end()) return;
  std::string error = reservations_.Record(record.logger, record.message, uid->value);
  if (!error.empty()) findings_.Add(std::move(error));
}

// ---- Checks -------------------------------------------------------------------------------------

void Audit::CheckPlaces() { places_->Check(); }

void Audit::CheckRest() {
  rest_->CheckBindings();
  places_->Check();
  room_.Check();
  CheckReservations();
  rest_->CheckCache();
}

void Audit::CheckReservations() {
  std::string finding = reservations_.FindUnreleased();
  if (!finding.empty()) findings_.Add(std::move(finding));
}

// ---- ClientObserver -----------------------------------------------------------------------------

void Audit::OnDelivered(const WatchEvent& event) {
  if (!event.has_object()) return;
  const bool is_deleted = event.type == WatchType::kDeleted;
  if (const PodRef* pod = std::get_if<PodRef>(&event.object)) {
    trace_.Line("event: pod ", (*pod)->name(), is_deleted ? " deleted, " : ", ", (*pod)->uid(),
                ", v", (*pod)->resource_version(), (*pod)->node_name().empty() ? "" : ", on ",
                (*pod)->node_name(), (*pod)->nominated_node().empty() ? "" : ", nominated to ",
                (*pod)->nominated_node(), (*pod)->terminating() ? ", being deleted" : "");
    if (const PodRef* before = std::get_if<PodRef>(&event.previous); before && *before) {
      observed_.delivered_pods.erase(std::string((*before)->uid()));
    }
    observed_.delivered_pods.erase(std::string((*pod)->uid()));
    if (!is_deleted) observed_.delivered_pods.emplace((*pod)->uid(), *pod);
  } else if (const NodeRef* node = std::get_if<NodeRef>(&event.object)) {
    trace_.Line("event: node ", (*node)->name(), is_deleted ? " deleted" : "", ", v",
                (*node)->resource_version());
    observed_.delivered_nodes.erase(std::string((*node)->name()));
    if (!is_deleted) observed_.delivered_nodes.emplace((*node)->name(), *node);
  }
}

void Audit::OnBindRequested(const PodName& pod, std::string_view node) {
  const std::string uid(pod.uid);
  if (!observed_.open_binds.insert(uid).second)
    findings_.Add("a second bind request was sent for " + uid);
  if (loop_ == nullptr) return;
  const auto binding = loop_->bindings().find(uid);
  if (binding == loop_->bindings().end() || binding->second->node_name() != node) {
    findings_.Add("a bind request was sent without a binding cycle on this node: " + uid);
  }
}

void Audit::OnBindExecuted(const PodName& pod, std::string_view node, const Status& status) {
  binds_.OnExecuted(pod, node, status);
}

void Audit::OnBindCompleted(const PodName& pod, const Status& /*status*/) {
  observed_.open_binds.erase(std::string(pod.uid));
}

// ---- DecisionSink -------------------------------------------------------------------------------

void Audit::OnAssumed(const PodRef& pod, std::string_view node) {
  ++counts_.assumed;
  trace_.Line("decided: ", pod->name(), " goes to ", node);
  const auto delivered = observed_.delivered_pods.find(pod->uid());
  if (IsRejectedByPreEnqueue(*pod) ||
      (delivered != observed_.delivered_pods.end() && IsRejectedByPreEnqueue(*delivered->second))) {
    findings_.Add(Describe(*pod) + " was assumed although PreEnqueue rejects it");
  }
  const NodeTable& table = loop_->cache().table();
  const Row row = loop_->cache().RowOf(pod->uid());
  if (row == kNoRow || !table.IsLive(row) || table.node(row)->name() != node) {
    return findings_.Add(Describe(*pod) + " was assumed, but the cache does not have it on " +
                         std::string(node));
  }
  room_.CheckAssumed(*pod, table, row);
  constraints_.CheckAssumed(*pod, table, row);
  counts_.spread_checks = constraints_.spread_checks();
  counts_.affinity_checks = constraints_.affinity_checks();
}

void Audit::OnBound(const PodRef& pod, std::string_view node) {
  ++counts_.bound;
  trace_.Line("decided: ", pod->name(), " is bound to ", node);
  if (!binds_.Report(pod->uid())) {
    findings_.Add(Describe(*pod) + " was reported as bound twice");
  }
  const std::string_view bound = binds_.NodeOf(pod->uid());
  if (bound.empty() ? !scenario_.has_other_schedulers : bound != node) {
    findings_.Add(Describe(*pod) + " was reported as bound to " + std::string(node) +
                  ", but is not");
  }
  // A bound pod never changes its node.
  const PodRef stored = cluster_.FindPod(pod->ns(), pod->name());
  if (stored != nullptr && stored->uid() == pod->uid() && stored->node_name() != node) {
    findings_.Add(Describe(*pod) + " was reported as bound to " + std::string(node) +
                  ", but is on " + std::string(stored->node_name()));
  }
}

void Audit::OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) {
  ++counts_.failed;
  trace_.Line("decided: ", pod->name(), " fails", node.empty() ? "" : " for ", node, ": ",
              failure.message, failure.nominated_node.empty() ? "" : ", nominated to ",
              failure.nominated_node);
  if (failure.message.starts_with(kReusedWrongly)) findings_.Add(failure.message);
  if (loop_ == nullptr) return;
  if (loop_->cache().IsAssumed(pod->uid())) {
    findings_.Add(Describe(*pod) + " failed but is still assumed");
  }
}

void Audit::OnSkipped(const PodRef& pod, std::string_view message) {
  ++counts_.skipped;
  trace_.Line("decided: ", pod->name(), " is skipped: ", message);
}

}  // namespace berth::host

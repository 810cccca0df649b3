#include "host/cluster/kubernetes/client_metrics.h"

#include <algorithm>
#include <utility>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

// kube-scheduler: component-base/metrics/prometheus/restclient/metrics.go
std::vector<double> RequestBounds() {
  return {0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0};
}

// kube-scheduler: component-base/metrics/prometheus/restclient/metrics.go, requestSize
std::vector<double> SizeBounds() {
  return {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};
}

// The numbers of all watches of one kind.
struct KindCounts {
  uint64_t lists = 0;
  uint64_t expired = 0;
  uint64_t errors = 0;
  uint64_t undecodable = 0;
  size_t unreadable = 0;
  int64_t silence_ns = 0;  // The longest one.
};

}  // namespace

ClientMetrics::ClientMetrics(MetricTable& table)
    : requests(table.AddCounter("rest_client_requests_total",
                                "The number of HTTP requests, by status code, method and host.",
                                {"code", "method", "host"})),
      request_seconds(
          table.AddHistogram("rest_client_request_duration_seconds",
                             "The time from the call to the end of the answer, by verb and host.",
                             {"verb", "host"}, RequestBounds())),
      limiter_seconds(table.AddHistogram(
          "rest_client_rate_limiter_duration_seconds",
          "The time that requests waited for a connection or for the rate limit, by verb and host.",
          {"verb", "host"}, RequestBounds())),
      request_bytes(table.AddHistogram("rest_client_request_size_bytes",
                                       "The size of the bodies of requests, by verb and host.",
                                       {"verb", "host"}, SizeBounds())),
      response_bytes(table.AddHistogram("rest_client_response_size_bytes",
                                        "The size of the bodies of answers, by verb and host.",
                                        {"verb", "host"}, SizeBounds())),
      connections(table.AddGauge("berth_client_connections",
                                 "The number of open connections to the API server.", {})),
      leader(table.AddGauge("leader_election_master_status",
                            "1 if this process holds the lease with this name, otherwise 0.",
                            {"name"})),
      slow_path(table.AddCounter(
          "leader_election_slowpath_total",
          "The number of renewals before which the lease with this name had to be read.",
          {"name"})),
      lists(table.AddCounter("berth_lists_total",
                             "The number of complete lists of a kind, the first one included.",
                             {"kind"})),
      relists(table.AddCounter(
          "berth_relists_total",
          "The number of times that a kind was listed again, because the server no longer had the "
          "changes since the last one (expired), or because of an error of the watch.",
          {"kind", "reason"})),
      watch_silence(table.AddGauge(
          "berth_watch_silence_seconds",
          "The time since the last line of the watch of a kind, bookmarks included.", {"kind"})),
      undecodable(table.AddCounter(
          "berth_undecodable_objects_total",
          "The number of states of objects that could not be read as a whole. A bound pod or a "
          "node counts with what can be read; another object keeps its last state.",
          {"kind"})),
      unreadable(table.AddGauge("berth_unreadable_objects",
                                "The objects whose present state is not read as a whole.",
                                {"kind"})),
      bind_conflicts(table.AddCounter(
          "berth_bind_conflicts_total",
          "The number of bindings that the server refused because the pod was bound by another "
          "client, was deleted, or was created again.",
          {})),
      lost_answers(table.AddCounter(
          "berth_bind_lost_answers_total",
          "The number of requests to bind whose answer was lost. The pod is read then.", {})),
      recovered_binds(table.AddCounter(
          "berth_bind_recovered_total",
          "The number of bindings whose answer was lost, and that had been executed.", {})),
      fence_refusals(table.AddCounter(
          "berth_fence_refusals_total",
          "The number of requests that were not sent because this process did not hold the lease.",
          {})),
      event_drops(table.AddCounter(
          "berth_event_drops_total",
          "The number of events that were lost: too many waited (full), the server refused them "
          "(refused), every try failed (failed), or the process ended (ended).",
          {"reason"})),
      foreign_binds(table.AddCounter(
          "berth_foreign_binds_total",
          "The number of bindings that failed because another client had bound the pod before.",
          {})) {}

void ClientMetrics::OnRequest(const RequestReport& report) {
  const std::string code =
      report.http_status == 0 ? std::string("<error>") : std::to_string(report.http_status);
  requests.With({code, report.verb, report.host}).Add();
  if (report.is_stream) return;
  request_seconds.With({report.verb, report.host}).ObserveNs(report.took_ns);
  limiter_seconds.With({report.verb, report.host}).ObserveNs(report.waited_ns);
  request_bytes.With({report.verb, report.host}).Observe(static_cast<double>(report.request_bytes));
  if (report.http_status == 0) return;
  response_bytes.With({report.verb, report.host})
      .Observe(static_cast<double>(report.response_bytes));
}

void ClientMetrics::OnConnections(int change) { connections.With({}).Add(change); }

void ClientMetrics::Update(const Counts& counts) {
  const std::scoped_lock lock(mutex_);
  UpdateWatches(counts.watches);
  Grow(bind_conflicts.With({}), counts.pods.conflicts);
  Grow(foreign_binds.With({}), counts.pods.foreign);
  Grow(lost_answers.With({}), counts.pods.unknown);
  Grow(recovered_binds.With({}), counts.pods.recovered);
  Grow(fence_refusals.With({}), counts.fence_refusals);
  Grow(event_drops.With({"full"}), counts.events.full);
  Grow(event_drops.With({"ended"}), counts.events.ended);
  Grow(event_drops.With({"failed"}), counts.events.failed);
  Grow(event_drops.With({"refused"}), counts.events.refused);
}

void ClientMetrics::Grow(Counter& counter, uint64_t now) {
  const uint64_t before = std::exchange(before_[&counter], now);
  counter.Add(now < before ? now : now - before);
}

void ClientMetrics::UpdateWatches(std::span<const WatchState> watches) {
  std::map<std::string, KindCounts> kinds;
  for (const std::string& kind : kinds_) kinds[kind];  // A kind that is not watched any more: 0.
  kinds_.clear();
  for (const WatchState& watch : watches) {
    KindCounts& kind = kinds[watch.kind];
    kind.lists += watch.counts.lists;
    kind.expired += watch.counts.relists_expired;
    kind.errors += watch.counts.relists_error;
    kind.undecodable += watch.counts.undecodable;
    kind.unreadable += watch.unreadable.count;
    kind.silence_ns = std::max(kind.silence_ns, watch.silence_ns);
    kinds_.push_back(watch.kind);
  }
  for (const auto& [kind, counts] : kinds) {
    Grow(lists.With({kind}), counts.lists);
    Grow(relists.With({kind, "expired"}), counts.expired);
    Grow(relists.With({kind, "error"}), counts.errors);
    Grow(undecodable.With({kind}), counts.undecodable);
    unreadable.With({kind}).Set(static_cast<int64_t>(counts.unreadable));
    watch_silence.With({kind}).Set(counts.silence_ns / kSecond);
  }
}

}  // namespace berth::host

// The counts of the client of an API server. Metrics that client-go has are client-go's in name,
// labels and buckets; the others begin with berth_.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_CLIENT_METRICS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_CLIENT_METRICS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "host/base/metrics.h"
#include "host/cluster/kubernetes/watch/cluster_watches.h"
#include "host/cluster/kubernetes/write/event_sender.h"
#include "host/cluster/kubernetes/write/pod_writer.h"
#include "host/http/transport.h"

namespace berth::host {

// Threading: any.
class ClientMetrics final : public TransportObserver {
 public:
  explicit ClientMetrics(MetricTable& table);

  // A stream counts as a request, but its duration is not observed: that of a watch is no latency.
  // (client-go: rest/request.go, Watch)
  void OnRequest(const RequestReport& report) override;
  void OnConnections(int change) override;

  // The numbers that a client has counted itself.
  struct Counts {
    std::vector<WatchState> watches;
    PodWriterCounts pods;
    EventSender::Counts events;
    uint64_t fence_refusals = 0;
  };
  // Adds what has changed since the last call to the metrics. Called before each read of the table;
  // see MetricTable::AddRefresh(). Counts that have become smaller began at 0 again: a watch was
  // started again.
  void Update(const Counts& counts);

  CounterFamily& requests;           // rest_client_requests_total{code,method,host}
  HistogramFamily& request_seconds;  // rest_client_request_duration_seconds{verb,host}
  HistogramFamily& limiter_seconds;  // rest_client_rate_limiter_duration_seconds{verb,host}
  HistogramFamily& request_bytes;    // rest_client_request_size_bytes{verb,host}
  HistogramFamily& response_bytes;   // rest_client_response_size_bytes{verb,host}
  GaugeFamily& connections;          // berth_client_connections
  GaugeFamily& leader;               // leader_election_master_status{name}
  CounterFamily& slow_path;          // leader_election_slowpath_total{name}
  CounterFamily& lists;              // berth_lists_total{kind}
  CounterFamily& relists;            // berth_relists_total{kind,reason}: expired, error.
  GaugeFamily& watch_silence;        // berth_watch_silence_seconds{kind}
  CounterFamily& undecodable;        // berth_undecodable_objects_total{kind}
  GaugeFamily& unreadable;           // berth_unreadable_objects{kind}
  CounterFamily& bind_conflicts;     // berth_bind_conflicts_total
  CounterFamily& lost_answers;       // berth_bind_lost_answers_total
  CounterFamily& recovered_binds;    // berth_bind_recovered_total
  CounterFamily& fence_refusals;     // berth_fence_refusals_total
  CounterFamily& event_drops;    // berth_event_drops_total{reason}: full, refused, failed, ended.
  CounterFamily& foreign_binds;  // berth_foreign_binds_total

 private:
  // Adds the growth of a number since the last call with the same counter.
  void Grow(Counter& counter, uint64_t now);
  void UpdateWatches(std::span<const WatchState> watches);

  std::mutex mutex_;                     // Guards the next two.
  std::map<Counter*, uint64_t> before_;  // The numbers of the last Update().
  std::vector<std::string> kinds_;       // The kinds of the last Update().
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_CLIENT_METRICS_H_

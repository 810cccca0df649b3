// What the client of an API server counts. Names that client-go has are client-go's; the others
// begin with berth_.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_CLIENT_METRICS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_CLIENT_METRICS_H_

#include "host/base/metrics.h"
#include "host/cluster/kubernetes/transport.h"

namespace berth::host {

// Threading: any.
class ClientMetrics final : public TransportObserver {
 public:
  explicit ClientMetrics(MetricTable& table);

  void OnRequest(const RequestReport& report) override;
  void OnConnections(int change) override;

  CounterFamily& requests;           // rest_client_requests_total{code,method,host}
  HistogramFamily& request_seconds;  // rest_client_request_duration_seconds{verb,host}
  HistogramFamily& limiter_seconds;  // rest_client_rate_limiter_duration_seconds{verb,host}
  GaugeFamily& connections;          // berth_client_connections
  GaugeFamily& leader;               // leader_election_master_status{name}
  CounterFamily& slow_path;          // leader_election_slowpath_total{name}
  CounterFamily& relists;            // berth_relists_total{kind,reason}
  GaugeFamily& watch_silence;        // berth_watch_silence_seconds{kind}
  CounterFamily& undecodable;        // berth_undecodable_objects_total{kind}
  CounterFamily& bind_conflicts;     // berth_bind_conflicts_total{reason}
  CounterFamily& bind_unknown;       // berth_bind_unknown_total{outcome}
  CounterFamily& fence_refusals;     // berth_fence_refusals_total
  CounterFamily& event_drops;        // berth_event_drops_total{reason}
  CounterFamily& foreign_binds;      // berth_foreign_binds_total
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_CLIENT_METRICS_H_

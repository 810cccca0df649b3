// Writes the objects of a simulation to the cluster.
#ifndef BERTH_TESTS_SIMULATION_CLUSTER_WRITER_H_
#define BERTH_TESTS_SIMULATION_CLUSTER_WRITER_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "host/api/decode.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/simulation/trace.h"

namespace berth::host {

// Creates and updates objects from manifests, and traces the acts of users. Every write must
// succeed: the simulated users send no invalid request.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive the writer.
class ClusterWriter {
 public:
  ClusterWriter(Decoder& decoder, EmbeddedCluster& cluster, Trace& trace)
      : decoder_(decoder), cluster_(cluster), trace_(trace) {}
  ClusterWriter(const ClusterWriter&) = delete;
  ClusterWriter& operator=(const ClusterWriter&) = delete;

  // Calls `listener` with each manifest before it is written.
  void Listen(std::function<void(const std::string& json)> listener) {
    listener_ = std::move(listener);
  }
  // Creates an object from its manifest in JSON.
  void Create(const std::string& json);
  // Replaces an existing object.
  void Update(const std::string& json);
  void TraceAct(std::string_view act, std::string_view name, std::string_view details = {});

  EmbeddedCluster& cluster() { return cluster_; }

 private:
  AnyObject Decode(const std::string& json);

  Decoder& decoder_;
  EmbeddedCluster& cluster_;
  Trace& trace_;
  std::function<void(const std::string& json)> listener_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_CLUSTER_WRITER_H_

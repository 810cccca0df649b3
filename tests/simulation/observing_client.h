// Passes the calls of a scheduler on to its client, and checks what the client delivers.
#ifndef BERTH_TESTS_SIMULATION_OBSERVING_CLIENT_H_
#define BERTH_TESTS_SIMULATION_OBSERVING_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/cluster/client.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/harness/forwarding_client.h"
#include "tests/simulation/client_observer.h"
#include "tests/simulation/findings.h"

namespace berth::host {

// Checks that the events of each watch fit together, as WatchSink::OnEvents() describes them.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive the client, and it must outlive its
//            watches.
class ObservingClient final : public ForwardingClient {
 public:
  ObservingClient(Client inner, ClientObserver& observer, Findings& findings)
      : inner_(inner), observer_(observer), findings_(findings) {}
  ObservingClient(const ObservingClient&) = delete;
  ObservingClient& operator=(const ObservingClient&) = delete;

  // How many requests for pods, and requests of plugins, have no answer.
  size_t open() const { return open_; }
  // Returns what the watches have not delivered although the cluster has it, or the other way
  // round; empty if there is no difference.
  std::string Difference(const EmbeddedCluster& cluster) const;
  // As Difference(), for one kind, and only for objects up to this resourceVersion. Deletions do
  // not count.
  std::string Difference(const EmbeddedCluster& cluster, std::string_view kind,
                         uint64_t until) const;

  // ---- ObjectSource, DecisionWriter -------------------------------------------------------------

  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override;
  void Bind(const PodName& pod, std::string_view node, StatusCallback done) override;
  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                      StatusCallback done) override;
  void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                 StatusCallback done) override;
  void Request(ApiRequest request, ResponseCallback answer) override;

 private:
  class ObservedWatch;

  Client target() override { return inner_; }
  StatusCallback Counted(StatusCallback done);

  const Client inner_;
  ClientObserver& observer_;
  Findings& findings_;
  size_t open_ = 0;
  std::vector<const ObservedWatch*> watches_;  // In the order of the calls of StartWatch().
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_OBSERVING_CLIENT_H_

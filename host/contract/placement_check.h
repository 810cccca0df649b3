// Lets a plugin place pods: from Reserve to PostBind, with pods that wait on Permit, nominations
// and time.
#ifndef BERTH_HOST_CONTRACT_PLACEMENT_CHECK_H_
#define BERTH_HOST_CONTRACT_PLACEMENT_CHECK_H_

#include <functional>
#include <string>

#include <berth/testing/fake_host.h>

#include "host/contract/contract_cluster.h"

namespace berth::host {

// Calls the points after a node was found as the host does, for one instance in `cluster`. The test
// kit reports the violations that it finds; this class reports the answers.
class PlacementCheck {
 public:
  // Receives the answer of `point`. `is_verdict`: the answer may reject the pod.
  using OnAnswer = std::function<void(const char* point, const testing::PodSpec& pod,
                                      const testing::Answer& answer, bool is_verdict)>;

  // Lifetime: the arguments must outlive the check.
  PlacementCheck(testing::PluginUnderTest& plugin, const ContractCluster& cluster,
                 OnAnswer on_answer);

  // Places each pod: alone, while pods are nominated to a node, and after another pod that waits on
  // Permit. What the plugin posts, requests and promises is performed in between, and time passes.
  void Run();

 private:
  testing::Instance& instance() { return plugin_.instance(); }

  void Place(const testing::PodSpec& pod);
  void PlaceAgain(const testing::PodSpec& pod);
  // Makes an attempt for the pod while it and another pod are nominated to the node.
  void TryWithNominations(const testing::PodSpec& pod);
  // Lets a pod wait, and a second pod follow that is equal to it except for its name.
  void PlaceTogether(const testing::PodSpec& pod);
  // Assumes the pod on the node. Returns the answer of Permit; the pod waits if it is WAIT.
  testing::PermitResult Permit(testing::Placement& placement, const testing::PodSpec& pod);
  // Ends what Permit() began.
  void Withdraw(testing::Placement& placement, const testing::PodSpec& pod);
  bool unreserves();

  testing::PluginUnderTest& plugin_;
  const ContractCluster& cluster_;
  const OnAnswer on_answer_;
  const std::string node_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_PLACEMENT_CHECK_H_

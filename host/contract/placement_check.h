// Lets a plugin place pods: from Reserve to PostBind, with waiting pods, nominations and time.
#ifndef BERTH_HOST_CONTRACT_PLACEMENT_CHECK_H_
#define BERTH_HOST_CONTRACT_PLACEMENT_CHECK_H_

#include <functional>

#include <berth/testing/fake_host.h>

#include "host/contract/contract_cluster.h"

namespace berth::host {

// Receives the answer of `point`. `is_verdict`: the answer may reject the pod.
using OnAnswer = std::function<void(const char* point, const testing::PodSpec& pod,
                                    const testing::Answer& answer, bool is_verdict)>;

// Calls the points after a node was found as the host does, for one instance in `cluster`: places
// each pod alone, while pods are nominated to a node, and after another pod that waits on Permit.
// Between the steps, posted tasks run, requests and promises get answers, and time passes. The test
// kit reports the violations that it finds; this function reports the answers.
void CheckPlacement(testing::PluginUnderTest& plugin, const ContractCluster& cluster,
                    const OnAnswer& on_answer);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_PLACEMENT_CHECK_H_

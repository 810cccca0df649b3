#include "host/contract/placement_check.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include <berth/testing/attempt.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

using testing::Answer;
using testing::Placement;
using testing::PluginUnderTest;
using testing::PodSpec;
using testing::Step;

PodSpec Named(PodSpec pod, const std::string& suffix) {
  pod.name += suffix;
  pod.uid += suffix;
  return pod;
}

class PlacementCheck {
 public:
  PlacementCheck(PluginUnderTest& plugin, const ContractCluster& cluster, const OnAnswer& on_answer)
      : plugin_(plugin), on_answer_(on_answer), node_(cluster.nodes.front().name) {}

  void Place(const PodSpec& pod) {
    Placement placement = plugin_.Place(pod);
    if (instance().reserve) on_answer_("Reserve", pod, placement.Reserve(node_), true);
    if (instance().permit) on_answer_("Permit", pod, placement.Permit(node_).answer, true);
    if (instance().pre_bind) {
      on_answer_("PreBindPreFlight", pod, placement.PreFlight(node_), false);
      on_answer_("PreBind", pod, placement.PreBind(node_), false);
      plugin_.Advance(0);
    }
    if (instance().bind) {
      on_answer_("Bind", pod, placement.Bind(node_), false);
      plugin_.Advance(0);
    }
    if (instance().post_bind) placement.PostBind(node_);
    plugin_.Advance(0);
  }

  void PlaceAgain(const PodSpec& pod) {
    if (unreserves()) {
      Placement placement = plugin_.Place(pod);
      placement.Unreserve(node_);  // The host may call Unreserve without Reserve.
      on_answer_("Reserve", pod, placement.Reserve(node_), false);
      placement.Unreserve(node_);
      placement.Unreserve(node_);
    }
    FailAttempts(pod);
  }

  // Reports failures of every kind, also of a pod that the plugin has not seen.
  void FailAttempts(const PodSpec& pod) {
    if (!instance().attempt_failed) return;
    const PodSpec other = Named(pod, "-unseen");
    plugin_.FailAttempt(pod, {.code = BERTH_UNSCHEDULABLE,
                              .message = "0/1 nodes are available: 1 no room.",
                              .plugins = {"NodeResourcesFit"},
                              .flags = BERTH_FAILED_PARKED});
    plugin_.FailAttempt(pod, {.code = BERTH_ERROR, .message = "the server is busy", .node = node_});
    plugin_.FailAttempt(other, {.code = BERTH_UNSCHEDULABLE, .flags = BERTH_FAILED_FINAL});
    plugin_.Advance(0);
  }

  // Makes an attempt for the pod while it and another pod are nominated to the node.
  void TryWithNominations(const PodSpec& pod) {
    const PodSpec other = Named(pod, "-nominated");
    plugin_.Nominate(pod, node_);
    plugin_.Nominate(other, node_);
    plugin_.Advance(kMinute);
    if (instance().post_filter) {
      on_answer_("PostFilter", pod, plugin_.Place(pod).PostFilter().answer, false);
    }
    for (const Step step : {Step::kFilter, Step::kScore}) {
      if (step == Step::kFilter ? !instance().filter : !instance().score) continue;
      testing::Cycle cycle(&instance(), &plugin_.table(), testing::PodHandle(pod, plugin_.ids()));
      Answer answer = cycle.PreFilter();
      if (step == Step::kScore && (answer.ok() || answer.code == BERTH_SKIP)) {
        answer = cycle.PreScore();
      }
      if (answer.ok()) testing::EvaluateTable(cycle, step);
    }
    plugin_.Advance(0);
    for (const std::string& uid : {pod.uid, other.uid}) {
      instance().services().scheduling().EndNomination(uid);
    }
  }

  // Lets a pod wait, and a second pod follow that is equal to it except for its name.
  void PlaceTogether(const PodSpec& pod) {
    if (!instance().permit) return;
    const PodSpec first = Named(pod, "-first");
    const PodSpec second = Named(pod, "-second");
    plugin_.AddPendingPod(first);
    plugin_.AddPendingPod(second);
    {
      Placement waits = plugin_.Place(first);
      const testing::PermitResult result = Permit(waits, first);
      const int64_t timeout_ns = std::clamp<int64_t>(result.timeout_ns, 0, 15 * kMinute);
      plugin_.Advance(timeout_ns / 2);
      Placement follows = plugin_.Place(second);
      Permit(follows, second);
      plugin_.Advance(timeout_ns / 2);
      Withdraw(waits, first);
      plugin_.Advance(timeout_ns / 2);
      Withdraw(follows, second);
    }
    plugin_.Advance(kMinute);
  }

 private:
  testing::Instance& instance() { return plugin_.instance(); }
  bool unreserves() { return instance().reserve && instance().reserve->unreserve != nullptr; }

  // Assumes the pod on the node. Returns the answer of Permit; the pod waits if it is WAIT.
  testing::PermitResult Permit(Placement& placement, const PodSpec& pod) {
    plugin_.AssumePod(pod.name, node_);
    if (instance().reserve) on_answer_("Reserve", pod, placement.Reserve(node_), true);
    const testing::PermitResult result = placement.Permit(node_);
    on_answer_("Permit", pod, result.answer, true);
    if (result.answer.code == BERTH_WAIT) plugin_.AddWaiting(pod);
    return result;
  }

  // Ends what Permit() began.
  void Withdraw(Placement& placement, const PodSpec& pod) {
    instance().services().scheduling().Preempt(pod.uid, "the pod waited too long");
    if (unreserves()) placement.Unreserve(node_);
    plugin_.ForgetPod(pod.name, node_);
    plugin_.RemovePendingPod(pod.name);
  }

  PluginUnderTest& plugin_;
  const OnAnswer& on_answer_;
  const std::string node_;
};

}  // namespace

void CheckPlacement(PluginUnderTest& plugin, const ContractCluster& cluster,
                    const OnAnswer& on_answer) {
  PlacementCheck check(plugin, cluster, on_answer);
  for (const PodSpec& pod : cluster.pods) {
    check.Place(pod);
    check.PlaceAgain(pod);
    check.TryWithNominations(pod);
    check.PlaceTogether(pod);
  }
}

}  // namespace berth::host

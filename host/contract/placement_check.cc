#include "host/contract/placement_check.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <berth/abi.h>
#include <berth/testing/attempt.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

using testing::Answer;
using testing::Placement;
using testing::PodSpec;
using testing::Step;

PodSpec Named(PodSpec pod, const std::string& suffix) {
  pod.name += suffix;
  pod.uid += suffix;
  return pod;
}

}  // namespace

PlacementCheck::PlacementCheck(testing::PluginUnderTest& plugin, const ContractCluster& cluster,
                               OnAnswer on_answer)
    : plugin_(plugin),
      cluster_(cluster),
      on_answer_(std::move(on_answer)),
      node_(cluster.nodes.front().name) {}

void PlacementCheck::Run() {
  for (const PodSpec& pod : cluster_.pods) {
    Place(pod);
    PlaceAgain(pod);
    TryWithNominations(pod);
    PlaceTogether(pod);
  }
}

bool PlacementCheck::unreserves() {
  return instance().reserve && instance().reserve->unreserve != nullptr;
}

void PlacementCheck::Place(const PodSpec& pod) {
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

void PlacementCheck::PlaceAgain(const PodSpec& pod) {
  if (!unreserves()) return;
  Placement placement = plugin_.Place(pod);
  placement.Unreserve(node_);  // The host may call Unreserve without Reserve.
  on_answer_("Reserve", pod, placement.Reserve(node_), false);
  placement.Unreserve(node_);
  placement.Unreserve(node_);
}

void PlacementCheck::TryWithNominations(const PodSpec& pod) {
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

testing::PermitResult PlacementCheck::Permit(Placement& placement, const PodSpec& pod) {
  plugin_.AssumePod(pod.name, node_);
  if (instance().reserve) on_answer_("Reserve", pod, placement.Reserve(node_), true);
  const testing::PermitResult result = placement.Permit(node_);
  on_answer_("Permit", pod, result.answer, true);
  if (result.answer.code == BERTH_WAIT) plugin_.AddWaiting(pod);
  return result;
}

void PlacementCheck::Withdraw(Placement& placement, const PodSpec& pod) {
  instance().services().scheduling().Preempt(pod.uid, "the pod waited too long");
  if (unreserves()) placement.Unreserve(node_);
  plugin_.ForgetPod(pod.name, node_);
  plugin_.RemovePendingPod(pod.name);
}

void PlacementCheck::PlaceTogether(const PodSpec& pod) {
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

}  // namespace berth::host

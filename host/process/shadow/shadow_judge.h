// Compares where another scheduler has placed a pod with what this scheduler decides.
#ifndef BERTH_HOST_PROCESS_SHADOW_SHADOW_JUDGE_H_
#define BERTH_HOST_PROCESS_SHADOW_SHADOW_JUDGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/api/objects.h"
#include "host/cycle/schedule_one.h"

namespace berth::host {

enum class ShadowVerdict : uint8_t {
  kSame,  // This scheduler chooses the same node.
  kTie,   // Both nodes have the highest total; each scheduler chooses by chance.
  // The verdict is kSame or kTie in another order of the events of the last moments, which the
  // other scheduler may have seen; see ShadowObserver.
  kOrder,
  // The other scheduler's node has a lower total, but the other scheduler may have evaluated only
  // a part of the nodes, as kube-scheduler does by default in clusters of more than 100 nodes.
  kSampled,
  kScore,     // The other scheduler's node has a lower total, without such a reason.
  kRejected,  // This scheduler rejects the other scheduler's node.
  kError,     // This scheduler's attempt failed with an error.
};
inline constexpr size_t kShadowVerdictCount = 7;

// "same", "tie", ...
std::string_view ShadowVerdictName(ShadowVerdict verdict);
// Returns whether the two schedulers decide alike: kSame, kTie and kOrder.
bool IsAgreement(ShadowVerdict verdict);
// Returns whether nothing but a difference between the two schedulers is left as the reason:
// kScore, kRejected and kError.
bool IsUnexplained(ShadowVerdict verdict);

struct ShadowDecision {
  int64_t time_ns = 0;    // When the placement was observed, since the start of the run.
  std::string pod;        // "default/web-0"
  std::string theirs;     // The node of the other scheduler.
  std::string ours = {};  // The node that this scheduler chooses; empty if it chooses none.
  ShadowVerdict verdict = ShadowVerdict::kError;
  // The weighted totals of both nodes, if they were scored.
  std::optional<int64_t> their_total = {};
  std::optional<int64_t> our_total = {};
  // Why the verdict is not kSame: "both 412"; "node-4 has 412 and node-1 405: ImageLocality 100
  // and 93"; "NodeResourcesFit: Insufficient cpu"; the message of an error. Empty for kSame.
  std::string why = {};
};

// Returns how many nodes that fit a kube-scheduler looks for before it scores, if it evaluates
// `nodes` nodes: all of them, or a part if there are more than 100. `percentage` is its
// percentageOfNodesToScore; 0 is the default, which depends on the number of nodes.
// (kube-scheduler: pkg/scheduler/schedule_one.go, numFeasibleNodesToFind)
uint32_t FeasibleNodesToFind(uint32_t nodes, uint32_t percentage);

// Judges one placement with what the cache holds now. `pod` is the pod before the placement, and
// must not be in the cache. `percentage`: see FeasibleNodesToFind().
// Called:  on the scheduling thread, between attempts.
// Returns: a decision without a time. The verdict is never kOrder.
// Effects: those of SchedulingCycle::Decide(), which assumes nothing. PreEnqueue does not run.
ShadowDecision JudgePlacement(SchedulingCycle& cycle, const PodRef& pod, std::string_view node,
                              uint32_t percentage);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_SHADOW_SHADOW_JUDGE_H_

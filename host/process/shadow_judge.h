// Compares where another scheduler has placed a pod with what this scheduler decides.
#ifndef BERTH_HOST_PROCESS_SHADOW_JUDGE_H_
#define BERTH_HOST_PROCESS_SHADOW_JUDGE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/cycle/schedule_one.h"
#include "host/cycle/scheduling_loop.h"

namespace berth::host {

enum class ShadowVerdict : uint8_t {
  kSame,  // This scheduler chooses the same node.
  kTie,   // Both nodes have the highest total; each scheduler chooses by chance.
  // The nodes tie, or are the same, once the pods are counted too whose bindings arrived shortly
  // after: the other scheduler had placed them before this pod, and their bindings overtook it.
  kOrder,
  // The other scheduler's node has a lower total. It evaluated only a part of the nodes, as
  // kube-scheduler does by default in clusters of more than 100 nodes.
  kSampled,
  kScore,     // The other scheduler's node has a lower total, without such a reason.
  kRejected,  // A plugin of this scheduler rejects the other scheduler's node.
  kError,     // This scheduler's attempt failed with an error.
};

// "same", "tie", ...
std::string_view ShadowVerdictName(ShadowVerdict verdict);
// Returns whether the two schedulers decide alike: kSame, kTie and kOrder.
bool IsAgreement(ShadowVerdict verdict);

struct ShadowDecision {
  std::string pod;     // "default/web-0"
  std::string theirs;  // The node of the other scheduler.
  std::string ours;    // The node that this scheduler chooses; empty if it rejects all nodes.
  ShadowVerdict verdict = ShadowVerdict::kError;
  int64_t their_total = 0;  // The weighted totals of both nodes, if both were scored.
  int64_t our_total = 0;
  // Why they differ: "NodeResourcesFit: Insufficient cpu", "totals 412 and 405: ImageLocality 100
  // and 93", the message of an error.
  std::string why;
};

// Judges one placement. The cache must be in the state before the placement, and `pod` without a
// node.
// Called: on the scheduling thread, between attempts.
// Effects: those of SchedulingCycle::Decide(), which assumes nothing. PreEnqueue is not asked.
ShadowDecision JudgePlacement(SchedulingCycle& cycle, const PodRef& pod, std::string_view node);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_SHADOW_JUDGE_H_

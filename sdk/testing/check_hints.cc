#include <cstdint>
#include <span>
#include <string>

#include <berth/abi.h>
#include <berth/testing/check_hints.h>
#include <berth/testing/part_hash.h>
#include <berth/testing/parts.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/queued.h>
#include <berth/testing/report.h>

namespace berth::testing {

HintChecker::HintChecker(HintCaller& hint_caller, std::span<const PodSpec> others)
    : hint_caller_(hint_caller), others_(others) {}

void HintChecker::Run(const PodSpec& pod, const EventSpec& event, uint32_t i, uint32_t answer) {
  const uint64_t declared = hint_caller_.interest(i).pod_parts;
  if (declared == 0 || event.resource == BERTH_RESOURCE_TARGET_POD) return;
  for (int part = 0; part < BERTH_PART_COUNT; ++part) {
    if ((declared >> part & 1) == 0) CheckPart(part, pod, event, i, answer);
  }
}

void HintChecker::CheckPart(int part, const PodSpec& pod, const EventSpec& event, uint32_t i,
                            uint32_t answer) {
  const PartHashes before = HashParts(pod);
  for (const Mutation& mutation : MutatePart(part, pod, others_)) {
    if (DifferIn(hint_caller_.interest(i).pod_parts, before, HashParts(mutation.pod))) continue;
    if (event.pod() != nullptr && event.pod()->uid == mutation.pod.uid) continue;
    const uint32_t now = hint_caller_.Invoke(mutation.pod, event, i);
    if (now == answer) continue;
    hint_caller_.reporter().Fail(
        Check::kHints, "the hint of interest " + std::to_string(i) + " for pod " + pod.ns + "/" +
                           pod.name + " depends on the pod's " + std::string(PartName(part)) +
                           ", which pod_parts does not name: " + Name(answer) + ", then " +
                           Name(now) + " with this part " + mutation.how);
    return;
  }
}

}  // namespace berth::testing

#include <cstdint>
#include <string>

#include <berth/abi.h>
#include <berth/testing/check_hints.h>
#include <berth/testing/part_hash.h>
#include <berth/testing/parts.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/queued.h>
#include <berth/testing/report.h>
#include <berth/testing/views.h>

namespace berth::testing {

void HintChecker::Run(const EventView& event, uint32_t i, uint32_t answer) {
  const uint64_t declared = hint_caller_.interest(i).pod_parts;
  if (declared == 0 || event.spec().resource == BERTH_RESOURCE_TARGET_POD) return;
  for (int part = 0; part < BERTH_PART_COUNT; ++part) {
    if ((declared >> part & 1) == 0) CheckPart(part, event, i, answer);
  }
}

void HintChecker::CheckPart(int part, const EventView& event, uint32_t i, uint32_t answer) {
  const PodSpec& pod = mutated_.pod();
  for (const Mutation& mutation : mutated_.Of(part)) {
    if (DifferIn(hint_caller_.interest(i).pod_parts, mutated_.hashes(), mutation.hashes)) continue;
    const PodSpec* of_event = event.spec().pod();
    if (of_event != nullptr && of_event->uid == mutation.pod.uid) continue;
    const uint32_t now = hint_caller_.Invoke(PodHandle(mutation.pod, ids_), event, i);
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

// Checks that hints read only the parts of a parked pod that berth_event_interest names.
#ifndef BERTH_TESTING_CHECK_HINTS_H_
#define BERTH_TESTING_CHECK_HINTS_H_

#include <cstdint>
#include <span>
#include <string>

#include <berth/testing/parts.h>
#include <berth/testing/queued.h>

namespace berth::testing {

// Checks one pod and one event. There is nothing to check if no parts are declared, or if the event
// is about the pod itself: the host then calls the hint for each pod.
class HintChecker {
 public:
  // `others` are pods whose parts are copied to this pod.
  HintChecker(HintCaller& hint_caller, std::span<const PodSpec> others)
      : hint_caller_(hint_caller), others_(others) {}

  // `answer` is the result of interest `i` for the pod.
  void Run(const PodSpec& pod, const EventSpec& event, uint32_t i, uint32_t answer) {
    const uint64_t declared = hint_caller_.interest(i).pod_parts;
    if (declared == 0 || event.resource == BERTH_RESOURCE_TARGET_POD) return;
    for (int part = 0; part < BERTH_PART_COUNT; ++part) {
      if ((declared >> part & 1) == 0) CheckPart(part, pod, event, i, answer);
    }
  }

 private:
  void CheckPart(int part, const PodSpec& pod, const EventSpec& event, uint32_t i,
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

  static std::string Name(uint32_t hint) { return hint == BERTH_HINT_SKIP ? "Skip" : "Queue"; }

  HintCaller& hint_caller_;
  const std::span<const PodSpec> others_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_CHECK_HINTS_H_

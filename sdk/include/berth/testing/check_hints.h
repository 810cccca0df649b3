// Checks that hints read only the parts of a parked pod that berth_event_interest names.
#ifndef BERTH_TESTING_CHECK_HINTS_H_
#define BERTH_TESTING_CHECK_HINTS_H_

#include <cstdint>
#include <string>

#include <berth/abi.h>
#include <berth/testing/ids.h>
#include <berth/testing/parts.h>
#include <berth/testing/queued.h>

namespace berth::testing {

// Checks one pod and one event. There is nothing to check if no parts are declared, or if the event
// is about the pod itself: the host then calls the hint for each pod.
class HintChecker {
 public:
  HintChecker(HintCaller& hint_caller, MutatedPods& mutated, Ids& ids)
      : hint_caller_(hint_caller), mutated_(mutated), ids_(ids) {}

  // `answer` is the result of interest `i` for the pod whose mutations these are.
  void Run(const EventView& event, uint32_t i, uint32_t answer);

 private:
  void CheckPart(int part, const EventView& event, uint32_t i, uint32_t answer);

  static std::string Name(uint32_t hint) { return hint == BERTH_HINT_SKIP ? "Skip" : "Queue"; }

  HintCaller& hint_caller_;
  MutatedPods& mutated_;
  Ids& ids_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_CHECK_HINTS_H_

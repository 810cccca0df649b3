// expected: Hint requires EventsToRegister in the same class
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  berth::QueueingHint Hint(const berth::Queued& /*queued*/, const berth::Event& /*event*/) {
    return berth::QueueingHint::kSkip;
  }
#ifdef BAD
  // Implements no EventsToRegister.
#else
  std::vector<berth::EventInterest> EventsToRegister() const { return {}; }
#endif
};
BERTH_PLUGIN(Sample)

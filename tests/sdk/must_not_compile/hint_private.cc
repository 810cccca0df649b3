// expected: Hint is private: make it public
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  std::vector<berth::EventInterest> EventsToRegister() const { return {}; }

 private:
  berth::QueueingHint Hint(const berth::Queued& /*queued*/, const berth::Event& /*event*/) {
    return berth::QueueingHint::kSkip;
  }
#else
  std::vector<berth::EventInterest> EventsToRegister() const { return {}; }
  berth::QueueingHint Hint(const berth::Queued& /*queued*/, const berth::Event& /*event*/) {
    return berth::QueueingHint::kSkip;
  }
#endif
};
BERTH_PLUGIN(Sample)

// expected: implement both Lane and NextLane, or neither
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  berth::SortKey Key(const berth::Queued& queued) const {
    return berth::SortKey().Descending(queued.priority);
  }
  uint64_t Lane(const berth::Queued& queued) const { return queued.attempts; }
#ifdef BAD
  // Implements only Lane.
#else
  std::size_t NextLane(const berth::Lanes& lanes) { return lanes.size() - 1; }
#endif
};
BERTH_PLUGIN(Sample)

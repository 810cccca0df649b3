// expected: implement Key or Less beside Lane and NextLane
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  uint64_t Lane(const berth::Queued& queued) const { return queued.attempts; }
  std::size_t NextLane(const berth::Lanes& lanes) { return lanes.size() - 1; }
#ifdef BAD
  // Has no order within a lane.
#else
  berth::SortKey Key(const berth::Queued& queued) const {
    return berth::SortKey().Descending(queued.priority);
  }
#endif
};
BERTH_PLUGIN(Sample)

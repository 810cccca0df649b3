// expected: uint64_t Lane(const berth::Queued& queued) const
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  berth::SortKey Key(const berth::Queued& queued) const {
    return berth::SortKey().Descending(queued.priority);
  }
  std::size_t NextLane(const berth::Lanes& lanes) { return lanes.size() - 1; }
#ifdef BAD
  uint64_t Lane(const berth::Pod& pod) const { return pod.meta().ns; }
#else
  uint64_t Lane(const berth::Queued& queued) const { return queued.attempts; }
#endif
};
BERTH_PLUGIN(Sample)

// expected: implement Key or Less, not both
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  berth::SortKey Key(const berth::Queued& queued) const {
    return berth::SortKey().Descending(queued.priority);
  }
#ifdef BAD
  bool Less(const berth::Queued& a, const berth::Queued& b) const {
    return a.priority > b.priority;
  }
#else
  // Implements only Key.
#endif
};
BERTH_PLUGIN(Sample)

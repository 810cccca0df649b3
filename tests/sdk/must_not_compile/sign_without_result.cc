// expected: Sign has the wrong signature; expected
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  uint64_t Sign(const berth::Cycle& cycle) const { return cycle.id(); }
#else
  std::optional<uint64_t> Sign(const berth::Cycle& cycle) const { return cycle.id(); }
#endif
};
BERTH_PLUGIN(Sample)

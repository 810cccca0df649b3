// expected: T must be int64_t, uint32_t or uint8_t
#include "tests/sdk/must_not_compile/sample.h"

#ifdef BAD
using Load = berth::Column<double, "load">;
#else
using Load = berth::Column<int64_t, "load">;
#endif
class Sample : public Sampled {
 public:
  using Columns = berth::Columns<Load>;
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const berth::NodeRow<Columns>& node) const {
    return berth::UnschedulableIf(node[Load{}] > 0, 0);
  }
};
BERTH_PLUGIN(Sample)

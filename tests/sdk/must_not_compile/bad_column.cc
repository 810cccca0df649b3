// expected: every argument must be a column such as berth::AllocCpu
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifdef BAD
  using Columns = berth::Columns<int64_t>;
#else
  using Columns = berth::Columns<berth::AllocCpu>;
#endif
  berth::Verdict Filter(const berth::Cycle& /*cycle*/,
                        const berth::NodeRow<Columns>& /*node*/) const {
    return berth::kPass;
  }
};
BERTH_PLUGIN(Sample)

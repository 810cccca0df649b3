// expected: the column is not one of the plugin's Columns
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifdef BAD
  using Columns = berth::Columns<berth::AllocCpu>;
#else
  using Columns = berth::Columns<berth::AllocCpu, berth::ReqCpu>;
#endif
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const berth::NodeRow<Columns>& node) const {
    return berth::UnschedulableIf(node[berth::AllocCpu{}] < node[berth::ReqCpu{}], 0);
  }
};
BERTH_PLUGIN(Sample)

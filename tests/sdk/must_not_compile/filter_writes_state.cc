// expected: read-only object | which returns const-qualified type
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  using Node = berth::NodeRow<Columns>;
  struct State {
    int count = 0;
  };
#ifdef BAD
  berth::Verdict Filter(const berth::Cycle& cycle, const Node& /*node*/) const {
    return berth::UnschedulableIf(++cycle.State<State>().count == 0, 0);
  }
#else
  berth::Verdict Filter(const berth::Cycle& cycle, const Node& /*node*/) const {
    return berth::UnschedulableIf(cycle.State<State>().count == 0, 0);
  }
#endif
};
BERTH_PLUGIN(Sample)

// expected: the class has no extension point
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  using Node = berth::NodeRow<Columns>;
#ifdef BAD
  void Helper() {}
#else
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return berth::kPass;
  }
#endif
};
BERTH_PLUGIN(Sample)

// expected: berth::Verdict Filter(const berth::Cycle& cycle, const berth::NodeRow<Columns>& node)
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  using Node = berth::NodeRow<Columns>;
#ifdef BAD
  berth::Verdict Filter(const berth::Pod& /*pod*/, const Node& /*node*/) const {
    return berth::kPass;
  }
#else
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return berth::kPass;
  }
#endif
};
BERTH_PLUGIN(Sample)

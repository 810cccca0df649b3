// expected: implement Filter per node, per block, or for all nodes: only one of them
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  using Node = berth::NodeRow<Columns>;
#ifdef BAD
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return berth::kPass;
  }
  berth::Status Filter(const berth::Cycle& /*cycle*/, const berth::Block<Columns>& /*block*/,
                       berth::FilterOut& /*out*/) const {
    return berth::Status::Success();
  }
#else
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return berth::kPass;
  }
#endif
};
BERTH_PLUGIN(Sample)

// expected: implement AddPod and RemovePod together, or neither
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  using Node = berth::NodeRow<Columns>;
  berth::Status PreFilter(berth::Cycle& /*cycle*/, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    return berth::Status::Success();
  }
  berth::Status AddPod(berth::Cycle& /*cycle*/, const berth::Pod& /*pod*/, const Node& /*node*/) {
    return berth::Status::Success();
  }
#ifdef BAD
  // Implements no RemovePod.
#else
  berth::Status RemovePod(berth::Cycle& /*cycle*/, const berth::Pod& /*pod*/,
                          const Node& /*node*/) {
    return berth::Status::Success();
  }
#endif
};
BERTH_PLUGIN(Sample)

// expected: kKinds must name the kind of every column berth::NodeObject
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifndef BAD
  static constexpr std::array kKinds{"storage.k8s.io/v1/CSINode"};
#endif
  using Columns = berth::Columns<berth::NodeObject<"storage.k8s.io/v1/CSINode">>;
  using Node = berth::NodeRow<Columns>;
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return berth::kPass;
  }
};
BERTH_PLUGIN(Sample)

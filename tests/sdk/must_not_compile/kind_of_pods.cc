// expected: kKinds must not name v1/Pod or v1/Node
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifdef BAD
  static constexpr std::array kKinds{"v1/Pod"};
#else
  static constexpr std::array kKinds{"v1/Namespace"};
#endif
  using Node = berth::NodeRow<Columns>;
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return berth::kPass;
  }
};
BERTH_PLUGIN(Sample)

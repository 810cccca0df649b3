// expected: Filter has the wrong signature; expected one of
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  using Node = berth::NodeRow<Columns>;
#ifdef BAD
  berth::Verdict Filter(int /*a*/) const { return berth::kPass; }
  berth::Verdict Filter(int /*a*/, int /*b*/) const { return berth::kPass; }
#else
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return berth::kPass;
  }
#endif
};
BERTH_PLUGIN(Sample)

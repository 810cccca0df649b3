// expected: Filtr is no method that the host calls; did you mean Filter?
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifdef BAD
  berth::Verdict Filtr(const berth::Cycle& /*cycle*/,
                       const berth::NodeRow<berth::Columns<>>& /*node*/) const {
    return berth::kPass;
  }
#else
  berth::Verdict Filter(const berth::Cycle& /*cycle*/,
                        const berth::NodeRow<berth::Columns<>>& /*node*/) const {
    return berth::kPass;
  }
#endif
};
BERTH_PLUGIN(Sample)

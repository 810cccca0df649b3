// expected: Filter has the wrong signature; expected one of
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifdef BAD
  template <class N>
  berth::Verdict Filter(const N& /*node*/) const {
    return berth::kPass;
  }
#else
  template <class N>
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const N& /*node*/) const {
    return berth::kPass;
  }
#endif
};
BERTH_PLUGIN(Sample)

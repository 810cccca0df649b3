// expected: kFilterSerial requires a Filter method in the same class
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  static constexpr bool kFilterSerial = true;
  void OnChange(const berth::Change& /*change*/) {}
#ifdef BAD
  // Implements no Filter.
#else
  berth::Verdict Filter(const berth::Cycle& /*cycle*/,
                        const berth::NodeRow<berth::Columns<> >& /*node*/) const {
    return berth::kPass;
  }
#endif
};
BERTH_PLUGIN(Sample)

// expected: a Filter for all nodes has no kFilterSerial: it is called once
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifdef BAD
  static constexpr bool kFilterSerial = true;
#endif
  berth::Status Filter(const berth::Cycle& /*cycle*/, const berth::Nodes& /*survivors*/,
                       berth::FilterWholeOut& /*out*/) const {
    return berth::Status::Success();
  }
};
BERTH_PLUGIN(Sample)

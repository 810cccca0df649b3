// expected: PreFilter has the wrong signature; expected
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifdef BAD
  berth::Status PreFilter(berth::Cycle& /*cycle*/) { return berth::Status::Success(); }
#else
  berth::Status PreFilter(berth::Cycle& /*cycle*/, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    return berth::Status::Success();
  }
#endif
};
BERTH_PLUGIN(Sample)

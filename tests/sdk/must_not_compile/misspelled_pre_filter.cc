// expected: PrefilterX is no method that the host calls; did you mean PreFilter?
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  berth::Status PrefilterX(berth::Cycle& /*cycle*/, const berth::Nodes& /*all*/,
                           berth::PreFilterOut& /*out*/) {
    return {};
  }
#else
  berth::Status PreFilter(berth::Cycle& /*cycle*/, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    return {};
  }
#endif
};
BERTH_PLUGIN(Sample)

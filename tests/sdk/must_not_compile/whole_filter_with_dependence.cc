// expected: a Filter for all nodes has no dependence: its answers are never reused
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifdef BAD
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNode, .pod_parts = 0};
#endif
  berth::Status Filter(const berth::Cycle& /*cycle*/, const berth::Nodes& /*survivors*/,
                       berth::FilterWholeOut& /*out*/) const {
    return berth::Status::Success();
  }
};
BERTH_PLUGIN(Sample)

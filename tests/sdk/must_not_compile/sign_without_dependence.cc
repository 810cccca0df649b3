// expected: SignFilter and FilterChanged require kFilterDependence or FilterDependence()
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  std::optional<berth::Signature> SignFilter(const berth::Cycle& cycle) const {
    return berth::Signature{cycle.id(), 0};
  }
#ifdef BAD
  // Filtering declares no dependence.
#else
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kOther, .pod_parts = 0};
#endif
};
BERTH_PLUGIN(Sample)

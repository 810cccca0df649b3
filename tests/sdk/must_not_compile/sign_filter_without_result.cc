// expected: SignFilter has the wrong signature; expected
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kOther, .pod_parts = 0};
#ifdef BAD
  berth::Signature SignFilter(const berth::Cycle& cycle) const { return {cycle.id(), 0}; }
#else
  std::optional<berth::Signature> SignFilter(const berth::Cycle& cycle) const {
    return berth::Signature{cycle.id(), 0};
  }
#endif
};
BERTH_PLUGIN(Sample)

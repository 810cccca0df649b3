// expected: Sign is not a method of a plugin; implement SignFilter, SignScore or both
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kOther, .pod_parts = 0};
#ifdef BAD
  std::optional<berth::Signature> Sign(const berth::Cycle& cycle) const {
    return berth::Signature{cycle.id(), 0};
  }
#else
  std::optional<berth::Signature> SignFilter(const berth::Cycle& cycle) const {
    return berth::Signature{cycle.id(), 0};
  }
#endif
};
BERTH_PLUGIN(Sample)

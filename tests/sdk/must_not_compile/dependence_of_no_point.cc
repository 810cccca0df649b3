// expected: kScoreDependence and ScoreDependence require a Score
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  static constexpr berth::Dependence kScoreDependence{.cluster = berth::kNode, .pod_parts = 0};
#else
  // Filtering implements only Filter.
#endif
};
BERTH_PLUGIN(Sample)

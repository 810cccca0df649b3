// expected: kScoreDependence and ScoreDependence require a Score method in the same class
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  static constexpr bool kScoreSerial = true;
#ifdef BAD
  // Implements no Score.
#else
  int64_t Score(const berth::Cycle& /*cycle*/,
                const berth::NodeRow<berth::Columns<> >& /*node*/) const {
    return 0;
  }
#endif
};
BERTH_PLUGIN(Sample)

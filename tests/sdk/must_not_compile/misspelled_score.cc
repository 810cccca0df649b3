// expected: score is no method that the host calls; did you mean Score?
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  int64_t score(const berth::Cycle& /*cycle*/,
                const berth::NodeRow<berth::Columns<>>& /*node*/) const {
    return 0;
  }
#else
  int64_t score = 0;
#endif
};
BERTH_PLUGIN(Sample)

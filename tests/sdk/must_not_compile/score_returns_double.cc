// expected: Score has the wrong signature; expected one of
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  using Node = berth::NodeRow<Columns>;
#ifdef BAD
  double Score(const berth::Cycle& /*cycle*/, const Node& /*node*/) const { return 1; }
#else
  int64_t Score(const berth::Cycle& /*cycle*/, const Node& /*node*/) const { return 1; }
#endif
};
BERTH_PLUGIN(Sample)

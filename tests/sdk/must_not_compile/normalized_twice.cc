// expected: declare kNormalize or NormalizeScore, not both
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  using Node = berth::NodeRow<Columns>;
  int64_t Score(const berth::Cycle& /*cycle*/, const Node& /*node*/) const { return 1; }
  berth::Status NormalizeScore(berth::Cycle& /*cycle*/, berth::Scores& /*scores*/) {
    return berth::Status::Success();
  }
#ifdef BAD
  static constexpr berth::Normalize kNormalize = berth::Normalize::kMax;
#else
  // Declares no kNormalize.
#endif
};
BERTH_PLUGIN(Sample)

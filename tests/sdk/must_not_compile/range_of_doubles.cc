// expected: berth::Range of an integer needs integers
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  struct Args {
#ifdef BAD
    int64_t limit = 0;
#else
    double limit = 0;
#endif
  };
  static constexpr auto kArgs =
      berth::ArgRows<Args>(berth::Arg("limit", &Args::limit, berth::Range{0, 1e6}, "A limit."));
  explicit Sample(const Args& /*args*/) {}
};
BERTH_PLUGIN(Sample)

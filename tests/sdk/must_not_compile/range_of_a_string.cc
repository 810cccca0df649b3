// expected: berth::Range limits numbers
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  struct Args {
#ifdef BAD
    std::string limit;
#else
    std::vector<int64_t> limit;
#endif
  };
  static constexpr auto kArgs =
      berth::ArgRows<Args>(berth::Arg("limit", &Args::limit, berth::Range{0, 100}, "A limit."));
  explicit Sample(const Args& /*args*/) {}
};
BERTH_PLUGIN(Sample)

// expected: an argument must be a bool, int32_t, int64_t, double, std::string
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  struct Args {
    char value = 0;
  };
#else
  struct Args {
    int64_t value = 0;
  };
#endif
  static constexpr auto kArgs = berth::ArgRows<Args>(berth::Arg("value", &Args::value, "Help."));
  explicit Sample(const Args& /*args*/) {}
};
BERTH_PLUGIN(Sample)

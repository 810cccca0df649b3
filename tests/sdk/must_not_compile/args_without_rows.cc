// expected: Args has no rows; expected
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  struct Args {
    int64_t cpu_milli = 500;
  };
  explicit Sample(const Args& /*args*/) {}
#ifdef BAD
  // Declares no kArgs.
#else
  static constexpr auto kArgs =
      berth::ArgRows<Args>(berth::Arg("cpuMilli", &Args::cpu_milli, "Cpu."));
#endif
};
BERTH_PLUGIN(Sample)

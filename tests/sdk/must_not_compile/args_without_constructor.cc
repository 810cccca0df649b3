// expected: kArgs is declared, but no constructor takes the arguments
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  struct Args {
    int64_t cpu_milli = 500;
  };
  static constexpr auto kArgs =
      berth::ArgRows<Args>(berth::Arg("cpuMilli", &Args::cpu_milli, "Cpu."));
#ifdef BAD
  Sample() = default;
#else
  explicit Sample(const Args& /*args*/) {}
#endif
};
BERTH_PLUGIN(Sample)

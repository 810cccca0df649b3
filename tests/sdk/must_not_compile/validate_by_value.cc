// expected: Validate has the wrong signature; expected
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  struct Args {
    int64_t cpu_milli = 500;
  };
  static constexpr auto kArgs =
      berth::ArgRows<Args>(berth::Arg("cpuMilli", &Args::cpu_milli, "Cpu."));
  explicit Sample(const Args& /*args*/) {}
#ifdef BAD
  static void Validate(const Args& /*args*/) {}
#else
  static void Validate(const Args& /*args*/, berth::ArgErrors& /*errors*/) {}
#endif
};
BERTH_PLUGIN(Sample)

// expected: berth::Arg has the same option twice
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  struct Args {
    int64_t cpu_milli = 500;
  };
#ifdef BAD
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("cpuMilli", &Args::cpu_milli, berth::Range{0, 9}, berth::Range{5, 20}, "Cpu."));
#else
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("cpuMilli", &Args::cpu_milli, berth::Range{0, 9}, berth::kRequired, "Cpu."));
#endif
  explicit Sample(const Args& /*args*/) {}
};
BERTH_PLUGIN(Sample)

// expected: is `public:` missing at the beginning of the class?
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public berth::Plugin {
#ifndef BAD
 public:
#endif
  static constexpr std::string_view kName = "Sample";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "A sample.";
  using Columns = berth::Columns<berth::AllocCpu>;
  struct State {
    int64_t wanted = 0;
  };
  struct Args {
    int64_t cpu_milli = 500;
  };
  static constexpr auto kArgs =
      berth::ArgRows<Args>(berth::Arg("cpuMilli", &Args::cpu_milli, "Cpu."));
  explicit Sample(const Args& /*args*/) {}
  berth::Verdict Filter(const berth::Cycle& /*cycle*/,
                        const berth::NodeRow<Columns>& /*node*/) const {
    return berth::kPass;
  }
};
BERTH_PLUGIN(Sample)

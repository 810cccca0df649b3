// expected: an enum whose row has berth::Names
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  enum class Mode { kA, kB };
  struct Args {
    Mode mode = Mode::kA;
  };
  explicit Sample(const Args& /*args*/) {}
#ifdef BAD
  static constexpr auto kArgs = berth::ArgRows<Args>(berth::Arg("mode", &Args::mode, "How."));
#else
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("mode", &Args::mode,
                 berth::Names{berth::Name{"A", Mode::kA}, berth::Name{"B", Mode::kB}}, "How."));
#endif
};
BERTH_PLUGIN(Sample)

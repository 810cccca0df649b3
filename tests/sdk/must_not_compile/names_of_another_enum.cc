// expected: berth::Names names the values of another type
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  enum class Mode { kLeast, kMost };
  enum class Other { kLeast };
  struct Args {
#ifdef BAD
    Other mode = Other::kLeast;
#else
    Mode mode = Mode::kLeast;
#endif
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("mode", &Args::mode,
                 berth::Names{berth::Name{"Least", Mode::kLeast}, berth::Name{"Most", Mode::kMost}},
                 "The mode."));
  explicit Sample(const Args& /*args*/) {}
};
BERTH_PLUGIN(Sample)

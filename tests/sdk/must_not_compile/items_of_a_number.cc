// expected: berth::Items limits vectors
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  struct Args {
#ifdef BAD
    int64_t zones = 0;
#else
    std::vector<std::string> zones;
#endif
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("zones", &Args::zones, berth::Items{.max = 3}, berth::kRequired, "Zones."));
  explicit Sample(const Args& /*args*/) {}
};
BERTH_PLUGIN(Sample)

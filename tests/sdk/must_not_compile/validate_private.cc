// expected: Validate is private: make it public
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  struct Args {
    bool on = true;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(berth::Arg("on", &Args::on, "A switch."));
  explicit Sample(const Args& /*args*/) {}

 private:
  static void Validate(const Args& /*args*/, berth::ArgErrors& /*errors*/) {}
#else
  struct Args {
    bool on = true;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(berth::Arg("on", &Args::on, "A switch."));
  explicit Sample(const Args& /*args*/) {}
  static void Validate(const Args& /*args*/, berth::ArgErrors& /*errors*/) {}
#endif
};
BERTH_PLUGIN(Sample)

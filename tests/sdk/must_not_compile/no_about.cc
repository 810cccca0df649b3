// expected: the plugin has no description; expected
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public berth::Plugin {
 public:
  using Node = berth::NodeRow<Columns>;
  static constexpr std::string_view kName = "Sample";
  static constexpr std::string_view kVersion = "1.0.0";
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return berth::kPass;
  }
#ifdef BAD
  // Declares no kAbout.
#else
  static constexpr std::string_view kAbout = "A sample.";
#endif
};
BERTH_PLUGIN(Sample)

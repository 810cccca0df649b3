// expected: the plugin has no name; expected
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public berth::Plugin {
 public:
  using Node = berth::NodeRow<Columns>;
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "A sample.";
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return berth::kPass;
  }
#ifdef BAD
  // Declares no kName.
#else
  static constexpr std::string_view kName = "Sample";
#endif
};
BERTH_PLUGIN(Sample)

// expected: the plugin has no name; expected
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  static constexpr auto kName = "Sample";
#else
  static constexpr std::string_view kName = "Sample";
#endif
};
BERTH_PLUGIN(Sample)

// expected: kName must have only letters, digits
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  static constexpr std::string_view kName = "acme \"Sample\"";
#else
  static constexpr std::string_view kName = "acme.Sample";
#endif
};
BERTH_PLUGIN(Sample)

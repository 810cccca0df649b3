// expected: the plugin has no matching constructor; expected one of
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  explicit Sample(int /*count*/) {}
#else
  explicit Sample(const berth::Host& /*host*/) {}
#endif
};
BERTH_PLUGIN(Sample)

// expected: kPendingChanges requires OnChange in the same class
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  static constexpr bool kPendingChanges = true;
#ifdef BAD
  // Implements no OnChange.
#else
  void OnChange(const berth::Change& /*change*/) {}
#endif
};
BERTH_PLUGIN(Sample)

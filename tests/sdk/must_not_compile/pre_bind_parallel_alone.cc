// expected: kPreBindParallel requires PreBind in the same class
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  static constexpr bool kPreBindParallel = true;
#ifdef BAD
  // Implements no PreBind.
#else
  berth::Status PreBind(const berth::Binding& /*binding*/) { return berth::Status::Success(); }
#endif
};
BERTH_PLUGIN(Sample)

// expected: PostBnd is no method that the host calls; did you mean PostBind?
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  void PostBnd(const berth::Binding& /*binding*/) {}
#else
  void PostBind(const berth::Binding& /*binding*/) {}
#endif
};
BERTH_PLUGIN(Sample)

// expected: OnChanged is no method that the host calls; did you mean OnChange?
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  void OnChanged(const berth::Change& /*change*/) {}
#else
  void OnChange(const berth::Change& /*change*/) {}
#endif
};
BERTH_PLUGIN(Sample)

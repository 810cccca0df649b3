// expected: void Quiesce()
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  void Quiesce(int64_t /*timeout_ns*/) {}
#else
  void Quiesce() {}
#endif
};
BERTH_PLUGIN(Sample)

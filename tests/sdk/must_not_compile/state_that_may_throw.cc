// expected: State: the default constructor must be noexcept
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  struct State {
    State() {}
    int row = 0;
  };
#else
  struct State {
    int row = 0;
  };
#endif
};
BERTH_PLUGIN(Sample)

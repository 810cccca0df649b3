// expected: State must be copyable
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD
  struct State {
    std::unique_ptr<int> row;
  };
#else
  struct State {
    std::vector<int> rows;
  };
#endif
};
BERTH_PLUGIN(Sample)

// expected: State and ScoreState must be different types
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  struct Data {
    int row = 0;
  };
#ifdef BAD
  using State = Data;
  using ScoreState = Data;
#else
  using State = Data;
  struct ScoreState {
    int row = 0;
  };
#endif
};
BERTH_PLUGIN(Sample)

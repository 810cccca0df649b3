// expected: Unreserve requires Reserve in the same class
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  void Unreserve(const berth::Binding& /*binding*/) {}
#ifdef BAD
  // Implements no Reserve.
#else
  berth::Status Reserve(berth::Cycle& /*cycle*/, const berth::Target& /*target*/) {
    return berth::Status::Success();
  }
#endif
};
BERTH_PLUGIN(Sample)

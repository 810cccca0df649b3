// expected: Permit is private: make it public
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
#ifdef BAD

 protected:
  berth::Status Permit(berth::Cycle& /*cycle*/, const berth::Target& /*target*/,
                       std::chrono::nanoseconds& /*timeout*/) {
    return {};
  }
#else
  berth::Status Permit(berth::Cycle& /*cycle*/, const berth::Target& /*target*/,
                       std::chrono::nanoseconds& /*timeout*/) {
    return {};
  }
#endif
};
BERTH_PLUGIN(Sample)

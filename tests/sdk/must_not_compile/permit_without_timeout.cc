// expected: Permit has the wrong signature; expected
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifdef BAD
  berth::Status Permit(berth::Cycle& /*cycle*/, const berth::Target& /*target*/) {
    return berth::Status::Success();
  }
#else
  berth::Status Permit(berth::Cycle& /*cycle*/, const berth::Target& /*target*/,
                       std::chrono::nanoseconds& /*timeout*/) {
    return berth::Status::Success();
  }
#endif
};
BERTH_PLUGIN(Sample)

// expected: Save and Restore belong together
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  void Save(berth::HandOver& /*out*/) const {}
#ifdef BAD
  // Implements no Restore.
#else
  berth::Status Restore(uint32_t /*version*/, std::string_view /*bytes*/) {
    return berth::Status::Success();
  }
#endif
};
BERTH_PLUGIN(Sample)

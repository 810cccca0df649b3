// expected: berth::Status Restore(uint32_t version, std::string_view bytes)
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  void Save(berth::HandOver& /*out*/) const {}
#ifdef BAD
  berth::Status Restore(std::string_view /*bytes*/) { return berth::Status::Success(); }
#else
  berth::Status Restore(uint32_t /*version*/, std::string_view /*bytes*/) {
    return berth::Status::Success();
  }
#endif
};
BERTH_PLUGIN(Sample)

// expected: Bind has the wrong signature; expected one of
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifdef BAD
  berth::Status Bind(const berth::Binding& /*binding*/, berth::Done /*done*/) {
    return berth::Status::Skip();
  }
#else
  berth::Status Bind(const berth::Binding& /*binding*/, berth::Done& /*done*/) {
    return berth::Status::Skip();
  }
#endif
};
BERTH_PLUGIN(Sample)

// expected: StateMustBeTheStateOfAPlugin(berth::internal::StateTag<Sample::Data>)
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  struct Data {
    int64_t wanted = 0;
  };
#ifndef BAD
  using State = Data;
#endif

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    cycle.Emplace<Data>().wanted = 1;
    return berth::Status::Success();
  }
};
BERTH_PLUGIN(Sample)

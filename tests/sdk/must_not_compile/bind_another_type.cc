// expected: Cycle::Bind<T>: T must be int64_t, uint32_t
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
#ifdef BAD
    return cycle.Bind<int>("req.cpu") ? berth::Status::Success() : berth::Status::Skip();
#else
    return cycle.Bind<int64_t>("req.cpu") ? berth::Status::Success() : berth::Status::Skip();
#endif
  }
};
BERTH_PLUGIN(Sample)

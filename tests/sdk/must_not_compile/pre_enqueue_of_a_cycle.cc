// expected: berth::Status PreEnqueue(const berth::Queued& queued)
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
#ifdef BAD
  berth::Status PreEnqueue(const berth::Cycle& cycle) {
    return cycle.id() > 2 ? berth::Status::Success() : berth::Status::Pending("young");
  }
#else
  berth::Status PreEnqueue(const berth::Queued& queued) {
    return queued.attempts > 2 ? berth::Status::Success() : berth::Status::Pending("young");
  }
#endif
};
BERTH_PLUGIN(Sample)

// expected: implement PreEnqueue for a pod or for a queued entity, not both
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Sampled {
 public:
  berth::Status PreEnqueue(const berth::Queued& queued) {
    return queued.attempts > 2 ? berth::Status::Success() : berth::Status::Pending("young");
  }
#ifdef BAD
  berth::Status PreEnqueue(const berth::Pod& /*pod*/) { return berth::Status::Success(); }
#else
  // Implements only the form with the queued entity.
#endif
};
BERTH_PLUGIN(Sample)

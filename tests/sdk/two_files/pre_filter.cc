#include "tests/sdk/two_files/two_files.h"

namespace acme {

berth::Status TwoFiles::PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                                  berth::PreFilterOut& /*out*/) {
  cycle.Emplace<State>().wanted = cycle.pod().request().milli_cpu;
  return berth::Status::Success();
}

}  // namespace acme

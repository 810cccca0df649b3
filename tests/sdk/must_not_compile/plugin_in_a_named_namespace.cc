// expected: write BERTH_PLUGIN at the end of the file, outside any namespace
#include "tests/sdk/must_not_compile/sample.h"

namespace acme {
class Sample : public Filtering {};
#ifdef BAD
BERTH_PLUGIN(Sample)
#endif
}  // namespace acme
#ifndef BAD
BERTH_PLUGIN(acme::Sample)
#endif

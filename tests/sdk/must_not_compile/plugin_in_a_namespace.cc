// expected: write BERTH_PLUGIN at the end of the file, outside any namespace
#include "tests/sdk/must_not_compile/sample.h"

namespace {
class Sample : public Filtering {};
#ifdef BAD
BERTH_PLUGIN(Sample)
}  // namespace
#else
}  // namespace
BERTH_PLUGIN(Sample)
#endif

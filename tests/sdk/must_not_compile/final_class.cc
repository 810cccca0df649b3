// expected: a plugin class must not be final
#include "tests/sdk/must_not_compile/sample.h"

#ifdef BAD
class Sample final : public Filtering {};
#else
class Sample : public Filtering {};
#endif
BERTH_PLUGIN(Sample)

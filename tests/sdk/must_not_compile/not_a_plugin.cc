// expected: a plugin class must derive publicly from berth::Plugin
#include "tests/sdk/must_not_compile/sample.h"

#ifdef BAD
class Sample {};
#else
class Sample : public Filtering {};
#endif
BERTH_PLUGIN(Sample)

// The source of the lint plugin_include.py, which compiles it twice with the command that builds
// plugins. Without BERTH_LINT_INCLUDE_HOST it must compile. With it, it must not compile, because
// the only include path of a plugin is that of the SDK.
#include <berth/abi.h>
#ifdef BERTH_LINT_INCLUDE_HOST
#include "host/base/status.h"
#endif

static_assert(BERTH_ABI_MAJOR == 1);

// The lint plugin_include.py compiles this file twice with the command that builds plugins. The
// file must compile without BERTH_LINT_INCLUDE_HOST. It must not compile with that macro, because
// the only include path of a plugin is that of the SDK.
#include <berth/abi.h>
#ifdef BERTH_LINT_INCLUDE_HOST
#include "host/base/status.h"
#endif

static_assert(BERTH_ABI_MAJOR == 1);

// A plugin that reaches into the host must not compile: its one include path is the SDK's.
// plugin_include.py compiles this file twice, with the command that builds plugins: as it stands it
// must compile, with the host's header it must not.
#include <berth/abi.h>
#ifdef BERTH_LINT_INCLUDE_HOST
#include "host/base/status.h"
#endif

static_assert(BERTH_ABI_MAJOR == 1);

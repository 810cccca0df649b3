/* A library that is no plugin, for tests that load it before or after the handlers of the host. */
#include "tests/harness/foreign_runtime.h"

__attribute__((visibility("default"))) void ForeignCall(const char* what);
void ForeignCall(const char* what) { ForeignDo(what); }

__attribute__((constructor)) static void Load(void) {
  ForeignTakeSignals();
  if (getenv("BERTH_TEST_TAKE_ABORT") != NULL) ForeignTakeAbort();
}

/* The runtime of another language, for variants of broken.c, which includes this file once. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_FOREIGN_H_
#define BERTH_TESTS_PLUGIN_CHECK_FOREIGN_H_

#include "tests/harness/foreign_runtime.h"

#ifdef BREAKS_NOTHING_WITH_A_RUNTIME
#define FOREIGN_ACT "recover"
#elif defined BREAKS_SURVIVAL_OF_A_FAULT
#define FOREIGN_ACT "fault"
#elif defined BREAKS_SURVIVAL_OF_AN_EXCEPTION
#define FOREIGN_ACT "throw"
#elif defined BREAKS_SURVIVAL_WITHOUT_EXIT
#define FOREIGN_ACT "exit"
#endif

#ifdef FOREIGN_ACT
__attribute__((constructor)) static void TakeSignals(void) {
  ForeignTakeSignals();
  ForeignTakeAbort();
}
static void ActInFilter(void) { ForeignDo(FOREIGN_ACT); }
#else
static void ActInFilter(void) {}
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_FOREIGN_H_ */

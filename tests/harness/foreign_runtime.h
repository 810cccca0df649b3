/* Imitates what the runtimes of other languages do with the signals of their process. For libraries
 * in C that a host loads; one file of a library includes it.
 *
 * A Go runtime does this when its library is loaded (runtime/signal_unix.go): it installs handlers
 * for SIGSEGV, SIGBUS, SIGFPE and SIGPIPE on the signal stack and keeps those that were there. Its
 * handler turns a fault in Go code into a panic, which the Go code may recover from, and calls the
 * kept handler for other faults. If none was there, it restores the default action. An Ada runtime
 * also installs a handler for SIGABRT, which throws an exception. */
#ifndef BERTH_TESTS_HARNESS_FOREIGN_RUNTIME_H_
#define BERTH_TESTS_HARNESS_FOREIGN_RUNTIME_H_

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

static struct sigaction foreign_kept[NSIG]; /* The handlers that were there before. */
/* Where this thread goes on after a fault in the language's own code; NULL in other code. */
static _Thread_local sigjmp_buf* volatile foreign_recovery; /* Read by a handler. */

static void ForeignHandle(int signal, siginfo_t* info, void* context) {
  const struct sigaction* earlier = &foreign_kept[signal];
  if (foreign_recovery != NULL && info->si_code > 0) siglongjmp(*foreign_recovery, 1);
  if ((earlier->sa_flags & SA_SIGINFO) != 0) {
    earlier->sa_sigaction(signal, info, context);
  } else if (earlier->sa_handler == SIG_DFL) {
    struct sigaction action = *earlier;
    action.sa_flags = SA_SIGINFO; /* Go sets this flag for every action. */
    sigaction(signal, &action, NULL);
  } else if (earlier->sa_handler != SIG_IGN) {
    earlier->sa_handler(signal);
  }
}

static void ForeignThrow(void) {
  static _Thread_local struct _Unwind_Exception exception;
  memset(&exception, 0, sizeof exception);
  exception.exception_class = 0x4245525448544553; /* Not that of a C++ exception. */
  _Unwind_RaiseException(&exception);
  _exit(98); /* Nothing catches it. */
}

static void ForeignThrowForSignal(int signal) {
  (void)signal;
  ForeignThrow();
}

/* Called: when the library is loaded. */
static void ForeignTakeSignals(void) {
  static const int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGPIPE};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = ForeignHandle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < sizeof kSignals / sizeof kSignals[0]; ++i) {
    sigaction(kSignals[i], &action, &foreign_kept[kSignals[i]]);
  }
}

static void ForeignTakeAbort(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = ForeignThrowForSignal;
  action.sa_flags = SA_NODEFER | SA_ONSTACK;
  sigaction(SIGABRT, &action, NULL);
}

static void ForeignFault(void) {
  static volatile uintptr_t nowhere = 8;
  *(volatile int*)nowhere = 1;
}

/* Returns 1 after a fault that the runtime has recovered from. */
static int ForeignRecover(void) {
  sigjmp_buf recovery;
  if (sigsetjmp(recovery, 1) == 0) {
    foreign_recovery = &recovery;
    ForeignFault();
    return 0;
  }
  foreign_recovery = NULL;
  return 1;
}

/* Does what a function of a plugin may do: "recover" from a fault, "fault" outside the language's
 * own code, "throw" an exception of the language, "abort", or "exit" without exit(), as os.Exit()
 * of Go does. Anything else does nothing. */
static void ForeignDo(const char* what) {
  if (what == NULL) return;
  if (strcmp(what, "recover") == 0 && !ForeignRecover()) abort();
  if (strcmp(what, "fault") == 0) ForeignFault();
  if (strcmp(what, "throw") == 0) ForeignThrow();
  if (strcmp(what, "abort") == 0) abort();
  if (strcmp(what, "exit") == 0) _exit(4);
}

#endif /* BERTH_TESTS_HARNESS_FOREIGN_RUNTIME_H_ */

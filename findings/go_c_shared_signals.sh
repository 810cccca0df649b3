#!/usr/bin/env bash
# Go 1.26.8, -buildmode=c-shared: what loading a library in Go does to the signals of a process.
#
# Expected: the library leaves a signal alone for which the process has set an action: one that is
# ignored stays ignored, and a handler keeps its flags. dlclose() unloads the library.
# Seen:
# 1. An ignored SIGPIPE gets Go's handler. Writing to a closed pipe still does not end the process,
#    but exec() resets handlers to the default: programs that the process starts from then on are
#    ended by SIGPIPE, although it ignores the signal.
# 2. A handler of the process that Go does not replace gets SA_ONSTACK: if the thread has an
#    alternative stack, the handler runs on it from then on.
# 3. The handlers for SIGSEGV, SIGBUS, SIGFPE and SIGURG are replaced, but not that for SIGILL.
# 4. dlclose() returns 0, and the library stays, with its threads.
#
# Needs: go (any version from 1.21 on downloads 1.26.8), a C compiler, Linux on x86-64. Exits with 1
# if the behaviour has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
readonly version=1.26.8
export GOTOOLCHAIN=go$version GOPATH=$work/gopath GOFLAGS=-mod=mod
mkdir library && cd library
go mod init example.invalid/library 2> /dev/null
cat > library.go <<'CODE'
package main

import "C"

//export Answer
func Answer() C.int { return 42 }

func main() {}
CODE
go build -buildmode=c-shared -o ../library.so .
[ "$(go env GOVERSION)" = go1.26.8 ] || { echo "expected go1.26.8" >&2; exit 1; }
cd ..

cat > load.c <<'CODE'
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int kSignals[] = {SIGHUP,  SIGINT,  SIGILL,  SIGABRT, SIGBUS,  SIGFPE, SIGSEGV,
                               SIGUSR1, SIGPIPE, SIGTERM, SIGPROF, SIGCHLD, SIGURG};

static void Own(int number) { (void)number; }

static void Print(const char* when) {
  printf("%s:\n", when);
  for (size_t i = 0; i < sizeof kSignals / sizeof *kSignals; ++i) {
    struct sigaction now;
    sigaction(kSignals[i], NULL, &now);
    if (now.sa_handler == SIG_DFL) continue;
    printf("  %s %s%s\n", sigabbrev_np(kSignals[i]),
           now.sa_handler == SIG_IGN ? "ignored" : now.sa_handler == Own ? "own" : "Go's",
           now.sa_flags & SA_ONSTACK ? " with SA_ONSTACK" : "");
  }
}

/* Prints whether a program that this process starts ignores SIGPIPE. */
static void PrintOfChild(void) {
  fflush(stdout);
  const char* command =
      "mask=$(grep SigIgn /proc/self/status | cut -f 2);"
      "[ $((0x$mask & 0x1000)) -ne 0 ] && echo '  a child ignores SIGPIPE' ||"
      " echo '  SIGPIPE ends a child'";
  if (system(command) != 0) exit(2);
}

int main(void) {
  void* library = NULL;
  int pipe_ends[2];
  signal(SIGPIPE, SIG_IGN);
  signal(SIGUSR1, Own);
  signal(SIGSEGV, Own);
  Print("before dlopen");
  PrintOfChild();
  library = dlopen("./library.so", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL || ((int (*)(void))dlsym(library, "Answer"))() != 42) return 2;
  Print("after dlopen");
  PrintOfChild();
  if (pipe(pipe_ends) != 0 || close(pipe_ends[0]) != 0) return 2;
  if (write(pipe_ends[1], "x", 1) != -1 || errno != EPIPE) return 2;
  printf("write to a closed pipe: EPIPE\n");
  printf("dlclose: %d, ", dlclose(library));
  library = dlopen("./library.so", RTLD_NOW | RTLD_NOLOAD);
  printf("%s\n", library == NULL ? "unloaded" : "still loaded");
  return 0;
}
CODE
cc -D_GNU_SOURCE load.c -o load
./load | tee found.txt
diff - found.txt <<'EXPECTED' || { echo "the behaviour has changed" >&2; exit 1; }
before dlopen:
  SEGV own
  USR1 own
  PIPE ignored
  a child ignores SIGPIPE
after dlopen:
  BUS Go's with SA_ONSTACK
  FPE Go's with SA_ONSTACK
  SEGV Go's with SA_ONSTACK
  USR1 own with SA_ONSTACK
  PIPE Go's with SA_ONSTACK
  URG Go's with SA_ONSTACK
  SIGPIPE ends a child
write to a closed pipe: EPIPE
dlclose: 0, still loaded
EXPECTED
echo "as described"

#!/usr/bin/env bash
# GDC 12.2.0: the D runtime in a library takes SIGUSR1 and SIGUSR2 from the process.
#
# Expected: rt_init() of a library in D leaves the handlers of the program alone that loads it, or
# takes signals without a handler, and rt_term() undoes what rt_init() did.
# Seen: rt_init() replaces the handlers for SIGUSR1 and SIGUSR2, with which the garbage collector
# stops and continues threads; the old handlers are never called again, and rt_term() leaves the
# new ones. SIGUSR1 from outside, such as a request to reopen a log file, stops the thread that
# receives it until SIGUSR2 comes.
#
# Needs: apt-get, gcc-12. Exits with 1 if the behaviour has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for package in gdc-12 libgphobos-12-dev libgphobos3; do
  apt-get download -qq "$package=12.2.0-14+deb12u1"
done
for package in *.deb; do dpkg-deb -x "$package" root; done
gdc=$work/root/usr/lib/gcc/x86_64-linux-gnu/12

cat > library.d <<'CODE'
module library;

import core.memory : GC;
import core.runtime : rt_init, rt_term;

extern (C) int start() { return rt_init(); }
extern (C) int stop() { return rt_term(); }
extern (C) void collect() { GC.collect(); }
CODE
root/usr/bin/gdc-12 -B"$gdc" -I"$gdc/include/d" -fPIC -c library.d
gcc-12 -shared library.o -L"$gdc" -lgphobos -lgdruntime -o library.so

cat > load.c <<'CODE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void Own(int number) { (void)number; }

static void Print(const char* when) {
  printf("%s:", when);
  for (int number = 1; number <= SIGSYS; ++number) {
    struct sigaction now;
    sigaction(number, NULL, &now);
    if (now.sa_handler == SIG_DFL) continue;
    printf(" %s %s", sigabbrev_np(number), now.sa_handler == Own ? "own" : "D's");
  }
  printf("\n");
  fflush(stdout);
}

int main(void) {
  void* library = NULL;
  int status = 0;
  pid_t child = 0;
  signal(SIGUSR1, Own);
  signal(SIGUSR2, Own);
  signal(SIGSEGV, Own);
  library = dlopen("./library.so", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 2;
  Print("after dlopen()");
  if (((int (*)(void))dlsym(library, "start"))() != 1) return 2;
  Print("after rt_init()");
  child = fork();
  if (child == 0) {
    raise(SIGUSR1);
    _exit(0);
  }
  sleep(1);
  printf("1 s after SIGUSR1: %s\n", waitpid(child, &status, WNOHANG) == 0 ? "stopped" : "went on");
  kill(child, SIGUSR2);
  if (waitpid(child, &status, 0) != child || status != 0) return 2;
  printf("after SIGUSR2: went on\n");
  ((void (*)(void))dlsym(library, "collect"))();
  if (((int (*)(void))dlsym(library, "stop"))() != 1) return 2;
  Print("after rt_term()");
  return 0;
}
CODE
gcc-12 load.c -o load
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu
./load | tee found.txt
diff - found.txt <<'EXPECTED' || { echo "the behaviour has changed" >&2; exit 1; }
after dlopen(): USR1 own SEGV own USR2 own
after rt_init(): USR1 D's SEGV own USR2 D's
1 s after SIGUSR1: stopped
after SIGUSR2: went on
after rt_term(): USR1 D's SEGV own USR2 D's
EXPECTED
echo "as described"

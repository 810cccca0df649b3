#!/usr/bin/env bash
# OpenBLAS 0.3.21 (threads of its own): fork() ends the pool of the parent.
#
# Expected: the pool of threads is that of the process: it exists from the first product on, and
# fork() changes nothing in the parent.
# Seen: dlopen() starts the pool. fork() ends it in the parent too: the threads are gone when it
# returns, in both processes, and the next product starts new ones in each. posix_spawn() leaves the
# pool alone.
#
# Needs: apt-get, a C compiler, two processors. Exits with 1 if the behaviour has changed.
set -euo pipefail

[ "$(nproc)" -gt 1 ] || { echo "OpenBLAS starts no pool on one processor" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq libopenblas0-pthread=0.3.21+ds-4
dpkg-deb -x libopenblas0-pthread_*.deb root
cat > pool.c <<'CODE'
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSize = 300 };
static double a[kSize * kSize], b[kSize * kSize], product[kSize * kSize];
/* cblas_dgemm: row major, not transposed. */
static void (*multiply)(int, int, int, int, int, int, double, const double*, int, const double*,
                        int, double, double*, int);

static void Multiply(void) {
  multiply(101, 111, 111, kSize, kSize, kSize, 1, a, kSize, b, kSize, 0, product, kSize);
}

static void Print(const char* when) {
  DIR* tasks = opendir("/proc/self/task");
  struct dirent* entry;
  int threads = 0;
  while ((entry = readdir(tasks)) != NULL) threads += entry->d_name[0] != '.';
  closedir(tasks);
  printf("%s: %s\n", when, threads == 1 ? "one thread" : threads == 2 ? "two threads" : "more");
  fflush(stdout);
}

int main(int argc, char** argv) {
  char* command[] = {"true", NULL};
  void* library = NULL;
  pid_t child = 0;
  if (argc != 2) return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 2;
  *(void**)&multiply = dlsym(library, "cblas_dgemm");
  Print("after dlopen()");
  Multiply();
  if (posix_spawnp(&child, "true", NULL, NULL, command, NULL) != 0) return 2;
  waitpid(child, NULL, 0);
  Print("after posix_spawn()");
  child = fork();
  if (child == 0) {
    Print("child, after fork()");
    Multiply();
    Print("child, after a product");
    _exit(0);
  }
  waitpid(child, NULL, 0);
  Print("parent, after fork()");
  Multiply();
  Print("parent, after a product");
  return 0;
}
CODE
cc pool.c -o pool
OPENBLAS_NUM_THREADS=2 ./pool "$(find root -name libopenblas.so.0)" | tee found.txt
diff - found.txt <<'EXPECTED' || { echo "the behaviour has changed" >&2; exit 1; }
after dlopen(): two threads
after posix_spawn(): two threads
child, after fork(): one thread
child, after a product: two threads
parent, after fork(): one thread
parent, after a product: two threads
EXPECTED
echo "as described"

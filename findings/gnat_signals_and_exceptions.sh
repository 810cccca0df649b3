#!/usr/bin/env bash
# GNAT 12.2.0: what the start of the Ada runtime in a library does to a program in another language.
#
# Expected: adainit() of a library elaborates its packages. The actions that the program has set for
# SIGSEGV and SIGABRT stay, abort() ends the process with SIGABRT, and an Ada exception does not get
# past a function with convention C.
# Seen:
# 1. adainit() replaces the handlers for SIGILL, SIGABRT, SIGBUS, SIGFPE and SIGSEGV, also those of
#    the program, without calling them later, and adafinal() does not bring them back. A library
#    whose adainit() is not called changes nothing.
# 2. After it, abort() anywhere in the process raises the Ada exception PROGRAM_ERROR. If nothing
#    handles it, the process ends with exit status 1: there is no signal, and no core dump.
# 3. An Ada exception leaves the exported function, unwinds the frames in C, and is caught by
#    `catch (...)` in C++.
#
# Needs: apt-get, gcc-12, g++-12. Exits with 1 if the behaviour has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq gnat-12=12.2.0-14+deb12u1 libgnat-12=12.2.0-14+deb12u1
for package in *.deb; do dpkg-deb -x "$package" root; done
gnat=$work/root/usr/lib/gcc/x86_64-linux-gnu/12

cat > division.ads <<'CODE'
package Division is
   function Divide (Number, By : Integer) return Integer;
   pragma Export (C, Divide, "divide");
end Division;
CODE
cat > division.adb <<'CODE'
package body Division is
   function Divide (Number, By : Integer) return Integer is
   begin
      return Number / By;
   end Divide;
end Division;
CODE
gcc-12 -B"$gnat" -I"$gnat/adainclude" -fPIC -c division.adb
root/usr/bin/gnatbind-12 -n -aI"$gnat/adainclude" -aO"$gnat/adalib" division.ali -o binder.adb
gcc-12 -B"$gnat" -I"$gnat/adainclude" -fPIC -c binder.adb

cat > frame.c <<'CODE'
int divide(int number, int by);
int through_c(int by) { return divide(1, by) + 1; }
CODE
cat > program.cc <<'CODE'
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" void adainit();
extern "C" void adafinal();
extern "C" int divide(int number, int by);
extern "C" int through_c(int by);

void Own(int) { _exit(0); }

void Print(const char* when) {
  std::printf("%s:", when);
  for (const int number : {SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGTERM}) {
    struct sigaction now;
    sigaction(number, nullptr, &now);
    if (now.sa_handler == SIG_DFL) continue;
    std::printf(" %s %s", sigabbrev_np(number), now.sa_handler == Own ? "own" : "Ada's");
  }
  std::printf("\n");
}

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "abort") {
    adainit();
    std::abort();
  }
  signal(SIGSEGV, Own);
  signal(SIGTERM, Own);
  std::printf("6 / 3 = %d\n", divide(6, 3));
  Print("before adainit()");
  adainit();
  Print("after adainit()");
  try {
    through_c(0);
  } catch (...) {
    std::printf("a division by 0 in Ada: caught in C++\n");
  }
  adafinal();
  Print("after adafinal()");
}
CODE
gcc-12 -c frame.c
g++-12 program.cc frame.o division.o binder.o "$work/root/usr/lib/x86_64-linux-gnu/libgnat-12.so" \
  -o program
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu
{
  ./program
  ./program abort 2>&1 && status=0 || status=$?
  echo "abort(): exit status $status"
} | grep . | tee found.txt
diff - found.txt <<'EXPECTED' || { echo "the behaviour has changed" >&2; exit 1; }
6 / 3 = 2
before adainit(): SEGV own TERM own
after adainit(): ILL Ada's ABRT Ada's BUS Ada's FPE Ada's SEGV Ada's TERM own
a division by 0 in Ada: caught in C++
after adafinal(): ILL Ada's ABRT Ada's BUS Ada's FPE Ada's SEGV Ada's TERM own
raised PROGRAM_ERROR : unhandled signal
abort(): exit status 1
EXPECTED
echo "as described"

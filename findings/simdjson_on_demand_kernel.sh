#!/usr/bin/env bash
# simdjson 3.0.1: On-Demand does not use the kernel that the library selects for the processor.
#
# 1. Expected: a program that is compiled for any x86-64, on a processor with AVX2, parses with a
#    vector kernel, as get_active_implementation() reports. Seen: that is the DOM parser's.
#    ondemand::parser is the class of one kernel, which is selected when the program is compiled;
#    without -march it is "fallback", which uses no vector instructions.
# 2. Expected: -march=x86-64-v3, which has AVX2, selects the kernel "haswell". Seen: it is "fallback"
#    too, because that level has no PCLMUL. -march=haswell has it.
#
# Needs: apt-get, g++, a processor with AVX2. Exits with 1 if the behaviour has changed.
set -euo pipefail

grep -qw avx2 /proc/cpuinfo || { echo "this processor has no AVX2" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq libsimdjson-dev=3.0.1-1 libsimdjson14=3.0.1-1
for package in *.deb; do dpkg-deb -x "$package" root; done
cat > kernel.cc <<'CODE'
#include <simdjson.h>

#include <iostream>
#include <string>
#include <typeinfo>

int main() {
  using namespace simdjson;
  const bool selects_vectors = get_active_implementation()->name() != "fallback";
  const std::string name = typeid(ondemand::parser).name();
  std::cout << "selected at run time: " << (selects_vectors ? "vectors" : "fallback")
            << ", On-Demand: ";
  for (const char* kernel : {"fallback", "westmere", "haswell", "icelake"}) {
    if (name.find(kernel) != name.npos) std::cout << kernel;
  }
  std::cout << '\n';
}
CODE
for flags in "" -march=x86-64-v3 -march=haswell; do
  g++ -std=c++20 $flags -isystem root/usr/include kernel.cc -o kernel \
    -L"$(dirname root/usr/lib/*/libsimdjson.so)" -lsimdjson
  printf '%s: ' "${flags:-no flags}"
  LD_LIBRARY_PATH=$(dirname root/usr/lib/*/libsimdjson.so) ./kernel
done | tee found.txt
diff - found.txt <<'EXPECTED' || { echo "the behaviour has changed" >&2; exit 1; }
no flags: selected at run time: vectors, On-Demand: fallback
-march=x86-64-v3: selected at run time: vectors, On-Demand: fallback
-march=haswell: selected at run time: vectors, On-Demand: haswell
EXPECTED
echo "as described"

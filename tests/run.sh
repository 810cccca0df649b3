#!/usr/bin/env bash
# Builds Berth and runs all its tests; what continuous integration runs.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<TEXT
usage: tests/run.sh [--only release|asan|tsan|fuzz]...

Installs the packages of .ci/packages.txt that are missing, then, in this order:
  asan     unit, plugin, loader, integration and simulation tests under AddressSanitizer and
           UndefinedBehaviorSanitizer
  tsan     tests labelled \`threads\` under ThreadSanitizer
  fuzz     tests/fuzz/run.sh, each target for a short time
  release  everything: unit, plugin, lint, integration, simulation, conformance
Stops at the first that fails. --only runs what it names, and may be given several times.
TEXT
}

stages=()
while [ $# -gt 0 ]; do
  case "$1" in
    --help|-h) usage; exit 0 ;;
    --only)
      case "${2:-}" in
        release|asan|tsan|fuzz) stages+=("$2"); shift 2 ;;
        *) usage >&2; exit 2 ;;
      esac ;;
    *) usage >&2; exit 2 ;;
  esac
done
[ ${#stages[@]} -gt 0 ] || stages=(asan tsan fuzz release)

jobs=$(nproc)
export CTEST_PARALLEL_LEVEL=$jobs
export NINJA_STATUS='[%f/%t %es] '
# A report ends the process with a failure; a leak is a report.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

say() { printf '\n== %s (after %ds)\n' "$*" "$SECONDS"; }

# run_preset <preset> [<target>...]: configure, build the targets (all by default), test.
run_preset() {
  local preset=$1
  shift
  say "$preset: build"
  cmake --preset "$preset" --log-level=WARNING
  cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"}
  say "$preset: test"
  ctest --preset "$preset"
}

.ci/install-packages test
for stage in "${stages[@]}"; do
  case "$stage" in
    asan)
      run_preset asan tests_unit tests_plugin tests_loader tests_integration tests_simulation ;;
    tsan) run_preset tsan tests_threads ;;
    fuzz)
      if [ -x tests/fuzz/run.sh ]; then
        say "fuzz"
        tests/fuzz/run.sh
      fi ;;
    release) run_preset release ;;
  esac
done

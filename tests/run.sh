#!/usr/bin/env bash
# Builds Berth and runs all its tests. Continuous integration runs this script.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<TEXT
usage: tests/run.sh [--only release|asan|tsan|fuzz]...

Installs the missing packages of .ci/packages.txt and then runs these stages in this order:
  asan     unit, plugin, loader, integration and simulation tests under AddressSanitizer and
           UndefinedBehaviorSanitizer
  tsan     tests with the label \`threads\` under ThreadSanitizer
  fuzz     tests/fuzz/run.sh, each target for a short time
  release  all tests: unit, plugin, lint, integration, simulation, conformance
Stops at the first stage that fails. Use --only, also several times, to run only some stages.
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
# The first report of a sanitizer, including a memory leak, ends the process with a failure.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

announce() { printf '\n== %s (after %ds)\n' "$*" "$SECONDS"; }

# run_preset <preset> [<target>...]: configures, builds the targets (all by default) and runs the
# tests of the preset.
run_preset() {
  local preset=$1
  shift
  announce "$preset: build"
  cmake --preset "$preset" --log-level=WARNING
  cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"}
  announce "$preset: test"
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
        announce "fuzz"
        tests/fuzz/run.sh
      fi ;;
    release) run_preset release ;;
  esac
done

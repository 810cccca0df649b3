#!/usr/bin/env bash
# Builds Berth and runs all its tests. Continuous integration runs this script.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<TEXT
usage: tests/run.sh [--only release|asan|tsan|fuzz|e2e]...

Installs the missing packages of .ci/packages.txt and then runs these stages in this order:
  asan     unit, plugin, loader, integration and simulation tests under AddressSanitizer and
           UndefinedBehaviorSanitizer
  tsan     tests with the label \`threads\` under ThreadSanitizer
  fuzz     tests/fuzz/run.sh, each target for a short time
  release  all tests: unit, plugin, lint, integration, commands, simulation, conformance
  e2e      tests/e2e/run.sh: the program of the release build on a real API server, which is built
           from its Go modules; left out, with a message at the end, if there is no Go toolchain.
           Runs at the same time as the tests of the stage release, because it waits most of the time
Stops at the first stage that fails. Use --only, also several times, to run only some stages.
TEXT
}

stages=()
while [ $# -gt 0 ]; do
  case "$1" in
    --help|-h) usage; exit 0 ;;
    --only)
      case "${2:-}" in
        release|asan|tsan|fuzz|e2e) stages+=("$2"); shift 2 ;;
        *) usage >&2; exit 2 ;;
      esac ;;
    *) usage >&2; exit 2 ;;
  esac
done
only=${stages[*]}
[ ${#stages[@]} -gt 0 ] || stages=(asan tsan fuzz release e2e)

jobs=$(nproc)
export CTEST_PARALLEL_LEVEL=$jobs
export NINJA_STATUS='[%f/%t %es] '
# The first report of a sanitizer, including a memory leak, ends the process with a failure.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

announce() { printf '\n== %s (after %ds)\n' "$*" "$SECONDS"; }

# build_preset <preset> [<target>...]: configures, and builds the targets (all by default).
build_preset() {
  local preset=$1
  shift
  announce "$preset: build"
  cmake --preset "$preset" --log-level=WARNING
  cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"}
}

# test_preset <preset>: runs the tests of the preset, behind those that run in the background.
test_preset() {
  announce "$1: test"
  nice ctest --preset "$1"
}

e2e_pid=
# start_e2e: if the end-to-end tests are asked for, builds their programs and starts the tests in the
# background. Their output is in build/e2e.log. If the build fails, run_e2e tries it again.
start_e2e() {
  [[ " ${stages[*]} " == *" e2e "* ]] || return 0
  announce "e2e: build"
  tests/e2e/run.sh --build || return 0
  setsid tests/e2e/run.sh > build/e2e.log 2>&1 &
  e2e_pid=$!
  trap 'kill -- "-$e2e_pid" 2> /dev/null || true' EXIT
}

left_out=
# run_e2e: waits for the end-to-end tests. If they were not started, builds the program and runs
# them. Status 77 means that they cannot run here, which is a failure only if they were asked for.
run_e2e() {
  local status=0
  announce "e2e"
  if [ -n "$e2e_pid" ]; then
    wait "$e2e_pid" || status=$?
    trap - EXIT
    cat build/e2e.log
  else
    build_preset release berth berth_plugins
    tests/e2e/run.sh || status=$?
  fi
  if [ "$status" = 77 ] && [ -z "$only" ]; then
    left_out="e2e, the tests against a real API server: see the message of that stage"
  elif [ "$status" != 0 ]; then
    exit "$status"
  fi
}

.ci/install-packages test
for stage in asan tsan fuzz release e2e; do
  [[ " ${stages[*]} " == *" $stage "* ]] || continue
  case "$stage" in
    asan)
      build_preset asan tests_unit tests_plugin tests_loader tests_integration tests_simulation
      test_preset asan ;;
    tsan)
      build_preset tsan tests_threads
      test_preset tsan ;;
    fuzz)
      if [ -x tests/fuzz/run.sh ]; then
        announce "fuzz"
        tests/fuzz/run.sh
      fi ;;
    release)
      build_preset release
      start_e2e
      test_preset release ;;
    e2e) run_e2e ;;
  esac
done
[ -z "$left_out" ] || announce "LEFT OUT: $left_out"

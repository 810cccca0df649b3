#!/usr/bin/env bash
# Builds every *_fuzz.cc of this folder with clang, runs each, one per CPU at the same time, and
# fails on the first finding. By default every run tries the same inputs, so that a change is not
# blamed for a defect that an earlier run missed by chance; BERTH_FUZZ_SECONDS searches for new ones.
#
# The targets link host/base, host/api and the files that sources_of.py derives from their includes.
# The seed inputs of a target are in corpus/<target>/, its optional dictionary is <target>.dict. New
# inputs and findings are written to the build folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<TEXT
usage: tests/fuzz/run.sh [<target>...]     for example: tests/fuzz/run.sh decode quantity

Runs the fuzz targets, all by default. Environment variables:
  BERTH_FUZZ_RUNS      number of inputs per target, the same ones in every run (default 10000)
  BERTH_FUZZ_SECONDS   tries new inputs instead, for this many seconds per target, and keeps those
                       that reach new code in the build folder
  BERTH_FUZZ_BUILD     build folder (default build/fuzz)
TEXT
}

targets=()
for argument in "$@"; do
  case "$argument" in
    -*) usage; [ "$argument" = --help ] || [ "$argument" = -h ] || exit 2; exit 0 ;;
    *) targets+=("$argument") ;;
  esac
done
if [ ${#targets[@]} -eq 0 ]; then
  for file in tests/fuzz/*_fuzz.cc; do
    targets+=("$(basename "$file" _fuzz.cc)")
  done
fi

seconds=${BERTH_FUZZ_SECONDS:-}
runs=${BERTH_FUZZ_RUNS:-10000}
build=${BERTH_FUZZ_BUILD:-build/fuzz}
compiler=clang++
if command -v ccache > /dev/null; then compiler="ccache clang++"; fi
sanitizers=address,undefined
flags="-std=c++20 -O1 -g1 -fno-omit-frame-pointer -fno-sanitize-recover=all -I. -Isdk/include"
flags+=" -fsanitize=fuzzer-no-link,$sanitizers"
libraries="-lsimdjson -lyaml-cpp -lssl -lcrypto -lpthread"
linker=
if command -v ld.lld > /dev/null; then linker=-fuse-ld=lld; fi
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

object_of() { printf '%s/%s.o' "$build" "${1//\//_}"; }
compile() { $compiler $flags -include-pch "$build/standard.pch" -c "$1" -o "$(object_of "$1")"; }
export build compiler flags
export -f object_of compile

mkdir -p "$build"
# batch_of <name> <file>...: writes a file that includes the files, and adds it to `batches`.
batches=()
batch_of() {
  local batch=$build/$1.cc file
  shift
  for file in "$@"; do
    case "$file" in *_test.cc) ;; *) printf '#include "%s"\n' "$file" ;; esac
  done > "$batch.new"
  # An unchanged batch keeps its time, for the compiler cache.
  if cmp -s "$batch.new" "$batch"; then rm "$batch.new"; else mv "$batch.new" "$batch"; fi
  batches+=("$batch")
}
for header in algorithm array atomic chrono functional map memory mutex optional span string \
  string_view unordered_map utility variant vector; do
  echo "#include <$header>"
done > "$build/standard.h"
fuzzers=()
for target in "${targets[@]}"; do
  if [ ! -f "tests/fuzz/${target}_fuzz.cc" ]; then
    echo "tests/fuzz/run.sh: unknown target '$target': there is no tests/fuzz/${target}_fuzz.cc" >&2
    exit 2
  fi
  fuzzers+=("tests/fuzz/${target}_fuzz.cc")
done
# One batch for each room: its files share most of their headers, which take most of the time.
batch_of base host/base/*.cc
batch_of api_1 host/api/[a-l]*.cc
batch_of api_2 host/api/[m-z]*.cc
sources_text=$(tests/fuzz/sources_of.py "${fuzzers[@]}")
mapfile -t sources <<< "$sources_text"
for room in host/*/; do
  mapfile -t files < <(printf '%s\n' "${sources[@]}" | grep "^$room" || true)
  [ ${#files[@]} -eq 0 ] || batch_of "$(basename "$room")" "${files[@]}"
done

echo "== compile ${#targets[@]} targets and ${#batches[@]} batches"
clang++ $flags -x c++-header "$build/standard.h" -o "$build/standard.pch"
printf '%s\n' "${batches[@]}" "${fuzzers[@]}" | xargs -n 1 -P "$(nproc)" bash -c 'compile "$0"'

objects_of() { for file in "$@"; do object_of "$file"; echo; done; }
for target in "${targets[@]}"; do
  # shellcheck disable=SC2046
  clang++ $linker -fsanitize=fuzzer,$sanitizers -o "$build/${target}_fuzz" \
    $(objects_of "tests/fuzz/${target}_fuzz.cc" "${batches[@]}") $libraries
done

# Runs one target. Status 255 makes xargs start no further target.
fuzz() {
  local target=$1 found=$build/found/$1
  mkdir -p "$build/corpus/$target" "$found"
  local arguments=(-timeout=10 -rss_limit_mb=2048 -max_len=16384
                   -artifact_prefix="$found/" -print_final_stats=1 -verbosity=0)
  if [ -f "tests/fuzz/$target.dict" ]; then arguments+=(-dict="tests/fuzz/$target.dict"); fi
  # New inputs are written to the first folder.
  local corpora=("$build/corpus/$target")
  if [ -n "$seconds" ]; then
    arguments+=(-max_total_time="$seconds")
  else
    arguments+=(-runs="$runs" -seed=1)
    corpora=("$build/same/$target")
    rm -rf "$build/same/$target"
    mkdir -p "$build/same/$target"
  fi
  if [ -d "tests/fuzz/corpus/$target" ]; then corpora+=("tests/fuzz/corpus/$target"); fi
  if ! "$build/${target}_fuzz" "${arguments[@]}" "${corpora[@]}" > "$build/$target.log" 2>&1; then
    tail -n 60 "$build/$target.log" >&2
    echo "tests/fuzz/run.sh: '$target' failed; input in $found, log in $build/$target.log" >&2
    return 255
  fi
  echo "$target: $(grep -E 'number_of_executed_units' "$build/$target.log" | tr -dc 0-9) inputs"
}
if [ -n "$seconds" ]; then limit="${seconds}s"; else limit="$runs inputs"; fi
export seconds runs
export -f fuzz
echo "== run ${#targets[@]} targets, ${limit} each"
printf '%s\n' "${targets[@]}" | xargs -n 1 -P "$(nproc)" bash -c 'fuzz "$0"'

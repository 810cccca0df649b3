#!/usr/bin/env bash
# Builds the programs of the end-to-end tests and runs the tests against a real API server.
# usage: tests/e2e/run.sh [OPTION...] [NAME...]       the options are those of run.py
#        tests/e2e/run.sh --build                     builds the programs of the tests only
#        tests/e2e/run.sh --exec COMMAND [ARGUMENT...] builds the programs and runs another command
# Environment: BERTH, the program (default: build/release/berth); BERTH_E2E_CACHE, the folder of the
# built programs (default: ${XDG_CACHE_HOME:-~/.cache}/berth/e2e).
# Exit status: 0 if all tests passed; 77 if there is no suitable Go toolchain, or if the modules
# cannot be fetched: no test ran then.
set -euo pipefail
cd "$(dirname "$0")/../.."

left_out() { echo "e2e: LEFT OUT: $*" >&2; exit 77; }

need=$(sed -n 's/^go //p' tests/e2e/go.mod)
[ -x "$(command -v go)" ] || ! [ -x /usr/local/go/bin/go ] || PATH=$PATH:/usr/local/go/bin
command -v go > /dev/null || left_out "there is no Go toolchain; install Go $need or newer"
# Another toolchain or a change of go.mod is never fetched or written.
export GOTOOLCHAIN=local GOFLAGS=-mod=readonly
have=$(go env GOVERSION)
[ "$(printf '%s\n%s\n' "$need" "${have#go}" | sort -V | head -n 1)" = "$need" ] ||
  left_out "$have is too old; the API server needs Go $need or newer"

cache=${BERTH_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/berth/e2e}

# The tests need the API server and kube-scheduler. The benchmark that uses --exec needs all programs.
commands=(./cmd/apiserver ./cmd/kube-scheduler)
complete=complete
if [ "${1:-}" = --exec ]; then
  commands=(./cmd/...)
  complete=complete_with_benchmarks
fi

# hash_of <file>...: a short hash of the contents.
hash_of() { cat "$@" | sha256sum | cut -c1-16; }

# keep_newest <prefix>: deletes all builds but the two newest ones.
keep_newest() { ls -1dt "$cache/$1"-*/ | tail -n +3 | xargs -r rm -rf; }

build_programs() {
  local sources
  mapfile -t sources < <(find tests/e2e -name '*.go' | LC_ALL=C sort)
  programs=$cache/programs-$(hash_of <(go env GOVERSION GOARCH) tests/e2e/{run.sh,go.mod,go.sum} \
    "${sources[@]}")
  [ ! -e "$programs/$complete" ] || return 0
  echo "e2e: building the API server and kube-scheduler; this takes minutes with an empty cache"
  mkdir -p "$programs"
  # Fetches the modules that the programs need, so that an unreachable proxy is distinguished from a
  # program that does not compile.
  (cd tests/e2e && timeout 900 go list -deps "${commands[@]}" > /dev/null) ||
    left_out "the Go modules cannot be fetched"
  # The linker needs 2 GB for each of the two large programs, and less time for one without debug
  # information. The option -trimpath would miss what other builds left in Go's cache.
  # The version is that of the module; the build of Kubernetes itself sets it in the same way.
  local version
  version=$(sed -n 's/^\tk8s.io\/kubernetes v//p' tests/e2e/go.mod)
  (cd tests/e2e && go build -buildvcs=false -p "$(nproc)" -o "$programs/" \
    -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$version" "${commands[@]}")
  touch "$programs/$complete"
  keep_newest programs
}

# Compiles the plugins with the public SDK and the default compiler, as a third party does.
build_plugins() {
  local sources=(examples/plugins/cpp/rack_power.cc examples/plugins/gpu_share/gpu_share.cc
                 examples/plugins/job_gang/job_gang.cc
                 examples/plugins/webhook_score/webhook_score.cc tests/e2e/plugins/*.cc)
  local headers source
  mapfile -t headers < <(find sdk/include -name '*.h' | LC_ALL=C sort)
  plugins=$cache/plugins-$(hash_of <(c++ --version) "${sources[@]}" "${headers[@]}")
  [ ! -e "$plugins/complete" ] || return 0
  mkdir -p "$plugins"
  for source in "${sources[@]}"; do
    c++ -std=c++20 -O1 -fPIC -fvisibility=hidden -Isdk/include -shared -Wl,--exclude-libs,ALL \
      -Wl,-z,defs -Wl,--version-script=sdk/cmake/berth_plugin.version "$source" \
      -o "$plugins/lib$(basename "$source" .cc).so"
  done
  touch "$plugins/complete"
  keep_newest plugins
}

build_programs
build_plugins
export BERTH_E2E_BIN=$programs BERTH_E2E_PLUGINS=$plugins BERTH=${BERTH:-build/release/berth}
if [ "${1:-}" = --build ]; then
  exit 0
fi
if [ "${1:-}" = --exec ]; then
  exec "${@:2}"
fi
exec python3 -B tests/e2e/run.py "$@"

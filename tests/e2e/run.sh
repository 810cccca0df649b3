#!/usr/bin/env bash
# Builds the programs of the end-to-end tests and runs the tests against a real API server.
# usage: tests/e2e/run.sh [--kubernetes VERSION] [OPTION...] [NAME...]
#        tests/e2e/run.sh [--kubernetes VERSION] --build
#                                     builds the programs of the tests only
#        tests/e2e/run.sh [--kubernetes VERSION] --exec COMMAND [ARGUMENT...]
#                                     builds the programs and runs another command
# VERSION is that of a module file: go.mod has the newest one, which is the default, and go-*.mod
# have others. OPTION is one of run.py; --help prints them.
# Environment: BERTH, the program (default: build/release/berth); BERTH_E2E_CACHE, the folder of the
# built programs (default: ${XDG_CACHE_HOME:-~/.cache}/berth/e2e).
# Exit status: 0 if all tests passed; 2 if the arguments are wrong; 77 if there is no suitable Go
# toolchain, or if the modules cannot be fetched: no test ran then.
set -euo pipefail
cd "$(dirname "$0")/../.."

tool=e2e
module_dir=tests/e2e
. tests/go_module.sh

use_module_file go.mod
action=test
arguments=()
while [ $# -gt 0 ]; do
  case "$1" in
    --help|-h) exec python3 -B tests/e2e/run.py --help ;;
    --kubernetes)
      [ $# -gt 1 ] || wrong "--kubernetes needs a version"
      select_kubernetes "$2"
      shift ;;
    --kubernetes=*) select_kubernetes "${1#*=}" ;;
    --build) action=build ;;
    --exec)
      action=exec
      arguments=("${@:2}")
      break ;;
    *) arguments+=("$1") ;;
  esac
  shift
done

require_go

cache=${BERTH_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/berth/e2e}

# The tests need the API server and kube-scheduler. The benchmark that uses --exec needs all programs.
commands=(./cmd/apiserver ./cmd/kube-scheduler)
complete=complete
if [ "$action" = exec ]; then
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
  programs=$cache/programs-$kubernetes-$(hash_of <(go env GOVERSION GOARCH) tests/e2e/run.sh tests/go_module.sh \
    "tests/e2e/$module_file" "tests/e2e/${module_file%.mod}.sum" "${sources[@]}")
  [ ! -e "$programs/$complete" ] || return 0
  echo "e2e: building the API server and kube-scheduler $kubernetes;" \
    "this takes minutes with an empty cache"
  mkdir -p "$programs"
  fetch_modules "${commands[@]}"
  # The linker needs 2 GB for each of the two large programs, and less time for one without debug
  # information. The option -trimpath would miss what other builds left in Go's cache.
  # The version is that of the module; the build of Kubernetes itself sets it in the same way.
  (cd tests/e2e && go build -modfile="$module_file" -buildvcs=false -p "$(nproc)" -o "$programs/" \
    -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$kubernetes" "${commands[@]}")
  touch "$programs/$complete"
  keep_newest "programs-$kubernetes"
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
export BERTH_E2E_KUBERNETES=$kubernetes
case "$action" in
  build) ;;
  exec) exec "${arguments[@]}" ;;
  test) exec python3 -B tests/e2e/run.py "${arguments[@]}" ;;
esac

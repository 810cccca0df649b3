#!/usr/bin/env bash
# Builds the test programs and runs the tests against a real API server.
# usage: tests/e2e/run.sh [--build-only] [NAME...]     for example: tests/e2e/run.sh bind restart
# Environment: BERTH (the program, default build/release/berth), BERTH_E2E_CACHE (default
# ${XDG_CACHE_HOME:-~/.cache}/berth/e2e). Status 77: no Go toolchain, nothing was run.
set -euo pipefail
cd "$(dirname "$0")/../.."

need=$(sed -n 's/^go //p' tests/e2e/go.mod)
skip() { echo "e2e: LEFT OUT: $*" >&2; exit 77; }
command -v go > /dev/null || skip "there is no Go toolchain; install Go $need or newer to run it"
export GOTOOLCHAIN=local GOFLAGS="-mod=readonly -buildvcs=false"
have=$(go env GOVERSION); have=${have#go}
[ "$(printf '%s\n%s\n' "$need" "$have" | sort -V | head -n 1)" = "$need" ] ||
  skip "Go $have is too old; the API server needs $need or newer"

cache=${BERTH_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/berth/e2e}
key=$({ go env GOVERSION GOARCH; cat tests/e2e/go.mod tests/e2e/go.sum; find tests/e2e -name '*.go' | LC_ALL=C sort |
  xargs cat; } | sha256sum | cut -c1-16)
bin=$cache/$key
if [ ! -e "$bin/complete" ]; then
  echo "== e2e: build the API server and kube-scheduler (minutes when Go's build cache is empty)"
  mkdir -p "$bin"
  # -p: the linker of kube-apiserver needs about 2 GB. Never -trimpath: it misses Go's cache of other builds.
  (cd tests/e2e && go mod download && go build -p "$(nproc)" -o "$bin/" ./cmd/...) ||
    { [ "${CI:-}" = true ] || skip "the modules could not be fetched or built"; exit 1; }
  touch "$bin/complete"
  # Keeps the two newest builds.
  ls -1dt "$cache"/*/ | tail -n +3 | xargs -r rm -rf
fi
[ "${1:-}" != --build-only ] || exit 0
exec env BERTH_E2E_BIN="$bin" BERTH="${BERTH:-build/release/berth}" python3 tests/e2e/run.py "$@"

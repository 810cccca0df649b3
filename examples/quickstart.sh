#!/usr/bin/env bash
# Builds Berth and schedules a small cluster: five nodes, eight pods, one of which fits on no node.
set -euo pipefail
cd "$(dirname "$0")/.."

.ci/install-packages build
cmake --preset release -DBERTH_TESTS=OFF
cmake --build --preset release --parallel "$(nproc)"

echo
echo "\$ build/release/berth simulate --cluster examples/clusters/small.yaml"
status=0
build/release/berth simulate --cluster examples/clusters/small.yaml || status=$?

# Exit status 1 is expected: not every pod could be placed.
[ "$status" -eq 1 ] || exit "$status"
echo
echo "One pod stays pending. To see why, run:  build/release/berth explain --cluster" \
     "examples/clusters/small.yaml --pod default/batch-import"

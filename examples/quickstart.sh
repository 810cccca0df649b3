#!/usr/bin/env bash
# Builds Berth and schedules a small cluster with it: five nodes, eight pods, of which one fits nowhere.
set -euo pipefail
cd "$(dirname "$0")/.."

.ci/install-packages build
cmake --preset release -DBERTH_TESTS=OFF
cmake --build --preset release --parallel "$(nproc)"

echo
echo "\$ build/release/berth simulate --cluster examples/clusters/small.yaml"
status=0
build/release/berth simulate --cluster examples/clusters/small.yaml || status=$?

# 1 is the answer here: not every pod could be placed.
[ "$status" -eq 1 ] || exit "$status"
echo
echo "One pod stays pending. Why:  build/release/berth explain --cluster" \
     "examples/clusters/small.yaml --pod default/batch-import"

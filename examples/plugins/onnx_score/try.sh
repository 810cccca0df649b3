#!/usr/bin/env bash
# Fetches ONNX Runtime, trains the model, builds and checks the plugin, and shows that its scores
# decide. Everything that it makes is in the folder build/; it installs nothing.
#
# usage: try.sh [<where Berth is installed>]      by default, the berth in PATH
#
# Needs: an x86-64 processor, python3 with pip, cmake, g++, GoogleTest.
set -euo pipefail

prefix=${1:-$(dirname "$(dirname "$(command -v berth)")")}
berth=$(realpath "$prefix")/bin/berth
cd "$(dirname "$0")"
mkdir -p build

# The wheel for any version of Python holds the same library.
version=1.23.2
wheel=build/onnxruntime-$version-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
[ -e "$wheel" ] ||
  python3 -m pip download --quiet --no-deps --only-binary :all: --python-version 3.12 \
    --platform manylinux_2_28_x86_64 --dest build "onnxruntime==$version"
echo "0f9b4ae77f8e3c9bee50c27bc1beede83f786fe1d52e99ac85aa8d65a01e9b77 $wheel" |
  sha256sum --check --quiet
python3 -m zipfile --extract "$wheel" build/wheel

if [ ! -e build/model.onnx ]; then
  [ -e build/python ] || python3 -m pip install --quiet --root-user-action ignore \
    --only-binary :all: --target build/python numpy==1.26.4 onnx==1.17.0 protobuf==5.29.5
  PYTHONPATH=build/python python3 train.py build/model.onnx
fi

cmake -B build -DCMAKE_PREFIX_PATH="$(realpath "$prefix")" -DMODEL="$PWD/build/model.onnx" \
  -DONNXRUNTIME="$PWD/build/wheel/onnxruntime/capi/libonnxruntime.so.$version"
cmake --build build
ctest --test-dir build --output-on-failure

"$berth" plugin check build/libonnx_score.so --args '{"model": "build/model.onnx"}'

# Prints the node of the pod default/web, with the profile of the arguments.
place() {
  "$berth" simulate --cluster cluster.yaml --output json "$@" | python3 -c '
import json, sys
print(*(pod["node"] for pod in json.load(sys.stdin)["placements"] if pod["name"] == "web"))'
}
echo "without the plugin: web is placed on $(place | tee build/without)"
echo "with the plugin: web is placed on $(place --profile profile.toml | tee build/with)"
"$berth" explain --profile profile.toml --cluster cluster.yaml --pod default/web
[ "$(cat build/without) $(cat build/with)" = "few-cores many-cores" ] ||
  { echo "expected few-cores without the plugin, and many-cores with it" >&2; exit 1; }

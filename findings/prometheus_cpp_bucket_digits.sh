#!/usr/bin/env bash
# prometheus-cpp 1.0.1 and client_golang 1.23.2 write different `le` labels for the same buckets.
#
# Expected: both libraries write a bucket boundary so that its text reads back as the same double.
# Seen: client_golang writes the shortest such text. prometheus-cpp writes 16 significant digits,
# which is not enough for every double. kube-scheduler has 20 buckets in
# plugin_execution_duration_seconds (0.00001, each 1.5 times the one before); 9 get another label:
#   client_golang   le="1.5000000000000002e-05"   le="0.0019461950683593758"
#   prometheus-cpp  le="1.5e-05"                  le="0.001946195068359376"
# A query that joins or sums series of both exporters by `le` finds no partner for these buckets,
# and histogram_quantile over such a sum sees two boundaries where there is one.
#
# Needs: apt-get, g++, go. Exits with 1 if the behaviour has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"

apt-get download -qq prometheus-cpp-dev=1.0.1-1 libprometheus-cpp-core1.0=1.0.1-1
for package in *.deb; do dpkg-deb -x "$package" root; done
cat > buckets.cc <<'CODE'
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <iostream>

int main() {
  prometheus::Histogram::BucketBoundaries buckets;
  double boundary = 0.00001;
  for (int i = 0; i < 20; ++i, boundary *= 1.5) buckets.push_back(boundary);
  prometheus::Registry registry;
  prometheus::BuildHistogram().Name("seconds").Register(registry).Add({}, buckets);
  prometheus::TextSerializer().Serialize(std::cout, registry.Collect());
}
CODE
libraries=$(dirname root/usr/lib/*/libprometheus-cpp-core.so)
g++ -std=c++17 -Iroot/usr/include buckets.cc -L"$libraries" -lprometheus-cpp-core -o buckets
LD_LIBRARY_PATH=$libraries ./buckets | grep -o 'le="[^"]*"' > cpp.txt

mkdir go && cd go
go mod init example.invalid/buckets 2> /dev/null
export GOPATH=$work/gopath GOCACHE=$work/gocache
go get github.com/prometheus/client_golang@v1.23.2 2> /dev/null
cat > main.go <<'CODE'
package main

import (
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

func main() {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "seconds", Buckets: prometheus.ExponentialBuckets(0.00001, 1.5, 20)}))
	families, err := registry.Gather()
	if err != nil {
		panic(err)
	}
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(os.Stdout, family); err != nil {
			panic(err)
		}
	}
}
CODE
GOFLAGS=-mod=mod go run . 2> /dev/null | grep -o 'le="[^"]*"' > ../go.txt
cd ..

paste go.txt cpp.txt | awk '{ print ($1 == $2 ? "same      " : "different ") $0 }'
different=$(paste go.txt cpp.txt | awk '$1 != $2' | wc -l)
if [ "$(wc -l < go.txt)" -ne 21 ] || [ "$(wc -l < cpp.txt)" -ne 21 ]; then
  echo "expected 21 labels of each library" >&2
  exit 1
fi
if ! grep -qxF 'le="1.5000000000000002e-05"' go.txt || ! grep -qxF 'le="1.5e-05"' cpp.txt ||
   [ "$different" -ne 9 ]; then
  echo "the behaviour has changed: $different of 20 boundaries differ, 9 were expected" >&2
  exit 1
fi
echo "as described: 9 of 20 boundaries have different labels"

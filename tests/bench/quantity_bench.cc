// Measures how long it takes to parse one quantity, for different notations.
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>

#include "host/api/quantity.h"

namespace berth::host {
namespace {

void BM_ParseQuantity(benchmark::State& state, const char* literal) {
  std::string text = literal;
  for (auto _ : state) {
    benchmark::DoNotOptimize(text.data());
    const Result<Quantity> quantity = ParseQuantity(text);
    benchmark::DoNotOptimize(quantity->Value());
  }
}

BENCHMARK_CAPTURE(BM_ParseQuantity, Cpu, "4");
BENCHMARK_CAPTURE(BM_ParseQuantity, MilliCpu, "1500m");
BENCHMARK_CAPTURE(BM_ParseQuantity, Memory, "16Gi");
BENCHMARK_CAPTURE(BM_ParseQuantity, MemoryOfANode, "32986196Ki");
BENCHMARK_CAPTURE(BM_ParseQuantity, Bytes, "33777864704");
BENCHMARK_CAPTURE(BM_ParseQuantity, Fraction, "1.5Gi");
BENCHMARK_CAPTURE(BM_ParseQuantity, Exponent, "12e6");

}  // namespace
}  // namespace berth::host

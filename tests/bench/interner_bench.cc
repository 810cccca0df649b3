// Measures the interner: known texts, new texts, reading a text back, and sweeping.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "host/base/hash.h"
#include "host/base/interner.h"

namespace berth::host {
namespace {

// Returns names that are similar in form and length to those of labels.
std::vector<std::string> MakeTexts(int64_t count) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < count; ++i) {
    texts.push_back("app.kubernetes.io/component-" + std::to_string(i));
  }
  return texts;
}

void BM_HashBytes(benchmark::State& state) {
  std::string text(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    benchmark::DoNotOptimize(text.data());
    benchmark::DoNotOptimize(HashBytes(text));
  }
}
BENCHMARK(BM_HashBytes)->Arg(3)->Arg(8)->Arg(24)->Arg(64)->Arg(1024);

void BM_InternKnown(benchmark::State& state) {
  Interner interner;
  const std::vector<std::string> texts = MakeTexts(state.range(0));
  for (const std::string& text : texts) interner.Intern(text);
  size_t next = 0;
  for (auto _ : state) {
    const Id id = interner.Intern(texts[next]);
    benchmark::DoNotOptimize(id);
    interner.Release(id);
    if (++next == texts.size()) next = 0;
  }
}
BENCHMARK(BM_InternKnown)->Arg(16)->Arg(1000)->Arg(100'000);

void BM_FindKnown(benchmark::State& state) {
  Interner interner;
  const std::vector<std::string> texts = MakeTexts(1000);
  for (const std::string& text : texts) interner.Intern(text);
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(interner.Find(texts[next]));
    if (++next == texts.size()) next = 0;
  }
}
BENCHMARK(BM_FindKnown);

void BM_InternNewAndSweep(benchmark::State& state) {
  Interner interner;
  const std::vector<std::string> texts = MakeTexts(state.range(0));
  for (auto _ : state) {
    for (const std::string& text : texts) interner.Release(interner.Intern(text));
    benchmark::DoNotOptimize(interner.Sweep());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_InternNewAndSweep)->Arg(10'000);

void BM_Text(benchmark::State& state) {
  Interner interner;
  std::vector<Id> ids;
  for (const std::string& text : MakeTexts(1000)) ids.push_back(interner.Intern(text));
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(interner.Text(ids[next]));
    if (++next == ids.size()) next = 0;
  }
}
BENCHMARK(BM_Text);

}  // namespace
}  // namespace berth::host

#include "host/contract/memory_check.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

constexpr int64_t kCallNs = 1000;

// The result of a function whose memory use is `heap(calls)` and `mapped(calls)` after that many
// calls.
LeakSearch Measure(const std::function<size_t(uint64_t)>& heap,
                   const std::function<size_t(uint64_t)>& mapped, int64_t budget_ns = INT64_MAX) {
  uint64_t calls = 0;
  const std::function<int64_t()> clock = [&calls] { return static_cast<int64_t>(calls) * kCallNs; };
  return FindLeak(
      "Filter", [&calls] { ++calls; },
      [&] {
        return MemoryUse{heap(calls), mapped(calls)};
      },
      {budget_ns, clock});
}

size_t Constant(uint64_t /*calls*/) { return 1 << 20; }

size_t CapacityFor(uint64_t calls) {
  size_t capacity = 1;
  while (capacity < calls) capacity *= 2;
  return capacity;
}

TEST(MemoryGrowthTest, FindsLeaks) {
  const struct {
    const char* name;
    std::function<size_t(uint64_t)> heap;
    size_t least;  // Bytes per call. 0: no leak.
    size_t most;
  } cases[] = {
      {"nothing", Constant, 0, 0},
      {"memory that is kept once", [](uint64_t calls) { return calls > 0 ? size_t{1} << 20 : 0; },
       0, 0},
      {"memory that is kept late, once",
       [](uint64_t calls) { return calls > 1000 ? size_t{1} << 20 : 0; }, 0, 0},
      {"16 bytes each call", [](uint64_t calls) { return 16 * calls; }, 16, 16},
      {"1 byte each call", [](uint64_t calls) { return calls; }, 1, 1},
      {"less than one byte each call", [](uint64_t calls) { return calls / 2; }, 0, 0},
      {"100 kB each call", [](uint64_t calls) { return 102'400 * calls; }, 102'400, 102'400},
      {"16 bytes in one of 100 calls", [](uint64_t calls) { return 1600 * (calls / 100); }, 8, 24},
      {"a bounded cache with 50,000 entries",
       [](uint64_t calls) { return 64 * std::min<uint64_t>(calls, 50'000); }, 0, 0},
      {"an array without bound", [](uint64_t calls) { return 64 * CapacityFor(calls); }, 32, 128},
      {"an array with 5,000 entries at most",
       [](uint64_t calls) { return 64 * CapacityFor(std::min<uint64_t>(calls, 5000)); }, 0, 0},
      {"memory that is returned",
       [](uint64_t calls) { return (size_t{1} << 20) - std::min<size_t>(calls, 1000); }, 0, 0},
      {"memory that goes up and down", [](uint64_t calls) { return calls % 100 * 64; }, 0, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto leak = Measure(c.heap, Constant).leak;
    ASSERT_EQ(leak.has_value(), c.least != 0);
    if (!leak.has_value()) continue;
    EXPECT_GE(leak->bytes_per_call, c.least);
    EXPECT_LE(leak->bytes_per_call, c.most);
  }
}

TEST(MemoryGrowthTest, FindsMappedMemoryOutsideTheHeap) {
  const auto leak = Measure(Constant, [](uint64_t calls) { return 102'400 * calls; }).leak;
  ASSERT_TRUE(leak.has_value());
  EXPECT_EQ(leak->bytes_per_call, 102'400u);
  const auto small = Measure(Constant, [](uint64_t calls) { return calls > 100 ? 4096 : 0; }).leak;
  EXPECT_FALSE(small.has_value());
  const auto both = Measure([](uint64_t calls) { return calls > 3000 ? size_t{1} << 20 : 0; },
                            [](uint64_t calls) { return 2048 * calls; }, 4096 * kCallNs)
                        .leak;
  ASSERT_TRUE(both.has_value()) << "the heap grew once, late";
  EXPECT_EQ(both->bytes_per_call, 2048u);
}

TEST(MemoryGrowthTest, CallsSlowFunctionsLessOften) {
  const auto grow = [](uint64_t calls) { return 64 * calls; };
  const auto fill = [](uint64_t calls) { return 64 * std::min<uint64_t>(calls, 300); };
  const struct {
    const char* name;
    std::function<size_t(uint64_t)> heap;
    int64_t budget_calls;
    uint64_t calls;
    bool is_decided;
    const char* leak;  // Empty: none.
  } cases[] = {
      {"no time", grow, 0, 16 + 16 + 32 + 64, false, ""},
      {"no time and no growth", Constant, 0, 128, false, ""},
      {"less time than a leak needs", grow, 2048, 2048, false, ""},
      {"as much time as a leak needs", grow, 2049, 4096, true,
       "Filter leaks about 64 bytes each call, over 4080 calls"},
      {"a small cache with too little time", fill, 200, 256, false, ""},
      {"a small cache", fill, 1025, 2048, true, ""},
      {"many bytes in little time", [](uint64_t calls) { return 102'400 * calls; }, 1024, 1024,
       true, "Filter leaks about 102400 bytes each call, over 1008 calls"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const LeakSearch search = Measure(c.heap, Constant, c.budget_calls * kCallNs);
    EXPECT_EQ(search.calls, c.calls);
    EXPECT_EQ(search.is_decided, c.is_decided);
    EXPECT_EQ(search.leak.has_value() ? ToString(*search.leak) : "", c.leak);
  }
}

TEST(MemoryGrowthTest, MeasuresTheHeap) {
#ifdef __SANITIZE_ADDRESS__
  EXPECT_FALSE(CanMeasureHeap());
#else
  EXPECT_TRUE(CanMeasureHeap());
  const std::function<int64_t()> clock = [] { return int64_t{0}; };
  const auto leak = FindLeak("Filter",
                             [] {
                               void* volatile piece = std::malloc(100);
                               static_cast<void>(piece);
                             },
                             CurrentMemoryUse, {INT64_MAX, clock})
                        .leak;
  ASSERT_TRUE(leak.has_value());
  EXPECT_GE(leak->bytes_per_call, 100u);
  const auto none = FindLeak("Filter",
                             [] {
                               void* volatile piece = std::malloc(100);
                               std::free(piece);
                             },
                             CurrentMemoryUse, {INT64_MAX, clock})
                        .leak;
  EXPECT_FALSE(none.has_value());
#endif
}

}  // namespace
}  // namespace berth::host

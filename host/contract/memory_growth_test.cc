#include "host/contract/memory_growth.h"

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
std::optional<MemoryLeak> Measure(const std::function<size_t(uint64_t)>& heap,
                                  const std::function<size_t(uint64_t)>& mapped,
                                  int64_t budget_ns = INT64_MAX) {
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
    const auto leak = Measure(c.heap, Constant);
    ASSERT_EQ(leak.has_value(), c.least != 0);
    if (!leak.has_value()) continue;
    EXPECT_GE(leak->bytes_per_call, c.least);
    EXPECT_LE(leak->bytes_per_call, c.most);
  }
}

TEST(MemoryGrowthTest, FindsMappedMemoryOutsideTheHeap) {
  const auto leak = Measure(Constant, [](uint64_t calls) { return 102'400 * calls; });
  ASSERT_TRUE(leak.has_value());
  EXPECT_EQ(leak->bytes_per_call, 102'400u);
  const auto small = Measure(Constant, [](uint64_t calls) { return calls > 100 ? 4096 : 0; });
  EXPECT_FALSE(small.has_value());
}

TEST(MemoryGrowthTest, CallsSlowFunctionsLessOften) {
  uint64_t most = 0;
  const auto leak = Measure(
      [&most](uint64_t calls) {
        most = std::max(most, calls);
        return 64 * calls;
      },
      Constant, 0);
  ASSERT_TRUE(leak.has_value());
  EXPECT_EQ(most, 16u + 16u + 32u + 64u);
  EXPECT_EQ(ToString(*leak), "Filter leaks about 64 bytes each call, over 112 calls");
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
                             CurrentMemoryUse, {0, clock});
  ASSERT_TRUE(leak.has_value());
  EXPECT_GE(leak->bytes_per_call, 100u);
  const auto none = FindLeak("Filter",
                             [] {
                               void* volatile piece = std::malloc(100);
                               std::free(piece);
                             },
                             CurrentMemoryUse, {INT64_MAX, clock});
  EXPECT_FALSE(none.has_value());
#endif
}

}  // namespace
}  // namespace berth::host

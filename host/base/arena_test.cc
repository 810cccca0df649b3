#include "host/base/arena.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

struct Point {
  int32_t x;
  int64_t y;
};

bool IsAligned(const void* p, size_t align) { return reinterpret_cast<uintptr_t>(p) % align == 0; }

TEST(Arena, ReservesNothingBeforeTheFirstAllocation) {
  const Arena arena(4096);
  EXPECT_EQ(arena.bytes_used(), 0U);
  EXPECT_EQ(arena.bytes_reserved(), 0U);
}

TEST(Arena, AlignsEveryAllocation) {
  Arena arena(128);
  for (size_t align = 1; align <= 4096; align *= 2) {
    for (const size_t size : {1U, 3U, 64U, 1000U}) {
      void* p = arena.Allocate(size, align);
      EXPECT_TRUE(IsAligned(p, align)) << size << " at " << align;
      std::memset(p, 0xab, size);
    }
  }
}

TEST(Arena, AllocationsDoNotOverlap) {
  Arena arena(64);
  std::vector<std::span<uint8_t>> blocks;
  for (size_t i = 0; i < 2000; ++i) {
    const std::span<uint8_t> block = arena.NewArray<uint8_t>(i * 7 % 300 + 1);
    for (uint8_t& byte : block) byte = static_cast<uint8_t>(i);
    blocks.push_back(block);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (const uint8_t byte : blocks[i]) ASSERT_EQ(byte, static_cast<uint8_t>(i));
  }
}

TEST(Arena, CountsAllocatedBytes) {
  Arena arena(1024);
  (void)arena.Allocate(10, 1);
  (void)arena.Allocate(8, 8);
  EXPECT_EQ(arena.bytes_used(), 18U);
  EXPECT_EQ(arena.bytes_reserved(), 1024U);
}

TEST(Arena, FillsTheFirstChunkToTheLastByte) {
  Arena arena(1024);
  (void)arena.Allocate(1024, 1);
  EXPECT_EQ(arena.bytes_reserved(), 1024U);
  (void)arena.Allocate(1, 1);
  EXPECT_EQ(arena.bytes_reserved(), 1024U + 2048U);
}

TEST(Arena, LargeAllocationLeavesTheCurrentChunkInUse) {
  Arena arena(1024);
  char* before = static_cast<char*>(arena.Allocate(16, 1));
  (void)arena.Allocate(100'000, 1);
  char* after = static_cast<char*>(arena.Allocate(16, 1));
  EXPECT_EQ(after, before + 16);
}

TEST(Arena, NewConstructsInPlace) {
  Arena arena;
  const Point* point = arena.New<Point>(Point{3, 4});
  EXPECT_EQ(point->x, 3);
  EXPECT_EQ(point->y, 4);
  EXPECT_TRUE(IsAligned(point, alignof(Point)));
}

TEST(Arena, ArraysAreValueInitialisedAndMayBeEmpty) {
  Arena arena;
  std::memset(arena.Allocate(512, 8), 0xff, 512);
  for (const int64_t value : arena.NewArray<int64_t>(50)) EXPECT_EQ(value, 0);
  EXPECT_TRUE(arena.NewArray<int64_t>(0).empty());
  const std::vector<int32_t> source = {1, 2, 3};
  const std::span<int32_t> copy = arena.CopyArray(std::span<const int32_t>(source));
  EXPECT_EQ(std::vector<int32_t>(copy.begin(), copy.end()), source);
}

TEST(Arena, StringsAreCopies) {
  Arena arena;
  std::string source = "kube-system";
  const std::string_view copy = arena.CopyString(source);
  source[0] = 'x';
  EXPECT_EQ(copy, "kube-system");
  EXPECT_EQ(arena.CopyString(""), "");
}

TEST(Arena, MovingKeepsTheMemoryAndEmptiesTheSource) {
  Arena first(256);
  const std::string_view text = first.CopyString("stays");
  Arena second(std::move(first));
  EXPECT_EQ(text, "stays");
  EXPECT_EQ(second.bytes_used(), 5U);
  EXPECT_EQ(first.bytes_used(), 0U);  // NOLINT: the state after a move is part of the contract.
  EXPECT_EQ(first.CopyString("again"), "again");
  first = std::move(second);
  EXPECT_EQ(text, "stays");
  EXPECT_EQ(first.bytes_used(), 5U);
}

TEST(Arena, ResetKeepsTheFirstChunk) {
  Arena arena(1024);
  arena.Reset();
  EXPECT_EQ(arena.bytes_reserved(), 0U);
  void* first = arena.Allocate(1000, 8);
  (void)arena.Allocate(1000, 8);
  (void)arena.Allocate(100'000, 8);
  arena.Reset();
  EXPECT_EQ(arena.bytes_used(), 0U);
  EXPECT_EQ(arena.bytes_reserved(), 1024U);
  EXPECT_EQ(arena.Allocate(1024, 8), first);
  EXPECT_EQ(arena.bytes_reserved(), 1024U);
  std::memset(arena.Allocate(1, 1), 0xab, 1);
  EXPECT_GT(arena.bytes_reserved(), 1024U);
}

TEST(ArenaDeathTest, AlignmentMustBeAPowerOfTwo) {
  Arena arena;
  EXPECT_DEATH((void)arena.Allocate(1, 3), "assertion failed");
  EXPECT_DEATH((void)arena.Allocate(1, 0), "assertion failed");
}

TEST(ArenaDeathTest, AnImpossibleSizeFailsAnAssertion) {
  Arena arena;
  EXPECT_DEATH((void)arena.NewArray<int64_t>(SIZE_MAX / 4), "assertion failed");
  EXPECT_DEATH((void)arena.Allocate(SIZE_MAX, 1), "assertion failed");
}

}  // namespace
}  // namespace berth::host

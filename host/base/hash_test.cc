#include "host/base/hash.h"

#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

std::string RandomText(std::mt19937_64& random, size_t size) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST(HashBytes, ValuesNeverChange) {
  const struct {
    std::string text;
    uint64_t hash;
  } kGolden[] = {
      {"", 0xe1ad6149afb0fe14ULL},
      {"a", 0x13ee0cdf9e0daeccULL},
      {"pod", 0xc688798f2dd15328ULL},
      {"node", 0x8c73c7450d28eab9ULL},
      {"default", 0x44c113b58bb5d164ULL},
      {"kube-system", 0x781618c54fb5335bULL},
      {"0123456789abcdef", 0x1baafb650e6ce47fULL},
      {"kubernetes.io/hostname", 0x4489e37b90f2c924ULL},
      {"topology.kubernetes.io/zone=eu-central-1a", 0x2863eb550ed2cd8aULL},
  };
  for (const auto& c : kGolden) EXPECT_EQ(HashBytes(c.text), c.hash) << c.text;
  EXPECT_EQ(HashCombine(1, 2), 0xe16e920cd9cad733ULL);
}

TEST(HashBytes, DependsOnEveryByteAndOnTheLength) {
  std::mt19937_64 random(1);
  for (size_t size = 0; size <= 100; ++size) {
    const std::string text = RandomText(random, size);
    std::unordered_set<uint64_t> seen = {HashBytes(text)};
    for (size_t i = 0; i < size; ++i) {
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] ^ 0x40);
      EXPECT_TRUE(seen.insert(HashBytes(changed)).second) << size << " " << i;
    }
    EXPECT_TRUE(seen.insert(HashBytes(text + '\0')).second) << size;
  }
}

TEST(HashBytes, DependsOnContentNotOnAlignment) {
  std::mt19937_64 random(2);
  const std::string text = RandomText(random, 64);
  for (size_t offset = 0; offset < 16; ++offset) {
    const std::string shifted = std::string(offset, 'x') + text;
    EXPECT_EQ(HashBytes(std::string_view(shifted).substr(offset)), HashBytes(text));
  }
}

TEST(HashBytes, AFlippedBitFlipsHalfOfTheHash) {
  std::mt19937_64 random(3);
  for (const size_t size : {1U, 3U, 4U, 8U, 15U, 16U, 17U, 32U, 33U, 63U}) {
    // flips[i] counts how often output bit i changed.
    std::vector<int32_t> flips(64);
    int32_t trials = 0;
    for (int32_t round = 0; round < 200; ++round) {
      const std::string text = RandomText(random, size);
      for (size_t bit = 0; bit < size * 8; ++bit, ++trials) {
        std::string changed = text;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
        const uint64_t difference = HashBytes(text) ^ HashBytes(changed);
        for (size_t i = 0; i < 64; ++i) flips[i] += static_cast<int32_t>(difference >> i & 1);
      }
    }
    for (size_t i = 0; i < 64; ++i) {
      const double rate = static_cast<double>(flips[i]) / trials;
      EXPECT_NEAR(rate, 0.5, 0.06) << "output bit " << i << ", " << size << " bytes";
    }
  }
}

TEST(HashBytes, DistributesNumberedNamesOverLowAndHighBits) {
  constexpr int32_t kNames = 64 * 1024;
  std::vector<int32_t> low(1024);
  std::vector<int32_t> high(1024);
  std::unordered_set<uint64_t> seen;
  for (int32_t i = 0; i < kNames; ++i) {
    const uint64_t hash = HashBytes("node-" + std::to_string(i));
    ++low[hash % 1024];
    ++high[hash >> 54];
    seen.insert(hash);
  }
  EXPECT_EQ(seen.size(), size_t{kNames});
  // Each bucket is expected to hold 64 names; 40 are five standard deviations.
  for (size_t i = 0; i < 1024; ++i) {
    EXPECT_NEAR(low[i], 64, 40);
    EXPECT_NEAR(high[i], 64, 40);
  }
}

TEST(HashCombine, DependsOnTheOrderAndOnZeros) {
  EXPECT_NE(HashCombine(HashCombine(0, 1), 2), HashCombine(HashCombine(0, 2), 1));
  EXPECT_NE(HashCombine(0, 0), 0U);
  EXPECT_NE(HashCombine(HashCombine(5, 0), 0), HashCombine(5, 0));
  std::unordered_set<uint64_t> seen;
  for (uint64_t h = 0; h < 300; ++h) {
    for (uint64_t x = 0; x < 300; ++x) EXPECT_TRUE(seen.insert(HashCombine(h, x)).second);
  }
}

}  // namespace
}  // namespace berth::host

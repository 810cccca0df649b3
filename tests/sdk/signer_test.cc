// Tests SipHash and the Signer.
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/host.h>
#include <berth/signer.h>
#include <berth/siphash.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

// The key of the paper's test vectors: the bytes 0 to 15.
constexpr HashKey kKey = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

template <class Hash>
Hash HashOfBytes(int words) {
  Hash hash(kKey);
  for (int i = 0; i < words; ++i) {
    unsigned char bytes[8];
    for (int k = 0; k < 8; ++k) bytes[k] = static_cast<unsigned char>(8 * i + k);
    uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    hash.Add(word);
  }
  return hash;
}

// The values are those of OpenSSL's SIPHASH for the bytes 0, 1, 2, ...
TEST(SipHash, HasTheValuesOfThePaper) {
  const struct {
    int words;
    uint64_t short_hash;
    uint64_t low;
    uint64_t high;
  } cases[] = {
      {0, 0xabac0158050fc4dc, 0xe6a825ba047f81a3, 0x930255c71472f66d},
      {1, 0x369095118d299a8e, 0x61f55862baa9623b, 0xb49714f364e2830f},
      {2, 0xcc4fdd1a7d908b66, 0xbb54b067caa4e26e, 0x77052385bf1533fd},
      {3, 0xf464aeb267349c8c, 0xd850bd78ae79b42d, 0xad32618a178a2a88},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.words);
    EXPECT_EQ(HashOfBytes<SipHash13>(c.words).Finish(), c.short_hash);
    auto wide = HashOfBytes<WideSipHash24>(c.words);
    EXPECT_EQ(wide.Finish(), c.low);
    EXPECT_EQ(wide.FinishHigh(), c.high);
  }
}

TEST(Signer, DifferentInputsHaveDifferentSignatures) {
  using namespace std::string_view_literals;
  const std::pair<const char*, Signature> all[] = {
      {"nothing", Signer(kKey).Take()},
      {"0", Signer(kKey).Add(0).Take()},
      {"1", Signer(kKey).Add(1).Take()},
      {"-1", Signer(kKey).Add(-1).Take()},
      {"0, 0", Signer(kKey).Add(0).Add(0).Take()},
      {"0, 1", Signer(kKey).Add(0).Add(1).Take()},
      {"1, 0", Signer(kKey).Add(1).Add(0).Take()},
      {"a", Signer(kKey).Add("a").Take()},
      {"a and a zero byte", Signer(kKey).Add("a\0"sv).Take()},
      {"ab", Signer(kKey).Add("ab").Take()},
      {"a, b", Signer(kKey).Add("a").Add("b").Take()},
      {"seven bytes", Signer(kKey).Add("abcdefg").Take()},
      {"eight bytes", Signer(kKey).Add("abcdefgh").Take()},
      {"nine bytes", Signer(kKey).Add("abcdefghi").Take()},
      {"eight bytes, one byte", Signer(kKey).Add("abcdefgh").Add("i").Take()},
      {"[a, b]", Signer(kKey).Add(std::vector<std::string>{"a", "b"}).Take()},
      {"[ab]", Signer(kKey).Add(std::vector<std::string>{"ab"}).Take()},
      {"[1], []", Signer(kKey).Add(std::vector{1}).Add(std::vector<int>()).Take()},
      {"[], [1]", Signer(kKey).Add(std::vector<int>()).Add(std::vector{1}).Take()},
      {"0 with another low key", Signer({1, kKey[1]}).Add(0).Take()},
      {"0 with another high key", Signer({kKey[0], 1}).Add(0).Take()},
  };
  for (const auto& [name, signature] : all) {
    for (const auto& [other, signature_of_other] : all) {
      EXPECT_EQ(signature == signature_of_other, name == other) << name << " and " << other;
      EXPECT_EQ(signature.low == signature_of_other.low, name == other) << name << " and " << other;
      EXPECT_EQ(signature.high == signature_of_other.high, name == other)
          << name << " and " << other;
    }
  }
}

TEST(Signer, EqualInputsHaveEqualSignatures) {
  enum class Color : uint8_t { kBlue = 3 };
  const auto sign = [] {
    return Signer(kKey).Add(Color::kBlue).Add(true).Add(std::string("text")).Take();
  };
  EXPECT_EQ(sign(), sign());
  EXPECT_EQ(Signer(kKey).Add(Color::kBlue).Take(), Signer(kKey).Add(uint64_t{3}).Take());
}

TEST(Signer, HasTheKeyOfTheHost) {
  testing::SmallHost small;
  const internal::Services services(small.abi(), nullptr);
  const Host host(services);
  EXPECT_EQ(host.hash_key(), (HashKey{1, 2}));
  EXPECT_EQ(host.NewSigner().Add("a").Take(), Signer({1, 2}).Add("a").Take());
}

}  // namespace
}  // namespace berth

// SipHash: hashes with a secret key. Without the key, two inputs with the same hash cannot be
// found, so that it is safe for data that others choose.
// Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012.
#ifndef BERTH_SIPHASH_H_
#define BERTH_SIPHASH_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace berth {

using HashKey = std::array<uint64_t, 2>;

// A running hash with `kRounds` rounds per word and `kLastRounds` rounds at the end. `kWide`: for
// 128 bits instead of 64. Different sequences of words have different inputs; the hash of a
// sequence of words is the hash that the paper defines for their bytes.
template <int kRounds, int kLastRounds, bool kWide>
class SipHash {
  static_assert(std::endian::native == std::endian::little, "SipHash reads little-endian words");

 public:
  explicit SipHash(const HashKey& key)
      : v0_(key[0] ^ 0x736f6d6570736575),
        v1_(key[1] ^ 0x646f72616e646f6d ^ (kWide ? 0xee : 0)),
        v2_(key[0] ^ 0x6c7967656e657261),
        v3_(key[1] ^ 0x7465646279746573) {}

  void Add(uint64_t word) {
    ++words_;
    v3_ ^= word;
    Run<kRounds>();
    v0_ ^= word;
  }
  // Adds the length of the text and then its bytes, filled up with zeros.
  void Add(std::string_view text) {
    Add(uint64_t{text.size()});
    const char* from = text.data();
    std::size_t left = text.size();
    uint64_t word = 0;
    for (; left >= sizeof(word); left -= sizeof(word), from += sizeof(word)) {
      std::memcpy(&word, from, sizeof(word));
      Add(word);
    }
    if (left == 0) return;
    word = 0;
    std::memcpy(&word, from, left);
    Add(word);
  }

  // Returns the hash. With `kWide`: its lower half. Must not: be called twice; nothing may be added
  // afterwards.
  uint64_t Finish() {
    const uint64_t last = words_ * sizeof(uint64_t) << 56;
    v3_ ^= last;
    Run<kRounds>();
    v0_ ^= last;
    v2_ ^= kWide ? 0xee : 0xff;
    Run<kLastRounds>();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }
  // Returns the upper half. Called: once, after Finish().
  uint64_t FinishHigh() requires kWide {
    v1_ ^= 0xdd;
    Run<kLastRounds>();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  template <int kCount>
  void Run() {
    for (int i = 0; i < kCount; ++i) {
      v0_ += v1_;
      v1_ = std::rotl(v1_, 13) ^ v0_;
      v0_ = std::rotl(v0_, 32);
      v2_ += v3_;
      v3_ = std::rotl(v3_, 16) ^ v2_;
      v0_ += v3_;
      v3_ = std::rotl(v3_, 21) ^ v0_;
      v2_ += v1_;
      v1_ = std::rotl(v1_, 17) ^ v2_;
      v2_ = std::rotl(v2_, 32);
    }
  }

  uint64_t v0_;
  uint64_t v1_;
  uint64_t v2_;
  uint64_t v3_;
  uint64_t words_ = 0;
};

// For hash tables and for hashes that are compared within one process.
using SipHash13 = SipHash<1, 3, false>;
// For 128-bit hashes that stand for the input: equal hashes are taken for equal inputs.
using WideSipHash24 = SipHash<2, 4, true>;

}  // namespace berth

#endif  // BERTH_SIPHASH_H_

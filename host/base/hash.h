// Content hashing. Hashes have 64 bits and no seed. They are equal in every process and on every
// supported machine, so that they can be compared, combined and logged.
//
// The construction is that of wyhash: 64x64 -> 128-bit multiplications, folded. It is fast and well
// mixed, but it does not protect against chosen collisions: a lookup by hash must also compare the
// text. <berth/siphash.h> has hashes with a key, which do.
#ifndef BERTH_HOST_BASE_HASH_H_
#define BERTH_HOST_BASE_HASH_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace berth::host {

static_assert(std::endian::native == std::endian::little,
              "the values of HashBytes are defined on little-endian loads");

namespace hash_internal {

inline constexpr uint64_t kP0 = 0xa0761d6478bd642fULL;
inline constexpr uint64_t kP1 = 0xe7037ed1a0b428dbULL;
inline constexpr uint64_t kP2 = 0x8ebc6af09c88c6e3ULL;
inline constexpr uint64_t kP3 = 0x589965cc75374cc3ULL;

__extension__ typedef unsigned __int128 Uint128;

constexpr uint64_t Fold(uint64_t a, uint64_t b) {
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t Load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline uint64_t Load32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

}  // namespace hash_internal

// Returns the hash of the bytes. The values never change between versions; tests compare them with
// constants.
inline uint64_t HashBytes(std::string_view text) {
  using hash_internal::Fold;
  using hash_internal::kP0;
  using hash_internal::kP1;
  using hash_internal::kP2;
  using hash_internal::kP3;
  using hash_internal::Load32;
  using hash_internal::Load64;
  const char* p = text.data();
  const size_t size = text.size();
  uint64_t state = kP0;
  uint64_t a = 0;
  uint64_t b = 0;
  if (size <= 16) {
    if (size >= 8) {
      a = Load64(p);
      b = Load64(p + size - 8);
    } else if (size >= 4) {
      a = Load32(p);
      b = Load32(p + size - 4);
    } else if (size > 0) {
      const auto byte = [p](size_t i) { return uint64_t{static_cast<uint8_t>(p[i])}; };
      a = byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1);
    }
  } else {
    size_t left = size;
    while (left > 16) {
      state = Fold(Load64(p) ^ kP1, Load64(p + 8) ^ state);
      p += 16;
      left -= 16;
    }
    a = Load64(p + left - 16);
    b = Load64(p + left - 8);
  }
  // The length enters both multiplications, so that inputs that differ only in padding do not
  // collide.
  return Fold(kP1 ^ size, Fold(a ^ kP2 ^ size, b ^ state) ^ kP3);
}

// Returns the running hash `h` combined with `x`. The order of calls matters.
constexpr uint64_t HashCombine(uint64_t h, uint64_t x) {
  return hash_internal::Fold(h ^ hash_internal::kP2, x ^ hash_internal::kP1) + x;
}

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_HASH_H_

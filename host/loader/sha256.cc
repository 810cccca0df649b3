#include "host/loader/sha256.h"

#include <array>
#include <cstdint>
#include <string_view>

#include <openssl/evp.h>

#include "host/base/assert.h"

namespace berth::host {

std::string Sha256Hex(std::span<const std::byte> bytes) {
  std::array<uint8_t, 32> digest{};
  const int32_t done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  BERTH_ASSERT_MSG(done == 1, "OpenSSL failed to compute a SHA-256 digest");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace berth::host

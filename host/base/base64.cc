#include "host/base/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace berth::host {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoDigit = 64;

// The value of each byte as a digit, or kNoDigit.
constexpr std::array<uint8_t, 256> kValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<uint8_t>(i);
  }
  return values;
}();

uint32_t ByteAt(std::string_view bytes, size_t index) {
  return index < bytes.size() ? static_cast<unsigned char>(bytes[index]) : 0;
}

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const uint32_t group =
        ByteAt(bytes, i) << 16 | ByteAt(bytes, i + 1) << 8 | ByteAt(bytes, i + 2);
    text += kDigits[group >> 18 & 63];
    text += kDigits[group >> 12 & 63];
    text += i + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? kDigits[group & 63] : '=';
  }
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  size_t digits = 0;   // In the current group of four, including its padding.
  size_t padding = 0;  // In the whole text.
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      // Only the third and the fourth character of the last group may be padding.
      if (digits < 2) return std::nullopt;
      ++padding;
      group <<= 6;
    } else {
      const uint8_t value = kValues[static_cast<unsigned char>(c)];
      if (value == kNoDigit || padding > 0) return std::nullopt;
      group = group << 6 | value;
    }
    if (++digits < 4) continue;
    for (size_t i = 0; i < 3 - padding; ++i) {
      bytes += static_cast<char>(static_cast<unsigned char>(group >> (16 - 8 * i) & 255));
    }
    group = 0;
    digits = 0;
  }
  if (digits != 0) return std::nullopt;
  return bytes;
}

}  // namespace berth::host

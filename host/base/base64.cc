#include "host/base/base64.h"

#include <limits>

#include <openssl/evp.h>

#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr size_t kMostBytes = std::numeric_limits<int>::max() / 2;

unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  BERTH_ASSERT(bytes.size() <= kMostBytes);
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL also writes a final zero.
  text.resize(static_cast<size_t>(
      EVP_EncodeBlock(Bytes(text), Bytes(bytes), static_cast<int>(bytes.size()))));
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string digits(text);
  std::erase_if(digits, [](char c) { return c == '\n' || c == '\r'; });
  if (digits.size() % 4 != 0 || digits.size() > kMostBytes) return std::nullopt;
  // OpenSSL takes padding for zeros, wherever it is, and skips white space at both ends.
  const size_t end = digits.find('=');
  const size_t padding = end == std::string::npos ? 0 : digits.size() - end;
  if (padding > 2 || digits.find_first_not_of('=', end) != std::string::npos) return std::nullopt;
  std::string bytes(digits.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(Bytes(bytes), Bytes(std::string_view(digits)),
                                   static_cast<int>(digits.size()));
  if (size != static_cast<int>(bytes.size())) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace berth::host

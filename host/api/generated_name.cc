#include "host/api/generated_name.h"

namespace berth::host {
namespace {

constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";

}  // namespace

std::string NameSuffix(uint64_t number, size_t size) {
  std::string suffix;
  for (size_t i = 0; i < size; ++i, number /= kAlphabet.size()) {
    suffix += kAlphabet[number % kAlphabet.size()];
  }
  return suffix;
}

std::string NameGenerator::Next() {
  constexpr size_t kSuffixSize = 5;
  constexpr size_t kMaxBaseSize = 63 - kSuffixSize;
  constexpr uint64_t kSuffixes = 27ULL * 27 * 27 * 27 * 27;
  // The factor has no divisor in common with kSuffixes, so that every number gives another suffix.
  constexpr uint64_t kFactor = 8'675'309;
  static_assert(kAlphabet.size() == 27 && kFactor % 3 != 0);
  return std::string(base.substr(0, kMaxBaseSize))
      .append(NameSuffix(++count_ * kFactor % kSuffixes, kSuffixSize));
}

}  // namespace berth::host

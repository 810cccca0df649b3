#include "host/api/selector.h"

#include <algorithm>

#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr size_t kMaxName = 63;
constexpr size_t kMaxPrefix = 253;

constexpr bool IsLowerAlnum(char c) { return IsDigit(c) || IsLower(c); }
constexpr bool IsAlnum(char c) { return IsDigit(c) || IsLetter(c); }

bool IsName(std::string_view name) {
  if (name.empty() || name.size() > kMaxName || !IsAlnum(name.front()) || !IsAlnum(name.back())) {
    return false;
  }
  return std::ranges::all_of(name,
                             [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

// Returns whether `text` consists of dot-separated labels of lower-case alphanumeric characters and
// '-' (RFC 1123).
bool IsSubdomain(std::string_view text) {
  if (text.empty() || text.size() > kMaxPrefix) return false;
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || !IsLowerAlnum(label.front()) || !IsLowerAlnum(label.back())) return false;
    if (!std::ranges::all_of(label, [](char c) { return IsLowerAlnum(c) || c == '-'; })) {
      return false;
    }
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

bool IsLabelKey(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == key.npos) return IsName(key);
  return IsSubdomain(key.substr(0, slash)) && IsName(key.substr(slash + 1));
}

bool IsLabelValue(std::string_view value) { return value.empty() || IsName(value); }

}  // namespace berth::host

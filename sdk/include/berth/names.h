// Names: what Kubernetes takes for the name of a resource or label, and for a label's value.
#ifndef BERTH_NAMES_H_
#define BERTH_NAMES_H_

#include <cstddef>
#include <string_view>

namespace berth {
namespace internal {

constexpr bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
constexpr bool IsLetterOrDigit(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

// Letters and digits at both ends, `inside` between them; not empty.
template <class Edge>
constexpr bool IsBounded(std::string_view text, Edge is_edge, std::string_view inside) {
  if (text.empty() || !is_edge(text.front()) || !is_edge(text.back())) return false;
  for (const char c : text) {
    if (!is_edge(c) && inside.find(c) == std::string_view::npos) return false;
  }
  return true;
}

// RFC 1123: labels of lower case letters, digits and "-", with dots between them.
constexpr bool IsDnsSubdomain(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsBounded(text.substr(0, dot), IsLowerOrDigit, "-")) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

constexpr bool IsShortName(std::string_view text) {
  return text.size() <= 63 && IsBounded(text, IsLetterOrDigit, "-_.");
}

}  // namespace internal

// "gpu", "example.com/gpu": a label's key, or a resource.
// apimachinery: util/validation, IsQualifiedName.
constexpr bool IsQualifiedName(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return internal::IsShortName(text);
  return internal::IsDnsSubdomain(text.substr(0, slash)) &&
         internal::IsShortName(text.substr(slash + 1));
}

// Empty, or as the last part of a qualified name.
// apimachinery: util/validation, IsValidLabelValue.
constexpr bool IsLabelValue(std::string_view text) {
  return text.empty() || internal::IsShortName(text);
}

}  // namespace berth

#endif  // BERTH_NAMES_H_

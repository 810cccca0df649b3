// Names: checks the names of resources and labels, and the values of labels, as Kubernetes does.
#ifndef BERTH_NAMES_H_
#define BERTH_NAMES_H_

#include <cstddef>
#include <string_view>

namespace berth {
namespace internal {

constexpr bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
constexpr bool IsLetterOrDigit(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

// Returns whether the text is not empty, has edge characters at both ends, and between them only
// edge characters and characters of `inside`.
template <class Edge>
constexpr bool IsBounded(std::string_view text, Edge is_edge, std::string_view inside) {
  if (text.empty() || !is_edge(text.front()) || !is_edge(text.back())) return false;
  for (const char c : text) {
    if (!is_edge(c) && inside.find(c) == std::string_view::npos) return false;
  }
  return true;
}

// RFC 1123: labels of lower-case letters, digits and "-", separated by dots.
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

// Returns whether the text is a valid label key or resource name: "gpu", "example.com/gpu".
// apimachinery: util/validation, IsQualifiedName.
constexpr bool IsQualifiedName(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return internal::IsShortName(text);
  return internal::IsDnsSubdomain(text.substr(0, slash)) &&
         internal::IsShortName(text.substr(slash + 1));
}

// Returns whether the text is a valid label value: empty, or valid as the last part of a qualified
// name.
// apimachinery: util/validation, IsValidLabelValue.
constexpr bool IsLabelValue(std::string_view text) {
  return text.empty() || internal::IsShortName(text);
}

}  // namespace berth

#endif  // BERTH_NAMES_H_

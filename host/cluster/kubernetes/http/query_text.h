// Builds the query of a request.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_HTTP_QUERY_TEXT_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_HTTP_QUERY_TEXT_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/text.h"

namespace berth::host {

// Returns the text with every byte escaped that is not unreserved in a URL (RFC 3986).
inline std::string EscapeQuery(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    if (IsLetter(c) || IsDigit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      escaped.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    escaped.push_back('%');
    escaped.push_back(kDigits[byte >> 4]);
    escaped.push_back(kDigits[byte & 15]);
  }
  return escaped;
}

// Returns the path with the parameters. A parameter with an empty value is left out.
inline std::string WithQuery(
    std::string_view path,
    std::initializer_list<std::pair<std::string_view, std::string_view>> parameters) {
  std::string target(path);
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    target.push_back(separator);
    target.append(name).append("=").append(EscapeQuery(value));
    separator = '&';
  }
  return target;
}

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_HTTP_QUERY_TEXT_H_

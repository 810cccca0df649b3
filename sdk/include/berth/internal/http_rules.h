// The rules for HTTP requests of plugins. The host and the test kit apply them.
#ifndef BERTH_INTERNAL_HTTP_RULES_H_
#define BERTH_INTERNAL_HTTP_RULES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <berth/abi.h>
#include <berth/span.h>

namespace berth::internal {

inline constexpr int64_t kHttpTimeoutNs = 10'000'000'000;
inline constexpr int64_t kMaxHttpTimeoutNs = 3'600'000'000'000;
inline constexpr uint64_t kHttpBodyBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMaxHttpBodyBytes = uint64_t{64} << 20;  // of a request or an answer
inline constexpr std::size_t kMaxHttpUrlBytes = 8192;
inline constexpr uint32_t kMaxHttpHeaders = 100;
inline constexpr std::size_t kMaxHttpHeadBytes = std::size_t{64} << 10;

inline int64_t HttpTimeoutNs(const berth_http_request& request) {
  return request.timeout_ns != 0 ? request.timeout_ns : kHttpTimeoutNs;
}
inline uint64_t HttpMaxBodyBytes(const berth_http_request& request) {
  return request.max_body_bytes != 0 ? request.max_body_bytes : kHttpBodyBytes;
}

// Returns whether two names differ at most in the case of letters.
inline bool IsSameHttpName(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char left, char right) { return lower(left) == lower(right); });
}

// Returns whether it is a token (RFC 9110) that names none of the headers that the host writes, or
// that change where a message ends.
inline bool IsValidHttpHeaderName(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  for (const char c : name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_letter && !is_digit && kMarks.find(c) == std::string_view::npos) return false;
  }
  for (const std::string_view own : {"host", "content-length", "transfer-encoding", "connection",
                                     "upgrade", "expect", "te", "trailer"}) {
    if (IsSameHttpName(name, own)) return false;
  }
  return !name.empty();
}

// Returns whether a header value has no control character except the tab.
inline bool IsValidHttpHeaderValue(std::string_view value) {
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f) return false;
  }
  return true;
}

inline bool AreValidHttpHeaders(const berth_array& headers) {
  if (headers.count == 0) return true;
  if (headers.data == nullptr || headers.count > kMaxHttpHeaders) return false;
  if (headers.stride < sizeof(berth_http_header) || headers.stride % alignof(berth_str) != 0) {
    return false;
  }
  std::size_t bytes = 0;
  for (const berth_http_header& header : Span<const berth_http_header>(headers)) {
    if (!IsValidHttpHeaderName(Str(header.name))) return false;
    if (!IsValidHttpHeaderValue(Str(header.value))) return false;
    bytes += header.name.len + header.value.len;
  }
  return bytes <= kMaxHttpHeadBytes;
}

// Returns whether the text has the form of a URL that the service accepts. The host checks the name
// of the server further.
inline bool IsHttpUrl(std::string_view url) {
  const std::size_t colon = url.find("://");
  if (colon == std::string_view::npos || url.size() > kMaxHttpUrlBytes) return false;
  const std::string_view scheme = url.substr(0, colon);
  if (!IsSameHttpName(scheme, "http") && !IsSameHttpName(scheme, "https")) return false;
  for (const char c : url) {
    if (c <= ' ' || c > '~' || c == '#') return false;
  }
  const std::string_view rest = url.substr(colon + 3);
  const std::string_view server = rest.substr(0, rest.find_first_of("/?"));
  return !server.empty() && server.find('@') == std::string_view::npos;
}

inline bool IsValidHttpRequest(const berth_http_request& request) {
  bool is_known = false;
  for (const std::string_view method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}) {
    is_known = is_known || Str(request.method) == method;
  }
  // A certificate is of no use without its key.
  const bool has_both = (request.cert_file.len == 0) == (request.key_file.len == 0);
  return is_known && IsHttpUrl(Str(request.url)) && AreValidHttpHeaders(request.headers) &&
         has_both && request.timeout_ns >= 0 && request.timeout_ns <= kMaxHttpTimeoutNs &&
         request.body.len <= kMaxHttpBodyBytes && request.max_body_bytes <= kMaxHttpBodyBytes;
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_HTTP_RULES_H_

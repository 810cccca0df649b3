#include "host/serve/http_request.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

HttpParse Refuse(uint32_t status, std::string_view reason) {
  HttpParse parse;
  parse.outcome = HttpParse::Outcome::kRefused;
  parse.refusal = status;
  parse.reason = reason;
  return parse;
}

// Returns whether `c` may be part of a method or of the name of a header.
bool IsTokenCharacter(char c) {
  return IsLetter(c) || IsDigit(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsTokenCharacter);
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

std::string_view TrimBlanks(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

int HexDigit(char c) { return IsDigit(c) ? c - '0' : ToLower(c) - 'a' + 10; }

// Splits `text` at the first `separator` and removes the first part from it.
std::string_view TakeUntil(std::string_view& text, std::string_view separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
  return part;
}

// Parses one head. `parse` is an error once Fail() was called.
class HeadParser {
 public:
  explicit HeadParser(std::string_view head) : rest_(head) {}

  // Returns false after an error, which `parse` then describes.
  bool Parse(HttpParse& parse) {
    if (!ReadRequestLine(parse)) return false;
    while (!rest_.empty()) {
      if (!ReadHeader(TakeUntil(rest_, kLineEnd), parse)) return false;
    }
    if (!is_1_0_ && !host_.has_value()) return Fail(parse, 400, "the header Host is missing");
    parse.keeps_connection = !is_1_0_ && !closes_;
    return true;
  }

  const std::optional<std::string_view>& host() const { return host_; }
  std::optional<uint64_t> body_bytes() const { return body_bytes_; }
  bool expects_continue() const { return expects_continue_ && !is_1_0_; }

 private:
  static bool Fail(HttpParse& parse, uint32_t status, std::string_view reason) {
    parse = Refuse(status, reason);
    return false;
  }

  bool ReadRequestLine(HttpParse& parse) {
    std::string_view line = TakeUntil(rest_, kLineEnd);
    const std::string_view method = TakeUntil(line, " ");
    std::string_view target = TakeUntil(line, " ");
    if (!IsToken(method)) return Fail(parse, 400, "this is no HTTP request");
    if (line != "HTTP/1.1" && line != "HTTP/1.0") {
      const bool is_http = line.starts_with("HTTP/");
      return is_http ? Fail(parse, 505, "expected HTTP/1.1 or HTTP/1.0")
                     : Fail(parse, 400, "this is no HTTP request");
    }
    is_1_0_ = line == "HTTP/1.0";
    parse.request.method = method;
    if (!target.starts_with('/')) return Fail(parse, 400, "expected a path that begins with /");
    const std::string_view path = TakeUntil(target, "?");
    auto decoded = DecodePercent(path);
    if (!decoded.has_value() || std::ranges::any_of(target, IsControl)) {
      return Fail(parse, 400, "the path is not valid");
    }
    parse.request.path = *std::move(decoded);
    parse.request.query = target;
    return true;
  }

  bool ReadHeader(std::string_view line, HttpParse& parse) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
      return Fail(parse, 400, "a header is not valid");
    }
    const std::string name = ToLower(line.substr(0, colon));
    const std::string_view value = TrimBlanks(line.substr(colon + 1));
    const auto is_bad = [](char c) { return IsControl(c) && c != '\t'; };
    if (std::ranges::any_of(value, is_bad)) return Fail(parse, 400, "a header is not valid");
    if (name == "host") {
      if (host_.has_value()) return Fail(parse, 400, "the header Host is repeated");
      host_ = value;
    } else if (name == "content-length") {
      return ReadLength(value, parse);
    } else if (name == "transfer-encoding") {
      return Fail(parse, 411, "expected a body with the header Content-Length");
    } else if (name == "connection") {
      ReadConnection(value);
    } else if (name == "expect") {
      if (ToLower(value) != "100-continue") {
        return Fail(parse, 417, "the only expectation that is supported is 100-continue");
      }
      expects_continue_ = true;
    }
    return true;
  }

  bool ReadLength(std::string_view value, HttpParse& parse) {
    if (body_bytes_.has_value()) return Fail(parse, 400, "the header Content-Length is repeated");
    uint64_t length = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
    if (!IsNumber(value)) return Fail(parse, 400, "the header Content-Length is not valid");
    // A number that does not fit is too large for every limit.
    body_bytes_ = error == std::errc() && end == value.data() + value.size() ? length : UINT64_MAX;
    return true;
  }

  void ReadConnection(std::string_view value) {
    while (!value.empty()) {
      const std::string option = ToLower(TrimBlanks(TakeUntil(value, ",")));
      closes_ = closes_ || option == "close";
    }
  }

  std::string_view rest_;
  bool is_1_0_ = false;
  bool closes_ = false;
  bool expects_continue_ = false;
  std::optional<std::string_view> host_;
  std::optional<uint64_t> body_bytes_;
};

}  // namespace

HttpParse ParseHttpRequest(std::string_view received, const HttpLimits& limits, bool is_loopback) {
  // An empty line before a request is allowed. (RFC 9112, 2.2)
  const size_t skipped = received.starts_with(kLineEnd) ? kLineEnd.size() : 0;
  const std::string_view text = received.substr(skipped);
  if (text.empty() || text == "\r") return {};
  if (!IsTokenCharacter(text[0])) {
    constexpr char kTlsHandshake = 0x16;
    return Refuse(400, text[0] == kTlsHandshake ? "expected plain HTTP, found TLS"
                                                : "this is no HTTP request");
  }
  const size_t head_bytes = text.substr(0, limits.header_bytes).find(kHeadEnd);
  if (head_bytes == std::string_view::npos) {
    if (text.size() < limits.header_bytes) return {};
    return Refuse(431, "the headers are too large");
  }
  HttpParse parse;
  HeadParser head(text.substr(0, head_bytes));
  if (!head.Parse(parse)) return parse;
  if (is_loopback && head.host().has_value() && !IsLoopbackHost(*head.host())) {
    return Refuse(403, "expected the header Host to be localhost or a loopback address");
  }
  const uint64_t body_bytes = head.body_bytes().value_or(0);
  if (body_bytes > limits.body_bytes) return Refuse(413, "the body is too large");
  const std::string_view rest = text.substr(head_bytes + kHeadEnd.size());
  if (rest.size() < body_bytes) {
    HttpParse incomplete;
    incomplete.expects_continue = head.expects_continue() && rest.empty();
    return incomplete;
  }
  parse.outcome = HttpParse::Outcome::kRequest;
  parse.request.body = rest.substr(0, body_bytes);
  parse.bytes = skipped + head_bytes + kHeadEnd.size() + body_bytes;
  return parse;
}

bool IsLoopbackHost(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == std::string_view::npos) return false;
    const std::string_view port = host.substr(end + 1);
    if (!port.empty() && (port[0] != ':' || !IsNumber(port.substr(1)))) return false;
    in6_addr address{};
    const std::string text(host.substr(1, end - 1));
    return inet_pton(AF_INET6, text.c_str(), &address) == 1 && IN6_IS_ADDR_LOOPBACK(&address);
  }
  const size_t colon = host.find(':');
  if (colon != std::string_view::npos && !IsNumber(host.substr(colon + 1))) return false;
  const std::string name = ToLower(host.substr(0, colon));
  if (name == "localhost" || name == "localhost.") return true;
  in_addr address{};
  return inet_pton(AF_INET, name.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

std::optional<std::string> DecodePercent(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  while (!text.empty()) {
    char c = text[0];
    size_t size = 1;
    if (c == '%') {
      if (text.size() < 3 || !IsHexDigit(text[1]) || !IsHexDigit(text[2])) return std::nullopt;
      c = static_cast<char>(HexDigit(text[1]) * 16 + HexDigit(text[2]));
      size = 3;
    }
    if (IsControl(c)) return std::nullopt;
    decoded += c;
    text.remove_prefix(size);
  }
  return decoded;
}

std::string_view HttpReason(uint32_t status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 417: return "Expectation Failed";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

}  // namespace berth::host

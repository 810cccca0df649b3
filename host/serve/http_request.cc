#include "host/serve/http_request.h"

#include <algorithm>
#include <utility>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "host/base/text.h"
#include "host/serve/socket_address.h"

namespace berth::host {
namespace {

namespace http = boost::beast::http;
using RequestHead = http::request<http::empty_body>;

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

HttpParse Refuse(uint32_t status, std::string_view reason) {
  HttpParse parse;
  parse.outcome = HttpParse::Outcome::kRefused;
  parse.refusal = status;
  parse.reason = reason;
  return parse;
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// Returns the refusal of a head that the parser of Beast does not accept. `rest`: the head from the
// line on that it does not accept.
HttpParse RefuseSyntax(const boost::system::error_code& error, std::string_view rest) {
  if (error == http::error::bad_version) return Refuse(505, "expected HTTP/1.1 or HTTP/1.0");
  if (error == http::error::bad_target) return Refuse(400, "the path is not valid");
  if (error == http::error::bad_content_length) {
    const std::string_view line = rest.substr(0, rest.find(kLineEnd));
    // A number that does not fit is too large for every limit.
    if (IsNumber(line.substr(line.find_last_of(": \t") + 1))) {
      return Refuse(413, "the body is too large");
    }
    return Refuse(400, "the header Content-Length is not valid");
  }
  const bool is_line = error == http::error::bad_method || error == http::error::need_more;
  return Refuse(400, is_line ? "this is no HTTP request" : "a header is not valid");
}

// Returns the refusal of a head that the server does not support; kIncomplete if it does.
HttpParse CheckHead(const RequestHead& head, std::string_view text, bool is_loopback) {
  // Beast joins a header over several lines, and accepts equal lengths, also as a list.
  if (text.find("\r\n ") != text.npos || text.find("\r\n\t") != text.npos) {
    return Refuse(400, "a header is not valid");
  }
  const size_t hosts = head.count(http::field::host);
  if (hosts > 1) return Refuse(400, "the header Host is repeated");
  if (hosts == 0 && head.version() == 11) return Refuse(400, "the header Host is missing");
  if (is_loopback && hosts != 0 && !IsLoopbackHost(head[http::field::host])) {
    return Refuse(403, "expected the header Host to be localhost or a loopback address");
  }
  // Browsers name the page that sends a request, except for reading one of the same server.
  const bool reads = head.method() == http::verb::get || head.method() == http::verb::head;
  if (!reads && head.count(http::field::origin) != 0) {
    return Refuse(403, "a web page must not change anything: the header Origin is present");
  }
  if (head.count(http::field::transfer_encoding) != 0) {
    return Refuse(411, "expected a body with the header Content-Length");
  }
  const size_t lengths = head.count(http::field::content_length);
  if (lengths > 1) return Refuse(400, "the header Content-Length is repeated");
  if (lengths != 0 && !IsNumber(head[http::field::content_length])) {
    return Refuse(400, "the header Content-Length is not valid");
  }
  const size_t expects = head.count(http::field::expect);
  if (expects > 1 || (expects == 1 && ToLower(head[http::field::expect]) != "100-continue")) {
    return Refuse(417, "the only expectation that is supported is 100-continue");
  }
  return {};
}

// Sets the method, the path and the query of the request.
void ReadRequestLine(const RequestHead& head, HttpParse& parse) {
  const std::string_view target = head.target();
  const size_t path_end = std::min(target.find('?'), target.size());
  auto path = DecodePrintable(target.substr(0, path_end));
  if (!target.starts_with('/')) {
    parse = Refuse(400, "expected a path that begins with /");
  } else if (!path.has_value()) {
    parse = Refuse(400, "the path is not valid");
  } else {
    parse.request.method = head.method_string();
    parse.request.path = *std::move(path);
    parse.request.query = target.substr(std::min(path_end + 1, target.size()));
  }
}

}  // namespace

HttpParse ParseHttpRequest(std::string_view received, const HttpLimits& limits, bool is_loopback) {
  // An empty line before a request is allowed. (RFC 9112, 2.2)
  const size_t skipped = received.starts_with(kLineEnd) ? kLineEnd.size() : 0;
  const std::string_view text = received.substr(skipped);
  if (text.empty() || text == "\r") return {};
  if (IsControl(text[0])) {
    constexpr char kTlsHandshake = 0x16;
    return Refuse(400, text[0] == kTlsHandshake ? "expected plain HTTP, found TLS"
                                                : "this is no HTTP request");
  }
  const size_t found = text.substr(0, limits.header_bytes).find(kHeadEnd);
  if (found == std::string_view::npos) {
    if (text.size() < limits.header_bytes) return {};
    return Refuse(431, "the headers are too large");
  }
  const std::string_view head = text.substr(0, found + kHeadEnd.size());
  http::request_parser<http::empty_body> parser;
  parser.header_limit(static_cast<uint32_t>(head.size()));
  parser.skip(true);  // The body is read below.
  boost::system::error_code error;
  const size_t read = parser.put(boost::asio::buffer(head), error);
  if (error) return RefuseSyntax(error, head.substr(read));
  HttpParse parse = CheckHead(parser.get(), head, is_loopback);
  if (parse.outcome == HttpParse::Outcome::kIncomplete) ReadRequestLine(parser.get(), parse);
  if (parse.outcome == HttpParse::Outcome::kRefused) return parse;
  const uint64_t body_bytes = parser.content_length().value_or(0);
  if (body_bytes > limits.body_bytes) return Refuse(413, "the body is too large");
  const std::string_view rest = text.substr(head.size());
  if (rest.size() < body_bytes) {
    HttpParse incomplete;
    incomplete.expects_continue = parser.get().count(http::field::expect) != 0 &&
                                  parser.get().version() == 11 && rest.empty();
    return incomplete;
  }
  parse.outcome = HttpParse::Outcome::kRequest;
  parse.keeps_connection = parser.get().version() == 11 && parser.keep_alive();
  parse.request.body = rest.substr(0, body_bytes);
  parse.bytes = skipped + head.size() + body_bytes;
  return parse;
}

bool IsLoopbackHost(std::string_view host) {
  const size_t colon = host.starts_with('[') ? host.find(':', std::min(host.find(']'), host.size()))
                                             : host.find(':');
  if (colon != std::string_view::npos && !IsNumber(host.substr(colon + 1))) return false;
  const std::string name = ToLower(host.substr(0, colon));
  if (name == "localhost" || name == "localhost.") return true;
  const auto address = ParseSocketAddress(name + ":0");
  return address.ok() && !name.empty() && address->address().is_loopback();
}

std::optional<std::string> DecodePrintable(std::string_view text) {
  std::optional<std::string> decoded = DecodePercent(text);
  if (decoded.has_value() && std::ranges::any_of(*decoded, IsControl)) return std::nullopt;
  return decoded;
}

std::string_view HttpReason(uint32_t status) {
  return http::obsolete_reason(http::int_to_status(status));
}

}  // namespace berth::host

#include "host/http/endpoint.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "host/base/mask.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr size_t kMaxUrlBytes = 4096;
constexpr size_t kMaxHostBytes = 253;  // RFC 1035, section 2.3.4.

struct SchemeFacts {
  std::string_view name;
  uint16_t port;
};

// By ServerUrl::Scheme.
constexpr SchemeFacts kSchemes[] = {{"http", 80}, {"https", 443}, {"socks5", 1080}};

const SchemeFacts& FactsOf(ServerUrl::Scheme scheme) {
  return kSchemes[static_cast<size_t>(scheme)];
}

bool IsIpv6(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool IsName(std::string_view host) {
  if (host.empty() || host.size() > kMaxHostBytes) return false;
  for (const char c : host) {
    const bool is_valid = IsLetter(c) || IsDigit(c) || c == '-' || c == '.' || c == '_';
    if (!is_valid) return false;
  }
  return true;
}

// Reads the parts of a URL from its beginning to its end. Each method returns what is wrong, or ""
// if nothing is.
class UrlReader {
 public:
  explicit UrlReader(std::string_view text) : rest_(text) {}

  std::string Read() {
    for (const auto step : {&UrlReader::ReadScheme, &UrlReader::ReadPath, &UrlReader::ReadUser,
                            &UrlReader::ReadHost}) {
      std::string problem = (this->*step)();
      if (!problem.empty()) return problem;
    }
    return "";
  }
  ServerUrl Take() { return std::move(url_); }

 private:
  std::string ReadScheme() {
    if (rest_.empty()) return "it is empty";
    if (rest_.size() > kMaxUrlBytes) {
      return "it has more than " + std::to_string(kMaxUrlBytes) + " bytes";
    }
    for (const char c : rest_) {
      if (c <= ' ' || c > '~') return "it has a character that a URL must not have";
    }
    const size_t end = rest_.find("://");
    if (end == std::string_view::npos) return "";
    const std::string scheme = ToLower(rest_.substr(0, end));
    rest_.remove_prefix(end + 3);
    const std::string_view name = scheme == "socks5h" ? "socks5" : std::string_view(scheme);
    const auto* const known = std::ranges::find(kSchemes, name, &SchemeFacts::name);
    if (known == std::end(kSchemes)) return "the scheme is not http, https or socks5";
    url_.scheme = static_cast<ServerUrl::Scheme>(known - kSchemes);
    return "";
  }

  std::string ReadPath() {
    // A user or a password may contain a slash only as "%2F".
    const size_t end = rest_.find_first_of("/?#");
    if (end == std::string_view::npos) return "";
    if (rest_.find_first_of("?#", end) != std::string_view::npos) {
      return "it has a query or a fragment";
    }
    std::string_view path = rest_.substr(end);
    while (path.ends_with('/')) path.remove_suffix(1);
    url_.path = path;
    rest_ = rest_.substr(0, end);
    return "";
  }

  std::string ReadUser() {
    const size_t at = rest_.rfind('@');
    if (at == std::string_view::npos) return "";
    const std::string_view user = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    const size_t colon = user.find(':');
    const bool has_password = colon != std::string_view::npos;
    const std::optional<std::string> name = DecodePercent(user.substr(0, colon));
    const std::optional<std::string> password =
        DecodePercent(has_password ? user.substr(colon + 1) : std::string_view());
    if (!name || !password) return "a % of the user or the password is not followed by two digits";
    if (name->empty()) return "the user is empty";
    url_.user = *name;
    url_.password = *password;
    return "";
  }

  std::string ReadHost() {
    std::string_view port;
    if (rest_.starts_with('[')) {
      const size_t end = rest_.find(']');
      if (end == std::string_view::npos) return "the address has no ]";
      url_.host = rest_.substr(1, end - 1);
      if (!IsIpv6(url_.host)) return "there is no IPv6 address between [ and ]";
      port = rest_.substr(end + 1);
    } else {
      const size_t end = rest_.find(':');
      url_.host = rest_.substr(0, end);
      if (url_.host.empty()) return "it has no host";
      if (end != std::string_view::npos) port = rest_.substr(end);
      if (port.find(':', 1) != std::string_view::npos) {
        return "an IPv6 address must be between [ and ]";
      }
      if (!IsName(url_.host)) return "the host is no name and no address";
    }
    return ReadPort(port);
  }

  // `port`: "" or ":6443".
  std::string ReadPort(std::string_view port) {
    url_.port = FactsOf(url_.scheme).port;
    if (port.empty() || port == ":") return "";
    const char* const end = port.data() + port.size();
    const auto [stop, error] = std::from_chars(port.data() + 1, end, url_.port);
    const bool is_valid = port[0] == ':' && error == std::errc() && stop == end && url_.port != 0;
    return is_valid ? "" : "the port is no number from 1 to 65535";
  }

  std::string_view rest_;
  ServerUrl url_;
};

}  // namespace

Result<ServerUrl> ServerUrl::Parse(std::string_view text, std::string_view what) {
  UrlReader reader(text);
  const std::string problem = reader.Read();
  if (problem.empty()) return reader.Take();
  return Status::InvalidArgument(
      std::string(what)
          .append(": expected a URL such as https://10.0.0.1:6443, found ")
          .append(Quoted(MaskUrl(text)))
          .append(": ")
          .append(problem));
}

std::string ServerUrl::HostAndPort() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string ServerUrl::ToString() const {
  return std::string(FactsOf(scheme).name).append("://").append(HostAndPort()).append(path);
}

bool ServerUrl::IsLoopback() const {
  if (berth::host::ToLower(host) == "localhost") return true;
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  if (::inet_pton(AF_INET6, host.c_str(), &v6) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

Status CheckEndpoint(const Endpoint& endpoint, bool allow_plain_http) {
  const ServerUrl& server = endpoint.server;
  if (!server.user.empty()) {
    return Status::InvalidArgument(
        "expected a URL without a user and a password, found " + server.ToString() +
        " with them; remove them, and set a token, a client certificate, or username and password "
        "in the user of a kubeconfig");
  }
  if (server.scheme == ServerUrl::Scheme::kHttps) return Status::Ok();
  if (server.scheme == ServerUrl::Scheme::kSocks5) {
    return Status::InvalidArgument("expected https, found " + server.ToString());
  }
  if (endpoint.proxy && endpoint.proxy->scheme == ServerUrl::Scheme::kHttps) {
    // The certificate of the proxy is verified with the TLS settings of the server.
    return Status::InvalidArgument("expected https, because the proxy " +
                                   endpoint.proxy->ToString() + " has https, found " +
                                   server.ToString());
  }
  // The loopback address of a request that a proxy forwards is that of the proxy.
  const bool stays_here = server.IsLoopback() && !endpoint.proxy.has_value();
  if (allow_plain_http || stays_here) return Status::Ok();
  return Status::InvalidArgument(
      "expected https, found " + server.ToString() +
      "; use --allow-plain-http if no other party can read the network between");
}

std::string PercentEncode(std::string_view text, std::string_view marks) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (IsLetter(c) || IsDigit(c) || marks.find(c) != std::string_view::npos) {
      encoded.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.append(1, '%').append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
  }
  return encoded;
}

std::string WithQuery(
    std::string_view path,
    std::initializer_list<std::pair<std::string_view, std::string_view>> parameters) {
  std::string target(path);
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    target.push_back(std::exchange(separator, '&'));
    target.append(name).append("=").append(PercentEncode(value));
  }
  return target;
}

}  // namespace berth::host

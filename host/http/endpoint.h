// Where a server is, and how a connection to it is made and trusted; and the texts of URLs.
#ifndef BERTH_HOST_HTTP_ENDPOINT_H_
#define BERTH_HOST_HTTP_ENDPOINT_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/status.h"

namespace berth::host {

// A URL of a server or of a proxy.
struct ServerUrl {
  enum class Scheme : uint8_t { kHttp, kHttps, kSocks5 };

  Scheme scheme = Scheme::kHttps;
  std::string host;  // A name or an address; an IPv6 address without brackets.
  uint16_t port = 0;
  std::string path;  // "" or "/prefix" without a slash at its end.
  std::string user;  // The user of a proxy; empty: none. CheckEndpoint() refuses that of a server.
  std::string password;

  // Parses "https://10.0.0.1:6443/prefix". A missing port is that of the scheme, 1080 for socks5;
  // socks5h is socks5. User and password are percent-decoded. A text without a scheme is https, as
  // client-go's DefaultServerURL decides for a configuration with TLS.
  // `what` is in front of errors, such as "clusters[0].cluster.server".
  // Errors: kInvalidArgument. The message has the text as MaskUrl() returns it.
  static Result<ServerUrl> Parse(std::string_view text, std::string_view what);
  // "10.0.0.1:6443", "[::1]:6443"
  std::string HostAndPort() const;
  // Returns the URL without user and password, for messages.
  std::string ToString() const;
  // Returns whether the host is "localhost" or a loopback address.
  bool IsLoopback() const;
};

// How errors name the settings.
struct TlsTerms {
  std::string own_ca = "the CA of the kubeconfig";
  std::string set_ca = "set certificate-authority in the kubeconfig";
  std::string set_name = "set tls-server-name in the kubeconfig";  // Empty: it cannot be set.
  std::string server_name = "tls-server-name";
  std::string certificate = "client-certificate";
  std::string key = "client-key";
};

// How the server's certificate is verified. The newest content of the files is used for each new
// context; see TlsContext.
struct TlsSettings {
  std::string ca_file = {};  // Empty: `ca_pem`, or the system's certificates if that is empty too.
  std::string ca_pem = {};
  std::string server_name =
      {};                 // The name to verify and to send as SNI; empty: the host of the URL.
  bool insecure = false;  // insecure-skip-tls-verify: the certificate is not verified.
  TlsTerms terms = {};
};

struct Endpoint {
  ServerUrl server;
  TlsSettings tls;
  std::optional<ServerUrl> proxy;
};

// Returns an error for an endpoint that must not be used: a scheme that a server cannot have, a
// user or a password in the URL of the server, which no request would carry, plain HTTP through a
// proxy with https, and, unless `allow_plain_http` is set, plain HTTP to another host than this one
// or through a proxy. The error contains neither user nor password.
Status CheckEndpoint(const Endpoint& endpoint, bool allow_plain_http);

// Returns the text with every byte percent-encoded that is no letter, no digit and none of `marks`:
// by default, every byte that is not unreserved in a URL (RFC 3986).
std::string PercentEncode(std::string_view text, std::string_view marks = "-._~");

// Returns the path with the parameters. A parameter with an empty value is left out.
std::string WithQuery(
    std::string_view path,
    std::initializer_list<std::pair<std::string_view, std::string_view>> parameters);

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_ENDPOINT_H_

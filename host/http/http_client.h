// Sends the requests of plugins to any servers, over connections that no two plugins share.
#ifndef BERTH_HOST_HTTP_HTTP_CLIENT_H_
#define BERTH_HOST_HTTP_HTTP_CLIENT_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/http/endpoint.h"
#include "host/http/transport.h"

namespace berth::host {

// How a server is verified, and how the client proves who it is. The files are PEM.
struct HttpTrust {
  std::string ca_file = {};    // Empty: the CAs of the system.
  std::string cert_file = {};  // Empty: the client has no certificate.
  std::string key_file = {};
  std::string server_name = {};  // Empty: the host of the URL.

  // NOLINTNEXTLINE(modernize-use-nullptr): the check takes the comparison with 0 for a pointer.
  friend auto operator<=>(const HttpTrust&, const HttpTrust&) = default;
};

// A request with the server that it goes to.
struct HttpCall {
  ServerUrl server;  // Its path is empty: see HttpRequest::target.
  HttpTrust trust = {};
  HttpRequest request = {};
};

// Returns a call of this URL, "https://10.0.0.1:8443/score?limit=5", without verb and body.
// Errors: kInvalidArgument for a scheme other than http and https, for a user or a password, and
//         for a fragment. The message contains neither user nor password nor query.
Result<HttpCall> ParseHttpUrl(std::string_view url);

// The requests and the connections of one plugin instance.
//
// Threading: any. The destructor does not wait.
// Lifetime:  the destructor cancels the requests that are under way, and closes the connections.
class HttpSession {
 public:
  using Done = Transport::Callback;

  virtual ~HttpSession() = default;

  // Sends a request. `done` is called once, on a thread of the client or within the call; it must
  // not block. A redirect is an answer like any other. A certificate that cannot be verified
  // is kPermissionDenied. The time limit counts from the call, in real time.
  // Errors: kUnavailable if requests to kMaxHttpServers other servers are under way; `done` is not
  //         called then.
  virtual Status Send(HttpCall call, Done done) = 0;
};

// To how many servers one session has connections. Of those without a request under way, it keeps
// the ones that were used last.
inline constexpr size_t kMaxHttpServers = 16;
// How many connections a session has to each server. Further requests wait for one.
inline constexpr size_t kMaxHttpConnections = 32;

// Threading: any.
// Lifetime:  must outlive its sessions.
class HttpClient {
 public:
  virtual ~HttpClient() = default;

  virtual std::unique_ptr<HttpSession> Open() = 0;
};

// The client over sockets. It starts its thread with the first request.
class SocketHttpClient final : public HttpClient {
 public:
  struct Options {
    std::function<int64_t()> steady_ns;  // A monotonic clock. Threading: any.
    // Reads a file of HttpTrust, on the thread of the client. Errors: without the path.
    std::function<Result<std::string>(const std::string& path)> read_file;
    int64_t reread_ns = 60'000'000'000;  // How long the content of a file is used.
  };

  explicit SocketHttpClient(Options options);
  // Calls what is under way with kUnavailable, and joins the thread.
  ~SocketHttpClient() override;
  SocketHttpClient(const SocketHttpClient&) = delete;
  SocketHttpClient& operator=(const SocketHttpClient&) = delete;

  std::unique_ptr<HttpSession> Open() override;

 private:
  class Thread;
  class Connections;
  class Session;

  const std::shared_ptr<Thread> thread_;
};

// A client whose requests all fail with kUnavailable: for a host that only creates instances.
class NoHttpClient final : public HttpClient {
 public:
  std::unique_ptr<HttpSession> Open() override;
};

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_HTTP_CLIENT_H_

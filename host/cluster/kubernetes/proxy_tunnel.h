// Asks a proxy for a connection to a server.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_PROXY_TUNNEL_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_PROXY_TUNNEL_H_

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "host/base/status.h"
#include "host/cluster/kubernetes/byte_stream.h"
#include "host/cluster/kubernetes/endpoint.h"
#include "host/cluster/kubernetes/response_reader.h"

namespace berth::host {

// Sends CONNECT to a proxy with the scheme http (RFC 9110, section 9.3.6), with the user and the
// password of its URL, if it has a user, as basic authentication. After a success, the bytes of
// the stream are those of the server.
//
// Threading: that of the stream.
// Lifetime:  `stream` must outlive it. If it is destroyed before `done` is called, the stream must
//            be closed before anything else happens.
class ProxyTunnel {
 public:
  using Done = std::function<void(Status status)>;

  ProxyTunnel(ByteStream& stream, const ServerUrl& proxy, const ServerUrl& server);
  ProxyTunnel(const ProxyTunnel&) = delete;
  ProxyTunnel& operator=(const ProxyTunnel&) = delete;

  // Returns kUnsupported for a proxy with another scheme.
  static Status CheckProxy(const ServerUrl& proxy);

  // Calls `done` once, never within the call; it may destroy the tunnel and the stream.
  // Errors: kPermissionDenied: the proxy wants another user or password;
  //         kUnavailable: every other refusal, and a connection that was lost. The message names
  //         the proxy and the server.
  void Start(Done done);

 private:
  void ReadMore();
  void OnBytes(size_t size);
  void End(Status status);

  ByteStream& stream_;
  const std::string name_;  // For messages.
  std::string request_;
  uint32_t http_status_ = 0;
  std::optional<ResponseReader> reader_;
  std::array<char, 4096> buffer_;
  Done done_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_PROXY_TUNNEL_H_

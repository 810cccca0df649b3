// Asks a proxy for a connection to a server.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_HTTP_PROXY_TUNNEL_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_HTTP_PROXY_TUNNEL_H_

#include <functional>
#include <memory>

#include "host/base/status.h"
#include "host/cluster/kubernetes/http/byte_stream.h"
#include "host/cluster/kubernetes/http/endpoint.h"

namespace berth::host {

// The dialogue of a client with a proxy before the first byte of the server. The proxy looks
// the name of the server up.
//
// Threading: that of the stream.
// Lifetime:  `stream` must outlive it. If it is destroyed before `done` is called, the stream must
//            be closed before anything else happens.
class ProxyTunnel {
 public:
  using Done = std::function<void(Status status)>;

  // Returns a tunnel that is not started: CONNECT for a proxy with the scheme http or https (RFC
  // 9110, section 9.3.6), SOCKS 5 for one with the scheme socks5 (RFC 1928). With https, the stream
  // has TLS with the proxy already. A user and a password in the URL of the proxy are sent (RFC
  // 7617, RFC 1929).
  static std::unique_ptr<ProxyTunnel> Create(ByteStream& stream, const ServerUrl& proxy,
                                             const ServerUrl& server);
  virtual ~ProxyTunnel() = default;

  // Calls `done` once, never within the call; it may destroy the tunnel and the stream.
  // Errors: kPermissionDenied: the proxy wants another user or password;
  //         kUnavailable: every other refusal, and a connection that was lost. The message names
  //         the proxy and the server.
  virtual void Start(Done done) = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_HTTP_PROXY_TUNNEL_H_

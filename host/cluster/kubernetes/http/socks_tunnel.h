// A tunnel through a SOCKS proxy.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_HTTP_SOCKS_TUNNEL_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_HTTP_SOCKS_TUNNEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "host/cluster/kubernetes/http/byte_stream.h"
#include "host/cluster/kubernetes/http/endpoint.h"
#include "host/cluster/kubernetes/http/proxy_tunnel.h"

namespace berth::host {

// SOCKS 5 (RFC 1928), with a user and a password (RFC 1929) if the URL of the proxy has a user.
// Reads no byte behind the proxy's last answer.
// Threading, Lifetime: see ProxyTunnel.
class SocksTunnel final : public ProxyTunnel {
 public:
  SocksTunnel(ByteStream& stream, const ServerUrl& proxy, const ServerUrl& server);
  SocksTunnel(const SocksTunnel&) = delete;
  SocksTunnel& operator=(const SocksTunnel&) = delete;

  void Start(Done done) override;

 private:
  // A step that gets the bytes of an answer.
  using Step = void (SocksTunnel::*)(std::string_view answer);

  // Writes `bytes`, reads an answer of exactly `size` bytes, and passes it to `next`.
  void Ask(std::string bytes, size_t size, Step next);
  // Reads until the answer has `size` bytes.
  void Read(size_t size, Step next);
  void OnMethod(std::string_view answer);
  void OnUser(std::string_view answer);
  void SendTarget();
  void OnTarget(std::string_view answer);
  void OnBoundAddress(std::string_view answer);
  void End(Status status);

  ByteStream& stream_;
  const ServerUrl proxy_;
  const ServerUrl server_;
  std::string bytes_;  // To be written.
  std::array<char, 512> buffer_{};
  size_t filled_ = 0;
  Done done_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_HTTP_SOCKS_TUNNEL_H_

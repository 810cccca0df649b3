// Addresses of TCP sockets.
#ifndef BERTH_HOST_SERVE_SOCKET_ADDRESS_H_
#define BERTH_HOST_SERVE_SOCKET_ADDRESS_H_

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// An address of IPv4 or IPv6 with a port, as the functions of the system take it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  bool is_ipv6() const { return storage.ss_family == AF_INET6; }

  // Returns "127.0.0.1:80" or "[::1]:80".
  std::string ToString() const;
  // Returns whether it is in 127.0.0.0/8 or ::1, also if it is an address of IPv4 in IPv6.
  bool IsLoopback() const;
};

// Parses "127.0.0.1:80", "[::1]:80", and ":80", which is "[::]:80".
// Errors: kInvalidArgument with what was expected and found.
Result<SocketAddress> ParseSocketAddress(std::string_view text);

// Returns the address of this end of a socket.
// REQUIRES: the socket is one of IPv4 or IPv6.
SocketAddress LocalAddress(int socket);

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_SOCKET_ADDRESS_H_

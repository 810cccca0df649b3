// Addresses of TCP sockets.
#ifndef BERTH_HOST_SERVE_SOCKET_ADDRESS_H_
#define BERTH_HOST_SERVE_SOCKET_ADDRESS_H_

#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "host/base/status.h"

namespace berth::host {

using SocketAddress = boost::asio::ip::tcp::endpoint;

// Parses "127.0.0.1:80", "[::1]:80", and ":80", which is "[::]:80".
// Errors: kInvalidArgument with what was expected and found.
Result<SocketAddress> ParseSocketAddress(std::string_view text);

// Returns "127.0.0.1:80" or "[::1]:80".
std::string ToText(const SocketAddress& address);

// Returns whether it is in 127.0.0.0/8 or ::1, also if it is an address of IPv4 in IPv6.
bool IsLoopback(const SocketAddress& address);

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_SOCKET_ADDRESS_H_

#include "host/serve/socket_address.h"

#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "host/base/assert.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

std::optional<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (!IsNumber(text) || error != std::errc()) return std::nullopt;
  return port;
}

template <class T>
T CastTo(const SocketAddress& address) {
  T result{};
  std::memcpy(&result, &address.storage, sizeof(result));
  return result;
}

template <class T>
SocketAddress MakeAddress(const T& address) {
  SocketAddress result;
  std::memcpy(&result.storage, &address, sizeof(address));
  result.bytes = sizeof(address);
  return result;
}

}  // namespace

std::string SocketAddress::ToString() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto size = static_cast<socklen_t>(text.size());
  if (is_ipv6()) {
    const auto address = CastTo<sockaddr_in6>(*this);
    inet_ntop(AF_INET6, &address.sin6_addr, text.data(), size);
    return std::string("[").append(text.data()).append("]:") +
           std::to_string(ntohs(address.sin6_port));
  }
  const auto address = CastTo<sockaddr_in>(*this);
  inet_ntop(AF_INET, &address.sin_addr, text.data(), size);
  return std::string(text.data()).append(":") + std::to_string(ntohs(address.sin_port));
}

bool SocketAddress::IsLoopback() const {
  constexpr unsigned kLoopbackNet = 127;
  if (!is_ipv6()) return ntohl(CastTo<sockaddr_in>(*this).sin_addr.s_addr) >> 24 == kLoopbackNet;
  const in6_addr address = CastTo<sockaddr_in6>(*this).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return address.s6_addr[12] == kLoopbackNet;
  return IN6_IS_ADDR_LOOPBACK(&address);
}

Result<SocketAddress> ParseSocketAddress(std::string_view text) {
  const auto fail = [text] {
    return Status::InvalidArgument(
        "expected an IP address and a port, such as 127.0.0.1:10251, [::1]:10251, or :10251 for "
        "all addresses, found " +
        Quoted(text));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return fail();
  const auto port = ParsePort(text.substr(colon + 1));
  if (!port.has_value()) return fail();
  std::string host(text.substr(0, colon));
  if (host.empty()) host = "[::]";
  if (host.starts_with('[') && host.ends_with(']')) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(*port);
    const std::string inner = host.substr(1, host.size() - 2);
    if (inet_pton(AF_INET6, inner.c_str(), &address.sin6_addr) != 1) return fail();
    return MakeAddress(address);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(*port);
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return fail();
  return MakeAddress(address);
}

SocketAddress LocalAddress(int socket) {
  SocketAddress address;
  address.bytes = sizeof(address.storage);
  BERTH_ASSERT(getsockname(socket, address.get(), &address.bytes) == 0);
  return address;
}

}  // namespace berth::host

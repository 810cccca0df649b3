#include "host/serve/socket_address.h"

#include <charconv>

#include "host/base/text.h"

namespace berth::host {
namespace ip = boost::asio::ip;

Result<SocketAddress> ParseSocketAddress(std::string_view text) {
  const size_t colon = std::min(text.rfind(':'), text.size());
  const std::string_view port_text = text.substr(std::min(colon + 1, text.size()));
  uint16_t port = 0;
  const auto read = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  std::string host(text.substr(0, colon));
  const bool is_ipv6 = host.empty() || (host.starts_with('[') && host.ends_with(']'));
  if (is_ipv6) host = host.empty() ? "::" : host.substr(1, host.size() - 2);
  boost::system::error_code error;
  const ip::address address = is_ipv6 ? ip::address(ip::make_address_v6(host, error))
                                      : ip::address(ip::make_address_v4(host, error));
  // The system would also take the name of an interface, such as "fe80::1%eth0".
  const bool has_scope = host.find('%') != std::string::npos;
  if (error || has_scope || !IsNumber(port_text) || read.ec != std::errc()) {
    return Status::InvalidArgument(
        "expected an IP address and a port, such as 127.0.0.1:10251, [::1]:10251, or :10251 for "
        "all addresses, found " +
        Quoted(text));
  }
  return SocketAddress(address, port);
}

std::string ToText(const SocketAddress& address) {
  const std::string host = address.address().to_string();
  return (address.address().is_v6() ? '[' + host + ']' : host) + ':' +
         std::to_string(address.port());
}

bool IsLoopback(const SocketAddress& address) {
  const ip::address& host = address.address();
  if (!host.is_v6() || !host.to_v6().is_v4_mapped()) return host.is_loopback();
  return ip::make_address_v4(ip::v4_mapped, host.to_v6()).is_loopback();
}

}  // namespace berth::host

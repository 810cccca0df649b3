// The requests and responses of the HTTP server.
#ifndef BERTH_HOST_SERVE_HTTP_MESSAGE_H_
#define BERTH_HOST_SERVE_HTTP_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "host/base/time_units.h"

namespace berth::host {

struct ServedRequest {
  std::string method;
  std::string path;   // Decoded, without the query.
  std::string query;  // "verbose&exclude=ping", not decoded.
  std::string body;
};

struct ServedResponse {
  uint32_t status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  std::string allow = {};  // The methods that a path has, for status 405: "GET, HEAD".
};

using HttpHandler = std::function<ServedResponse(const ServedRequest& request)>;

// The limits beyond which the server closes the connection to a client.
struct HttpLimits {
  // A new connection beyond it closes another one: see HttpConnection::Importance().
  size_t connections = 64;
  size_t header_bytes = size_t{16} << 10;
  size_t body_bytes = size_t{64} << 10;
  // From the first byte of a request to its last one; also from the connection to the first byte.
  int64_t request_ns = 5 * kSecond;
  int64_t response_ns = 30 * kSecond;  // From the answer of the handler to its last byte.
  int64_t idle_ns = 90 * kSecond;      // From one request to the next one.
};

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_HTTP_MESSAGE_H_

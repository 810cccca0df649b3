// Parses requests of HTTP/1.0 and HTTP/1.1 (RFC 9112) for a server of health checks and metrics.
#ifndef BERTH_HOST_SERVE_HTTP_REQUEST_H_
#define BERTH_HOST_SERVE_HTTP_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/serve/http_message.h"

namespace berth::host {

// The state of the bytes that a client has sent so far.
struct HttpParse {
  enum class Outcome : uint8_t {
    kIncomplete,  // More bytes are needed.
    kRequest,     // `request` and the members after it are set.
    kRefused,     // The connection must be closed after an answer with `refusal` and `reason`.
  } outcome = Outcome::kIncomplete;

  ServedRequest request;
  size_t bytes = 0;  // How many of the bytes are the request. Others belong to the next one.
  bool keeps_connection = false;  // Always false for HTTP/1.0.

  // The head is complete, and the client waits for "100 Continue" before it sends the body.
  bool expects_continue = false;

  uint32_t refusal = 0;  // The status.
  std::string reason;
};

// Parses the beginning of `received`. A body needs the header Content-Length; chunked bodies are
// refused with 411.
// `is_loopback`: the client connected to a loopback address. The header Host must then be a
//                loopback name, so that a web page cannot reach the server through a name that its
//                owner points to this machine.
// A request with the header Origin, which browsers add, is refused with 403 unless it is GET or
// HEAD: no web page changes the log level, whatever address the server listens on.
HttpParse ParseHttpRequest(std::string_view received, const HttpLimits& limits, bool is_loopback);

// Returns whether `host`, a value of the header Host with or without a port, is "localhost" or an
// address of the loopback network.
bool IsLoopbackHost(std::string_view host);

// Returns DecodePercent(); nullopt also if the result has a control character.
std::optional<std::string> DecodePrintable(std::string_view text);

// Returns the standard text of a status, such as "Not Found".
std::string_view HttpReason(uint32_t status);

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_HTTP_REQUEST_H_

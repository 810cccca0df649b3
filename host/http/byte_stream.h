// A connection to a server: a TCP socket, perhaps through a proxy, perhaps with TLS.
#ifndef BERTH_HOST_HTTP_BYTE_STREAM_H_
#define BERTH_HOST_HTTP_BYTE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "host/base/status.h"
#include "host/http/endpoint.h"
#include "host/http/io_thread.h"
#include "host/http/tls_context.h"

namespace berth::host {

// Threading: the IoThread.
// Lifetime:  a callback may destroy the stream. After Close() or the destructor, no callback is
//            called. No callback is called within Write() or Read().
class ByteStream {
 public:
  using WriteDone = std::function<void(Status status)>;
  // `size` 0: the peer has closed the connection in order.
  using ReadDone = std::function<void(Status status, size_t size)>;

  virtual ~ByteStream() = default;

  // Writes all of `bytes`, which must stay valid until `done` is called. One write at a time.
  virtual void Write(std::string_view bytes, WriteDone done) = 0;
  // Reads at least one byte into `buffer`, which must stay valid until `done` is called. One read
  // at a time, also during a write.
  virtual void Read(std::span<char> buffer, ReadDone done) = 0;
  // Returns whether the peer has closed the connection, or has sent bytes that belong to no answer,
  // while it was idle. The pool checks it before it uses a connection again.
  // Must not: be called during a read.
  virtual bool IsStale() = 0;
  // Returns how many bytes have left, those of TLS included. If the number is the same after a
  // failed write, the peer has received nothing of it.
  virtual uint64_t sent_bytes() const = 0;
  // Returns the version of TLS, such as "TLS 1.3"; empty without TLS. A constant.
  virtual std::string_view tls_version() const { return {}; }
  // Closes the connection. The system still sends what was written. A second call has no effect.
  virtual void Close() = 0;
  // Closes the connection, and discards what was written and has not left this machine yet. A call
  // after Close() has no effect.
  virtual void Abort() { Close(); }
};

struct DialOptions {
  int64_t connect_timeout_ns = 30'000'000'000;    // TCP and the answer of a proxy.
  int64_t handshake_timeout_ns = 10'000'000'000;  // TLS.
  // SO_KEEPALIVE: the first probe after this time, then every interval, at most this many.
  int32_t keep_alive_idle_s = 30;
  int32_t keep_alive_interval_s = 15;
  int32_t keep_alive_probes = 3;
  // TCP_USER_TIMEOUT: how long sent bytes may stay unacknowledged. It detects a peer that died
  // while a request was under way. Unit: milliseconds.
  uint32_t user_timeout_ms = 45'000;
};

// An attempt to connect. Its destruction cancels the attempt; the callback is not called then.
class Dialing {
 public:
  virtual ~Dialing() = default;
};
using DialDone = std::function<void(Result<std::unique_ptr<ByteStream>> stream)>;
// Dial() with all but the last two parameters.
using Dialer =
    std::function<std::unique_ptr<Dialing>(std::shared_ptr<const TlsContext> tls, DialDone done)>;

// Connects to `endpoint.server`, which has passed CheckEndpoint(), and calls `done` once, never
// within the call; `done` may destroy the attempt. All addresses of the name are tried, IPv6 and
// IPv4 in the order of getaddrinfo(); the error names each of them. Each address gets an equal
// part of the time that is left, and two seconds at least. With a proxy, the proxy looks the
// name up: CONNECT for http and https, SOCKS 5 for socks5. `tls` is null for plain HTTP.
// Names are looked up on a thread of the IoThread's context, one at a time. The destructor of the
// IoThread waits for a look-up that is under way.
// Errors: kUnavailable: "dial tcp 10.0.0.1:6443: connect: connection refused";
// kPermissionDenied: see SocketStream::StartTls().
[[nodiscard]] std::unique_ptr<Dialing> Dial(IoThread& io, const Endpoint& endpoint,
                                            std::shared_ptr<const TlsContext> tls,
                                            const DialOptions& options, DialDone done);

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_BYTE_STREAM_H_

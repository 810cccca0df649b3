// A connection over a socket, with TLS if the owner starts it.
#ifndef BERTH_HOST_HTTP_SOCKET_STREAM_H_
#define BERTH_HOST_HTTP_SOCKET_STREAM_H_

#include <memory>
#include <string>

#include "host/base/file_descriptor.h"
#include "host/http/byte_stream.h"
#include "host/http/endpoint.h"
#include "host/http/io_thread.h"
#include "host/http/tls_context.h"

namespace berth::host {

// Abort() ends the connection with RST.
//
// Each write is attempted at once, so that the check of HttpRequest::may_send and the first byte
// are close together. Each read is attempted at once, too, except the first one after a write,
// which waits for the answer. Asio only waits until the socket is ready; OpenSSL reads and writes
// the socket itself.
//
// Threading: the IoThread.
class SocketStream : public ByteStream {
 public:
  // `socket` is connected and does not block. `peer` is "10.0.0.1:6443", for messages.
  static std::unique_ptr<SocketStream> Create(IoThread& io, FileDescriptor socket,
                                              std::string peer);

  // Starts TLS as the client. A second call starts TLS with the server within that with the proxy.
  // `name` is the name or the address that the certificate must have. `done` is called once, never
  // within the call.
  // Must not: be called a third time, or during a read or a write.
  // Errors: kPermissionDenied: the peer's certificate cannot be verified, or the peer refused that
  //         of the client; see DescribeTlsError(), which names `peer`. In TLS 1.3, the refusal is
  //         the error of the first read;
  //         kUnavailable: every other failure, and a connection that was lost.
  virtual void StartTls(std::shared_ptr<const TlsContext> tls, const ServerUrl& peer,
                        const std::string& name, WriteDone done) = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_SOCKET_STREAM_H_

// A small HTTP/1.1 server for health checks and metrics.
#ifndef BERTH_HOST_SERVE_HTTP_SERVER_H_
#define BERTH_HOST_SERVE_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/log.h"
#include "host/base/status.h"
#include "host/serve/http_message.h"

namespace berth::host {

// Serves on a thread of its own, which waits for all sockets. Plain HTTP, without authentication,
// so that it listens on a loopback address unless the operator names another one; the header Host
// of a request to a loopback address must be a loopback name, so that a web page cannot reach it
// through DNS. A new connection is always accepted: see HttpLimits::connections.
//
// Threading: the handler is called on the server's thread, one call at a time. It must not block on
//            the scheduling thread: it reads what other threads publish.
class HttpServer {
 public:
  // `address`: "127.0.0.1:10251", "[::1]:10251", ":10251" for all addresses; port 0 takes a free
  // one.
  // `steady_ns`: returns the monotonic time; called on the server's thread.
  // Errors: kInvalidArgument for the address;
  //         kUnavailable: "listen 127.0.0.1:10251: Address already in use".
  static Result<std::unique_ptr<HttpServer>> Listen(std::string_view address,
                                                    const HttpLimits& limits, HttpHandler handler,
                                                    std::function<int64_t()> steady_ns, Log log);
  // Ends after the answers that are under way, at most five seconds.
  ~HttpServer();

  // Returns the address with the port that the server listens on: "127.0.0.1:41234".
  const std::string& address() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_HTTP_SERVER_H_

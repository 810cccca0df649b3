// The transport over sockets.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_HTTP_TRANSPORT_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_HTTP_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/cluster/kubernetes/connection_pool.h"
#include "host/cluster/kubernetes/credentials.h"
#include "host/cluster/kubernetes/endpoint.h"
#include "host/cluster/kubernetes/io_thread.h"
#include "host/cluster/kubernetes/rate_limit.h"
#include "host/cluster/kubernetes/response_reader.h"
#include "host/cluster/kubernetes/transport.h"

namespace berth::host {

// HTTP/1.1 over one pool of connections. Every stream has a connection of its own outside the
// pool, so that a list of hundreds of megabytes delays no other request.
//
// Requests: "Host", "User-Agent", "Accept", "Authorization", "Content-Type", "Content-Length" and
//           the headers of impersonation. "Accept-Encoding" is not sent: kube-scheduler does
//           without compression too, because it costs the server more time than it saves.
// 401:      if the credential can be renewed, the transport renews it and sends the request again,
//           once. A server that answers 401 has not executed the request.
// 429:      with Retry-After, the whole transport pauses that long, with up to 10 % of jitter; the
//           caller decides whether it repeats the request.
// Limits:   see ResponseReader::Limits. An answer that exceeds one fails with kOutOfRange, and its
//           connection is closed.
// Redirects are not followed: the status is the answer.
//
// Threading: the IoThread.
// Lifetime:  what the constructor receives must outlive it. Close() must be called before it is
//            destroyed.
class HttpTransport final : public Transport {
 public:
  struct Options {
    ConnectionPool::Limits pool;
    DialOptions dial;
    ResponseReader::Limits limits;
    int64_t timeout_ns = 34'000'000'000;  // The API server's own limit of a request.
    double qps = 0;                       // 0: no limit.
    uint32_t burst = 0;
    std::string user_agent;  // "berth/0.1.0 (linux/amd64)"
  };

  // `wall` converts a Retry-After that is a date.
  HttpTransport(IoThread& io, Endpoint endpoint, CredentialSource& credentials, const Clock& wall,
                Options options, TransportObserver& observer, Log log);
  ~HttpTransport() override;
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;

  void Send(HttpRequest request, Callback done) override;
  [[nodiscard]] std::unique_ptr<HttpStream> Open(HttpRequest request, StreamSink& sink) override;
  void Close() override;

 private:
  class Exchange;  // One request on one connection, up to the end of its answer.
  class Stream;
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_HTTP_TRANSPORT_H_

// The transport over sockets.
#ifndef BERTH_HOST_HTTP_HTTP_TRANSPORT_H_
#define BERTH_HOST_HTTP_HTTP_TRANSPORT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "host/base/log.h"
#include "host/http/byte_stream.h"
#include "host/http/connection_pool.h"
#include "host/http/endpoint.h"
#include "host/http/io_thread.h"
#include "host/http/response_reader.h"
#include "host/http/tls_context.h"
#include "host/http/transport.h"

namespace berth::host {

struct HttpOptions {
  ConnectionPool::Limits pool = {};
  DialOptions dial = {};
  // `body_bytes` does not apply to streams, whose receivers have limits of their own.
  ResponseReader::Limits limits = {.body_bytes = size_t{64} << 20};
  int64_t timeout_ns = 34'000'000'000;  // The API server's own limit of a request.
  // Returns an error for an answer that the callers cannot read; it ends the request, in place of
  // the answer. Called with the whole body; for a stream whose status is 2xx, with "" at its head
  // and then with the first bytes of its body. May be empty.
  std::function<Status(const HttpHead& head, std::string_view body)> check_answer = {};
  // After 429 with Retry-After, the whole transport pauses.
  bool pauses_after_429 = true;
  double qps = 0;  // 0: no limit.
  uint32_t burst = 0;
  std::string user_agent = {};  // "berth/0.1.0 (linux/amd64)"
  uint64_t seed = 0;            // For the jitter of pauses; 0: the time of the executor.
  // Counts the requests that wait or are under way, also those of other transports. May be null;
  // must outlive the transport.
  std::atomic<size_t>* open_requests = nullptr;
};

// HTTP/1.1 over one pool of connections. Every stream has a connection of its own outside the
// pool, so that a list of hundreds of megabytes delays no other request.
//
// Requests: "Host", "User-Agent", "Accept", "Authorization", "Content-Type", "Content-Length" and
//           the headers of impersonation, and those of HttpRequest::headers. "Accept-Encoding" is
//           not sent: kube-scheduler does without compression too, because it costs the server more
//           time than it saves. A request that CheckRequest() refuses fails with its error.
// Bodies:   JSON. kube-scheduler costs the API server 2.92 ms of CPU time for each pod with JSON,
//           and 2.81 ms with protobuf, its default: 4 % more, where three runs with the same form
//           are 15 % apart (tests/bench/cluster/run.py --order AJJAAJ). A reader and a writer of
//           protobuf are worth it from a tenth on. Custom resources do not have it.
// 401:      if the credential can be renewed, the transport renews it and sends the request again,
//           once. A server that answers 401 has not executed the request. During the renewal, the
//           time limit of the request goes on; at its end, the 401 is the answer.
// 429:      with Retry-After and HttpOptions::pauses_after_429, the whole transport pauses that
//           long, one minute at most, with up to 10 % of jitter; the caller decides whether it
//           repeats the request.
// Limits:   see HttpOptions::limits. An answer that exceeds one fails with kOutOfRange, and its
//           connection is closed.
// Redirects are not followed: the status is the answer.
//
// Threading: the IoThread; the constructor and the destructor: any.
// Lifetime:  what the constructor receives must outlive it. Close() must be called before it is
//            destroyed. Its streams may be destroyed later than it, but on one thread at a time.
class HttpTransport final : public Transport {
 public:
  using Options = HttpOptions;

  HttpTransport(IoThread& io, const Endpoint& endpoint, CredentialSource& credentials,
                Options options, TransportObserver& observer, Log log);
  ~HttpTransport() override;
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;

  void Send(HttpRequest request, Callback done) override;
  [[nodiscard]] std::unique_ptr<HttpStream> Open(HttpRequest request, StreamSink& sink) override;
  void Close() override;

 private:
  // The receiver of an answer: one of the two.
  struct Receiver {
    Callback done = {};
    StreamSink* sink = nullptr;
  };
  struct Session;
  class Call;
  class Stream;

  std::shared_ptr<Call> Begin(HttpRequest request, Receiver receiver);

  IoThread& io_;
  std::shared_ptr<Session> session_;
  std::unordered_map<Call*, std::shared_ptr<Call>> calls_;
  bool is_closed_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_HTTP_TRANSPORT_H_

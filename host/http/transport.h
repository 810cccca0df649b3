// Sends HTTP requests to one server. Everything above this interface - reflectors, binder, events,
// lease, requests of plugins - is independent of sockets: tests run it over a scripted transport,
// simulations over a model of an API server with injected faults (tests/harness/api_server/).
#ifndef BERTH_HOST_HTTP_TRANSPORT_H_
#define BERTH_HOST_HTTP_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/executor.h"
#include "host/base/secret.h"
#include "host/base/status.h"

namespace berth::host {

struct HttpRequest {
  std::string verb;    // "GET", "POST", "PUT", "PATCH", "DELETE".
  std::string target;  // The path and the query. The transport adds the path of the server's URL.
  std::string body = {};
  std::string_view content_type = {};  // Empty if there is no body. Valid until the answer.
  std::string_view accept = "application/json";
  // The time from the call to the end of the answer; for a stream, to the end of the head.
  int64_t timeout_ns = 0;  // 0 selects HttpTransport::Options::timeout_ns.
  // Requests with a lower number are sent first when all connections are busy.
  uint8_t priority = 1;
  // Called on the executor's thread immediately before the first byte is written. If it returns an
  // error, no byte of the request leaves, and the answer has this error. May be empty. The binder
  // passes its fence here.
  std::function<Status()> may_send = {};
  // Further headers, as complete lines such as "X-Team: a\r\n". They must have no other line end.
  Secret headers = {};
  // The limit for the body of the answer, of whatever status. 0: those of HttpOptions::limits.
  size_t max_body_bytes = 0;
  bool takes_any_answer = false;  // HttpOptions::check_answer is not called.
};

// How far a request without an answer got.
enum class Delivery : uint8_t {
  kNotSent,   // No byte has left. The server has not executed the request.
  kUnknown,   // The server may have executed the request, or may do so later.
  kAnswered,  // The server answered; see http_status.
};

// The status line and the headers of an answer.
struct HttpHead {
  uint32_t http_status = 0;
  std::string content_type = {};
  std::string content_encoding = {};
  std::string location = {};   // May contain secrets, as every URL.
  int64_t retry_after_ns = 0;  // The header Retry-After in seconds or as a date; 0: not given.
  int64_t date_ns = 0;         // The header Date; 0: not given. Clock skew is measured with it.
  // The headers "Warning: 299", which an API server sends for deprecated requests.
  std::vector<std::string> warnings = {};
  // All headers in the order of the answer, if ResponseReader::Limits::keeps_headers is set.
  std::vector<std::pair<std::string, std::string>> headers = {};
};

struct HttpResponse {
  // Ok if the server answered, with whatever http_status. Otherwise kUnavailable (no connection, a
  // time-out, a lost connection), kPermissionDenied (the server's certificate cannot be verified,
  // the server refused that of the client, or the proxy wants another user), kUnsupported (the
  // scheme of the proxy), kInvalidArgument (the request is malformed, or the answer is not HTTP),
  // kOutOfRange (the answer exceeds a limit), or the error of HttpRequest::may_send.
  Status status = {};
  Delivery delivery = Delivery::kNotSent;
  HttpHead head = {};
  std::string body = {};
  bool is_late = false;  // The time limit of the request has ended it; `status` is kUnavailable.
  int64_t sent_ns = 0;   // Executor::NowNs() before the first byte was written; 0 if none was.
  // The version of the connection's TLS, such as "TLS 1.3"; empty without TLS, and if there is no
  // answer. A constant.
  std::string_view tls = {};

  bool is_success() const { return status.ok() && head.http_status / 100 == 2; }
};

// Receives an answer while it arrives.
// Threading: the executor's thread.
// Must not:  block.
// Lifetime:  each call may destroy the stream, and the sink with it.
class StreamSink {
 public:
  virtual ~StreamSink() = default;

  // The head has arrived. Called once, and only for a status of 2xx.
  virtual void OnHead(const HttpHead& head) = 0;
  // A part of the body, in pieces of any size. The next part is read when the call has returned.
  virtual void OnBytes(std::string_view bytes) = 0;
  // The stream has ended. Called once, last. Ok: the server ended the body as HTTP requires. For an
  // answer whose status is not 2xx, `response` has the head and the body; otherwise its body is
  // empty.
  virtual void OnEnd(HttpResponse response) = 0;
};

// A stream that is open. Its destruction closes the connection; no call to the sink follows.
class HttpStream {
 public:
  virtual ~HttpStream() = default;

  // Ends the stream with an error if no byte arrives for this long. 0: no limit. The initial limit
  // is that of the request.
  virtual void SetSilenceLimit(int64_t limit_ns) = 0;
  // While the stream is paused, nothing is read from its connection and the silence limit does not
  // apply: the server has to wait. A part that is being read still arrives, and a pause begins with
  // the end of the head at the earliest.
  virtual void SetPaused(bool is_paused) = 0;
  // Returns whether a new connection would have another client certificate or another CA than the
  // stream has: they have rotated since.
  virtual bool IsOutdated() const { return false; }
};

// Threading: one executor; every call and every callback is on its thread.
class Transport {
 public:
  using Callback = std::function<void(HttpResponse response)>;

  virtual ~Transport() = default;

  // Sends a request. `done` is called exactly once, never within the call. After Close() it is
  // called with kUnavailable.
  // The transport itself repeats a request only if no byte of it had left.
  virtual void Send(HttpRequest request, Callback done) = 0;
  // Sends a request on a connection of its own and passes its answer to the sink while it arrives.
  // Returns: never null.
  // Lifetime: the sink must outlive the stream.
  [[nodiscard]] virtual std::unique_ptr<HttpStream> Open(HttpRequest request, StreamSink& sink) = 0;
  // Completes all open requests: those without an answer with kUnavailable and their Delivery. When
  // it returns, no callback is running, and none follows, except those of later requests.
  virtual void Close() = 0;
};

// A transport and the executor that it belongs to: a way to an API server.
struct Channel {
  Transport* transport = nullptr;
  Executor* executor = nullptr;
};

// The course of one request, for metrics and for the log.
struct RequestReport {
  std::string_view verb;
  std::string_view host;
  uint32_t http_status = 0;  // 0: no answer. rest_client_requests_total has "<error>" then.
  int64_t took_ns = 0;
  int64_t waited_ns = 0;      // For a connection, or for the rate limit.
  size_t request_bytes = 0;   // The size of the body.
  size_t response_bytes = 0;  // The size of the body; 0 for a stream that succeeds.
  bool is_stream = false;
};

// Threading: the executor's thread of each transport; several transports may share an observer.
class TransportObserver {
 public:
  virtual ~TransportObserver() = default;

  virtual void OnRequest(const RequestReport& report) { static_cast<void>(report); }
  // The number of open connections has changed by `change`.
  virtual void OnConnections(int change) { static_cast<void>(change); }
};

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_TRANSPORT_H_

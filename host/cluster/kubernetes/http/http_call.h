// One call of Transport::Send() or Open(), up to its last callback.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_HTTP_HTTP_CALL_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_HTTP_HTTP_CALL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "host/base/executor.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/http/byte_stream.h"
#include "host/cluster/kubernetes/http/connection_pool.h"
#include "host/cluster/kubernetes/http/credential_source.h"
#include "host/cluster/kubernetes/http/http_exchange.h"
#include "host/cluster/kubernetes/http/http_session.h"
#include "host/cluster/kubernetes/http/transport.h"

namespace berth::host {

// Waits for the rate limit, gets a connection, runs an HttpExchange on it, and begins again if the
// credential was renewed after a 401, or if a connection of the pool turned out to be closed before
// a byte had left.
//
// Threading: the executor's thread.
// Lifetime:  the owner keeps it until `on_over` is called.
class HttpCall final : public std::enable_shared_from_this<HttpCall> {
 public:
  // The receiver of the answer: one of the two.
  struct Receiver {
    Transport::Callback done = {};
    StreamSink* sink = nullptr;
  };

  // `on_over` is called once, immediately before the last callback, or when the call is abandoned.
  HttpCall(std::shared_ptr<HttpSession> session, HttpRequest request, Receiver receiver,
           std::function<void(HttpCall& call)> on_over);
  HttpCall(const HttpCall&) = delete;
  HttpCall& operator=(const HttpCall&) = delete;

  void Start();
  // Ends the call with an error, unless it is over or has an answer already.
  void Fail(Status status);
  // Ends the call without another callback.
  void Abandon();
  // See HttpStream.
  void SetSilenceLimit(int64_t limit_ns);
  void SetPaused(bool is_paused);
  bool IsOutdated() const;

 private:
  bool is_stream() const { return receiver_.sink != nullptr; }
  bool is_success() const { return response_.head.http_status / 100 == 2; }

  void Acquire();
  void OnConnection(PooledStream connection);
  void WriteRequest();
  void OnHead(const HttpHead& head);
  void OnBody(std::string_view bytes);
  void OnEnd(HttpExchange::End end);
  void Renew();
  void OnRenewed(const Status& status);
  void WatchSilence();
  void CloseConnection();
  // As CloseConnection(), and the server must not receive a request that was written any more.
  void AbortConnection();
  // Ends everything that is under way.
  void Stop();
  void Finish(Status status, Delivery delivery);
  void Report();

  const std::shared_ptr<HttpSession> session_;
  HttpRequest request_;
  Receiver receiver_;
  const std::function<void(HttpCall& call)> on_over_;
  OwnedTimer timeout_;  // The request's own time limit; for a stream, then its silence limit.
  OwnedTimer pause_;    // Until the request may be sent.
  const int64_t limit_ns_;
  int64_t silence_limit_ns_;  // 0: none.
  const int64_t started_ns_;
  int64_t waited_ns_ = 0;
  int64_t last_bytes_ns_ = 0;
  ConnectionPool::TicketId ticket_ = 0;  // 0: does not wait for a connection of the pool.
  std::unique_ptr<Dialing> dialing_;
  std::shared_ptr<const Credential> credential_;  // The one that was sent.
  PooledStream connection_;
  std::shared_ptr<HttpExchange> exchange_;  // Uses connection_.
  HttpResponse response_;
  bool has_renewed_ = false;
  bool is_renewing_ = false;  // `response_` has the answer 401.
  bool is_paused_ = false;
  bool is_reported_ = false;
  bool is_over_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_HTTP_HTTP_CALL_H_

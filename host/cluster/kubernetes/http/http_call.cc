#include "host/cluster/kubernetes/http/http_call.h"

#include <utility>

#include "host/base/time.h"
#include "host/cluster/kubernetes/http/response_reader.h"

namespace berth::host {
namespace {

constexpr size_t kRequestBuffer = size_t{2} << 10;
constexpr size_t kStreamBuffer = size_t{8} << 10;  // Half of the largest TLS record.

}  // namespace

HttpCall::HttpCall(std::shared_ptr<HttpSession> session, HttpRequest request, Receiver receiver,
                   std::function<void(HttpCall& call)> on_over)
    : session_(std::move(session)),
      request_(std::move(request)),
      receiver_(std::move(receiver)),
      on_over_(std::move(on_over)),
      timeout_(session_->executor()),
      pause_(session_->executor()),
      limit_ns_(request_.timeout_ns > 0 ? request_.timeout_ns : session_->options().timeout_ns),
      silence_limit_ns_(limit_ns_),
      started_ns_(session_->executor().NowNs()) {}

void HttpCall::Start() {
  Status status = CheckRequest(request_);
  if (!status.ok()) {
    return pause_.StartAfter(0, [this, status] { Finish(status, Delivery::kNotSent); });
  }
  timeout_.StartAfter(limit_ns_, [this] {
    const bool is_sent = exchange_ != nullptr && exchange_->is_sent();
    Fail(Status::Unavailable((is_sent ? "no complete answer within " : "not sent within ") +
                             FormatDuration(limit_ns_)));
  });
  const int64_t wait_ns = session_->rate_limit().TakeNs(started_ns_);
  if (wait_ns == 0) return Acquire();
  pause_.StartAfter(wait_ns, [this] { Acquire(); });
}

void HttpCall::Acquire() {
  if (!is_stream()) {
    ticket_ = session_->pool().Take(request_.priority, [this](Result<PooledStream> connection) {
      ticket_ = 0;
      if (!connection.ok()) return Finish(connection.status(), Delivery::kNotSent);
      OnConnection(*std::move(connection));
    });
    return;
  }
  const std::shared_ptr<const TlsContext> tls = session_->credentials().Current()->tls;
  dialing_ = session_->dial()(tls, [this, tls](Result<std::unique_ptr<ByteStream>> stream) {
    // Lives until the end of the call of which this is the callback.
    const std::unique_ptr<Dialing> dialing = std::move(dialing_);
    if (!stream.ok()) return Finish(stream.status(), Delivery::kNotSent);
    session_->observer().OnConnections(1);
    OnConnection({.stream = *std::move(stream), .tls = tls});
  });
}

void HttpCall::OnConnection(PooledStream connection) {
  connection_ = std::move(connection);
  const int64_t now_ns = session_->executor().NowNs();
  const int64_t pause_ns = session_->rate_limit().PauseLeftNs(now_ns);
  if (pause_ns == 0) {
    waited_ns_ = now_ns - started_ns_;
    return WriteRequest();
  }
  // The pause has begun while the request was waiting for the connection.
  if (is_stream()) {
    CloseConnection();
  } else {
    session_->pool().GiveBack(std::move(connection_));
  }
  pause_.StartAfter(pause_ns, [this] { Acquire(); });
}

void HttpCall::WriteRequest() {
  credential_ = session_->credentials().Current();
  ResponseReader::Limits limits = session_->options().limits;
  if (is_stream()) limits.body_bytes = 0;
  exchange_ = std::make_shared<HttpExchange>(*connection_.stream, limits, request_,
                                             session_->Write(request_, *credential_),
                                             is_stream() ? kStreamBuffer : kRequestBuffer);
  HttpExchange::Events events = {
      .on_head = [this](const HttpHead& head) { OnHead(head); },
      .on_body = [this](std::string_view bytes) { OnBody(bytes); },
      .on_end = [this](HttpExchange::End end) { OnEnd(std::move(end)); }};
  response_ = {};
  if (request_.may_send) {
    Status status = request_.may_send();
    if (!status.ok()) {
      exchange_ = nullptr;
      if (!is_stream()) session_->pool().GiveBack(std::move(connection_));
      return Finish(std::move(status), Delivery::kNotSent);
    }
  }
  response_.sent_ns = session_->executor().NowNs();
  exchange_->Start(std::move(events));
}

void HttpCall::OnHead(const HttpHead& head) {
  response_.head = head;
  response_.tls = connection_.stream->tls_version();
  session_->LogWarnings(head);
  if (!is_stream() || !is_success()) return;
  Report();
  last_bytes_ns_ = session_->executor().NowNs();
  WatchSilence();
  exchange_->SetPaused(is_paused_);
  receiver_.sink->OnHead(head);
}

void HttpCall::OnBody(std::string_view bytes) {
  if (!is_stream() || !is_success()) {
    response_.body.append(bytes);
    return;
  }
  // The sink may destroy the stream.
  const std::shared_ptr<HttpCall> self = shared_from_this();
  receiver_.sink->OnBytes(bytes);
  // The time that the sink takes is no silence of the server.
  last_bytes_ns_ = session_->executor().NowNs();
}

void HttpCall::OnEnd(HttpExchange::End end) {
  exchange_ = nullptr;
  const bool was_idle = connection_.was_idle;
  if (end.may_reuse && !is_stream()) {
    session_->pool().GiveBack(std::move(connection_));
  } else if (end.status.ok()) {
    CloseConnection();
  } else {
    AbortConnection();
  }
  if (!end.status.ok()) {
    if (end.is_unsent && was_idle) return Acquire();
    return Finish(std::move(end.status), end.is_unsent ? Delivery::kNotSent : Delivery::kUnknown);
  }
  const HttpHead& head = response_.head;
  if (head.http_status == 401 && !has_renewed_) return Renew();
  if (head.http_status == 429 && head.retry_after_ns > 0) session_->Pause(head.retry_after_ns);
  Finish(Status::Ok(), Delivery::kAnswered);
}

void HttpCall::Renew() {
  has_renewed_ = true;
  is_renewing_ = true;
  session_->Renew(credential_->generation, [weak = weak_from_this()](const Status& status) {
    const std::shared_ptr<HttpCall> call = weak.lock();
    if (call != nullptr && !call->is_over_) call->OnRenewed(status);
  });
}

void HttpCall::OnRenewed(const Status& status) {
  if (!status.ok()) return Finish(Status::Ok(), Delivery::kAnswered);
  is_renewing_ = false;
  response_ = {};
  Acquire();
}

void HttpCall::SetSilenceLimit(int64_t limit_ns) {
  silence_limit_ns_ = limit_ns;
  // Before the head has arrived, the limit of the request applies.
  if (is_stream() && is_success() && !is_over_) WatchSilence();
}

void HttpCall::SetPaused(bool is_paused) {
  is_paused_ = is_paused;
  // Before the head has arrived, the stream is not paused.
  if (exchange_ == nullptr || !is_success() || is_over_) return;
  // The time of the pause is no silence of the server.
  last_bytes_ns_ = session_->executor().NowNs();
  WatchSilence();
  exchange_->SetPaused(is_paused);
}

bool HttpCall::IsOutdated() const {
  return connection_.stream != nullptr && connection_.tls != session_->credentials().Current()->tls;
}

void HttpCall::WatchSilence() {
  timeout_.Stop();
  if (silence_limit_ns_ == 0 || is_paused_) return;
  timeout_.StartAt(last_bytes_ns_ + silence_limit_ns_, [this] {
    const int64_t now_ns = session_->executor().NowNs();
    if (now_ns - last_bytes_ns_ < silence_limit_ns_) return WatchSilence();
    Fail(Status::Unavailable("the server sent nothing for " + FormatDuration(silence_limit_ns_)));
  });
}

void HttpCall::Fail(Status status) {
  if (is_over_) return;
  if (is_renewing_) return Finish(Status::Ok(), Delivery::kAnswered);
  const bool is_sent = exchange_ != nullptr && exchange_->is_sent();
  Finish(std::move(status), is_sent ? Delivery::kUnknown : Delivery::kNotSent);
}

void HttpCall::Abandon() {
  if (is_over_) return;
  const std::shared_ptr<HttpCall> self = shared_from_this();
  Stop();
  on_over_(*this);
}

void HttpCall::CloseConnection() {
  if (connection_.stream == nullptr) return;
  connection_.stream = nullptr;
  if (is_stream()) {
    session_->observer().OnConnections(-1);
  } else {
    session_->pool().Drop();
  }
}

void HttpCall::AbortConnection() {
  if (connection_.stream != nullptr && !is_stream()) connection_.stream->Abort();
  CloseConnection();
}

void HttpCall::Stop() {
  is_over_ = true;
  timeout_.Stop();
  pause_.Stop();
  if (ticket_ != 0) session_->pool().Cancel(std::exchange(ticket_, 0));
  dialing_ = nullptr;
  if (exchange_ != nullptr) {
    exchange_->Abandon();
    exchange_ = nullptr;
    AbortConnection();
  }
  CloseConnection();
}

void HttpCall::Finish(Status status, Delivery delivery) {
  const std::shared_ptr<HttpCall> self = shared_from_this();
  Stop();
  response_.status = std::move(status);
  response_.delivery = delivery;
  if (delivery == Delivery::kNotSent) response_.sent_ns = 0;
  Report();
  on_over_(*this);
  if (receiver_.done) {
    std::exchange(receiver_.done, nullptr)(std::move(response_));
  } else {
    receiver_.sink->OnEnd(std::move(response_));
  }
}

void HttpCall::Report() {
  if (std::exchange(is_reported_, true)) return;
  session_->observer().OnRequest({.verb = request_.verb,
                                  .host = session_->host(),
                                  .http_status = response_.head.http_status,
                                  .took_ns = session_->executor().NowNs() - started_ns_,
                                  .waited_ns = waited_ns_,
                                  .request_bytes = request_.body.size(),
                                  .response_bytes = response_.body.size(),
                                  .is_stream = is_stream()});
}

}  // namespace berth::host

#include "host/http/http_transport.h"

#include <mutex>
#include <set>
#include <utility>

#include "host/base/assert.h"
#include "host/base/split_mix.h"
#include "host/base/time.h"
#include "host/http/pacing.h"

namespace berth::host {
namespace {

constexpr size_t kMaxLoggedWarnings = 100;
constexpr size_t kRequestBuffer = size_t{2} << 10;
constexpr size_t kStreamBuffer = size_t{8} << 10;  // Half of the largest TLS record.

Status ClosedStatus() { return Status::Unavailable("the connections to the server were closed"); }

// Posts the results of renewals, as long as the transport is open.
class Gate {
 public:
  explicit Gate(Executor& executor) : executor_(&executor) {}

  void Post(Executor::Task task) {
    const std::lock_guard lock(mutex_);
    if (executor_ != nullptr) executor_->Post(std::move(task));
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    executor_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Executor* executor_;
};

// One request on one connection, up to the end of its answer. Writes the bytes of a request and
// reads its answer at the same time, because a server may answer and close the connection before it
// has read a long request.
//
// Threading: that of the stream.
// Lifetime:  `stream` must live until on_end is called, or until Abandon() and ByteStream::Close()
//            are. Each callback may call Abandon() and drop the last reference.
class HttpExchange final : public std::enable_shared_from_this<HttpExchange> {
 public:
  struct End {
    Status status = {};  // Ok: the answer is complete.
    // No byte of the request has left.
    bool is_unsent = false;
    bool may_reuse = false;  // The connection may be used for another request.
  };
  struct Events {
    std::function<void(const HttpHead& head)> on_head = {};
    std::function<void(std::string_view bytes)> on_body = {};
    std::function<void(End end)> on_end = {};  // Called once, last, never within Start().
  };

  // `bytes`: those of WriteRequest(). `buffer_bytes`: how much is read at once.
  HttpExchange(ByteStream& stream, const ResponseReader::Limits& limits, std::string_view verb,
               std::string bytes, size_t buffer_bytes)
      : stream_(stream),
        reader_(limits, verb,
                {.on_head =
                     [this](const HttpHead& head) {
                       if (!is_over_) events_.on_head(head);
                     },
                 .on_body =
                     [this](std::string_view body) {
                       if (!is_over_) events_.on_body(body);
                     }}),
        bytes_(std::move(bytes)),
        sent_before_(stream.sent_bytes()),
        buffer_bytes_(buffer_bytes),
        // Zeros would cost more than the rest of a small request.
        buffer_(std::make_unique_for_overwrite<char[]>(buffer_bytes)) {}

  // Writes the first bytes at once.
  // REQUIRES: the exchange is owned by a shared_ptr.
  void Start(Events events) {
    events_ = std::move(events);
    stream_.Write(bytes_, [self = shared_from_this()](const Status& status) {
      // After an error, the read finds an answer that explains it, or the end of the connection.
      self->is_written_ = status.ok();
    });
    ReadMore();
  }
  // Ends the exchange. No event follows.
  void Abandon() { is_over_ = true; }
  // Reads nothing more after the part that is being read, or goes on.
  void SetPaused(bool is_paused) {
    is_paused_ = is_paused;
    if (!is_paused && !is_over_ && has_stopped_) ReadMore();
  }
  // Returns whether a byte of the request has left.
  bool is_sent() const { return stream_.sent_bytes() != sent_before_; }

 private:
  void ReadMore() {
    has_stopped_ = is_paused_;
    if (is_paused_) return;
    stream_.Read({buffer_.get(), buffer_bytes_},
                 [self = shared_from_this()](Status status, size_t size) {
                   if (!self->is_over_) self->OnRead(status, size);
                 });
  }
  void OnRead(const Status& status, size_t size) {
    if (!status.ok()) return Finish({.status = status, .is_unsent = !is_sent()});
    if (size == 0) {
      Status ended = reader_.FeedEnd();
      const bool is_lost = !ended.ok();
      return Finish({.status = std::move(ended), .is_unsent = is_lost && !is_sent()});
    }
    const Result<size_t> used = reader_.Feed({buffer_.get(), size});
    if (is_over_) return;
    if (!used.ok()) return Finish({.status = used.status()});
    if (!reader_.is_complete()) return ReadMore();
    Finish({.may_reuse = is_written_ && *used == size && reader_.keeps_alive()});
  }
  void Finish(End end) {
    is_over_ = true;
    events_.on_end(std::move(end));
  }

  ByteStream& stream_;
  ResponseReader reader_;
  const std::string bytes_;
  const uint64_t sent_before_;
  const size_t buffer_bytes_;
  const std::unique_ptr<char[]> buffer_;
  Events events_;
  bool is_written_ = false;
  bool is_paused_ = false;
  bool has_stopped_ = false;  // The next read begins with the end of the pause.
  bool is_over_ = false;
};

}  // namespace

// ---- What the calls share -----------------------------------------------------------------------

// Threading: the executor's thread.
struct HttpTransport::Session {
  Session(Executor& its_executor, Dialer its_dial, const Endpoint& endpoint,
          CredentialSource& its_credentials, Options its_options, TransportObserver& its_observer,
          Log its_log)
      : executor(its_executor),
        dial(std::move(its_dial)),
        path_prefix(endpoint.server.path),
        host(endpoint.server.HostAndPort()),
        credentials(its_credentials),
        options(std::move(its_options)),
        observer(its_observer),
        log(its_log),
        rate_limit(options.qps, options.burst),
        random(options.seed != 0 ? options.seed : static_cast<uint64_t>(executor.NowNs())),
        gate(std::make_shared<Gate>(executor)),
        pool(executor, dial, credentials, options.pool, observer) {}

  // Returns the bytes of the request. REQUIRES: CheckRequest() is Ok.
  std::string Write(const HttpRequest& request, const Credential& credential) const {
    std::string headers;
    if (!options.user_agent.empty()) headers = "User-Agent: " + options.user_agent + "\r\n";
    headers.append(credential.headers.Reveal()).append(request.headers.Reveal());
    return WriteRequest(request, path_prefix, host, headers);
  }

  // Logs the warnings of an answer, each text once.
  void LogWarnings(const HttpHead& head) {
    for (const std::string& warning : head.warnings) {
      if (logged_warnings.size() >= kMaxLoggedWarnings) return;
      if (!logged_warnings.insert(warning).second) continue;
      log.Warning("The API server sent a warning", {{"warning", warning}});
    }
  }

  // Delays all requests that have not been sent: the server has answered 429 with Retry-After; see
  // LimitRetryAfterNs().
  void Pause(int64_t retry_after_ns) {
    const int64_t now_ns = executor.NowNs();
    const int64_t base_ns = LimitRetryAfterNs(retry_after_ns);
    // Clients that were refused together must not return together.
    const auto jitter_ns =
        static_cast<int64_t>(random.Next() % (static_cast<uint64_t>(base_ns) / 10 + 1));
    if (rate_limit.PauseLeftNs(now_ns) == 0) {
      log.Info("The API server asks for a pause",
               {{"server", host}, {"pause", FormatDuration(base_ns + jitter_ns)}});
    }
    rate_limit.PauseUntil(now_ns + base_ns + jitter_ns);
  }

  Executor& executor;
  const Dialer dial;
  const std::string path_prefix;
  const std::string host;
  CredentialSource& credentials;
  const Options options;
  TransportObserver& observer;
  const Log log;
  RateLimit rate_limit;
  SplitMix64 random;
  std::set<std::string> logged_warnings;
  const std::shared_ptr<Gate> gate;
  ConnectionPool pool;
};

// ---- Calls --------------------------------------------------------------------------------------

// One call of Send() or Open(), up to its last callback. Waits for the rate limit, gets a
// connection, runs an HttpExchange on it, and begins again if the credential was renewed after a
// 401, or if a connection of the pool turned out to be closed before a byte had left.
//
// Threading: the executor's thread.
// Lifetime:  the owner keeps it until `on_over` is called.
class HttpTransport::Call final : public std::enable_shared_from_this<Call> {
 public:
  // `on_over` is called once, immediately before the last callback, or when the call is abandoned.
  Call(std::shared_ptr<Session> session, HttpRequest request, Receiver receiver,
       std::function<void(Call& call)> on_over)
      : session_(std::move(session)),
        request_(std::move(request)),
        receiver_(std::move(receiver)),
        on_over_(std::move(on_over)),
        timeout_(session_->executor),
        pause_(session_->executor),
        limit_ns_(request_.timeout_ns > 0 ? request_.timeout_ns : session_->options.timeout_ns),
        silence_limit_ns_(limit_ns_),
        started_ns_(NowNs()) {}

  void Start() {
    Status status = CheckRequest(request_);
    if (!status.ok()) {
      return pause_.StartAfter(0, [this, status] { Finish(status, Delivery::kNotSent); });
    }
    timeout_.StartAfter(limit_ns_, [this] {
      response_.is_late = true;
      Fail(Status::Unavailable((is_sent() ? "no complete answer within " : "not sent within ") +
                               FormatDuration(limit_ns_)));
    });
    const int64_t wait_ns = session_->rate_limit.TakeNs(started_ns_);
    if (wait_ns == 0) return Acquire();
    pause_.StartAfter(wait_ns, [this] { Acquire(); });
  }

  // Ends the call with an error, unless it is over or has an answer already.
  void Fail(Status status) {
    if (is_over_) return;
    if (is_renewing_) {
      response_.is_late = false;
      return Finish(Status::Ok(), Delivery::kAnswered);
    }
    Finish(std::move(status), is_sent() ? Delivery::kUnknown : Delivery::kNotSent);
  }

  // Ends the call without another callback.
  void Abandon() {
    if (is_over_) return;
    const std::shared_ptr<Call> self = shared_from_this();
    Stop();
    on_over_(*this);
  }

  // See HttpStream.
  void SetSilenceLimit(int64_t limit_ns) {
    silence_limit_ns_ = limit_ns;
    // Before the head has arrived, the limit of the request applies.
    if (is_stream() && is_success() && !is_over_) WatchSilence();
  }
  void SetPaused(bool is_paused) {
    is_paused_ = is_paused;
    // Before the head has arrived, the stream is not paused.
    if (exchange_ == nullptr || !is_success() || is_over_) return;
    // The time of the pause is no silence of the server.
    last_bytes_ns_ = NowNs();
    WatchSilence();
    exchange_->SetPaused(is_paused);
  }
  bool IsOutdated() const {
    return connection_.stream != nullptr && connection_.tls != CurrentTls();
  }

 private:
  bool is_stream() const { return receiver_.sink != nullptr; }
  bool is_success() const { return response_.head.http_status / 100 == 2; }
  bool is_sent() const { return exchange_ != nullptr && exchange_->is_sent(); }
  int64_t NowNs() const { return session_->executor.NowNs(); }
  std::shared_ptr<const TlsContext> CurrentTls() const {
    return session_->credentials.Current()->tls;
  }

  void Acquire() {
    if (!is_stream()) {
      ticket_ = session_->pool.Take(request_.priority, [this](Result<PooledStream> connection) {
        ticket_ = 0;
        if (!connection.ok()) return Finish(connection.status(), Delivery::kNotSent);
        OnConnection(*std::move(connection));
      });
      return;
    }
    const std::shared_ptr<const TlsContext> tls = CurrentTls();
    dialing_ = session_->dial(tls, [this, tls](Result<std::unique_ptr<ByteStream>> stream) {
      // Lives until the end of the call of which this is the callback.
      const std::unique_ptr<Dialing> dialing = std::move(dialing_);
      if (!stream.ok()) return Finish(stream.status(), Delivery::kNotSent);
      session_->observer.OnConnections(1);
      OnConnection({.stream = *std::move(stream), .tls = tls});
    });
  }

  void OnConnection(PooledStream connection) {
    connection_ = std::move(connection);
    const int64_t now_ns = NowNs();
    const int64_t pause_ns = session_->rate_limit.PauseLeftNs(now_ns);
    if (pause_ns == 0) {
      waited_ns_ = now_ns - started_ns_;
      return WriteToConnection();
    }
    // The pause has begun while the request was waiting for the connection.
    if (is_stream()) {
      CloseConnection();
    } else {
      session_->pool.GiveBack(std::move(connection_));
    }
    pause_.StartAfter(pause_ns, [this] { Acquire(); });
  }

  void WriteToConnection() {
    credential_ = session_->credentials.Current();
    ResponseReader::Limits limits = session_->options.limits;
    if (is_stream()) limits.body_bytes = 0;
    if (request_.max_body_bytes != 0) {
      limits.body_bytes = request_.max_body_bytes;
      limits.limits_every_status = true;
    }
    exchange_ = std::make_shared<HttpExchange>(*connection_.stream, limits, request_.verb,
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
        if (!is_stream()) session_->pool.GiveBack(std::move(connection_));
        return Finish(std::move(status), Delivery::kNotSent);
      }
    }
    response_.sent_ns = NowNs();
    exchange_->Start(std::move(events));
  }

  void OnHead(const HttpHead& head) {
    response_.head = head;
    response_.tls = connection_.stream->tls_version();
    session_->LogWarnings(head);
    if (!is_stream() || !is_success()) return;
    if (!Accept("")) return;
    Report();
    last_bytes_ns_ = NowNs();
    WatchSilence();
    exchange_->SetPaused(is_paused_);
    receiver_.sink->OnHead(head);
  }

  void OnBody(std::string_view bytes) {
    if (!is_stream() || !is_success()) {
      response_.body.append(bytes);
      return;
    }
    // The sink may destroy the stream.
    const std::shared_ptr<Call> self = shared_from_this();
    if (!std::exchange(has_body_, true) && !Accept(bytes)) return;
    receiver_.sink->OnBytes(bytes);
    // The time that the sink takes is no silence of the server.
    last_bytes_ns_ = NowNs();
  }

  void OnEnd(HttpExchange::End end) {
    exchange_ = nullptr;
    const bool was_idle = connection_.was_idle;
    if (end.may_reuse && !is_stream()) {
      session_->pool.GiveBack(std::move(connection_));
    } else if (end.status.ok()) {
      CloseConnection();
    } else {
      AbortConnection();
    }
    if (!end.status.ok()) {
      if (end.is_unsent && was_idle) return Acquire();
      if (end.status.code() == ErrorCode::kInvalidArgument) {
        end.status = std::move(end.status).Annotate(session_->host);
      }
      return Finish(std::move(end.status), end.is_unsent ? Delivery::kNotSent : Delivery::kUnknown);
    }
    const HttpHead& head = response_.head;
    if (head.http_status == 401 && !has_renewed_) return Renew();
    const bool is_refused = head.http_status == 429 && head.retry_after_ns > 0;
    if (is_refused && session_->options.pauses_after_429) session_->Pause(head.retry_after_ns);
    const bool is_checked = is_stream() && is_success();
    if (is_checked || Accept(response_.body)) Finish(Status::Ok(), Delivery::kAnswered);
  }

  // Returns whether the receiver can read the answer. Otherwise ends the call, which may destroy
  // it.
  bool Accept(std::string_view body) {
    if (!session_->options.check_answer || request_.takes_any_answer) return true;
    Status status = session_->options.check_answer(response_.head, body);
    if (status.ok()) return true;
    response_.body.clear();
    Finish(std::move(status), Delivery::kUnknown);
    return false;
  }

  void Renew() {
    has_renewed_ = true;
    is_renewing_ = true;
    session_->credentials.Renew(credential_->generation,
                                [gate = session_->gate, weak = weak_from_this()](Status status) {
                                  gate->Post([weak, status = std::move(status)] {
                                    const std::shared_ptr<Call> call = weak.lock();
                                    if (call != nullptr && !call->is_over_) call->OnRenewed(status);
                                  });
                                });
  }

  void OnRenewed(const Status& status) {
    if (!status.ok()) return Finish(Status::Ok(), Delivery::kAnswered);
    is_renewing_ = false;
    response_ = {};
    Acquire();
  }

  void WatchSilence() {
    timeout_.Stop();
    if (silence_limit_ns_ == 0 || is_paused_) return;
    timeout_.StartAt(last_bytes_ns_ + silence_limit_ns_, [this] {
      if (NowNs() - last_bytes_ns_ < silence_limit_ns_) return WatchSilence();
      Fail(Status::Unavailable("the server sent nothing for " + FormatDuration(silence_limit_ns_)));
    });
  }

  void CloseConnection() {
    if (connection_.stream == nullptr) return;
    connection_.stream = nullptr;
    if (is_stream()) {
      session_->observer.OnConnections(-1);
    } else {
      session_->pool.Drop();
    }
  }

  // As CloseConnection(), and the server must not receive a request that was written any more.
  void AbortConnection() {
    if (connection_.stream != nullptr && !is_stream()) connection_.stream->Abort();
    CloseConnection();
  }

  // Ends everything that is under way.
  void Stop() {
    is_over_ = true;
    timeout_.Stop();
    pause_.Stop();
    if (ticket_ != 0) session_->pool.Cancel(std::exchange(ticket_, 0));
    dialing_ = nullptr;
    if (exchange_ != nullptr) {
      exchange_->Abandon();
      exchange_ = nullptr;
      AbortConnection();
    }
    CloseConnection();
  }

  void Finish(Status status, Delivery delivery) {
    const std::shared_ptr<Call> self = shared_from_this();
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

  void Report() {
    if (std::exchange(is_reported_, true)) return;
    session_->observer.OnRequest({.verb = request_.verb,
                                  .host = session_->host,
                                  .http_status = response_.head.http_status,
                                  .took_ns = NowNs() - started_ns_,
                                  .waited_ns = waited_ns_,
                                  .request_bytes = request_.body.size(),
                                  .response_bytes = response_.body.size(),
                                  .is_stream = is_stream()});
  }

  const std::shared_ptr<Session> session_;
  HttpRequest request_;
  Receiver receiver_;
  const std::function<void(Call& call)> on_over_;
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
  bool has_body_ = false;     // A byte of the body of a stream has arrived.
  bool is_renewing_ = false;  // `response_` has the answer 401.
  bool is_paused_ = false;
  bool is_reported_ = false;
  bool is_over_ = false;
};

// ---- HttpTransport ------------------------------------------------------------------------------

class HttpTransport::Stream final : public HttpStream {
 public:
  explicit Stream(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  ~Stream() override { call_->Abandon(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void SetSilenceLimit(int64_t limit_ns) override { call_->SetSilenceLimit(limit_ns); }
  void SetPaused(bool is_paused) override { call_->SetPaused(is_paused); }
  bool IsOutdated() const override { return call_->IsOutdated(); }

 private:
  const std::shared_ptr<Call> call_;
};

HttpTransport::HttpTransport(IoThread& io, const Endpoint& endpoint, CredentialSource& credentials,
                             Options options, TransportObserver& observer, Log log)
    : io_(io) {
  Dialer dial = [&io, endpoint, dial_options = options.dial](std::shared_ptr<const TlsContext> tls,
                                                             DialDone done) {
    return Dial(io, endpoint, std::move(tls), dial_options, std::move(done));
  };
  session_ = std::make_shared<Session>(io, std::move(dial), endpoint, credentials,
                                       std::move(options), observer, log);
}

HttpTransport::~HttpTransport() { BERTH_ASSERT(is_closed_); }

void HttpTransport::Send(HttpRequest request, Callback done) {
  BERTH_ASSERT(done != nullptr);
  Begin(std::move(request), {.done = std::move(done)});
}

std::unique_ptr<HttpStream> HttpTransport::Open(HttpRequest request, StreamSink& sink) {
  return std::make_unique<Stream>(Begin(std::move(request), {.sink = &sink}));
}

std::shared_ptr<HttpTransport::Call> HttpTransport::Begin(HttpRequest request, Receiver receiver) {
  if (is_closed_) {
    auto call =
        std::make_shared<Call>(session_, std::move(request), std::move(receiver), [](Call&) {});
    // Fails the call later, without a timer, because none may remain when the thread has ended. The
    // transport keeps no calls any more: the task keeps this one.
    io_.Post([call] { call->Fail(ClosedStatus()); });
    return call;
  }
  std::atomic<size_t>* const open = session_->options.open_requests;
  if (open != nullptr) ++*open;
  auto call = std::make_shared<Call>(session_, std::move(request), std::move(receiver),
                                     [this, open](Call& over) {
                                       if (open != nullptr) --*open;
                                       calls_.erase(&over);
                                     });
  calls_.emplace(call.get(), call);
  call->Start();
  return call;
}

void HttpTransport::Close() {
  BERTH_ASSERT(io_.IsCurrent());
  is_closed_ = true;
  while (!calls_.empty()) {
    const std::shared_ptr<Call> call = calls_.begin()->second;
    call->Fail(ClosedStatus());
  }
  session_->gate->Close();
  session_->pool.Close();
}

}  // namespace berth::host

#include "tests/harness/api_server/faulty_transport.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "host/base/assert.h"
#include "tests/harness/api_server/api_model.h"
#include "tests/harness/api_server/model_answers.h"

namespace berth::host {
namespace {

constexpr size_t kMostPieces = 8;

}  // namespace

enum class FaultyTransport::Fate : uint8_t {
  kNone,
  kRefused,
  kLostBefore,
  kLostAfter,
  kDuplicated,
  kLate,
  k429,
  k500,
  k503,
  kTruncated
};

// One request.
struct FaultyTransport::Exchange {
  explicit Exchange(Executor& executor) : limit(executor) {}

  uint64_t id = 0;
  HttpRequest request;
  Callback done;
  Fate fate = Fate::kNone;
  bool has_retry_after = false;
  bool was_sent = false;
  int64_t sent_ns = 0;
  OwnedTimer limit;
};

// The requests that were sent and that the server has not executed yet, by their order.
struct FaultyTransport::OnTheWay {
  uint64_t last = 0;
  std::map<uint64_t, std::function<void()>> executions;
};

// ---- Streams ------------------------------------------------------------------------------------

class FaultyTransport::Stream final : public HttpStream, private StreamSink {
 public:
  Stream(FaultyTransport& owner, HttpRequest request, StreamSink& sink)
      : owner_(owner),
        id_(++owner.last_),
        request_(std::move(request)),
        sink_(sink),
        is_watch_(ApiModel::IsWatch(request_)),
        limit_ns_(request_.timeout_ns > 0 ? request_.timeout_ns
                                          : owner.options_.default_timeout_ns),
        timer_(*owner.options_.client),
        limit_(*owner.options_.client) {
    owner_.streams_.emplace(id_, this);
    timer_.StartAfter(owner_.Delay(), [this] { Begin(); });
    limit_.StartAfter(limit_ns_, [this] { OnLimit(); });
  }
  ~Stream() override {
    *alive_ = false;
    owner_.streams_.erase(id_);
  }

  void SetSilenceLimit(int64_t limit_ns) override {
    limit_ns_ = limit_ns;
    if (has_head_) StartLimit();
  }

  void SetPaused(bool is_paused) override {
    is_paused_ = is_paused;
    if (!has_head_ || is_over_) return;
    StartLimit();
    if (!is_paused && !parts_.empty()) timer_.StartAt(parts_.front().due_ns, [this] { Deliver(); });
  }

  // The connection ends. The client notices later.
  void Cut() {
    if (is_over_) return;
    inner_.reset();
    parts_.clear();
    PushEnd(NoAnswer(was_sent_ ? Delivery::kUnknown : Delivery::kNotSent, "connection reset"));
  }
  // Ends without a call of the sink.
  void Abandon() {
    is_over_ = true;
    inner_.reset();
    parts_.clear();
    timer_.Stop();
    limit_.Stop();
  }
  // Ends within the call.
  void Finish(HttpResponse response) {
    if (is_over_) return;
    Abandon();
    sink_.OnEnd(std::move(response));
  }

 private:
  // A piece of the answer that arrives as a whole: the head, bytes, or the end.
  struct Part {
    int64_t due_ns = 0;
    std::optional<HttpHead> head = {};
    std::string bytes = {};
    std::optional<HttpResponse> end = {};
  };

  void Begin() {
    const Fate fate = owner_.Draw(request_);
    if (fate == Fate::kRefused) return Finish(NoAnswer(Delivery::kNotSent, "connection refused"));
    if (request_.may_send) {
      HttpResponse refused;
      refused.status = request_.may_send();
      if (!refused.status.ok()) return Finish(std::move(refused));
    }
    was_sent_ = true;
    if (owner_.options_.audit != nullptr) owner_.options_.audit->OnSent(request_);
    has_faults_ = owner_.HasFaults(request_);
    switch (fate) {
      case Fate::k429: return PushEnd(owner_.RefusalWith(429, owner_.random_.OneIn(2)));
      case Fate::k500: return PushEnd(owner_.RefusalWith(500, false));
      case Fate::k503: return PushEnd(owner_.RefusalWith(503, owner_.random_.OneIn(2)));
      case Fate::kLostBefore:
      case Fate::kLostAfter:
        // The limit ends the stream otherwise.
        if (owner_.random_.OneIn(2)) PushEnd(NoAnswer(Delivery::kUnknown, "connection reset"));
        return;
      default: break;
    }
    if (is_watch_ && has_faults_ && owner_.random_.Percent(owner_.faults_.gone)) return PushGone();
    if (is_watch_ && has_faults_ && owner_.random_.Percent(owner_.faults_.early_end)) {
      PushHead(EmptyAnswer().head);
      return PushEnd(EmptyAnswer());
    }
    is_truncated_ = fate == Fate::kTruncated;
    int64_t delay_ns = owner_.Delay();
    if (fate == Fate::kLate) delay_ns += owner_.random_.Between(0, owner_.faults_.max_late_ns);
    Executor& server = *owner_.options_.server;
    server.StartTimer(server.NowNs() + delay_ns, [this, alive = alive_] {
      if (!*alive || is_over_) return;
      HttpRequest request = request_;
      request.may_send = nullptr;
      inner_ = owner_.inner_.Open(std::move(request), *this);
    });
  }

  // ---- From the server
  void OnHead(const HttpHead& head) override { PushHead(head); }
  void OnBytes(std::string_view bytes) override {
    while (!bytes.empty() && !is_detached_) {
      const size_t line_end = is_watch_ ? bytes.find('\n') : bytes.npos;
      const size_t size = line_end == bytes.npos ? bytes.size() : line_end + 1;
      Take(std::string(bytes.substr(0, size)));
      bytes.remove_prefix(size);
    }
    if (is_detached_) inner_.reset();
  }
  void OnEnd(HttpResponse response) override {
    if (!is_detached_) PushEnd(std::move(response));
  }

  // Passes a part on, with faults. Sets is_detached_ if nothing more comes from the server.
  void Take(std::string bytes) {
    if (!has_faults_ && !is_truncated_) return PushBytes(std::move(bytes), 0);
    const TransportFaults& faults = owner_.faults_;
    Random& random = owner_.random_;
    if (is_truncated_ || random.Percent(faults.cut)) {
      is_detached_ = true;
      bytes.resize(random.Below(bytes.size()));
      PushBytes(std::move(bytes), 0);
      return PushEnd(NoAnswer(Delivery::kUnknown, "connection reset"));
    }
    if (random.Percent(faults.stalled)) {
      is_detached_ = true;
      bytes.resize(random.Below(bytes.size()));
      return PushBytes(std::move(bytes), 0);
    }
    if (is_watch_ && random.Percent(faults.gone)) {
      is_detached_ = true;
      PushBytes(GoneLine(), 0);
      return PushEnd(EmptyAnswer());
    }
    if (is_watch_ && random.Percent(faults.foreign_line)) {
      PushBytes("{\"type\":\"PATCHED\",\"object\":{\"kind\":\"New\",\"metadata\":{}},\"x\":[{}]}\n",
                0);
    }
    const int64_t late_ns =
        random.Percent(faults.slow) ? random.Between(0, faults.max_late_ns) : int64_t{0};
    const bool is_doubled = is_watch_ && random.Percent(faults.doubled);
    if (is_doubled) PushBytes(bytes, late_ns);
    if (random.Percent(faults.chopped)) return PushPieces(bytes, late_ns);
    PushBytes(std::move(bytes), late_ns);
  }
  void PushPieces(std::string_view bytes, int64_t late_ns) {
    for (size_t left = kMostPieces; !bytes.empty(); --left) {
      const size_t size = left <= 1 ? bytes.size() : 1 + owner_.random_.Below(bytes.size());
      PushBytes(std::string(bytes.substr(0, size)), late_ns / static_cast<int64_t>(kMostPieces));
      bytes.remove_prefix(size);
    }
  }

  static std::string GoneLine() {
    return R"({"type":"ERROR","object":)" + GoneAnswer().body + "}\n";
  }
  void PushGone() {
    if (owner_.random_.OneIn(2)) return PushEnd(GoneAnswer());
    PushHead(EmptyAnswer().head);
    PushBytes(GoneLine(), 0);
    PushEnd(EmptyAnswer());
  }

  // ---- To the client
  void PushHead(const HttpHead& head) { Push({.head = head}, 0); }
  void PushBytes(std::string bytes, int64_t late_ns) {
    if (!bytes.empty()) Push({.bytes = std::move(bytes)}, late_ns);
  }
  void PushEnd(HttpResponse response) { Push({.end = std::move(response)}, 0); }
  void Push(Part part, int64_t late_ns) {
    if (is_over_) return;
    last_due_ns_ =
        std::max(last_due_ns_, owner_.options_.client->NowNs() + owner_.Delay() + late_ns);
    part.due_ns = last_due_ns_;
    parts_.push_back(std::move(part));
    if (parts_.size() == 1) timer_.StartAt(last_due_ns_, [this] { Deliver(); });
  }
  void Deliver() {
    const std::shared_ptr<const bool> alive = alive_;
    while (!IsHeld() && !parts_.empty() &&
           parts_.front().due_ns <= owner_.options_.client->NowNs()) {
      Part part = std::move(parts_.front());
      parts_.pop_front();
      if (part.end) return Finish(*std::move(part.end));
      if (part.head) {
        has_head_ = true;
        sink_.OnHead(*part.head);
      } else {
        sink_.OnBytes(part.bytes);
      }
      if (!*alive || is_over_) return;
      StartLimit();
    }
    if (!IsHeld() && !parts_.empty()) timer_.StartAt(parts_.front().due_ns, [this] { Deliver(); });
  }

  // A pause begins with the end of the head.
  bool IsHeld() const { return is_paused_ && has_head_; }
  void StartLimit() {
    limit_.Stop();
    if (limit_ns_ > 0 && !is_over_ && !IsHeld())
      limit_.StartAfter(limit_ns_, [this] { OnLimit(); });
  }
  void OnLimit() {
    Finish(NoAnswer(was_sent_ ? Delivery::kUnknown : Delivery::kNotSent,
                    has_head_ ? "no byte has arrived in time" : "time-out"));
  }

  FaultyTransport& owner_;
  const uint64_t id_;
  const HttpRequest request_;
  StreamSink& sink_;
  const bool is_watch_;
  int64_t limit_ns_;
  OwnedTimer timer_;  // For the connection, then for the first part.
  OwnedTimer limit_;
  std::deque<Part> parts_;
  int64_t last_due_ns_ = 0;
  bool was_sent_ = false;
  bool has_head_ = false;
  bool is_paused_ = false;
  bool has_faults_ = false;
  bool is_truncated_ = false;
  bool is_detached_ = false;  // Nothing that the server sends arrives any more.
  bool is_over_ = false;
  std::unique_ptr<HttpStream> inner_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// ---- The transport ------------------------------------------------------------------------------

FaultyTransport::FaultyTransport(Transport& inner, const Options& options)
    : inner_(inner),
      options_(options),
      random_(options.seed),
      on_the_way_(std::make_shared<OnTheWay>()) {}

FaultyTransport::~FaultyTransport() {
  BERTH_ASSERT_MSG(streams_.empty(), "%zu streams outlive their transport", streams_.size());
  EndProcess();
}

FaultyTransport::Fate FaultyTransport::Draw(const HttpRequest& request) {
  if (!HasFaults(request)) return Fate::kNone;
  const std::pair<uint32_t, Fate> fates[] = {{faults_.refused, Fate::kRefused},
                                             {faults_.lost_before, Fate::kLostBefore},
                                             {faults_.lost_after, Fate::kLostAfter},
                                             {faults_.duplicated, Fate::kDuplicated},
                                             {faults_.late, Fate::kLate},
                                             {faults_.status_429, Fate::k429},
                                             {faults_.status_500, Fate::k500},
                                             {faults_.status_503, Fate::k503},
                                             {faults_.truncated, Fate::kTruncated}};
  size_t left = random_.Below(100);
  for (const auto& [percent, fate] : fates) {
    if (left < percent) return fate;
    left -= percent;
  }
  return Fate::kNone;
}

HttpResponse FaultyTransport::RefusalWith(uint32_t http_status, bool has_retry_after) {
  HttpResponse response = StatusAnswer(http_status, "", "injected");
  if (has_retry_after) response.head.retry_after_ns = random_.Between(1, 5) * kSecond;
  return response;
}

void FaultyTransport::Send(HttpRequest request, Callback done) {
  if (has_ended_) return;
  if (is_closed_) {
    return options_.client->Post([done = std::move(done)] {
      done(NoAnswer(Delivery::kNotSent, "the transport was closed"));
    });
  }
  const auto exchange = std::make_shared<Exchange>(*options_.client);
  exchange->id = ++last_;
  exchange->done = std::move(done);
  exchange->fate = Draw(request);
  exchange->has_retry_after = random_.OneIn(2);
  const int64_t limit_ns =
      request.timeout_ns > 0 ? request.timeout_ns : options_.default_timeout_ns;
  exchange->request = std::move(request);
  open_.emplace(exchange->id, exchange);
  const std::weak_ptr<Exchange> weak = exchange;
  exchange->limit.StartAfter(limit_ns, [this, weak] {
    const ExchangeRef late = weak.lock();
    if (late == nullptr) return;
    Complete(late, NoAnswer(late->was_sent ? Delivery::kUnknown : Delivery::kNotSent, "time-out"));
  });
  options_.client->StartTimer(options_.client->NowNs() + Delay(), [this, alive = alive_, exchange] {
    if (*alive && open_.contains(exchange->id)) Write(exchange);
  });
}

void FaultyTransport::Write(const ExchangeRef& exchange) {
  if (exchange->fate == Fate::kRefused) {
    return Complete(exchange, NoAnswer(Delivery::kNotSent, "connection refused"));
  }
  if (exchange->request.may_send) {
    HttpResponse refused;
    refused.status = exchange->request.may_send();
    if (!refused.status.ok()) return Complete(exchange, std::move(refused));
  }
  exchange->was_sent = true;
  exchange->sent_ns = options_.client->NowNs();
  if (options_.audit != nullptr) options_.audit->OnSent(exchange->request);
  int64_t delay_ns = Delay();
  const bool is_executed = random_.OneIn(2);
  switch (exchange->fate) {
    case Fate::k429:
      return AnswerAfter(exchange, delay_ns, RefusalWith(429, exchange->has_retry_after));
    case Fate::k500:
      if (is_executed) break;
      return AnswerAfter(exchange, delay_ns, RefusalWith(500, false));
    case Fate::k503:
      if (is_executed && !exchange->has_retry_after) break;
      return AnswerAfter(exchange, delay_ns, RefusalWith(503, exchange->has_retry_after));
    case Fate::kLostBefore:
      // The limit ends the request otherwise.
      if (!is_executed) {
        AnswerAfter(exchange, delay_ns, NoAnswer(Delivery::kUnknown, "connection reset"));
      }
      return;
    case Fate::kLate: delay_ns += random_.Between(0, faults_.max_late_ns); break;
    default: break;
  }
  Execute(exchange, delay_ns);
}

void FaultyTransport::Execute(const ExchangeRef& exchange, int64_t delay_ns) {
  const uint64_t number = ++on_the_way_->last;
  HttpRequest request = exchange->request;
  request.may_send = nullptr;
  on_the_way_->executions[number] = [this, alive = alive_, &inner = inner_, exchange,
                                     audit = options_.audit, request] {
    inner.Send(request, [this, alive, exchange, audit, request](HttpResponse response) {
      if (audit != nullptr) audit->OnExecuted(request, response);
      if (*alive) OnExecuted(exchange, std::move(response));
    });
  };
  Executor& server = *options_.server;
  server.StartTimer(server.NowNs() + delay_ns, [on_the_way = on_the_way_, number] {
    const auto execution = on_the_way->executions.extract(number);
    if (!execution.empty()) execution.mapped()();
  });
}

void FaultyTransport::OnExecuted(const ExchangeRef& exchange, HttpResponse response) {
  const Fate fate = std::exchange(exchange->fate, Fate::kNone);
  const bool is_quick = random_.OneIn(2);
  switch (fate) {
    case Fate::kLostAfter:
      if (!is_quick) return;
      response = NoAnswer(Delivery::kUnknown, "connection reset");
      break;
    case Fate::k500: response = RefusalWith(500, false); break;
    case Fate::k503: response = RefusalWith(503, false); break;
    case Fate::kTruncated:
      if (is_quick) {
        response = NoAnswer(Delivery::kUnknown, "the answer ended too early");
      } else {
        response.body.resize(random_.Below(response.body.size() + 1));
      }
      break;
    case Fate::kDuplicated: Repeat(exchange->request); break;
    default: break;
  }
  AnswerAfter(exchange, Delay(), std::move(response));
}

// Executes the request again. Its second answer is dropped.
void FaultyTransport::Repeat(const HttpRequest& request) {
  const auto repetition = std::make_shared<Exchange>(*options_.client);
  repetition->request = request;
  Execute(repetition, random_.Between(0, faults_.max_late_ns));
}

void FaultyTransport::AnswerAfter(const ExchangeRef& exchange, int64_t delay_ns,
                                  HttpResponse response) {
  options_.client->StartTimer(options_.client->NowNs() + delay_ns,
                              [this, alive = alive_, exchange, response = std::move(response)] {
                                if (*alive) Complete(exchange, response);
                              });
}

void FaultyTransport::Complete(const ExchangeRef& exchange, HttpResponse response) {
  if (open_.erase(exchange->id) == 0) return;
  exchange->limit.Stop();
  response.sent_ns = exchange->sent_ns;
  const Callback done = std::move(exchange->done);
  done(std::move(response));
}

void FaultyTransport::SettleOnTheWay() {
  for (const auto& [number, execute] : std::exchange(on_the_way_->executions, {})) {
    if (random_.OneIn(2)) execute();
  }
}

void FaultyTransport::CutEverything() {
  SettleOnTheWay();
  const std::map<uint64_t, ExchangeRef> open = open_;
  for (const auto& [id, exchange] : open) {
    if (!exchange->was_sent) continue;
    AnswerAfter(exchange, 0, NoAnswer(Delivery::kUnknown, "connection reset"));
  }
  for (const auto& [id, stream] : streams_) stream->Cut();
}

void FaultyTransport::EndProcess() {
  if (std::exchange(has_ended_, true)) return;
  *alive_ = false;
  for (const auto& [id, exchange] : open_) exchange->limit.Stop();
  open_.clear();
  for (const auto& [id, stream] : streams_) stream->Abandon();
  SettleOnTheWay();
}

std::unique_ptr<HttpStream> FaultyTransport::Open(HttpRequest request, StreamSink& sink) {
  auto stream = std::make_unique<Stream>(*this, std::move(request), sink);
  if (has_ended_) {
    stream->Abandon();
  } else if (is_closed_) {
    stream->Cut();
  }
  return stream;
}

void FaultyTransport::Close() {
  is_closed_ = true;
  for (const auto& [id, exchange] : std::map(open_)) {
    Complete(exchange, NoAnswer(exchange->was_sent ? Delivery::kUnknown : Delivery::kNotSent,
                                "the transport was closed"));
  }
  const std::map<uint64_t, Stream*> streams = streams_;
  for (const auto& [id, stream] : streams) {
    if (!streams_.contains(id)) continue;
    stream->Finish(NoAnswer(Delivery::kUnknown, "the transport was closed"));
  }
}

}  // namespace berth::host

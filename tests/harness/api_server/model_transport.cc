#include "tests/harness/api_server/model_transport.h"

#include <string>
#include <utility>

#include "host/base/assert.h"
#include "tests/harness/api_server/model_answers.h"

namespace berth::host {
namespace {

HttpResponse ClosedAnswer(Delivery delivery) {
  return NoAnswer(delivery, "the transport was closed");
}

}  // namespace

// ---- Streams ------------------------------------------------------------------------------------

class ModelTransport::Stream final : public HttpStream {
 public:
  Stream(ModelTransport& owner, HttpRequest request, StreamSink& sink)
      : owner_(owner),
        id_(++owner.last_),
        request_(std::move(request)),
        sink_(sink),
        timer_(owner.executor_) {
    owner_.streams_.emplace(id_, this);
    timer_.StartAfter(0, [this] { Begin(); });
  }
  ~Stream() override {
    *alive_ = false;
    owner_.streams_.erase(id_);
  }

  // The model is never silent for longer than the time between two bookmarks.
  void SetSilenceLimit(int64_t /*limit_ns*/) override {}

  void SetPaused(bool is_paused) override {
    is_paused_ = is_paused;
    if (!is_paused && watch_ != nullptr) owner_.PumpLater();
  }

  void Begin() {
    if (owner_.is_closed_) return End(ClosedAnswer(Delivery::kNotSent));
    if (request_.may_send) {
      if (Status status = request_.may_send(); !status.ok()) {
        HttpResponse refused;
        refused.status = std::move(status);
        return End(std::move(refused));
      }
    }
    const uint64_t view = owner_.model_.ViewAfter(owner_.lag_ns_);
    HttpResponse answer{.delivery = Delivery::kAnswered};
    answer.head.http_status = 200;
    answer.sent_ns = owner_.executor_.NowNs();
    if (ApiModel::IsWatch(request_)) {
      watch_ = owner_.model_.StartWatch(request_, view, answer);
      if (watch_ == nullptr) return End(std::move(answer));
    } else {
      answer = owner_.model_.Serve(request_, view);
      if (!answer.is_success()) return End(std::move(answer));
    }
    const std::shared_ptr<const bool> alive = alive_;
    sink_.OnHead(answer.head);
    if (!*alive) return;
    if (watch_ != nullptr) return Pump();
    sink_.OnBytes(std::exchange(answer.body, {}));
    if (*alive) End(std::move(answer));
  }

  // Sends the lines that are ready.
  void Pump() {
    if (watch_ == nullptr || is_paused_) return;
    const std::string lines =
        owner_.model_.TakeLines(*watch_, owner_.model_.ViewAfter(owner_.lag_ns_));
    const bool has_ended = watch_->has_ended();
    const std::shared_ptr<const bool> alive = alive_;
    if (!lines.empty()) sink_.OnBytes(lines);
    if (!*alive) return;
    if (has_ended) return End(EmptyAnswer());
    if (const auto next = owner_.model_.NextNs(*watch_, owner_.lag_ns_)) {
      timer_.StartAt(*next, [this] { Pump(); });
    }
  }

  void End(HttpResponse response) {
    if (std::exchange(has_ended_, true)) return;
    timer_.Stop();
    watch_.reset();
    sink_.OnEnd(std::move(response));
  }

 private:
  ModelTransport& owner_;
  const uint64_t id_;
  const HttpRequest request_;
  StreamSink& sink_;
  OwnedTimer timer_;
  std::unique_ptr<ApiModel::OpenWatch> watch_;
  bool has_ended_ = false;
  bool is_paused_ = false;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// ---- The transport ------------------------------------------------------------------------------

ModelTransport::ModelTransport(ApiModel& model, Executor& executor)
    : model_(model), executor_(executor), end_listening_(model.Listen([this] { PumpLater(); })) {}

ModelTransport::~ModelTransport() {
  BERTH_ASSERT_MSG(streams_.empty(), "%zu streams outlive their transport", streams_.size());
  end_listening_();
}

void ModelTransport::SetLag(int64_t lag_ns) {
  lag_ns_ = lag_ns;
  PumpLater();
}

void ModelTransport::PumpLater() {
  if (std::exchange(is_pumping_, true)) return;
  executor_.Post([this] {
    is_pumping_ = false;
    // A stream may end others, and new ones may be opened.
    const std::map<uint64_t, Stream*> streams = streams_;
    for (const auto& [id, stream] : streams) {
      if (streams_.contains(id)) stream->Pump();
    }
  });
}

void ModelTransport::Send(HttpRequest request, Callback done) {
  const uint64_t id = ++last_;
  requests_.emplace(id, std::move(done));
  executor_.Post([this, id, request = std::move(request)] {
    const auto open = requests_.extract(id);
    if (open.empty()) return;
    const Callback answer = open.mapped();
    if (is_closed_) return answer(ClosedAnswer(Delivery::kNotSent));
    HttpResponse response;
    if (request.may_send) response.status = request.may_send();
    if (!response.status.ok()) return answer(std::move(response));
    response = model_.Serve(request, model_.ViewAfter(lag_ns_));
    response.sent_ns = executor_.NowNs();
    answer(std::move(response));
  });
}

std::unique_ptr<HttpStream> ModelTransport::Open(HttpRequest request, StreamSink& sink) {
  return std::make_unique<Stream>(*this, std::move(request), sink);
}

void ModelTransport::Close() {
  is_closed_ = true;
  for (const auto& [id, answer] : std::exchange(requests_, {})) {
    answer(ClosedAnswer(Delivery::kNotSent));
  }
  const std::map<uint64_t, Stream*> streams = streams_;
  for (const auto& [id, stream] : streams) {
    if (streams_.contains(id)) stream->End(ClosedAnswer(Delivery::kUnknown));
  }
}

}  // namespace berth::host

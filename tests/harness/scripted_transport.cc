#include "tests/harness/scripted_transport.h"

#include <utility>

#include "host/base/assert.h"

namespace berth::host {

struct ScriptedTransport::Exchange {
  HttpRequest request;
  Callback done;                           // Empty for a stream.
  StreamSink* sink = nullptr;              // Null for a request, and when the stream was destroyed.
  ScriptedTransport* transport = nullptr;  // Null when the transport was destroyed.
  HttpHead head;
  int64_t silence_limit_ns = 0;
  bool is_paused = false;
  bool is_outdated = false;
};

class ScriptedTransport::Stream final : public HttpStream {
 public:
  explicit Stream(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~Stream() override {
    exchange_->sink = nullptr;
    if (exchange_->transport != nullptr) exchange_->transport->Remove(*exchange_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void SetSilenceLimit(int64_t limit_ns) override { exchange_->silence_limit_ns = limit_ns; }
  void SetPaused(bool is_paused) override { exchange_->is_paused = is_paused; }
  bool IsOutdated() const override { return exchange_->is_outdated; }

 private:
  const std::shared_ptr<Exchange> exchange_;
};

ScriptedTransport::~ScriptedTransport() {
  for (const auto& exchange : open_) exchange->transport = nullptr;
}

std::vector<std::string> ScriptedTransport::open() const {
  std::vector<std::string> texts;
  for (const auto& exchange : open_) {
    texts.push_back(exchange->request.verb + " " + exchange->request.target);
  }
  return texts;
}

const HttpRequest& ScriptedTransport::RequestAt(size_t index) const { return At(index)->request; }

std::shared_ptr<ScriptedTransport::Exchange> ScriptedTransport::At(size_t index) const {
  BERTH_ASSERT_MSG(index < open_.size(), "there are only %zu open requests", open_.size());
  return open_[index];
}

void ScriptedTransport::Remove(const Exchange& exchange) {
  std::erase_if(open_, [&](const auto& open) { return open.get() == &exchange; });
}

void ScriptedTransport::Complete(std::shared_ptr<Exchange> exchange, HttpResponse response) {
  // `exchange` is a copy, because this removes the one of `open_`.
  Remove(*exchange);
  // The client may destroy the stream or send requests within the callback.
  if (exchange->done) {
    std::exchange(exchange->done, {})(std::move(response));
  } else if (exchange->sink != nullptr) {
    std::exchange(exchange->sink, nullptr)->OnEnd(std::move(response));
  }
}

void ScriptedTransport::Answer(size_t index, uint32_t http_status, std::string body,
                               int64_t retry_after_ns) {
  const std::shared_ptr<Exchange> exchange = At(index);
  exchange->head.http_status = http_status;
  exchange->head.content_type = "application/json";
  exchange->head.retry_after_ns = retry_after_ns;
  HttpResponse response = {.delivery = Delivery::kAnswered, .head = exchange->head};
  response.sent_ns = executor_.NowNs();
  const bool is_stream = exchange->sink != nullptr;
  if (is_stream && response.is_success()) {
    exchange->sink->OnHead(exchange->head);
    if (exchange->sink != nullptr) exchange->sink->OnBytes(body);
  } else {
    response.body = std::move(body);
  }
  Complete(exchange, std::move(response));
}

void ScriptedTransport::Lose(size_t index, Delivery delivery, Status status) {
  BERTH_ASSERT(delivery != Delivery::kAnswered && !status.ok());
  HttpResponse response = {.status = std::move(status), .delivery = delivery};
  if (delivery == Delivery::kUnknown) response.sent_ns = executor_.NowNs();
  Complete(At(index), std::move(response));
}

void ScriptedTransport::Head(size_t index) {
  const std::shared_ptr<Exchange> exchange = At(index);
  BERTH_ASSERT(exchange->sink != nullptr && exchange->head.http_status == 0);
  exchange->head.http_status = 200;
  exchange->head.content_type = "application/json";
  exchange->sink->OnHead(exchange->head);
}

void ScriptedTransport::Bytes(size_t index, std::string_view bytes) {
  const std::shared_ptr<Exchange> exchange = At(index);
  BERTH_ASSERT(exchange->sink != nullptr && exchange->head.http_status == 200);
  BERTH_ASSERT_MSG(!exchange->is_paused, "the stream is paused");
  // A copy of exactly the size, so that a sanitizer finds a client that reads past the end.
  const std::vector<char> copy(bytes.begin(), bytes.end());
  exchange->sink->OnBytes({copy.data(), copy.size()});
}

void ScriptedTransport::End(size_t index, Status status) {
  const std::shared_ptr<Exchange> exchange = At(index);
  HttpResponse response = {.status = std::move(status), .head = exchange->head};
  response.delivery = response.status.ok() ? Delivery::kAnswered : Delivery::kUnknown;
  response.sent_ns = executor_.NowNs();
  Complete(exchange, std::move(response));
}

int64_t ScriptedTransport::SilenceLimitNs(size_t index) const {
  return At(index)->silence_limit_ns;
}

bool ScriptedTransport::IsPaused(size_t index) const { return At(index)->is_paused; }

void ScriptedTransport::RotateCertificate() {
  for (const auto& exchange : open_) exchange->is_outdated = true;
}

void ScriptedTransport::Send(HttpRequest request, Callback done) {
  BERTH_ASSERT(done != nullptr);
  if (is_closed_) {
    executor_.Post([done = std::move(done)] {
      done({.status = Status::Unavailable("the transport was closed")});
    });
    return;
  }
  auto exchange = std::make_shared<Exchange>();
  exchange->request = std::move(request);
  exchange->done = std::move(done);
  exchange->transport = this;
  open_.push_back(std::move(exchange));
}

std::unique_ptr<HttpStream> ScriptedTransport::Open(HttpRequest request, StreamSink& sink) {
  auto exchange = std::make_shared<Exchange>();
  exchange->request = std::move(request);
  exchange->sink = &sink;
  exchange->transport = this;
  if (is_closed_) {
    executor_.Post([this, exchange] {
      Complete(exchange, {.status = Status::Unavailable("the transport was closed")});
    });
  } else {
    open_.push_back(exchange);
  }
  return std::make_unique<Stream>(std::move(exchange));
}

void ScriptedTransport::Close() {
  is_closed_ = true;
  while (!open_.empty()) {
    Complete(open_.front(), {.status = Status::Unavailable("the transport was closed"),
                             .delivery = Delivery::kUnknown});
  }
}

}  // namespace berth::host

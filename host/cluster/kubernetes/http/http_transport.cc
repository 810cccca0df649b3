#include "host/cluster/kubernetes/http/http_transport.h"

#include <utility>

#include "host/base/assert.h"

namespace berth::host {
namespace {

Status ClosedStatus() { return Status::Unavailable("the connections to the server were closed"); }

}  // namespace

class HttpTransport::Stream final : public HttpStream {
 public:
  explicit Stream(std::shared_ptr<HttpCall> call) : call_(std::move(call)) {}
  ~Stream() override { call_->Abandon(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void SetSilenceLimit(int64_t limit_ns) override { call_->SetSilenceLimit(limit_ns); }
  void SetPaused(bool is_paused) override { call_->SetPaused(is_paused); }
  bool IsOutdated() const override { return call_->IsOutdated(); }

 private:
  const std::shared_ptr<HttpCall> call_;
};

HttpTransport::HttpTransport(IoThread& io, Endpoint endpoint, CredentialSource& credentials,
                             Options options, TransportObserver& observer, Log log)
    : io_(io) {
  Dialer dial = [&io, endpoint, dial_options = options.dial](std::shared_ptr<const TlsContext> tls,
                                                             DialDone done) {
    return Dial(io, endpoint, std::move(tls), dial_options, std::move(done));
  };
  session_ = std::make_shared<HttpSession>(io, std::move(dial), std::move(endpoint), credentials,
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

std::shared_ptr<HttpCall> HttpTransport::Begin(HttpRequest request, HttpCall::Receiver receiver) {
  if (is_closed_) return Refuse(std::move(request), std::move(receiver));
  auto call = std::make_shared<HttpCall>(session_, std::move(request), std::move(receiver),
                                         [this](HttpCall& over) { calls_.erase(&over); });
  calls_.emplace(call.get(), call);
  call->Start();
  return call;
}

std::shared_ptr<HttpCall> HttpTransport::Refuse(HttpRequest request, HttpCall::Receiver receiver) {
  auto call = std::make_shared<HttpCall>(session_, std::move(request), std::move(receiver),
                                         [](HttpCall&) {});
  // The transport keeps no calls any more: the task keeps this one.
  io_.Post([call] { call->Fail(ClosedStatus()); });
  return call;
}

void HttpTransport::Close() {
  BERTH_ASSERT(io_.IsCurrent());
  is_closed_ = true;
  while (!calls_.empty()) {
    const std::shared_ptr<HttpCall> call = calls_.begin()->second;
    call->Fail(ClosedStatus());
  }
  session_->Close();
}

}  // namespace berth::host

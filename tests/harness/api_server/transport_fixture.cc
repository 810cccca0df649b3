#include "tests/harness/api_server/transport_fixture.h"

#include <chrono>
#include <future>
#include <utility>

#include "tests/harness/api_server/test_certificates.h"

namespace berth::host {
namespace {

constexpr std::chrono::minutes kPatience(1);

int64_t SteadyNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

TestCredentials::~TestCredentials() {
  for (const auto& done : held_) done(Status::Unavailable("the credentials were destroyed"));
  for (std::thread& thread : threads_) thread.join();
}

void TestCredentials::Set(std::string_view token, std::shared_ptr<const TlsContext> tls) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<Credential>();
  next->generation = current_ != nullptr ? current_->generation + 1 : 1;
  next->headers = Secret("Authorization: Bearer " + std::string(token) + "\r\n");
  next->tls = std::move(tls);
  current_ = std::move(next);
}

std::shared_ptr<const Credential> TestCredentials::Current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void TestCredentials::Renew(uint64_t generation, std::function<void(Status status)> done) {
  ++renewals_;
  const std::shared_ptr<const Credential> current = Current();
  if (current->generation > generation) return done(Status::Ok());
  if (!is_failing_ && !is_holding_) Set("renewed", current->tls);
  const std::lock_guard lock(mutex_);
  if (is_holding_) return held_.push_back(std::move(done));
  threads_.emplace_back([done = std::move(done), is_failing = is_failing_.load()] {
    done(is_failing ? Status::Unavailable("there is no other credential") : Status::Ok());
  });
}

void LogLines::Write(const LogRecord& record) {
  std::string line(record.message);
  for (const LogField& field : record.fields) {
    line.append(" ").append(field.key).append("=").append(field.value);
  }
  if (!record.error.empty()) line.append(" err=").append(record.error);
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
}

std::vector<std::string> LogLines::Get() const {
  const std::lock_guard lock(mutex_);
  return lines_;
}

void RecordingSink::OnHead(const HttpHead& head) {
  Record([&] {
    ++heads_;
    head_ = head;
  });
}

void RecordingSink::OnBytes(std::string_view bytes) {
  Record([&] { bytes_.append(bytes); });
}

void RecordingSink::OnEnd(HttpResponse response) {
  Record([&] {
    ++ends_;
    end_ = std::move(response);
  });
}

void RecordingSink::Record(const std::function<void()>& change) {
  std::function<void()> after;
  {
    // The test may destroy the sink when this block has ended.
    const std::lock_guard lock(mutex_);
    ++calls_;
    change();
    after = after_call_;
    changed_.notify_all();
  }
  if (after) after();
}

void RecordingSink::Wait(const std::function<bool()>& is_done) {
  std::unique_lock lock(mutex_);
  EXPECT_TRUE(changed_.wait_for(lock, kPatience, is_done)) << "the test waits for too long";
}

HttpHead RecordingSink::WaitForHead() {
  Wait([this] { return heads_ > 0; });
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(heads_, 1);
  return head_;
}

std::string RecordingSink::WaitForBytes(size_t size) {
  Wait([this, size] { return bytes_.size() >= size; });
  const std::lock_guard lock(mutex_);
  return bytes_;
}

HttpResponse RecordingSink::WaitForEnd() {
  Wait([this] { return ends_ > 0; });
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(ends_, 1);
  return end_;
}

int RecordingSink::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

TransportTest::TransportTest() : io_("berth-test", SteadyNs) {}

TransportTest::~TransportTest() = default;

void TransportTest::TearDown() {
  Disconnect();
  EXPECT_EQ(connections_, 0) << "the observer must see the end of each connection";
  for (const std::string& line : log_.Get()) {
    EXPECT_EQ(line.find("token-1"), std::string::npos) << line;
    EXPECT_EQ(line.find("renewed"), std::string::npos) << line;
  }
}

std::shared_ptr<const TlsContext> TransportTest::Tls(const TlsSettings& changes,
                                                     const ClientCertificate& certificate) {
  TlsSettings settings = changes;
  if (settings.ca_pem.empty()) settings.ca_pem = Certificates().ca_pem;
  auto context = TlsContext::Create(settings, "127.0.0.1", certificate);
  EXPECT_TRUE(context.ok()) << context.status().message();
  return *std::move(context);
}

std::string TransportTest::Url(const LoopbackServer& server, const std::string& scheme) {
  return scheme + "://127.0.0.1:" + std::to_string(server.port());
}

void TransportTest::Connect(const std::string& url, std::shared_ptr<const TlsContext> tls,
                            HttpTransport::Options options, const std::string& proxy) {
  Disconnect();
  Endpoint endpoint = {.server = *ServerUrl::Parse(url, "server"), .tls = {}, .proxy = {}};
  if (!proxy.empty()) endpoint.proxy = *ServerUrl::Parse(proxy, "proxy-url");
  credentials_ = std::make_unique<TestCredentials>(std::move(tls));
  TransportObserver& observer = *this;
  transport_ =
      std::make_unique<HttpTransport>(io_, std::move(endpoint), *credentials_, std::move(options),
                                      observer, Log(log_, "transport"));
}

void TransportTest::CloseTransport() {
  io_.RunAndWait([this] { transport_->Close(); });
}

void TransportTest::Disconnect() {
  if (transport_ == nullptr) return;
  io_.RunAndWait([this] {
    transport_->Close();
    stream_ = nullptr;
  });
  transport_ = nullptr;
  credentials_ = nullptr;
}

HttpResponse TransportTest::Send(HttpRequest request) {
  auto answer = std::make_shared<std::promise<HttpResponse>>();
  std::future<HttpResponse> received = answer->get_future();
  io_.Post([this, request = std::move(request), answer] {
    auto returned = std::make_shared<bool>(false);
    transport_->Send(request, [answer, returned](HttpResponse response) {
      EXPECT_TRUE(*returned) << "the callback was called within Send()";
      answer->set_value(std::move(response));
    });
    *returned = true;
  });
  if (received.wait_for(kPatience) != std::future_status::ready) {
    ADD_FAILURE() << "the test waits for too long";
    return {};
  }
  return received.get();
}

void TransportTest::Open(HttpRequest request, RecordingSink& sink) {
  sink.CallBeforeEnd([this] { CloseStream(); });
  io_.RunAndWait([&] { stream_ = transport_->Open(std::move(request), sink); });
}

void TransportTest::CloseStream() {
  if (io_.IsCurrent()) {
    stream_ = nullptr;
    return;
  }
  io_.RunAndWait([this] { stream_ = nullptr; });
}

void TransportTest::OnRequest(const RequestReport& report) {
  last_reported_status_ = report.http_status;
  EXPECT_GE(report.took_ns, report.waited_ns);
  EXPECT_FALSE(report.host.empty());
  ++reports_;
}

LoopbackServer::Handler AnswerInTurn(std::vector<std::string> answers, RequestLog* log) {
  auto next = std::make_shared<std::atomic<size_t>>(0);
  return [answers = std::move(answers), log, next](LoopbackServer::Peer& peer, size_t) {
    std::string request;
    while (peer.ReadRequest(request)) {
      const size_t number = (*next)++;
      if (log != nullptr) log->Add(request);
      if (number >= answers.size()) return peer.WaitForClose();
      if (!peer.Write(answers[number])) return;
    }
  };
}

void EchoFirstLines(LoopbackServer::Peer& peer, size_t /*connection*/) {
  std::string request;
  while (peer.ReadRequest(request)) {
    if (!peer.Write(HttpAnswer(200, request.substr(0, request.find("\r\n"))))) return;
  }
}

void WaitUntil(const std::function<bool()>& is_done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!is_done()) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "the test waits for too long";
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace berth::host

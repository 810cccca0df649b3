// The base of tests that send requests with an HttpTransport to a LoopbackServer.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_TRANSPORT_FIXTURE_H_
#define BERTH_TESTS_HARNESS_API_SERVER_TRANSPORT_FIXTURE_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/log.h"
#include "host/cluster/kubernetes/access/credentials.h"
#include "host/http/http_transport.h"
#include "host/http/io_thread.h"
#include "host/http/tls_context.h"
#include "host/http/transport.h"
#include "tests/harness/api_server/loopback_server.h"

namespace berth::host {

// Credentials that the test sets. Renew() sets the token "renewed", on a thread of its own.
class TestCredentials final : public CredentialSource {
 public:
  explicit TestCredentials(std::shared_ptr<const TlsContext> tls) {
    Set("token-1", std::move(tls));
  }
  ~TestCredentials() override;

  void Set(std::string_view token, std::shared_ptr<const TlsContext> tls);
  // The next calls of Renew() fail.
  void FailRenewals() { is_failing_ = true; }
  // The next calls of Renew() get no answer.
  void HoldRenewals() { is_holding_ = true; }
  int renewals() const { return renewals_; }

  std::shared_ptr<const Credential> Current() const override;
  void Renew(uint64_t generation, std::function<void(Status status)> done) override;

 private:
  mutable std::mutex mutex_;  // Guards the next three.
  std::shared_ptr<const Credential> current_;
  std::vector<std::thread> threads_;
  std::vector<std::function<void(Status status)>> held_;
  std::atomic<bool> is_failing_ = false;
  std::atomic<bool> is_holding_ = false;
  std::atomic<int> renewals_ = 0;
};

// Records what is logged. Threading: any.
class LogLines final : public LogSink {
 public:
  bool IsOn(uint32_t /*level*/) const override { return true; }
  void Write(const LogRecord& record) override;
  // Returns the records as lines such as "message key=value err=error".
  std::vector<std::string> Get() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Records the calls of a stream. Threading: the thread of the transport; Wait...(): the test.
class RecordingSink final : public StreamSink {
 public:
  RecordingSink() = default;
  ~RecordingSink() override {
    if (before_end_) before_end_();
  }
  RecordingSink(const RecordingSink&) = delete;
  RecordingSink& operator=(const RecordingSink&) = delete;

  void OnHead(const HttpHead& head) override;
  void OnBytes(std::string_view bytes) override;
  void OnEnd(HttpResponse response) override;

  // Wait until the head, at least `size` bytes, or the end have arrived; a test that waits longer
  // than a minute fails.
  HttpHead WaitForHead();
  std::string WaitForBytes(size_t size);
  HttpResponse WaitForEnd();
  int calls() const;

  // Sets a function that the destructor calls: the stream must end before its sink.
  void CallBeforeEnd(std::function<void()> function) { before_end_ = std::move(function); }
  // Sets a function that is called at the end of each call. Called before the stream is opened.
  void CallAfterEach(std::function<void()> function) { after_call_ = std::move(function); }

 private:
  void Wait(const std::function<bool()>& is_done);
  void Record(const std::function<void()>& change);

  std::function<void()> before_end_;
  std::function<void()> after_call_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int calls_ = 0;
  int heads_ = 0;
  int ends_ = 0;
  HttpHead head_;
  std::string bytes_;
  HttpResponse end_;
};

// A transport with a thread of its own.
class TransportTest : public testing::Test, protected TransportObserver {
 protected:
  TransportTest();
  ~TransportTest() override;
  // Disconnects before any destructor runs: the thread calls this object.
  void TearDown() override;

  // Returns the TLS settings with the CA of Certificates(), for 127.0.0.1.
  static std::shared_ptr<const TlsContext> Tls(const TlsSettings& changes = {},
                                               const ClientCertificate& certificate = {});
  static std::string Url(const LoopbackServer& server, const std::string& scheme = "https");

  // Replaces the transport by one to this server.
  void Connect(const std::string& url, std::shared_ptr<const TlsContext> tls,
               HttpTransport::Options options = {}, const std::string& proxy = "");
  // Connects to the server with TLS.
  void Connect(const LoopbackServer& server, HttpTransport::Options options = {}) {
    Connect(Url(server), Tls(), std::move(options));
  }
  // Closes and destroys the transport.
  void Disconnect();
  void CloseTransport();

  // Sends a request and waits for its answer.
  HttpResponse Send(HttpRequest request);
  HttpResponse Get(const std::string& target) { return Send({.verb = "GET", .target = target}); }
  // Opens the stream, which the destructor of the sink closes.
  void Open(HttpRequest request, RecordingSink& sink);
  void CloseStream();

  void OnRequest(const RequestReport& report) override;
  void OnConnections(int change) override { connections_ += change; }

  LogLines log_;  // No test may log a token.
  IoThread io_;
  std::unique_ptr<TestCredentials> credentials_;
  std::unique_ptr<HttpTransport> transport_;
  std::unique_ptr<HttpStream> stream_;  // Used on io_.
  std::atomic<int> connections_ = 0;
  std::atomic<int> reports_ = 0;
  std::atomic<uint32_t> last_reported_status_ = 0;
};

// The requests that a server received.
// Threading: any.
class RequestLog {
 public:
  void Add(std::string request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }
  std::vector<std::string> Get() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
};

// Returns a handler that answers the n-th request of the server with the n-th text. It reads later
// requests, but does not answer.
// Lifetime: `log`, if it is given, must outlive the server.
LoopbackServer::Handler AnswerInTurn(std::vector<std::string> answers, RequestLog* log = nullptr);

// Answers every request with 200 and its first line.
void EchoFirstLines(LoopbackServer::Peer& peer, size_t connection);

// Waits until `is_done` returns true; a test that waits longer than a minute fails.
void WaitUntil(const std::function<bool()>& is_done);

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_TRANSPORT_FIXTURE_H_

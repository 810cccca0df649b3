// Tests of KubernetesConnection, and of KubernetesClient over it, with a server on a socket.
#include "host/cluster/kubernetes/kubernetes_connection.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/kubernetes_client.h"
#include "host/cluster/kubernetes/write/request_bodies.h"
#include "tests/harness/api_server/loopback_server.h"
#include "tests/harness/api_server/test_certificates.h"
#include "tests/harness/api_server/transport_fixture.h"
#include "tests/harness/client_threads_fixture.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

class NoLog final : public LogSink {
 public:
  bool IsOn(uint32_t) const override { return false; }
  void Write(const LogRecord&) override {}
};

// Counts the connections that are open.
class ConnectionCounter final : public TransportObserver {
 public:
  void OnConnections(int change) override { open += change; }
  std::atomic<int> open = 0;
};

std::string Chunk(const std::string& text) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return size + text + "\r\n";
}

// Serves nodes, and answers every write with success.
void ServeRequest(LoopbackServer::Peer& peer, const std::string& request) {
  const std::string_view line = std::string_view(request).substr(0, request.find('\r'));
  if (line.find("watch=true") != line.npos) {
    std::string lines;
    for (int i = 0; i < 10; ++i) lines += NodeLine("ADDED", i, i + 1);
    lines += EndOfInitialEvents(100) + NodeLine("MODIFIED", 1, 120);
    peer.Write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: "
        "chunked\r\n\r\n" +
        Chunk(lines));
    return peer.WaitForClose();
  }
  if (line.starts_with("GET /api/v1 ")) {
    peer.Write(HttpAnswer(200, kNodeResources));
  } else if (line.find("limit=1") != line.npos) {
    peer.Write(HttpAnswer(200, kCurrentVersion));
  } else {
    peer.Write(HttpAnswer(line.starts_with("POST") ? 201 : 200, "{}"));
  }
}

void ServeNodes(LoopbackServer::Peer& peer, size_t) {
  std::string request;
  while (peer.ReadRequest(request)) ServeRequest(peer, request);
}

class KubernetesConnectionTest : public ::testing::Test {
 protected:
  static ClusterAccess AccessTo(const LoopbackServer& server) {
    ClusterAccess access;
    const Result<ServerUrl> url =
        ServerUrl::Parse("https://127.0.0.1:" + std::to_string(server.port()), "server");
    EXPECT_TRUE(url.ok());
    access.endpoint.server = *url;
    access.endpoint.tls.ca_pem = Certificates().ca_pem;
    access.auth.token = Secret("a-token");
    return access;
  }
  Result<std::unique_ptr<KubernetesConnection>> Open(const ClusterAccess& access,
                                                     ConnectionOptions options = {}) {
    Credentials::Environment environment;
    environment.steady_ns = SteadyNs;
    environment.wall_ns = [this] { return wall_.NowNs(); };
    environment.read_file = [](const std::string&) -> Result<std::string> {
      return Status::NotFound("there is no such file");
    };
    environment.run = [](const Subprocess&) -> Result<SubprocessResult> {
      return Status::NotFound("there is no plugin");
    };
    options.user_agent = "berth/test";
    return KubernetesConnection::Open(access, options, std::move(environment), observer_, log_);
  }
  void Connect(const LoopbackServer& server, const ConnectionOptions& options = {}) {
    auto connection = Open(AccessTo(server), options);
    ASSERT_TRUE(connection.ok()) << connection.status().ToString();
    connection_ = std::move(connection).value();
  }
  // Creates a client over connection_.
  void StartClient(int64_t stop_limit_ns = 20 * kSecond) {
    KubernetesClient::Options options;
    options.reads = connection_->reads();
    options.writes = connection_->writes();
    options.events = connection_->events();
    options.wall = &wall_;
    options.fence = &fence_;
    options.stop_limit_ns = stop_limit_ns;
    client_ = std::make_unique<KubernetesClient>(interner_, std::move(options), Log());
  }
  // Sends a request on the channel of leases.
  void GetLease(const std::string& name, std::function<void(const HttpResponse&)> answer) {
    const Channel leases = connection_->leases();
    leases.executor->Post([leases, name, answer = std::move(answer)] {
      HttpRequest request;
      request.verb = "GET";
      request.target = LeasePath("a", name);
      leases.transport->Send(std::move(request), answer);
    });
  }
  void Deliver(const std::function<bool()>& is_done) {
    WaitUntil([&] {
      client_->Deliver();
      return is_done();
    });
  }

  NoLog log_;
  TestClock wall_;
  Interner interner_;
  ConnectionCounter observer_;
  BindFence fence_{SteadyNs};
  std::unique_ptr<KubernetesConnection> connection_;
  std::unique_ptr<KubernetesClient> client_;
};

TEST_F(KubernetesConnectionTest, AClientWatchesAndWritesOverSockets) {
  fence_.OpenUntil(BindFence::kForever);
  LoopbackServer server({}, ServeNodes);
  Connect(server);
  StartClient();
  OrderSink sink;
  auto watch = client_->StartWatch(kNodeKind, sink);
  Requester requester(*client_);
  for (int i = 0; i < 50; ++i) requester.SendAll(i);
  bool is_refreshed = false;
  const std::array kinds = {kNodeKind};
  client_->Refresh(kinds, [&] { is_refreshed = true; });
  Deliver([&] { return is_refreshed && requester.answered == requester.sent; });
  EXPECT_TRUE(sink.is_synced);
  EXPECT_GE(sink.count, 11u);
  client_->Stop();
  watch.reset();
  EXPECT_EQ(client_->pod_counts().bound, 50u);
  EXPECT_GT(client_->event_counts().sent, 0u);
  client_.reset();
  EXPECT_GT(observer_.open, 0);
  connection_.reset();
  EXPECT_EQ(observer_.open, 0);
}

TEST_F(KubernetesConnectionTest, SendsCredentialAndTheNameOfTheProgram) {
  RequestLog log;
  LoopbackServer server({}, AnswerInTurn({HttpAnswer(200, R"({"major":"1"})")}, &log));
  Connect(server);
  HttpRequest request;
  request.verb = "GET";
  request.target = "/version";
  const HttpResponse response = connection_->SendAndWait(std::move(request));
  EXPECT_TRUE(response.is_success()) << response.status.ToString();
  EXPECT_EQ(response.body, R"({"major":"1"})");
  ASSERT_EQ(log.Get().size(), 1u);
  EXPECT_THAT(log.Get()[0], HasSubstr("Authorization: Bearer a-token\r\n"));
  EXPECT_THAT(log.Get()[0], HasSubstr("User-Agent: berth/test\r\n"));
  connection_.reset();
}

// Answers each request with the same bytes, and closes the connection.
LoopbackServer::Handler AnswerAll(std::string bytes) {
  return [bytes = std::move(bytes)](LoopbackServer::Peer& peer, size_t) {
    std::string request;
    if (peer.ReadRequest(request)) peer.Write(bytes);
  };
}

// The answers of servers that are no API server, or of proxies that change answers.
TEST_F(KubernetesConnectionTest, NamesForeignAnswers) {
  const struct {
    const char* name;
    std::string bytes;
    std::string found;
    bool is_redirection = false;
  } cases[] = {
      {"gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08",
       "expected JSON, found a body in gzip; a proxy"},
      {"gzip without a header", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08",
       "expected JSON, found a body in gzip; a proxy"},
      {"a page",
       "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>",
       "expected JSON, found an HTML page; a proxy"},
      {"protobuf",
       "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.kubernetes.protobuf\r\n"
       "Content-Length: 4\r\n\r\nabcd",
       "expected JSON, found protobuf of Kubernetes; a proxy"},
      {"protobuf without a header",
       "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + std::string("k8s\0", 4),
       "expected JSON, found protobuf of Kubernetes; a proxy"},
      {"a redirection",
       "HTTP/1.1 302 Found\r\nLocation: https://u:pw@login.example/x?token=secret\r\n"
       "Content-Length: 0\r\n\r\n",
       "found the redirection 302 to \"https://login.example/x\", which is not followed", true},
      {"a server with TLS",
       "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
       "found a server that expects TLS; use https://"},
      {"HTTP/2", std::string("\0\0\x06\x04\0\0\0\0\0\0\x04\0\x10\0\0", 15),
       "expected an HTTP/1.1 answer, found HTTP/2; use an address"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    LoopbackServer server({}, AnswerAll(c.bytes));
    const std::string address = "127.0.0.1:" + std::to_string(server.port());
    const ErrorCode code = c.is_redirection ? ErrorCode::kUnsupported : ErrorCode::kInvalidArgument;
    Connect(server);
    const HttpResponse sent = connection_->SendAndWait({.verb = "GET", .target = "/version"});
    EXPECT_EQ(sent.status.code(), code);
    EXPECT_THAT(sent.status.message(), HasSubstr(address + ": expected "));
    EXPECT_THAT(sent.status.message(), HasSubstr(c.found));
    EXPECT_THAT(sent.status.message(), ::testing::Not(HasSubstr("secret")));

    RecordingSink sink;
    const Channel reads = connection_->reads();
    std::unique_ptr<HttpStream> stream;
    reads.executor->Post(
        [&] { stream = reads.transport->Open({.verb = "GET", .target = "/api/v1/nodes"}, sink); });
    const HttpResponse streamed = sink.WaitForEnd();
    EXPECT_EQ(streamed.status, sent.status);
    connection_.reset();
    EXPECT_EQ(server.connections(), 2U) << "no redirection is followed";
  }
}

TEST_F(KubernetesConnectionTest, PluginsReceiveForeignAnswers) {
  LoopbackServer server(
      {},
      AnswerAll("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"));
  Connect(server);
  const HttpResponse response = connection_->SendAndWait(
      {.verb = "GET", .target = "/api/v1/proxy", .takes_any_answer = true});
  EXPECT_TRUE(response.is_success()) << response.status.ToString();
  EXPECT_EQ(response.body, "<html>");
}

TEST_F(KubernetesConnectionTest, GathersLongerWhileManyWritesAreOpen) {
  std::promise<void> answer;
  const std::shared_future<void> may_answer = answer.get_future().share();
  LoopbackServer server({}, [may_answer](LoopbackServer::Peer& peer, size_t) {
    std::string request;
    if (!peer.ReadRequest(request)) return;
    may_answer.wait();
    peer.Write(HttpAnswer(201, "{}"));
  });
  Connect(server);
  std::atomic<int> answered = 0;
  const auto send = [&](const Channel& channel, int count) {
    channel.executor->Post([&answered, channel, count] {
      for (int i = 0; i < count; ++i) {
        channel.transport->Send({.verb = "POST", .target = "/"},
                                [&answered](const HttpResponse&) { ++answered; });
      }
    });
  };
  EXPECT_EQ(connection_->GatherNs(), kMillisecond);
  send(connection_->reads(), 20);
  send(connection_->writes(), 5);
  send(connection_->events(), 2);
  std::promise<void> sent;
  connection_->reads().executor->Post(
      [&] { connection_->writes().executor->Post([&] { sent.set_value(); }); });
  sent.get_future().wait();
  EXPECT_EQ(connection_->GatherNs(), kMillisecond) << "7 requests that write are open";
  send(connection_->events(), 1);
  WaitUntil([&] { return connection_->GatherNs() == 4 * kMillisecond; });
  answer.set_value();
  WaitUntil([&] { return answered == 28; });
  EXPECT_EQ(connection_->GatherNs(), kMillisecond);
}

TEST_F(KubernetesConnectionTest, SendAndWaitReturnsAnAbsentServersError) {
  LoopbackServer server({}, ServeNodes);
  Connect(server);
  server.Stop();
  HttpRequest request;
  request.verb = "GET";
  request.target = "/version";
  const HttpResponse response = connection_->SendAndWait(std::move(request));
  EXPECT_EQ(response.status.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(response.delivery, Delivery::kNotSent);
}

TEST_F(KubernetesConnectionTest, AnUnreadableCredentialIsAnErrorOfOpen) {
  LoopbackServer server({}, ServeNodes);
  ClusterAccess access = AccessTo(server);
  access.auth.token_file = "/token";
  const auto connection = Open(access);
  ASSERT_FALSE(connection.ok());
  EXPECT_THAT(connection.status().message(), HasSubstr("/token"));
  EXPECT_EQ(server.connections(), 0u);
}

TEST_F(KubernetesConnectionTest, AnswersALeaseWhileOtherConnectionsStall) {
  fence_.OpenUntil(BindFence::kForever);
  LoopbackServer server({}, [](LoopbackServer::Peer& peer, size_t) {
    std::string request;
    while (peer.ReadRequest(request)) {
      // Only a lease is answered.
      if (request.find("/leases/") == request.npos) return peer.WaitForClose();
      peer.Write(HttpAnswer(200, R"({"kind":"Lease","metadata":{"namespace":"a","name":"b",)"
                                 R"("resourceVersion":"7"},"spec":{}})"));
    }
  });
  Connect(server, {.write_connections = 2});
  StartClient(/*stop_limit_ns=*/kMillisecond);
  for (int i = 0; i < 20; ++i) client_->Bind({"default", std::to_string(i), ""}, "n1", nullptr);
  std::atomic<int> answered = 0;
  for (int i = 0; i < 20; ++i) {
    GetLease("b", [&](const HttpResponse& response) { answered += response.status.ok() ? 1 : 0; });
  }
  WaitUntil([&] { return answered == 20; });
  client_->Stop();
}

TEST_F(KubernetesConnectionTest, AnswersBindingsWhileTheEventQueueIsFull) {
  fence_.OpenUntil(BindFence::kForever);
  LoopbackServer server({}, [](LoopbackServer::Peer& peer, size_t) {
    std::string request;
    while (peer.ReadRequest(request)) {
      // No event is answered.
      if (request.find("/events") != request.npos) return peer.WaitForClose();
      peer.Write(HttpAnswer(201, "{}"));
    }
  });
  Connect(server, {.write_connections = 2, .event_connections = 2});
  StartClient(/*stop_limit_ns=*/kMillisecond);
  for (int i = 0; i < 5000; ++i) {
    Event event;
    event.note = std::string(1000, 'n');  // More than the queue of events holds.
    event.reason = "FailedScheduling";
    event.regarding.name = std::to_string(i);
    client_->CreateEvent(std::move(event), nullptr);
  }
  std::atomic<int> bound = 0;
  for (int i = 0; i < 20; ++i) {
    client_->Bind({"default", std::to_string(i), ""}, "n1",
                  [&](const Status& status) { bound += status.ok() ? 1 : 0; });
  }
  WaitUntil([&] { return bound == 20; });
  WaitUntil([&] { return client_->event_counts().full > 0; });
  EXPECT_EQ(client_->event_counts().sent, 0U);
  client_->Stop();
}

TEST_F(KubernetesConnectionTest, AnswersALeaseWhileAnotherLeaseStalls) {
  std::atomic<bool> is_stalled = false;
  LoopbackServer server({}, [&](LoopbackServer::Peer& peer, size_t) {
    std::string request;
    while (peer.ReadRequest(request)) {
      if (request.find("/leases/stalled ") != request.npos) {
        is_stalled = true;
        return peer.WaitForClose();
      }
      peer.Write(HttpAnswer(404, "{}"));
    }
  });
  Connect(server, {.lease_timeout_ns = 40 * kSecond});
  std::atomic<bool> is_first_answered = false;
  GetLease("stalled", [&](const HttpResponse&) { is_first_answered = true; });
  WaitUntil([&] { return is_stalled.load(); });
  std::atomic<bool> is_answered = false;
  GetLease("b", [&](const HttpResponse&) { is_answered = true; });
  WaitUntil([&] { return is_answered.load(); });
  EXPECT_FALSE(is_first_answered);
  connection_.reset();  // Answers the request that is stalled.
}

TEST_F(KubernetesConnectionTest, ItsDestructorAnswersTheRequestsThatAreOpen) {
  LoopbackServer server({}, [](LoopbackServer::Peer& peer, size_t) { peer.WaitForClose(); });
  Connect(server);
  std::atomic<int> answered = 0;
  for (const Channel channel : {connection_->reads(), connection_->writes(), connection_->events(),
                                connection_->leases()}) {
    channel.executor->Post([&answered, channel] {
      HttpRequest request;
      request.verb = "GET";
      request.target = "/version";
      channel.transport->Send(std::move(request), [&answered](const HttpResponse& response) {
        EXPECT_EQ(response.status.code(), ErrorCode::kUnavailable);
        ++answered;
      });
    });
  }
  WaitUntil([&] { return server.connections() == 4; });
  connection_.reset();
  EXPECT_EQ(answered, 4);
}

TEST_F(KubernetesConnectionTest, StopAtAnyMomentAnswersEveryRequestOnce) {
  fence_.OpenUntil(BindFence::kForever);
  LoopbackServer server({}, ServeNodes);
  for (uint64_t round = 0; round < 15; ++round) {
    std::mt19937_64 random(round);
    Connect(server);
    StartClient(/*stop_limit_ns=*/kSecond);
    OrderSink sink;
    auto watch = client_->StartWatch(kNodeKind, sink);
    Requester requester(*client_);
    for (int i = 0; i < 20; ++i) requester.SendAll(i);
    const int64_t end_ns = SteadyNs() + static_cast<int64_t>(random() % 10) * kMillisecond;
    while (SteadyNs() < end_ns) client_->Deliver();
    // Some rounds lose the server.
    if (round % 3 == 2) server.Stop();
    client_->Stop();
    EXPECT_EQ(requester.answered, requester.sent) << round;
    const size_t seen = sink.count;
    EXPECT_EQ(client_->Deliver(), 0u);
    EXPECT_EQ(sink.count, seen);
    watch.reset();
    client_.reset();
    connection_.reset();
    EXPECT_EQ(observer_.open, 0) << round;
    EXPECT_EQ(requester.answered, requester.sent) << round;
    if (round % 3 == 2) server.Start();
  }
}

TEST_F(KubernetesConnectionTest, AWatchGoesOnWhenTheServerReturns) {
  LoopbackServer server({}, ServeNodes);
  Connect(server);
  StartClient();
  OrderSink sink;
  auto watch = client_->StartWatch(kNodeKind, sink);
  Deliver([&] { return sink.is_synced; });
  const size_t accepted = server.connections();
  server.Stop();
  server.Start();
  WaitUntil([&] { return server.connections() > accepted; });
  client_->Stop();
}

// ---- Tokens that rotate -------------------------------------------------------------------------

// A text that two threads use.
class SharedText {
 public:
  void Set(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
  }
  std::string Get() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

TEST_F(KubernetesConnectionTest, FollowsATokenThatTheServerExpires) {
  SharedText file;
  SharedText accepted;
  std::atomic<int> refusals = 0;
  LoopbackServer server({}, [&](LoopbackServer::Peer& peer, size_t) {
    std::string request;
    while (peer.ReadRequest(request)) {
      const bool is_accepted = request.find("Bearer " + accepted.Get() + "\r\n") != request.npos;
      if (!is_accepted) ++refusals;
      peer.Write(HttpAnswer(is_accepted ? 200 : 401, "{}"));
    }
  });
  file.Set("one");
  accepted.Set("one");
  ClusterAccess access = AccessTo(server);
  access.auth.token_file = "/token";
  ASSERT_TRUE(access.endpoint.tls.ca_file.empty());
  Credentials::Environment environment;
  environment.steady_ns = SteadyNs;
  environment.wall_ns = [this] { return wall_.NowNs(); };
  environment.read_file = [&file](const std::string&) -> Result<std::string> { return file.Get(); };
  const auto connection =
      KubernetesConnection::Open(access, {}, std::move(environment), observer_, log_);
  ASSERT_TRUE(connection.ok()) << connection.status().ToString();
  const auto get = [&] {
    return (*connection)->SendAndWait({.verb = "GET", .target = "/x"}).head.http_status;
  };
  EXPECT_EQ(get(), 200U);
  for (const char* token : {"two", "three"}) {
    file.Set(token);
    accepted.Set(token);
    EXPECT_EQ(get(), 200U) << token;
    EXPECT_EQ(get(), 200U) << token;
  }
  EXPECT_EQ(refusals, 2);
  // The file follows later: every request reads it again until it does.
  accepted.Set("four");
  EXPECT_EQ(get(), 401U);
  EXPECT_EQ(get(), 401U);
  file.Set("four");
  EXPECT_EQ(get(), 200U);
  EXPECT_EQ(refusals, 5);
}

}  // namespace
}  // namespace berth::host

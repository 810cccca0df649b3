#include "host/http/http_transport.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/api_server/loopback_server.h"
#include "tests/harness/api_server/transport_fixture.h"

namespace berth::host {
namespace {

using Peer = LoopbackServer::Peer;

class HttpTransportTest : public TransportTest {};

TEST_F(HttpTransportTest, SendsRequestsAndReturnsTheirAnswers) {
  RequestLog log;
  LoopbackServer server({}, AnswerInTurn({HttpAnswer(200, "{}"), HttpAnswer(201, "made"),
                                          HttpAnswer(404, "none", "Retry-After: 7\r\n")},
                                         &log));
  HttpTransport::Options options;
  options.user_agent = "berth/1";
  Connect(Url(server) + "/prefix/", Tls(), options);

  const HttpResponse got = Get("/api/v1/pods?limit=1");
  EXPECT_TRUE(got.status.ok()) << got.status.message();
  EXPECT_TRUE(got.is_success());
  EXPECT_EQ(got.delivery, Delivery::kAnswered);
  EXPECT_EQ(got.head.http_status, 200U);
  EXPECT_EQ(got.head.content_type, "application/json");
  EXPECT_EQ(got.body, "{}");
  EXPECT_GT(got.sent_ns, 0);
  EXPECT_EQ(last_reported_status_, 200U);

  HttpRequest post = {.verb = "POST", .target = "/b", .body = "xyz"};
  post.content_type = "application/json";
  const HttpResponse made = Send(post);
  EXPECT_EQ(made.head.http_status, 201U);
  EXPECT_EQ(made.body, "made");

  const HttpResponse missing = Get("/c");
  EXPECT_TRUE(missing.status.ok());
  EXPECT_FALSE(missing.is_success());
  EXPECT_EQ(missing.delivery, Delivery::kAnswered);
  EXPECT_EQ(missing.body, "none");
  EXPECT_EQ(missing.head.retry_after_ns, 7 * kSecond);

  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  const std::vector<std::string> requests = log.Get();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0], "GET /prefix/api/v1/pods?limit=1 HTTP/1.1\r\nHost: " + host +
                             "\r\nAccept: application/json\r\nUser-Agent: berth/1\r\n"
                             "Authorization: Bearer token-1\r\n\r\n");
  EXPECT_EQ(requests[1], "POST /prefix/b HTTP/1.1\r\nHost: " + host +
                             "\r\nAccept: application/json\r\nUser-Agent: berth/1\r\n"
                             "Authorization: Bearer token-1\r\nContent-Type: application/json\r\n"
                             "Content-Length: 3\r\n\r\nxyz");
  EXPECT_EQ(server.connections(), 1U) << "requests one after the other use one connection";
  EXPECT_EQ(reports_, 3);
}

TEST_F(HttpTransportTest, RefusesRequestThatCouldBeReadAsAnother) {
  LoopbackServer server({}, EchoFirstLines);
  Connect(server);
  const HttpResponse refused = Get("/a HTTP/1.1\r\nX: y");
  EXPECT_EQ(refused.status.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.delivery, Delivery::kNotSent);
  EXPECT_EQ(server.connections(), 0U);
}

TEST_F(HttpTransportTest, APlainServerNeedsNoTls) {
  LoopbackServer server({.tls = false}, EchoFirstLines);
  Connect(Url(server, "http"), nullptr);
  EXPECT_EQ(Get("/x").body, "GET /x HTTP/1.1");
}

TEST_F(HttpTransportTest, SendsLongRequestAndReadsALongAnswer) {
  const std::string body(size_t{3} << 20, 'x');
  for (const bool has_tls : {true, false}) {
    SCOPED_TRACE(has_tls);
    LoopbackServer server({.tls = has_tls}, [](Peer& peer, size_t) {
      std::string request;
      while (peer.ReadRequest(request)) {
        if (!peer.Write(HttpAnswer(200, request.substr(request.find("\r\n\r\n") + 4)))) return;
      }
    });
    Connect(Url(server, has_tls ? "https" : "http"), has_tls ? Tls() : nullptr);
    for (int i = 0; i < 2; ++i) {
      const HttpResponse answer = Send({.verb = "PUT", .target = "/x", .body = body});
      EXPECT_TRUE(answer.status.ok()) << answer.status.message();
      EXPECT_TRUE(answer.body == body) << answer.body.size();
    }
    EXPECT_EQ(server.connections(), 1U);
    Disconnect();
  }
}

TEST_F(HttpTransportTest, TheFenceDecidesImmediatelyBeforeTheFirstByte) {
  RequestLog log;
  LoopbackServer server({}, AnswerInTurn({HttpAnswer(200, "")}, &log));
  Connect(server);
  int checks = 0;
  HttpRequest request = {.verb = "GET", .target = "/x"};
  request.may_send = [&] {
    ++checks;
    EXPECT_TRUE(io_.IsCurrent());
    EXPECT_EQ(connections_, 1) << "the connection must be ready before the check";
    return Status::Conflict("the fence is closed");
  };
  const HttpResponse refused = Send(request);
  EXPECT_EQ(refused.status, Status::Conflict("the fence is closed"));
  EXPECT_EQ(refused.delivery, Delivery::kNotSent);
  EXPECT_EQ(refused.sent_ns, 0);
  EXPECT_EQ(checks, 1);
  EXPECT_TRUE(Get("/after").is_success());
  EXPECT_EQ(server.connections(), 1U) << "the connection is not used up";
  const std::vector<std::string> requests = log.Get();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_TRUE(requests[0].starts_with("GET /after"));
}

TEST_F(HttpTransportTest, EveryEndOfARequestIsCounted) {
  struct Case {
    const char* name;
    std::string answer;  // Empty: the server answers nothing.
    HttpRequest request;
    bool is_closed = false;  // The transport is closed while the request is open.
  };
  const HttpRequest get = {.verb = "GET", .target = "/x"};
  HttpRequest refused = get;
  refused.may_send = [] { return Status::Conflict("the fence is closed"); };
  HttpRequest late = get;
  late.timeout_ns = kMillisecond;
  HttpRequest malformed = get;
  malformed.verb = "get";
  const std::vector<Case> cases = {
      {"answered", HttpAnswer(200, ""), get},
      {"answered with another status", HttpAnswer(500, ""), get},
      {"no HTTP", "no answer", get},
      {"not sent", HttpAnswer(200, ""), refused},
      {"malformed", HttpAnswer(200, ""), malformed},
      {"late", "", late},
      {"closed", "", get, true},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    LoopbackServer server({}, [&](Peer& peer, size_t) {
      std::string request;
      if (!peer.ReadRequest(request)) return;
      if (each.answer.empty()) return peer.WaitForClose();
      peer.Write(each.answer);
    });
    std::atomic<size_t> open = 0;
    Connect(server, {.open_requests = &open});
    if (each.is_closed) {
      std::atomic<bool> has_ended = false;
      io_.RunAndWait(
          [&] { transport_->Send(each.request, [&](const HttpResponse&) { has_ended = true; }); });
      EXPECT_EQ(open, 1U);
      CloseTransport();
      EXPECT_TRUE(has_ended);
      EXPECT_EQ(open, 0U);
    }
    Send(each.request);  // Fails at once if the transport is closed.
    EXPECT_EQ(open, 0U);
    Disconnect();
  }
}

TEST_F(HttpTransportTest, RenewsTheCredentialOnceAfterA401) {
  RequestLog log;
  LoopbackServer server({}, AnswerInTurn({HttpAnswer(401, "a"), HttpAnswer(200, "b")}, &log));
  Connect(server);
  EXPECT_EQ(Get("/x").body, "b");
  EXPECT_EQ(credentials_->renewals(), 1);
  EXPECT_EQ(reports_, 1);
  const std::vector<std::string> requests = log.Get();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_NE(requests[0].find("Bearer token-1\r\n"), std::string::npos);
  EXPECT_NE(requests[1].find("Bearer renewed\r\n"), std::string::npos);
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(HttpTransportTest, ASecond401IsTheAnswer) {
  LoopbackServer server({}, AnswerInTurn({HttpAnswer(401, "a"), HttpAnswer(401, "b")}));
  Connect(server);
  const HttpResponse answer = Get("/x");
  EXPECT_TRUE(answer.status.ok());
  EXPECT_EQ(answer.head.http_status, 401U);
  EXPECT_EQ(answer.body, "b");
  EXPECT_EQ(credentials_->renewals(), 1);
}

TEST_F(HttpTransportTest, AnswersWith401WithoutAnotherCredential) {
  LoopbackServer server({}, AnswerInTurn({HttpAnswer(401, "a")}));
  Connect(server);
  credentials_->FailRenewals();
  const HttpResponse answer = Get("/x");
  EXPECT_EQ(answer.head.http_status, 401U);
  EXPECT_EQ(answer.delivery, Delivery::kAnswered);
}

TEST_F(HttpTransportTest, LateRenewalAnswersWith401) {
  LoopbackServer server({}, AnswerInTurn({HttpAnswer(401, "a"), HttpAnswer(401, "b")}));
  Connect(server);
  credentials_->HoldRenewals();
  HttpRequest request = {.verb = "GET", .target = "/x"};
  request.timeout_ns = 200 * kMillisecond;
  const HttpResponse answer = Send(request);
  EXPECT_TRUE(answer.status.ok());
  EXPECT_EQ(answer.head.http_status, 401U);
  // Close() ends a renewal, too.
  std::atomic<uint32_t> status = 0;
  io_.RunAndWait([&] {
    transport_->Send({.verb = "GET", .target = "/y"},
                     [&](HttpResponse response) { status = response.head.http_status; });
  });
  WaitUntil([&] { return credentials_->renewals() == 2; });
  CloseTransport();
  EXPECT_EQ(status, 401U);
}

TEST_F(HttpTransportTest, RetryAfterPausesTheWholeTransport) {
  LoopbackServer server({}, AnswerInTurn({HttpAnswer(429, "a", "Retry-After: 1\r\n"),
                                          HttpAnswer(200, "b"), HttpAnswer(429, "c")}));
  Connect(server);
  const HttpResponse refused = Get("/x");
  EXPECT_EQ(refused.head.http_status, 429U);
  EXPECT_EQ(refused.head.retry_after_ns, kSecond);
  const HttpResponse later = Get("/y");
  EXPECT_EQ(later.body, "b");
  EXPECT_GE(later.sent_ns - refused.sent_ns, kSecond);
  const HttpResponse without_time = Get("/z");
  EXPECT_EQ(without_time.head.http_status, 429U);
  EXPECT_EQ(without_time.head.retry_after_ns, 0);
}

TEST_F(HttpTransportTest, LogsWarningsOnceAndPauses) {
  const std::string warned =
      HttpAnswer(200, "", "Warning: 299 - \"v1 is old\"\r\nWarning: 199 - \"other\"\r\n");
  LoopbackServer server({},
                        AnswerInTurn({warned, warned, HttpAnswer(429, "", "Retry-After: 1\r\n")}));
  Connect(server);
  for (int i = 0; i < 3; ++i) Get("/x");
  const std::vector<std::string> lines = log_.Get();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "The API server sent a warning warning=299 - \"v1 is old\"");
  EXPECT_TRUE(lines[1].starts_with("The API server asks for a pause server=127.0.0.1:" +
                                   std::to_string(server.port()) + " pause=1"))
      << lines[1];
}

TEST_F(HttpTransportTest, PauseDelaysRequestsThatWaitForAConnection) {
  LoopbackServer server(
      {}, AnswerInTurn({HttpAnswer(429, "a", "Retry-After: 1\r\n"), HttpAnswer(200, "b")}));
  HttpTransport::Options options;
  options.pool.connections = 1;
  Connect(server, options);
  std::vector<HttpResponse> answers;
  std::atomic<int> ended = 0;
  io_.RunAndWait([&] {
    for (int i = 0; i < 2; ++i) {
      transport_->Send({.verb = "GET", .target = "/x"}, [&](HttpResponse response) {
        answers.push_back(std::move(response));
        ++ended;
      });
    }
  });
  WaitUntil([&] { return ended == 2; });
  EXPECT_EQ(answers[0].head.http_status, 429U);
  EXPECT_EQ(answers[1].head.http_status, 200U);
  EXPECT_GE(answers[1].sent_ns - answers[0].sent_ns, kSecond);
}

TEST_F(HttpTransportTest, TheRateLimitDelaysRequests) {
  LoopbackServer server({}, EchoFirstLines);
  HttpTransport::Options options;
  options.qps = 20;
  options.burst = 1;
  Connect(server, options);
  const int64_t before_ns = io_.NowNs();
  Get("/x");
  Get("/x");
  EXPECT_GE(Get("/x").sent_ns - before_ns, 2 * kSecond / 20);
}

TEST_F(HttpTransportTest, RequestsWithALowerNumberAreSentFirst) {
  RequestLog log;
  LoopbackServer server({}, AnswerInTurn(std::vector<std::string>(4, HttpAnswer(200, "")), &log));
  HttpTransport::Options options;
  options.pool.connections = 1;
  Connect(server, options);
  std::atomic<int> ended = 0;
  io_.RunAndWait([&] {
    for (const int priority : {1, 2, 1, 0}) {
      HttpRequest request = {.verb = "GET", .target = "/" + std::to_string(priority)};
      request.priority = static_cast<uint8_t>(priority);
      transport_->Send(std::move(request), [&](HttpResponse) { ++ended; });
    }
  });
  WaitUntil([&] { return ended == 4; });
  std::string order;
  for (const std::string& request : log.Get()) order += request.substr(5, 1);
  EXPECT_EQ(order, "0112");
}

}  // namespace
}  // namespace berth::host

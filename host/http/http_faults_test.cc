#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/http/http_transport.h"
#include "tests/harness/api_server/loopback_server.h"
#include "tests/harness/api_server/transport_fixture.h"

namespace berth::host {
namespace {

using Peer = LoopbackServer::Peer;

class HttpFaultsTest : public TransportTest {
 protected:
  // Returns a server whose every connection reads one request and then does `act`.
  static std::unique_ptr<LoopbackServer> ServerThat(std::function<void(Peer& peer)> act,
                                                    bool has_tls = true) {
    return std::make_unique<LoopbackServer>(LoopbackServer::Options{.tls = has_tls},
                                            [act = std::move(act)](Peer& peer, size_t) {
                                              std::string request;
                                              if (peer.ReadRequest(request)) act(peer);
                                            });
  }
};

TEST_F(HttpFaultsTest, TheOutcomeOfALostAnswerIsUnknown) {
  const struct {
    const char* name;
    std::function<void(Peer& peer)> act;
    ErrorCode code;
    const char* error;  // A part of the message.
  } cases[] = {
      {"RST", [](Peer& peer) { peer.Reset(); }, ErrorCode::kUnavailable, "reset by peer"},
      {"RST within the head",
       [](Peer& peer) {
         peer.Write("HTTP/1.1 200 OK\r\nContent-");
         peer.Reset();
       },
       ErrorCode::kUnavailable, ""},
      {"FIN without the end of TLS",
       [](Peer& peer) {
         peer.CloseWriting();
         peer.WaitForClose();
       },
       ErrorCode::kUnavailable, "unexpected EOF"},
      {"closed without an answer", [](Peer&) {}, ErrorCode::kUnavailable,
       "the server closed the connection without an answer"},
      {"closed within the head", [](Peer& peer) { peer.Write("HTTP/1.1 200 OK\r\nA: b\r\n"); },
       ErrorCode::kUnavailable, "the server closed the connection within the head of its answer"},
      {"closed within the body",
       [](Peer& peer) { peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcd"); },
       ErrorCode::kUnavailable, "the server closed the connection within the body of its answer"},
      {"no HTTP",
       [](Peer& peer) {
         peer.Write("SSH-2.0-OpenSSH\r\n");
         peer.WaitForClose();
       },
       ErrorCode::kInvalidArgument, "expected an HTTP/1.1 answer"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto server = ServerThat(c.act);
    Connect(*server);
    const HttpResponse lost = Get("/x");
    EXPECT_EQ(lost.status.code(), c.code) << lost.status.message();
    EXPECT_NE(lost.status.message().find(c.error), std::string_view::npos) << lost.status.message();
    EXPECT_EQ(lost.delivery, Delivery::kUnknown);
    EXPECT_GT(lost.sent_ns, 0);
    EXPECT_EQ(server->connections(), 1U) << "a request of which bytes have left is not repeated";
    EXPECT_EQ(connections_, 0);
    Disconnect();
  }
}

TEST_F(HttpFaultsTest, AnswerWithoutALengthEndsWithTheConnection) {
  const auto server = ServerThat([](Peer& peer) { peer.Write("HTTP/1.1 200 OK\r\n\r\nabcd"); });
  Connect(*server);
  for (int i = 1; i <= 2; ++i) {
    const HttpResponse answer = Get("/x");
    EXPECT_TRUE(answer.status.ok()) << answer.status.message();
    EXPECT_EQ(answer.body, "abcd");
    EXPECT_EQ(connections_, 0);
  }
}

TEST_F(HttpFaultsTest, ReadsAnAnswerInSingleBytes) {
  const auto server = ServerThat([](Peer& peer) {
    peer.Trickle("HTTP/1.1 100 Continue\r\n\r\n" + HttpAnswer(200, "abc"), kMillisecond);
    peer.WaitForClose();
  });
  Connect(*server);
  const HttpResponse answer = Get("/x");
  EXPECT_TRUE(answer.status.ok()) << answer.status.message();
  EXPECT_EQ(answer.body, "abc");
}

TEST_F(HttpFaultsTest, TimeLimitEndsARequestAndItsConnection) {
  const struct {
    const char* name;
    std::function<void(Peer& peer)> act;
  } cases[] = {
      {"no answer", [](Peer&) {}},
      {"a part of the answer", [](Peer& peer) { peer.Write("HTTP/1.1 200 OK\r\n"); }},
      // Each byte is an answer of the server, but the limit is that of the whole answer.
      {"a slow answer",
       [](Peer& peer) { peer.Trickle(HttpAnswer(200, std::string(10'000, 'x')), kMillisecond); }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::atomic<int> closed = 0;
    const auto server = ServerThat([&](Peer& peer) {
      c.act(peer);
      peer.WaitForClose();
      ++closed;
    });
    Connect(*server);
    HttpRequest request = {.verb = "GET", .target = "/x"};
    request.timeout_ns = 500 * kMillisecond;
    const HttpResponse late = Send(request);
    EXPECT_EQ(late.status.code(), ErrorCode::kUnavailable);
    // On a machine that is very slow, the limit may pass before the request is sent.
    if (late.delivery != Delivery::kNotSent) {
      EXPECT_EQ(late.status.message(), "no complete answer within 500ms");
      EXPECT_EQ(late.delivery, Delivery::kUnknown);
      WaitUntil([&] { return closed == 1; });
    }
    Disconnect();
  }
}

TEST_F(HttpFaultsTest, RequestWithoutAnAnswerEndsWithAReset) {
  for (const bool is_closed_by_owner : {false, true}) {
    SCOPED_TRACE(is_closed_by_owner);
    std::atomic<bool> has_request = false;
    std::atomic<int> resets = -1;
    const auto server = ServerThat([&](Peer& peer) {
      has_request = true;
      resets = peer.WaitForReset() ? 1 : 0;
    });
    Connect(*server);
    HttpRequest request = {.verb = "POST", .target = "/x", .body = "{}"};
    if (!is_closed_by_owner) request.timeout_ns = 2 * kSecond;
    io_.RunAndWait([&] { transport_->Send(std::move(request), [](HttpResponse) {}); });
    WaitUntil([&] { return has_request.load(); });
    if (is_closed_by_owner) Disconnect();
    WaitUntil([&] { return resets != -1; });
    EXPECT_EQ(resets, 1);
    if (!is_closed_by_owner) Disconnect();
  }
}

TEST_F(HttpFaultsTest, RequestThatWaitsForConnectionHasTimeLimit) {
  const auto server = ServerThat([](Peer& peer) { peer.WaitForClose(); });
  HttpTransport::Options options;
  options.pool.connections = 1;
  Connect(*server, options);
  io_.RunAndWait([&] { transport_->Send({.verb = "GET", .target = "/x"}, [](HttpResponse) {}); });
  WaitUntil([&] { return connections_ == 1; });
  HttpRequest request = {.verb = "GET", .target = "/y"};
  request.timeout_ns = 100 * kMillisecond;
  const HttpResponse late = Send(request);
  EXPECT_EQ(late.status, Status::Unavailable("not sent within 100ms"));
  EXPECT_EQ(late.delivery, Delivery::kNotSent);
  EXPECT_EQ(late.sent_ns, 0);
}

TEST_F(HttpFaultsTest, AnswerBeforeTheEndOfTheRequestCounts) {
  // The server reads nothing, as one that refuses a body that is too long.
  std::atomic<bool> ends = false;
  LoopbackServer server({}, [&](Peer& peer, size_t) {
    peer.Write(HttpAnswer(413, "too long"));
    WaitUntil([&] { return ends.load(); });
  });
  Connect(server);
  // More than the buffers of both sides have room for.
  const HttpResponse answer =
      Send({.verb = "PUT", .target = "/x", .body = std::string(size_t{64} << 20, 'x')});
  ends = true;
  EXPECT_TRUE(answer.status.ok()) << answer.status.message();
  EXPECT_EQ(answer.head.http_status, 413U);
  EXPECT_EQ(answer.body, "too long");
  EXPECT_EQ(connections_, 0) << "a connection with a part of a request is not used again";
}

TEST_F(HttpFaultsTest, ConnectionWithSurplusBytesIsNotReused) {
  const struct {
    const char* name;
    std::string answer;
  } cases[] = {
      {"bytes behind the answer", HttpAnswer(200, "a") + "HTTP/1.1 200 OK\r\n\r\n"},
      {"Connection: close", HttpAnswer(200, "a", "Connection: close\r\n")},
      {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto server = ServerThat([&](Peer& peer) {
      peer.Write(c.answer);
      peer.WaitForClose();
    });
    Connect(*server);
    EXPECT_EQ(Get("/x").body, "a");
    EXPECT_EQ(Get("/y").body, "a");
    EXPECT_EQ(server->connections(), 2U);
    EXPECT_EQ(connections_, 0);
    Disconnect();
  }
}

// A connection of the pool that the server has closed must not cost a request.
TEST_F(HttpFaultsTest, ConnectionThatTheServerHasClosedIsReplaced) {
  for (const bool has_tls : {true, false}) {
    for (const bool is_reset : {true, false}) {
      SCOPED_TRACE(std::string(has_tls ? "TLS" : "plain") + (is_reset ? ", RST" : ", FIN"));
      const auto server = ServerThat(
          [&](Peer& peer) {
            peer.Write(HttpAnswer(200, "a"));
            if (is_reset) peer.Reset();
          },
          has_tls);
      Connect(Url(*server, has_tls ? "https" : "http"), has_tls ? Tls() : nullptr);
      for (int i = 0; i < 3; ++i) {
        const HttpResponse answer = Get("/x");
        EXPECT_EQ(answer.body, "a") << answer.status.message();
        // The end of the connection arrives before the next request.
        server->Stop();
        server->Start();
      }
      EXPECT_EQ(server->connections(), 3U);
      Disconnect();
    }
  }
}

// The connection ends after the pool has checked it: within may_send, which is called immediately
// before the write. The kernel accepts one write after a FIN, but none after an RST.
TEST_F(HttpFaultsTest, RepeatsARequestOnlyBeforeItsFirstByte) {
  for (const bool has_tls : {true, false}) {
    for (const bool is_reset : {true, false}) {
      SCOPED_TRACE(std::string(has_tls ? "TLS" : "plain") + (is_reset ? ", RST" : ", FIN"));
      std::atomic<bool> ends = false;
      std::atomic<int> requests = 0;
      LoopbackServer server({.tls = has_tls}, [&](Peer& peer, size_t connection) {
        std::string request;
        if (!peer.ReadRequest(request)) return;
        ++requests;
        peer.Write(HttpAnswer(200, "a"));
        if (connection > 0) return peer.WaitForClose();
        WaitUntil([&] { return ends.load(); });
        is_reset ? peer.Reset() : peer.CloseWriting();
      });
      Connect(Url(server, has_tls ? "https" : "http"), has_tls ? Tls() : nullptr);
      EXPECT_EQ(Get("/x").body, "a");
      int checks = 0;
      HttpRequest request = {.verb = "POST", .target = "/y"};
      request.may_send = [&] {
        if (++checks == 1) {
          ends = true;
          server.Stop();
          server.Start();
        }
        return Status::Ok();
      };
      const HttpResponse answer = Send(request);
      EXPECT_EQ(checks, is_reset ? 2 : 1);
      EXPECT_EQ(requests, is_reset ? 2 : 1);
      EXPECT_EQ(answer.is_success(), is_reset) << answer.status.message();
      EXPECT_EQ(answer.delivery, is_reset ? Delivery::kAnswered : Delivery::kUnknown);
      Disconnect();
    }
  }
}

TEST_F(HttpFaultsTest, AServerThatIsStoppedAndStarted) {
  LoopbackServer server({}, EchoFirstLines);
  Connect(server);
  EXPECT_TRUE(Get("/1").is_success());
  server.Stop();
  const HttpResponse away = Get("/2");
  EXPECT_EQ(away.status.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(away.delivery, Delivery::kNotSent);
  server.Start();
  EXPECT_EQ(Get("/3").body, "GET /3 HTTP/1.1");
}

TEST_F(HttpFaultsTest, LimitsTheSizeOfAnswers) {
  HttpTransport::Options options;
  options.limits.body_bytes = 10;
  options.limits.head_bytes = 1000;
  options.limits.error_body_bytes = 4;
  LoopbackServer server({},
                        AnswerInTurn({HttpAnswer(200, "0123456789"), HttpAnswer(200, "0123456789a"),
                                      HttpAnswer(200, "", "X: " + std::string(1000, 'x')),
                                      HttpAnswer(500, "abcdefgh")}));
  Connect(server, options);
  EXPECT_TRUE(Get("/x").is_success());
  for (int i = 0; i < 2; ++i) {
    const HttpResponse refused = Get("/x");
    EXPECT_EQ(refused.status.code(), ErrorCode::kOutOfRange) << refused.status.message();
    EXPECT_EQ(refused.delivery, Delivery::kUnknown);
    EXPECT_EQ(connections_, 0);
  }
  const HttpResponse failed = Get("/x");
  EXPECT_EQ(failed.head.http_status, 500U);
  EXPECT_EQ(failed.body, "abcd") << "the rest of an error is dropped";
}

TEST_F(HttpFaultsTest, CloseCompletesEachRequestOnce) {
  const auto server = ServerThat([](Peer& peer) { peer.WaitForClose(); });
  HttpTransport::Options options;
  options.pool.connections = 4;
  Connect(*server, options);
  std::atomic<int> sent = 0;
  int done = 0;
  int unknown = 0;
  int late = 0;
  io_.RunAndWait([&] {
    for (int i = 0; i < 20; ++i) {
      HttpRequest request = {.verb = "GET", .target = "/x"};
      request.may_send = [&] {
        ++sent;
        return Status::Ok();
      };
      transport_->Send(request, [&](HttpResponse response) {
        EXPECT_EQ(response.status.code(), ErrorCode::kUnavailable);
        EXPECT_NE(response.delivery, Delivery::kAnswered);
        ++done;
        if (response.delivery == Delivery::kUnknown) ++unknown;
        // A request that is sent within a callback of Close() gets an answer, too.
        transport_->Send({.verb = "GET", .target = "/y"}, [&](HttpResponse refused) {
          EXPECT_EQ(refused.delivery, Delivery::kNotSent);
          ++late;
        });
      });
    }
  });
  WaitUntil([&] { return sent == 4; });
  io_.RunAndWait([&] {
    transport_->Close();
    EXPECT_EQ(done, 20) << "no callback follows Close()";
    EXPECT_EQ(late, 0) << "no callback is called within Send()";
    transport_->Close();
  });
  io_.RunAndWait([&] {
    EXPECT_EQ(done, 20);
    EXPECT_EQ(unknown, 4);
    EXPECT_EQ(late, 20);
  });
}

TEST_F(HttpFaultsTest, CloseMayBeCalledByACallback) {
  LoopbackServer server({}, EchoFirstLines);
  Connect(server);
  std::atomic<int> done = 0;
  io_.RunAndWait([&] {
    for (int i = 0; i < 10; ++i) {
      transport_->Send({.verb = "GET", .target = "/x"}, [&](HttpResponse) {
        if (++done == 1) transport_->Close();
      });
    }
  });
  WaitUntil([&] { return done == 10; });
}

TEST_F(HttpFaultsTest, CloseEndsAnAttemptToConnect) {
  // The server accepts, but does not shake hands.
  LoopbackServer silent({.tls = false}, [](Peer& peer, size_t) { peer.WaitForClose(); });
  Connect(silent);
  std::atomic<int> done = 0;
  RecordingSink sink;
  io_.RunAndWait([&] {
    transport_->Send({.verb = "GET", .target = "/x"}, [&](HttpResponse response) {
      EXPECT_EQ(response.delivery, Delivery::kNotSent);
      ++done;
    });
  });
  Open({.verb = "GET", .target = "/x"}, sink);
  WaitUntil([&] { return silent.connections() == 2; });
  CloseTransport();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(sink.WaitForEnd().delivery, Delivery::kNotSent);
}

}  // namespace
}  // namespace berth::host

#include <atomic>
#include <cstdio>
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

constexpr std::string_view kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

class HttpStreamTest : public TransportTest {
 protected:
  static HttpRequest Watch() { return {.verb = "GET", .target = "/watch"}; }
  // Reads a request, and answers with the head of a stream.
  static void StartAnswer(Peer& peer) {
    std::string request;
    peer.ReadRequest(request);
    peer.Write(kStreamHead);
  }
  // Serves a stream that has a head and nothing else.
  static void ServeHead(Peer& peer, size_t) {
    StartAnswer(peer);
    peer.WaitForClose();
  }

  // Connects to the server, and opens a stream that the sink receives.
  void ConnectAndOpen(const LoopbackServer& server, RecordingSink& sink) {
    Connect(server);
    Open(Watch(), sink);
  }
};

TEST_F(HttpStreamTest, PassesTheAnswerWhileItArrives) {
  std::atomic<bool> goes_on = false;
  LoopbackServer server({}, [&](Peer& peer, size_t) {
    StartAnswer(peer);
    peer.Write("4\r\nabcd\r\n");
    WaitUntil([&] { return goes_on.load(); });
    peer.Write("2\r\nef\r\n0\r\n\r\n");
    peer.WaitForClose();
  });
  RecordingSink sink;
  ConnectAndOpen(server, sink);
  EXPECT_EQ(sink.WaitForHead().content_type, "application/json");
  EXPECT_EQ(sink.WaitForBytes(4), "abcd");
  EXPECT_EQ(reports_, 1) << "a stream is reported when its head arrives";
  goes_on = true;
  const HttpResponse end = sink.WaitForEnd();
  EXPECT_TRUE(end.status.ok()) << end.status.message();
  EXPECT_EQ(end.delivery, Delivery::kAnswered);
  EXPECT_EQ(end.head.http_status, 200U);
  EXPECT_EQ(end.body, "");
  EXPECT_EQ(sink.WaitForBytes(6), "abcdef");
  EXPECT_EQ(reports_, 1);
  WaitUntil([&] { return connections_ == 0; });
}

TEST_F(HttpStreamTest, RotatedClientCertificateOrCaMakesItOutdated) {
  LoopbackServer server({}, ServeHead);
  RecordingSink sink;
  ConnectAndOpen(server, sink);
  sink.WaitForHead();
  const auto is_outdated = [this] {
    bool result = false;
    io_.RunAndWait([&] { result = stream_->IsOutdated(); });
    return result;
  };
  EXPECT_FALSE(is_outdated());
  credentials_->Set("token-2", credentials_->Current()->tls);
  EXPECT_FALSE(is_outdated()) << "a new token needs no new connection";
  credentials_->Set("token-2", Tls());
  EXPECT_TRUE(is_outdated());
  CloseStream();
}

TEST_F(HttpStreamTest, ReadsNothingDuringAPause) {
  std::atomic<bool> goes_on = false;
  LoopbackServer server({}, [&](Peer& peer, size_t) {
    StartAnswer(peer);
    WaitUntil([&] { return goes_on.load(); });
    // More than one part.
    for (int i = 0; i < 100; ++i) peer.Write("1000\r\n" + std::string(4096, 'x') + "\r\n");
    peer.Write("0\r\n\r\n");
    peer.WaitForClose();
  });
  RecordingSink sink;
  ConnectAndOpen(server, sink);
  sink.WaitForHead();
  io_.RunAndWait([&] {
    stream_->SetSilenceLimit(500 * kMillisecond);
    stream_->SetPaused(true);
  });
  goes_on = true;
  std::atomic<bool> has_passed = false;
  io_.RunAndWait([&] { io_.StartTimer(io_.NowNs() + kSecond, [&] { has_passed = true; }); });
  WaitUntil([&] { return has_passed.load(); });
  // What the read brought that had begun.
  EXPECT_LE(sink.WaitForBytes(0).size(), 65'536U);
  io_.RunAndWait([&] { stream_->SetPaused(false); });
  const HttpResponse end = sink.WaitForEnd();
  EXPECT_TRUE(end.status.ok()) << end.status.message();
  EXPECT_EQ(sink.WaitForBytes(409'600).size(), 409'600U);
}

TEST_F(HttpStreamTest, AnErrorHasTheBodyAtTheEnd) {
  LoopbackServer server({}, AnswerInTurn({HttpAnswer(410, "expired")}));
  RecordingSink sink;
  ConnectAndOpen(server, sink);
  const HttpResponse end = sink.WaitForEnd();
  EXPECT_TRUE(end.status.ok());
  EXPECT_EQ(end.head.http_status, 410U);
  EXPECT_EQ(end.body, "expired");
  EXPECT_EQ(sink.calls(), 1) << "a head is passed only for 2xx";
}

TEST_F(HttpStreamTest, TheLimitOfABodyDoesNotApply) {
  HttpTransport::Options options;
  EXPECT_GT(options.limits.body_bytes, 0U) << "an answer to Send() has a limit by default";
  options.limits.body_bytes = 4;
  LoopbackServer server({}, AnswerInTurn({HttpAnswer(200, "abcdefgh"), HttpAnswer(200, "abcde")}));
  Connect(server, options);
  RecordingSink sink;
  Open(Watch(), sink);
  EXPECT_TRUE(sink.WaitForEnd().status.ok());
  EXPECT_EQ(sink.WaitForBytes(8), "abcdefgh");
  EXPECT_EQ(Get("/x").status.code(), ErrorCode::kOutOfRange);
}

TEST_F(HttpStreamTest, A401IsRenewedOnce) {
  RequestLog log;
  LoopbackServer server({}, AnswerInTurn({HttpAnswer(401, "a"), HttpAnswer(200, "b"),
                                          HttpAnswer(401, "c"), HttpAnswer(401, "d")},
                                         &log));
  RecordingSink sink;
  ConnectAndOpen(server, sink);
  EXPECT_EQ(sink.WaitForEnd().head.http_status, 200U);
  EXPECT_EQ(sink.WaitForBytes(1), "b");
  EXPECT_NE(log.Get()[1].find("Bearer renewed"), std::string::npos);
  RecordingSink refused;
  Open(Watch(), refused);
  const HttpResponse end = refused.WaitForEnd();
  EXPECT_EQ(end.head.http_status, 401U);
  EXPECT_EQ(end.body, "d");
}

TEST_F(HttpStreamTest, A429PausesOtherStreams) {
  LoopbackServer server(
      {}, AnswerInTurn({HttpAnswer(429, "a", "Retry-After: 1\r\n"), HttpAnswer(200, "b")}));
  Connect(server);
  RecordingSink refused;
  Open(Watch(), refused);
  const HttpResponse first = refused.WaitForEnd();
  EXPECT_EQ(first.head.http_status, 429U);
  RecordingSink sink;
  Open(Watch(), sink);
  EXPECT_GE(sink.WaitForEnd().sent_ns - first.sent_ns, kSecond);
}

// Each of the three calls may destroy the stream. No other call may follow.
TEST_F(HttpStreamTest, EachCallMayDestroyStreamAndTheSink) {
  LoopbackServer server({}, [](Peer& peer, size_t) {
    std::string request;
    peer.ReadRequest(request);
    std::string answer(kStreamHead);
    for (int i = 0; i < 100; ++i) answer += "4\r\nabcd\r\n";
    peer.Write(answer + "0\r\n\r\n");
    peer.WaitForClose();
  });
  Connect(server);
  for (int destroyed_by = 1; destroyed_by <= 102; destroyed_by += destroyed_by == 3 ? 99 : 1) {
    SCOPED_TRACE(destroyed_by);
    auto sink = std::make_unique<RecordingSink>();
    std::atomic<int> calls = 0;
    std::atomic<bool> is_destroyed = false;
    sink->CallAfterEach([&] {
      EXPECT_FALSE(is_destroyed);
      if (++calls != destroyed_by) return;
      stream_ = nullptr;
      is_destroyed = true;
    });
    Open(Watch(), *sink);
    WaitUntil([&] { return is_destroyed.load(); });
    // No task of the transport may use the sink any more.
    io_.RunAndWait([&] { sink = nullptr; });
    WaitUntil([&] { return connections_ == 0; });
    EXPECT_EQ(calls, destroyed_by);
  }
}

TEST_F(HttpStreamTest, TheDestructionOfAStreamClosesItsConnection) {
  std::atomic<int> closed = 0;
  LoopbackServer server({}, [&](Peer& peer, size_t) {
    ServeHead(peer, 0);
    ++closed;
  });
  RecordingSink sink;
  ConnectAndOpen(server, sink);
  sink.WaitForHead();
  CloseStream();
  WaitUntil([&] { return closed == 1; });
  EXPECT_EQ(sink.calls(), 1);
  // A stream that is being connected is ended, too.
  Open(Watch(), sink);
  CloseStream();
  EXPECT_EQ(sink.calls(), 1);
}

TEST_F(HttpStreamTest, EndsASilentStream) {
  LoopbackServer server({}, [](Peer& peer, size_t) {
    StartAnswer(peer);
    // Takes longer than the limit.
    peer.Trickle("5\r\nabcde\r\n", 150 * kMillisecond);
    peer.WaitForClose();
  });
  RecordingSink sink;
  ConnectAndOpen(server, sink);
  io_.RunAndWait([&] { stream_->SetSilenceLimit(kSecond); });
  const HttpResponse end = sink.WaitForEnd();
  EXPECT_EQ(end.status, Status::Unavailable("the server sent nothing for 1s"));
  EXPECT_EQ(end.delivery, Delivery::kUnknown);
  EXPECT_EQ(end.head.http_status, 200U);
  EXPECT_EQ(sink.WaitForBytes(5), "abcde");
}

TEST_F(HttpStreamTest, FirstSilenceLimitIsThatOfTheRequest) {
  LoopbackServer server({}, ServeHead);
  Connect(server);
  HttpRequest request = Watch();
  request.timeout_ns = kSecond;
  RecordingSink sink;
  Open(request, sink);
  EXPECT_EQ(sink.WaitForEnd().status, Status::Unavailable("the server sent nothing for 1s"));
  // Without a limit, the stream outlives that of the request.
  RecordingSink patient;
  Open(request, patient);
  patient.WaitForHead();
  io_.RunAndWait([&] {
    stream_->SetSilenceLimit(0);
    stream_->SetSilenceLimit(10 * kMillisecond);
    stream_->SetSilenceLimit(0);
  });
  std::atomic<bool> has_passed = false;
  io_.RunAndWait(
      [&] { io_.StartTimer(io_.NowNs() + 1200 * kMillisecond, [&] { has_passed = true; }); });
  WaitUntil([&] { return has_passed.load(); });
  EXPECT_EQ(patient.calls(), 1);
}

TEST_F(HttpStreamTest, HeadlessStreamEndsAtTheRequestsTimeLimit) {
  LoopbackServer server({}, AnswerInTurn({}));
  Connect(server);
  HttpRequest request = Watch();
  request.timeout_ns = 500 * kMillisecond;
  RecordingSink sink;
  Open(request, sink);
  io_.RunAndWait([&] { stream_->SetSilenceLimit(kHour); });
  const HttpResponse end = sink.WaitForEnd();
  EXPECT_EQ(end.status.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(last_reported_status_, 0U);
}

TEST_F(HttpStreamTest, ACutStreamEndsWithAnError) {
  const struct {
    const char* name;
    std::function<void(Peer& peer)> act;
    Status expected;
  } cases[] = {
      {"RST", [](Peer& peer) { peer.Reset(); }, Status::Unavailable("connection reset by peer")},
      {"FIN without the end of TLS",
       [](Peer& peer) {
         peer.CloseWriting();
         peer.WaitForClose();
       },
       Status::Unavailable("unexpected EOF")},
      {"the end of TLS", [](Peer&) {},
       Status::Unavailable("the server closed the connection within the body of its answer")},
      {"no chunk",
       [](Peer& peer) {
         peer.Write("xyz\r\n");
         peer.WaitForClose();
       },
       Status::InvalidArgument("expected an HTTP/1.1 answer")},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::atomic<bool> goes_on = false;
    LoopbackServer server({}, [&](Peer& peer, size_t) {
      std::string request;
      peer.ReadRequest(request);
      peer.Write(std::string(kStreamHead) + "4\r\nabcd\r\n");
      WaitUntil([&] { return goes_on.load(); });
      c.act(peer);
    });
    RecordingSink sink;
    ConnectAndOpen(server, sink);
    EXPECT_EQ(sink.WaitForBytes(4), "abcd");
    goes_on = true;
    const HttpResponse end = sink.WaitForEnd();
    EXPECT_EQ(end.status.code(), c.expected.code()) << end.status.message();
    EXPECT_NE(end.status.message().find(c.expected.message()), std::string_view::npos)
        << end.status.message();
    EXPECT_EQ(end.delivery, Delivery::kUnknown);
    Disconnect();
  }
}

TEST_F(HttpStreamTest, AStreamDelaysNoRequest) {
  LoopbackServer server({}, [&](Peer& peer, size_t) {
    std::string request;
    while (peer.ReadRequest(request)) {
      if (request.starts_with("GET /watch")) {
        peer.Write(kStreamHead);
        return peer.WaitForClose();
      }
      if (!peer.Write(HttpAnswer(200, "x"))) return;
    }
  });
  HttpTransport::Options options;
  options.pool.connections = 1;
  Connect(server, options);
  RecordingSink sink;
  Open(Watch(), sink);
  sink.WaitForHead();
  EXPECT_EQ(Get("/x").body, "x");
  EXPECT_EQ(connections_, 2);
}

TEST_F(HttpStreamTest, ReceivesALongListCompletely) {
  // More than any buffer, in chunks of all sizes.
  std::string text;
  std::string answer(kStreamHead);
  for (size_t i = 0; answer.size() < (size_t{8} << 20); ++i) {
    const std::string chunk(1 + i * 37 % 5000, static_cast<char>('a' + i % 26));
    char size[32];
    std::snprintf(size, sizeof size, "%zx\r\n", chunk.size());
    answer.append(size).append(chunk).append("\r\n");
    text += chunk;
  }
  answer += "0\r\n\r\n";
  LoopbackServer server({}, AnswerInTurn({answer}));
  RecordingSink sink;
  ConnectAndOpen(server, sink);
  EXPECT_TRUE(sink.WaitForEnd().status.ok());
  EXPECT_TRUE(sink.WaitForBytes(text.size()) == text);
}

TEST_F(HttpStreamTest, StreamsMayCallCloseWhichEndsThem) {
  LoopbackServer server({}, ServeHead);
  RecordingSink sink;
  ConnectAndOpen(server, sink);
  sink.WaitForHead();
  CloseTransport();
  const HttpResponse end = sink.WaitForEnd();
  EXPECT_EQ(end.status.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(end.delivery, Delivery::kUnknown);
  EXPECT_EQ(sink.calls(), 2);
  // A stream that is opened afterwards ends, too.
  RecordingSink late;
  Open(Watch(), late);
  EXPECT_EQ(late.WaitForEnd().delivery, Delivery::kNotSent);
  RecordingSink dropped;
  io_.RunAndWait([&] {
    stream_ = transport_->Open(Watch(), dropped);
    stream_ = nullptr;
  });
  io_.RunAndWait([] {});
  EXPECT_EQ(dropped.calls(), 0);
}

}  // namespace
}  // namespace berth::host

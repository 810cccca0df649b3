#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/http/http_transport.h"
#include "tests/harness/api_server/loopback_server.h"
#include "tests/harness/api_server/test_certificates.h"
#include "tests/harness/api_server/transport_fixture.h"

namespace berth::host {
namespace {

using Peer = LoopbackServer::Peer;

class HttpProxyTest : public TransportTest {
 protected:
  // A proxy that answers CONNECT with `answer`, and connects to the server unless `port` is 0.
  std::unique_ptr<LoopbackServer> Proxy(const std::string& answer, uint16_t port,
                                        const LoopbackServer::Options& options = {.tls = false}) {
    return std::make_unique<LoopbackServer>(options, [this, answer, port](Peer& peer, size_t) {
      std::string request;
      if (!peer.ReadRequest(request)) return;
      log_.Add(request);
      names_.Add(peer.ServerName());
      if (peer.Write(answer) && port != 0) peer.Relay(port);
    });
  }

  RequestLog log_;
  RequestLog names_;  // That clients have sent as SNI.
};

TEST_F(HttpProxyTest, ConnectsThroughAProxy) {
  LoopbackServer server({}, EchoFirstLines);
  const auto proxy = Proxy("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", server.port());
  const std::string address = "127.0.0.1:" + std::to_string(proxy->port());
  Connect(Url(server), Tls(), {}, "http://user:p%40ss@" + address);
  EXPECT_EQ(Get("/x").body, "GET /x HTTP/1.1");
  EXPECT_EQ(Get("/y").body, "GET /y HTTP/1.1");
  const std::string target = "127.0.0.1:" + std::to_string(server.port());
  ASSERT_EQ(log_.Get().size(), 1U);
  EXPECT_EQ(log_.Get()[0], "CONNECT " + target + " HTTP/1.1\r\nHost: " + target +
                               "\r\nProxy-Authorization: Basic dXNlcjpwQHNz\r\n\r\n");
}

TEST_F(HttpProxyTest, TheProxyLooksTheNameUp) {
  LoopbackServer server({}, EchoFirstLines);
  const auto proxy = Proxy("HTTP/1.1 200 OK\r\n\r\n", server.port());
  TlsSettings settings;
  settings.server_name = "kubernetes";
  Connect("https://host.invalid:6443", Tls(settings), {}, Url(*proxy, "http"));
  const HttpResponse answer = Get("/x");
  EXPECT_TRUE(answer.is_success()) << answer.status.message();
  EXPECT_TRUE(log_.Get()[0].starts_with("CONNECT host.invalid:6443 HTTP/1.1\r\n"));
  EXPECT_EQ(log_.Get()[0].find("Proxy-Authorization"), std::string::npos);
}

TEST_F(HttpProxyTest, NamesTheProxyThatRefuses) {
  const struct {
    const char* answer;
    ErrorCode code;
    const char* error;
  } cases[] = {
      {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", ErrorCode::kPermissionDenied,
       "the status is 407; set the user and the password in proxy-url"},
      {"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 1\r\n\r\nx", ErrorCode::kUnavailable,
       "the status is 502"},
      {"HTTP/1.1 200 OK\r\n\r\nx", ErrorCode::kUnavailable,
       "found bytes behind the head of the answer"},
      {"", ErrorCode::kUnavailable, "the server closed the connection without an answer"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.answer);
    const auto proxy = Proxy(c.answer, 0);
    Connect("https://10.0.0.1:6443", Tls(), {},
            "http://u:secret@127.0.0.1:" + std::to_string(proxy->port()));
    const HttpResponse refused = Get("/x");
    EXPECT_EQ(refused.status.code(), c.code);
    EXPECT_EQ(refused.status.message(),
              "proxy " + Url(*proxy, "http") + ": CONNECT 10.0.0.1:6443: " + c.error);
    EXPECT_EQ(refused.delivery, Delivery::kNotSent);
    Disconnect();
  }
}

TEST_F(HttpProxyTest, AProxyThatDoesNotAnswer) {
  LoopbackServer proxy({.tls = false}, [](Peer& peer, size_t) { peer.WaitForClose(); });
  HttpTransport::Options options;
  options.dial.connect_timeout_ns = kMillisecond;
  Connect("https://10.0.0.1:6443", Tls(), options, Url(proxy, "http"));
  const HttpResponse refused = Get("/x");
  EXPECT_EQ(refused.status.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(refused.delivery, Delivery::kNotSent);
}

TEST_F(HttpProxyTest, ConnectsWithTlsThroughAProxyWithTls) {
  const std::string body(300'000, 'x');
  LoopbackServer server({}, [&body](Peer& peer, size_t) {
    std::string request;
    while (peer.ReadRequest(request)) peer.Write(HttpAnswer(200, body));
  });
  const auto proxy = Proxy("HTTP/1.1 200 OK\r\n\r\n", server.port(), {.tls = true});
  TlsSettings settings;
  settings.server_name = "kubernetes";
  Connect(Url(server), Tls(settings), {},
          "https://user:pass@localhost:" + std::to_string(proxy->port()));
  for (int i = 0; i < 3; ++i) {
    const HttpResponse answer = Send({.verb = "POST", .target = "/x", .body = body});
    EXPECT_TRUE(answer.is_success()) << answer.status.message();
    EXPECT_EQ(answer.body.size(), body.size());
    EXPECT_EQ(answer.tls, "TLS 1.3");
  }
  EXPECT_EQ(proxy->connections(), 1U) << "the connection is used again";
  ASSERT_EQ(log_.Get().size(), 1U);
  EXPECT_TRUE(log_.Get()[0].starts_with("CONNECT " + Url(server).substr(8) + " HTTP/1.1\r\n"));
  EXPECT_NE(log_.Get()[0].find("Proxy-Authorization: Basic dXNlcjpwYXNz\r\n"), std::string::npos);
  EXPECT_EQ(names_.Get()[0], "localhost") << "tls-server-name is that of the server";
}

TEST_F(HttpProxyTest, StreamsThroughAProxyWithTls) {
  LoopbackServer server({}, [](Peer& peer, size_t) {
    std::string request;
    if (!peer.ReadRequest(request)) return;
    peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    peer.Trickle("3\r\nabc\r\n3\r\ndef\r\n", kMillisecond);
    peer.WaitForClose();
  });
  const auto proxy = Proxy("HTTP/1.1 200 OK\r\n\r\n", server.port(), {.tls = true});
  Connect(Url(server), Tls(), {}, Url(*proxy));
  RecordingSink sink;
  Open({.verb = "GET", .target = "/x"}, sink);
  EXPECT_EQ(sink.WaitForBytes(6), "abcdef");
  proxy->Stop();
  EXPECT_FALSE(sink.WaitForEnd().status.ok());
}

TEST_F(HttpProxyTest, VerifiesTheCertificateOfAProxy) {
  LoopbackServer server({}, EchoFirstLines);
  const TestCertificates& made = Certificates();
  const auto proxy = Proxy(
      "HTTP/1.1 200 OK\r\n\r\n", server.port(),
      {.tls = true, .certificate_pem = made.wrong_name_pem, .key_pem = made.wrong_name_key_pem});
  TlsSettings settings;
  settings.server_name = "kubernetes";
  Connect(Url(server), Tls(settings), {}, Url(*proxy));
  const HttpResponse refused = Get("/x");
  EXPECT_EQ(refused.status.code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(refused.status.message(),
            "proxy: " + Url(*proxy) +
                ": the certificate is valid for other.example.com, not for 127.0.0.1");
  EXPECT_EQ(refused.delivery, Delivery::kNotSent);
  EXPECT_TRUE(log_.Get().empty());
}

// A server that is its own proxy can resume every session that it has handed out.
TEST_F(HttpProxyTest, ProxySessionDoesNotReplaceTheServersCertificate) {
  std::atomic<uint16_t> port = 0;
  RequestLog resumed;
  LoopbackServer server({}, [&](Peer& peer, size_t) {
    std::string request;
    if (!peer.ReadRequest(request)) return;
    const bool is_proxy = request.starts_with("CONNECT");
    resumed.Add(std::string(is_proxy ? "proxy" : "server") + (peer.IsResumed() ? " again" : ""));
    if (!is_proxy) {
      peer.Write(HttpAnswer(200, "{}", "Connection: close\r\n"));
    } else if (peer.Write("HTTP/1.1 200 OK\r\n\r\n")) {
      peer.Relay(port);
    }
  });
  port = server.port();
  Connect(Url(server), Tls(), {}, "https://localhost:" + std::to_string(server.port()));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Get("/x").is_success());
  EXPECT_EQ(resumed.Get(), (std::vector<std::string>{"proxy", "server", "proxy", "server again",
                                                     "proxy", "server again"}));
}

TEST_F(HttpProxyTest, VerifiesTheServerBehindAProxyWithTls) {
  const TestCertificates& made = Certificates();
  LoopbackServer server(
      {.certificate_pem = made.wrong_name_pem, .key_pem = made.wrong_name_key_pem}, EchoFirstLines);
  const auto proxy = Proxy("HTTP/1.1 200 OK\r\n\r\n", server.port(), {.tls = true});
  Connect(Url(server), Tls(), {}, Url(*proxy));
  const HttpResponse refused = Get("/x");
  EXPECT_EQ(refused.status.code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(refused.status.message(),
            Url(server) +
                ": the certificate is valid for other.example.com, not for 127.0.0.1; "
                "set tls-server-name in the kubeconfig");
}

// One exchange with a SOCKS proxy: what it reads, and what it answers.
struct SocksStep {
  std::string expected;
  std::string answer;
};

std::string Bytes(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

void TakeSteps(Peer& peer, const std::vector<SocksStep>& steps, uint16_t port) {
  for (const SocksStep& step : steps) {
    std::string read;
    if (!peer.ReadBytes(step.expected.size(), read)) return;
    EXPECT_EQ(read, step.expected);
    // A proxy may send its answer in pieces.
    peer.Trickle(step.answer, 0);
  }
  if (port != 0) return peer.Relay(port);
  peer.WaitForClose();
}

class SocksProxyTest : public TransportTest {
 protected:
  // A proxy that takes the steps and then connects to `port`.
  static std::unique_ptr<LoopbackServer> Proxy(const std::vector<SocksStep>& steps, uint16_t port) {
    return std::make_unique<LoopbackServer>(
        LoopbackServer::Options{.tls = false},
        [steps, port](Peer& peer, size_t) { TakeSteps(peer, steps, port); });
  }
  static std::string ProxyUrl(const LoopbackServer& proxy, const std::string& user = "") {
    return "socks5://" + user + "127.0.0.1:" + std::to_string(proxy.port());
  }

  static std::string Port(uint16_t port) { return Bytes({port >> 8, port & 0xFF}); }
};

TEST_F(SocksProxyTest, ConnectsToAnAddress) {
  LoopbackServer server({}, EchoFirstLines);
  const std::string target = Bytes({5, 1, 0, 1, 127, 0, 0, 1}) + Port(server.port());
  const struct {
    const char* name;
    std::string bound;  // The address in the answer of the proxy.
  } cases[] = {{"IPv4", Bytes({1, 10, 0, 0, 1, 1, 1})},
               {"IPv6", Bytes({4}) + std::string(18, 'x')},
               {"name", Bytes({3, 4}) + "host" + Bytes({1, 1})},
               {"empty name", Bytes({3, 0, 1, 1})}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto proxy = Proxy(
        {{Bytes({5, 1, 0}), Bytes({5, 0})}, {target, Bytes({5, 0, 0}) + c.bound}}, server.port());
    Connect(Url(server), Tls(), {}, ProxyUrl(*proxy));
    const HttpResponse answer = Get("/x");
    EXPECT_TRUE(answer.is_success()) << answer.status.message();
    Disconnect();
  }
}

TEST_F(SocksProxyTest, SendsNameUserAndPassword) {
  LoopbackServer server({}, EchoFirstLines);
  const auto proxy = Proxy({{Bytes({5, 2, 0, 2}), Bytes({5, 2})},
                            {Bytes({1, 3}) + "joe" + Bytes({2}) + "pw", Bytes({1, 0})},
                            {Bytes({5, 1, 0, 3, 9}) + "localhost" + Port(server.port()),
                             Bytes({5, 0, 0, 1, 0, 0, 0, 0, 0, 0})}},
                           server.port());
  TlsSettings settings;
  settings.server_name = "localhost";
  Connect("https://localhost:" + std::to_string(server.port()), Tls(settings), {},
          ProxyUrl(*proxy, "joe:pw@"));
  const HttpResponse answer = Get("/x");
  EXPECT_TRUE(answer.is_success()) << answer.status.message();
}

TEST_F(SocksProxyTest, NamesTheProxyThatRefuses) {
  const std::string target = Bytes({5, 1, 0, 1, 10, 0, 0, 1, 0x19, 0x2B});
  const SocksStep no_user = {Bytes({5, 1, 0}), Bytes({5, 0})};
  const SocksStep offers_user = {Bytes({5, 2, 0, 2}), Bytes({5, 2})};
  const struct {
    const char* user;
    std::vector<SocksStep> steps;
    ErrorCode code;
    const char* error;
  } cases[] = {
      {"",
       {{Bytes({5, 1, 0}), "HT"}},
       ErrorCode::kUnavailable,
       "expected an answer of SOCKS 5, found other bytes"},
      {"",
       {{Bytes({5, 1, 0}), Bytes({5, 255})}},
       ErrorCode::kPermissionDenied,
       "the proxy wants authentication; set the user and the password in proxy-url"},
      {"",
       {{Bytes({5, 1, 0}), Bytes({5, 2})}},
       ErrorCode::kPermissionDenied,
       "the proxy wants authentication; set the user and the password in proxy-url"},
      {"joe:no@",
       {offers_user, {Bytes({1, 3}) + "joe" + Bytes({2}) + "no", Bytes({1, 1})}},
       ErrorCode::kPermissionDenied,
       "the proxy refused the user or the password"},
      {"",
       {no_user, {target, Bytes({5, 5, 0, 1, 0, 0, 0, 0, 0, 0})}},
       ErrorCode::kUnavailable,
       "connection refused"},
      {"",
       {no_user, {target, Bytes({5, 99, 0, 1, 0, 0, 0, 0, 0, 0})}},
       ErrorCode::kUnavailable,
       "reply 99"},
      {"",
       {no_user, {target, Bytes({5, 0, 0, 9, 0})}},
       ErrorCode::kUnavailable,
       "expected an address, found other bytes"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.error);
    const auto proxy = Proxy(c.steps, 0);
    Connect("https://10.0.0.1:6443", Tls(), {}, ProxyUrl(*proxy, c.user));
    const HttpResponse refused = Get("/x");
    EXPECT_EQ(refused.status.code(), c.code);
    EXPECT_EQ(refused.status.message(),
              "proxy " + ProxyUrl(*proxy) + ": connect to 10.0.0.1:6443: " + c.error);
    EXPECT_EQ(refused.delivery, Delivery::kNotSent);
    Disconnect();
  }
}

TEST_F(SocksProxyTest, AProxyThatClosesTheConnection) {
  LoopbackServer proxy({.tls = false}, [](Peer& peer, size_t) {
    std::string read;
    peer.ReadBytes(3, read);
  });
  Connect("https://10.0.0.1:6443", Tls(), {}, ProxyUrl(proxy));
  EXPECT_EQ(Get("/x").status.message(), "proxy " + ProxyUrl(proxy) +
                                            ": connect to 10.0.0.1:6443: the proxy closed the "
                                            "connection");
}

}  // namespace
}  // namespace berth::host

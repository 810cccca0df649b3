#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "host/base/time_units.h"
#include "host/cluster/kubernetes/http_transport.h"
#include "tests/harness/api_server/loopback_server.h"
#include "tests/harness/api_server/test_certificates.h"
#include "tests/harness/api_server/transport_test.h"

namespace berth::host {
namespace {

using Peer = LoopbackServer::Peer;

// Returns the port of a socket on which nobody listens any more.
uint16_t ClosedPort() {
  LoopbackServer server({.tls = false}, EchoFirstLines);
  const uint16_t port = server.port();
  server.Stop();
  return port;
}

class HttpTlsTest : public TransportTest {};

TEST_F(HttpTlsTest, ExplainsAServerThatItDoesNotTrust) {
  const TestCertificates& made = Certificates();
  TlsSettings other_ca;
  other_ca.ca_pem = made.other_ca_pem;
  const struct {
    const char* name;
    LoopbackServer::Options server;
    TlsSettings client;
    const char* error;
  } cases[] = {
      {"wrong CA", {}, other_ca, "the certificate is not signed by the CA of the kubeconfig"},
      {"wrong name",
       {.certificate_pem = made.wrong_name_pem, .key_pem = made.wrong_name_key_pem},
       {},
       "the certificate is valid for other.example.com, not for 127.0.0.1; set tls-server-name in "
       "the kubeconfig"},
      {"expired",
       {.certificate_pem = made.expired_pem, .key_pem = made.expired_key_pem},
       {},
       "the certificate expired at 2020-01-01T00:00:00Z"},
      {"TLS 1.1",
       {.max_tls_version = TLS1_1_VERSION},
       {},
       "the server does not support TLS 1.2 or a newer version"},
      {"no client certificate",
       {.requires_client_certificate = true},
       {},
       "the server refused the client certificate"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::atomic<int> requests = 0;
    LoopbackServer server(c.server, [&](Peer& peer, size_t) {
      std::string request;
      if (peer.ReadRequest(request)) ++requests;
    });
    Connect(Url(server), Tls(c.client));
    const HttpResponse refused = Get("/x");
    EXPECT_EQ(refused.status.ToString(), "PermissionDenied: " + Url(server) + ": " + c.error);
    EXPECT_EQ(requests, 0);
    RecordingSink sink;
    Open({.verb = "GET", .target = "/x"}, sink);
    EXPECT_EQ(sink.WaitForEnd().status.ToString(), refused.status.ToString());
    Disconnect();
  }
}

TEST_F(HttpTlsTest, AnUntrustedServerReceivesNoByteOfTheRequest) {
  LoopbackServer server({}, EchoFirstLines);
  TlsSettings other_ca;
  other_ca.ca_pem = Certificates().other_ca_pem;
  Connect(Url(server), Tls(other_ca));
  EXPECT_EQ(Get("/x").delivery, Delivery::kNotSent);
}

TEST_F(HttpTlsTest, PresentsTheClientCertificate) {
  for (const int version : {TLS1_2_VERSION, 0}) {
    SCOPED_TRACE(version);
    LoopbackServer server({.requires_client_certificate = true, .max_tls_version = version},
                          [](Peer& peer, size_t) {
                            std::string request;
                            while (peer.ReadRequest(request)) {
                              peer.Write(HttpAnswer(200, peer.ClientCommonName()));
                            }
                          });
    const TestCertificates& made = Certificates();
    Connect(Url(server), Tls({}, {.chain_pem = made.client_pem,
                                  .key_pem = Secret(std::string(made.client_key_pem))}));
    EXPECT_EQ(Get("/x").body, "client");
    Disconnect();
  }
}

TEST_F(HttpTlsTest, SendsTheNameAsSniButNoAddress) {
  LoopbackServer server({}, [](Peer& peer, size_t) {
    std::string request;
    while (peer.ReadRequest(request)) peer.Write(HttpAnswer(200, peer.ServerName()));
  });
  Connect(server);
  EXPECT_EQ(Get("/x").body, "");
  TlsSettings settings;
  settings.server_name = "kubernetes";
  Connect(Url(server), Tls(settings));
  EXPECT_EQ(Get("/x").body, "kubernetes");
}

TEST_F(HttpTlsTest, LooksUpNames) {
  LoopbackServer server({}, EchoFirstLines);
  TlsSettings settings;
  settings.server_name = "localhost";
  Connect("https://localhost:" + std::to_string(server.port()), Tls(settings));
  const HttpResponse answer = Get("/x");
  EXPECT_TRUE(answer.is_success()) << answer.status.message();
}

TEST_F(HttpTlsTest, ARotatedCertificateClosesTheConnections) {
  std::atomic<int> closed = 0;
  LoopbackServer server({}, [&](Peer& peer, size_t connection) {
    EchoFirstLines(peer, connection);
    ++closed;
  });
  Connect(server);
  EXPECT_TRUE(Get("/1").is_success());
  credentials_->Set("token-2", credentials_->Current()->tls);
  EXPECT_TRUE(Get("/2").is_success());
  EXPECT_EQ(server.connections(), 1U) << "a new token needs no new connection";
  credentials_->Set("token-2", Tls());
  EXPECT_TRUE(Get("/3").is_success());
  EXPECT_EQ(server.connections(), 2U);
  WaitUntil([&] { return closed == 1; });
}

TEST_F(HttpTlsTest, NamesAServerThatIsNotReached) {
  const std::string port = std::to_string(ClosedPort());
  Connect("https://127.0.0.1:" + port, Tls());
  const HttpResponse refused = Get("/x");
  EXPECT_EQ(refused.status,
            Status::Unavailable("dial tcp 127.0.0.1:" + port + ": connect: connection refused"));
  EXPECT_EQ(refused.delivery, Delivery::kNotSent);
  EXPECT_EQ(refused.sent_ns, 0);

  Connect("https://[::1]:" + port, Tls());
  const HttpResponse v6 = Get("/x");
  EXPECT_TRUE(v6.status.message().starts_with("dial tcp [::1]:" + port + ": "))
      << v6.status.message();

  Connect("https://host.invalid:6443", Tls());
  const HttpResponse unknown = Get("/x");
  EXPECT_TRUE(unknown.status.message().starts_with("dial tcp: lookup host.invalid: "))
      << unknown.status.message();
}

TEST_F(HttpTlsTest, AServerWithoutTlsOrWithoutAnswer) {
  LoopbackServer plain({.tls = false}, [](Peer& peer, size_t) {
    peer.Write("HTTP/1.1 400 Bad Request\r\n\r\n");
    peer.WaitForClose();
  });
  Connect(Url(plain), Tls());
  EXPECT_EQ(Get("/x").status,
            Status::PermissionDenied(Url(plain) +
                                     ": the server does not answer with TLS; is its URL http?"));

  LoopbackServer silent({.tls = false}, [](Peer& peer, size_t) { peer.WaitForClose(); });
  HttpTransport::Options options;
  options.dial.handshake_timeout_ns = 200 * kMillisecond;
  Connect(silent, options);
  const HttpResponse stalled = Get("/x");
  EXPECT_EQ(stalled.status, Status::Unavailable(Url(silent) + ": TLS handshake timeout"));
  EXPECT_EQ(stalled.delivery, Delivery::kNotSent);

  LoopbackServer closing({.tls = false}, [](Peer&, size_t) {});
  Connect(closing);
  const HttpResponse closed = Get("/x");
  EXPECT_EQ(closed.status.code(), ErrorCode::kUnavailable) << closed.status.message();
}

class HttpProxyTest : public TransportTest {
 protected:
  // A proxy that answers CONNECT with `answer`, and connects to the server if `is_open`.
  std::unique_ptr<LoopbackServer> Proxy(const std::string& answer, uint16_t port) {
    return std::make_unique<LoopbackServer>(LoopbackServer::Options{.tls = false},
                                            [this, answer, port](Peer& peer, size_t) {
                                              std::string request;
                                              if (!peer.ReadRequest(request)) return;
                                              log_.Add(request);
                                              if (peer.Write(answer) && port != 0) peer.Relay(port);
                                            });
  }

  RequestLog log_;
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

TEST_F(HttpProxyTest, RefusesAProxyWithAnotherScheme) {
  Connect("https://10.0.0.1:6443", Tls(), {}, "https://127.0.0.1:1");
  const HttpResponse refused = Get("/x");
  EXPECT_EQ(refused.status.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(refused.status.message(),
            "proxy-url: expected a proxy with the scheme http, found https://127.0.0.1:1");
}

}  // namespace
}  // namespace berth::host

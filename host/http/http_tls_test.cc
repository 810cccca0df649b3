#include <fcntl.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "host/base/time_units.h"
#include "host/http/http_transport.h"
#include "tests/harness/api_server/loopback_server.h"
#include "tests/harness/api_server/test_certificates.h"
#include "tests/harness/api_server/transport_fixture.h"

namespace berth::host {
namespace {

using Peer = LoopbackServer::Peer;

// Returns a port on which no server listens.
uint16_t ClosedPort() {
  LoopbackServer server({.tls = false}, EchoFirstLines);
  const uint16_t port = server.port();
  server.Stop();
  return port;
}

// Returns the descriptor of this process that is connected to the port; -1 if there is none.
int ClientSocket(uint16_t port) {
  constexpr int kMaxDescriptor = 4096;
  for (int socket = 0; socket < kMaxDescriptor; ++socket) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (peer.sin_family == AF_INET && ntohs(peer.sin_port) == port) return socket;
  }
  return -1;
}

int Option(int socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(socket, level, name, &value, &size), 0);
  return value;
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

// Returns the error after an alert that has no text of its own.
std::string FailureAfterAlert(char alert) {
  ::OPENSSL_init_ssl(OPENSSL_INIT_LOAD_SSL_STRINGS, nullptr);
  const char* const reason =
      ::ERR_reason_error_string(ERR_PACK(ERR_LIB_SSL, 0, SSL_AD_REASON_OFFSET + alert));
  return std::string("the TLS handshake failed: ") + (reason != nullptr ? reason : "no text");
}

TEST_F(HttpTlsTest, OnlyAlertAboutClientCertificateIsARefusal) {
  constexpr const char* kRefused = "the server refused the client certificate";
  const struct {
    const char* name;
    char alert;  // RFC 8446, section 6.2.
    ErrorCode code;
    const char* error;  // Null: the text of OpenSSL, which differs between versions.
  } cases[] = {
      {"handshake failure", 40, ErrorCode::kUnavailable, nullptr},
      {"bad certificate", 42, ErrorCode::kPermissionDenied, kRefused},
      {"unsupported certificate", 43, ErrorCode::kPermissionDenied, kRefused},
      {"certificate revoked", 44, ErrorCode::kPermissionDenied, kRefused},
      {"certificate expired", 45, ErrorCode::kPermissionDenied, kRefused},
      {"certificate unknown", 46, ErrorCode::kPermissionDenied, kRefused},
      {"illegal parameter", 47, ErrorCode::kUnavailable, nullptr},
      {"unknown CA", 48, ErrorCode::kPermissionDenied, kRefused},
      {"access denied", 49, ErrorCode::kPermissionDenied, kRefused},
      {"decode error", 50, ErrorCode::kUnavailable, nullptr},
      {"protocol version", 70, ErrorCode::kUnavailable,
       "the server does not support TLS 1.2 or a newer version"},
      {"internal error", 80, ErrorCode::kUnavailable, nullptr},
      {"certificate required", 116, ErrorCode::kPermissionDenied, kRefused},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    LoopbackServer server({.tls = false}, [&](Peer& peer, size_t) {
      // A record with a fatal alert of TLS 1.2.
      peer.Write(std::string("\x15\x03\x03\x00\x02\x02", 6) + c.alert);
      peer.WaitForClose();
    });
    Connect(Url(server), Tls());
    const HttpResponse answer = Get("/x");
    const std::string error = c.error != nullptr ? c.error : FailureAfterAlert(c.alert);
    EXPECT_EQ(answer.status, Status(c.code, Url(server) + ": " + error));
    EXPECT_EQ(answer.delivery, Delivery::kNotSent);
    Disconnect();
  }
}

TEST_F(HttpTlsTest, ExplainsAServerWithOnlyOldTls) {
  LoopbackServer server({.max_tls_version = TLS1_1_VERSION}, EchoFirstLines);
  Connect(Url(server), Tls());
  EXPECT_EQ(Get("/x").status,
            Status::Unavailable(Url(server) +
                                ": the server does not support TLS 1.2 or a newer version"));
}

TEST_F(HttpTlsTest, UntrustedServerReceivesNoByteOfTheRequest) {
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

TEST_F(HttpTlsTest, ResumesTheLastSession) {
  const TestCertificates& made = Certificates();
  for (const int version : {TLS1_2_VERSION, 0}) {
    SCOPED_TRACE(version);
    LoopbackServer server(
        {.requires_client_certificate = true, .max_tls_version = version}, [](Peer& peer, size_t) {
          std::string request;
          if (!peer.ReadRequest(request)) return;
          peer.Write(HttpAnswer(200, peer.ClientCommonName() + (peer.IsResumed() ? " again" : ""),
                                "Connection: close\r\n"));
        });
    const ClientCertificate client = {.chain_pem = made.client_pem,
                                      .key_pem = Secret(std::string(made.client_key_pem))};
    const std::shared_ptr<const TlsContext> tls = Tls({}, client);
    Connect(Url(server), tls);
    EXPECT_EQ(Get("/x").body, "client");
    EXPECT_EQ(Get("/x").body, "client again");
    EXPECT_EQ(Get("/x").body, "client again") << "a session serves several connections";
    tls->ForgetSession();
    EXPECT_EQ(Get("/x").body, "client");
    EXPECT_EQ(Get("/x").body, "client again");
    Disconnect();
    Connect(Url(server), Tls({}, client));
    EXPECT_EQ(Get("/x").body, "client") << "another context has other sessions";
    Disconnect();
  }
}

TEST_F(HttpTlsTest, ARestartedServerMayRefuseTheSession) {
  const auto handler = [](Peer& peer, size_t) {
    std::string request;
    if (!peer.ReadRequest(request)) return;
    peer.Write(HttpAnswer(200, peer.IsResumed() ? "again" : "first", "Connection: close\r\n"));
  };
  auto first = std::make_unique<LoopbackServer>(LoopbackServer::Options{}, handler);
  const std::shared_ptr<const TlsContext> tls = Tls();
  Connect(Url(*first), tls);
  EXPECT_EQ(Get("/x").body, "first");
  Disconnect();
  first.reset();
  // It has other keys for its sessions.
  LoopbackServer second({}, handler);
  Connect(Url(second), tls);
  EXPECT_EQ(Get("/x").body, "first");
  EXPECT_EQ(Get("/x").body, "again");
}

TEST_F(HttpTlsTest, ReportsTheVersionOfTls) {
  const struct {
    LoopbackServer::Options server;
    const char* version;
  } cases[] = {
      {{.max_tls_version = TLS1_2_VERSION}, "TLS 1.2"}, {{}, "TLS 1.3"}, {{.tls = false}, ""}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.version);
    LoopbackServer server(c.server, EchoFirstLines);
    if (c.server.tls) {
      Connect(server);
    } else {
      Connect(Url(server, "http"), nullptr);
    }
    // The second request has the same connection.
    for (int i = 0; i < 2; ++i) EXPECT_EQ(Get("/x").tls, c.version);
    Disconnect();
  }
  Connect("https://127.0.0.1:" + std::to_string(ClosedPort()), Tls());
  EXPECT_EQ(Get("/x").tls, "");
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

TEST_F(HttpTlsTest, TheSystemFindsADeadPeer) {
  LoopbackServer server({}, EchoFirstLines);
  Connect(server);
  EXPECT_TRUE(Get("/x").is_success());
  const int socket = ClientSocket(server.port());
  ASSERT_GE(socket, 0);
  EXPECT_EQ(Option(socket, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(Option(socket, IPPROTO_TCP, TCP_KEEPIDLE), 30);
  EXPECT_EQ(Option(socket, IPPROTO_TCP, TCP_KEEPINTVL), 15);
  EXPECT_EQ(Option(socket, IPPROTO_TCP, TCP_KEEPCNT), 3);
  EXPECT_EQ(Option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 45'000);
  EXPECT_EQ(Option(socket, IPPROTO_TCP, TCP_NODELAY), 1);
  EXPECT_NE(::fcntl(socket, F_GETFD) & FD_CLOEXEC, 0) << "programs must not inherit it";
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
  EXPECT_EQ(
      Get("/x").status,
      Status::Unavailable(Url(plain) +
                          ": expected TLS, found an answer without TLS: the server seems to speak "
                          "plain HTTP; use http:// in its URL, or its port for TLS"));

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

}  // namespace
}  // namespace berth::host

#include "host/http/http_client.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/api_server/loopback_server.h"
#include "tests/harness/api_server/test_certificates.h"
#include "tests/harness/api_server/transport_fixture.h"

namespace berth::host {
namespace {

using Peer = LoopbackServer::Peer;

TEST(ParseHttpUrl, DividesUrlsIntoServerAndTarget) {
  const struct {
    const char* url;
    const char* server;
    const char* target;
  } cases[] = {
      {"http://a", "http://a:80", "/"},
      {"https://a", "https://a:443", "/"},
      {"HTTPS://a:8443/x/", "https://a:8443", "/x/"},
      {"http://[::1]:1/x?y=http://b", "http://[::1]:1", "/x?y=http://b"},
      {"http://a?y=1/2", "http://a:80", "/?y=1/2"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.url);
    const auto call = ParseHttpUrl(c.url);
    ASSERT_TRUE(call.ok()) << call.status().message();
    EXPECT_EQ(call->server.ToString(), c.server);
    EXPECT_EQ(call->request.target, c.target);
  }
}

TEST(ParseHttpUrl, RefusesOtherUrlsWithoutTheirSecrets) {
  for (const char* url :
       {"", "a", "a/http://b", "ftp://a", "socks5://a", "http://", "http:///x", "http://a:0",
        "http://a:65536", "http://a#x", "http://secret:word@a/", "http://a b/", "://a"}) {
    SCOPED_TRACE(url);
    const auto call = ParseHttpUrl(url);
    ASSERT_FALSE(call.ok());
    EXPECT_EQ(call.status().message().find("secret"), std::string_view::npos);
  }
}

// A client with one session.
class HttpClientTest : public testing::Test {
 protected:
  static std::string Url(const LoopbackServer& server, const std::string& scheme) {
    return scheme + "://127.0.0.1:" + std::to_string(server.port()) + "/x";
  }
  static HttpCall Call(const std::string& url, const std::string& ca_file = "") {
    auto call = ParseHttpUrl(url);
    EXPECT_TRUE(call.ok());
    call->trust.ca_file = ca_file;
    call->request.verb = "GET";
    call->request.timeout_ns = 60 * kSecond;
    return *std::move(call);
  }
  // Begins a request.
  std::future<HttpResponse> Begin(HttpCall call) {
    auto promise = std::make_shared<std::promise<HttpResponse>>();
    std::future<HttpResponse> answer = promise->get_future();
    const Status sent = session_->Send(std::move(call), [promise](HttpResponse response) {
      promise->set_value(std::move(response));
    });
    EXPECT_TRUE(sent.ok()) << sent.message();
    return answer;
  }
  HttpResponse Get(const std::string& url, const std::string& ca_file = "") {
    return Begin(Call(url, ca_file)).get();
  }

  SocketHttpClient::Options OptionsWith(int64_t reread_ns) {
    return {.steady_ns = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); },
            .read_file = [this](const std::string& path) -> Result<std::string> {
              ++reads_;
              if (path == "missing.pem") return Status::NotFound("no such file");
              if (path == "empty.pem") return std::string();
              if (path == "client.pem") return Certificates().client_pem;
              if (path == "client.key") return Certificates().client_key_pem;
              return path == "other.pem" ? Certificates().other_ca_pem : ca_;
            },
            .reread_ns = reread_ns};
  }

  std::string ca_ = Certificates().ca_pem;
  std::atomic<int> reads_ = 0;
  SocketHttpClient client_{OptionsWith(60 * kSecond)};
  std::unique_ptr<HttpSession> session_ = client_.Open();
};

TEST_F(HttpClientTest, KeepsConnectionsToEachServer) {
  LoopbackServer plain({.tls = false},
                       AnswerInTurn({HttpAnswer(200, "a", "X-A: 1\r\n"), HttpAnswer(500, "b")}));
  LoopbackServer secure({}, EchoFirstLines);
  const HttpResponse first = Get(Url(plain, "http"));
  EXPECT_EQ(first.body, "a");
  const std::pair<std::string, std::string> header = {"X-A", "1"};
  EXPECT_NE(std::ranges::find(first.head.headers, header), first.head.headers.end());
  EXPECT_EQ(Get(Url(plain, "http")).head.http_status, 500U);
  EXPECT_EQ(Get(Url(secure, "https"), "ca.pem").body, "GET /x HTTP/1.1");
  EXPECT_EQ(Get(Url(secure, "https"), "ca.pem").body, "GET /x HTTP/1.1");
  EXPECT_EQ(plain.connections(), 1U);
  EXPECT_EQ(secure.connections(), 1U);

  const std::unique_ptr<HttpSession> other = std::exchange(session_, client_.Open());
  EXPECT_EQ(Get(Url(secure, "https"), "ca.pem").head.http_status, 200U);
  EXPECT_EQ(secure.connections(), 2U) << "sessions do not share connections";
}

TEST_F(HttpClientTest, VerifiesCertificates) {
  LoopbackServer server({}, EchoFirstLines);
  const struct {
    const char* name;
    const char* ca_file;
    const char* error;
  } cases[] = {
      {"the CA signed it", "ca.pem", ""},
      {"another CA", "other.pem", "is not signed by the CA of other.pem"},
      {"the system's CAs", "",
       "is not signed by a CA of this system; name its CA file in the request"},
      {"no CA file", "missing.pem", "missing.pem: no such file"},
      {"an empty CA file", "empty.pem", "empty.pem: the file is empty"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const HttpResponse got = Get(Url(server, "https"), c.ca_file);
    EXPECT_EQ(got.status.ok(), *c.error == '\0') << got.status.message();
    if (*c.error == '\0') continue;
    EXPECT_EQ(got.status.code(), ErrorCode::kPermissionDenied);
    EXPECT_NE(got.status.message().find(c.error), std::string_view::npos) << got.status.message();
  }
}

TEST_F(HttpClientTest, ShowsAClientCertificateAndVerifiesAnotherName) {
  LoopbackServer server({.requires_client_certificate = true}, [](Peer& peer, size_t) {
    std::string request;
    while (peer.ReadRequest(request)) {
      peer.Write(HttpAnswer(200, peer.ClientCommonName() + " " + peer.ServerName()));
    }
  });
  HttpCall call = Call(Url(server, "https"), "ca.pem");
  call.trust.cert_file = "client.pem";
  call.trust.key_file = "client.key";
  call.trust.server_name = "kubernetes";
  EXPECT_EQ(Begin(call).get().body, "client kubernetes");
  call.trust.key_file = "missing.pem";
  EXPECT_EQ(Begin(call).get().status.code(), ErrorCode::kPermissionDenied);
  // Errors name the files, and not the keys of a kubeconfig.
  call.trust.key_file = "ca.pem";
  EXPECT_EQ(Begin(call).get().status.message(), "ca.pem: expected a key in PEM, found other text");
  call.trust.cert_file = "";
  call.trust.key_file = "";
  EXPECT_EQ(Begin(call).get().status.code(), ErrorCode::kPermissionDenied);
}

TEST_F(HttpClientTest, ReadsTheCaAgainWhenItIsOld) {
  LoopbackServer server({}, EchoFirstLines);
  EXPECT_TRUE(Get(Url(server, "https"), "ca.pem").status.ok());
  EXPECT_TRUE(Get(Url(server, "https"), "ca.pem").status.ok());
  EXPECT_EQ(reads_, 1);

  SocketHttpClient eager(OptionsWith(0));
  session_ = eager.Open();
  EXPECT_TRUE(Get(Url(server, "https"), "ca.pem").status.ok());
  EXPECT_EQ(reads_, 2);
  ca_ = "no certificate";
  EXPECT_TRUE(Get(Url(server, "https"), "ca.pem").status.ok()) << "keeps the content that was good";
  EXPECT_EQ(reads_, 3);
  ca_ = Certificates().other_ca_pem;
  EXPECT_EQ(Get(Url(server, "https"), "ca.pem").status.code(), ErrorCode::kPermissionDenied);
  session_ = nullptr;  // Before its client.
}

TEST_F(HttpClientTest, FollowsNoRedirectAndNoRetryAfter) {
  LoopbackServer server(
      {.tls = false}, AnswerInTurn({HttpAnswer(302, "", "Location: http://127.0.0.1:1/\r\n"),
                                    HttpAnswer(429, "", "Retry-After: 60\r\n"), HttpAnswer(401, ""),
                                    HttpAnswer(200, "")}));
  for (const uint32_t status : {302U, 429U, 401U, 200U}) {
    EXPECT_EQ(Get(Url(server, "http")).head.http_status, status);
  }
}

TEST_F(HttpClientTest, LimitsAnswersOfEveryStatus) {
  for (const int status : {200, 500}) {
    LoopbackServer server({.tls = false},
                          AnswerInTurn({HttpAnswer(status, "12345"), HttpAnswer(status, "12345")}));
    HttpCall call = Call(Url(server, "http"));
    call.request.max_body_bytes = 5;
    EXPECT_EQ(Begin(call).get().body, "12345");
    call.request.max_body_bytes = 4;
    EXPECT_EQ(Begin(call).get().status.code(), ErrorCode::kOutOfRange) << status;
  }
}

TEST_F(HttpClientTest, EndsLateRequests) {
  LoopbackServer server({.tls = false}, AnswerInTurn({}));
  HttpCall call = Call(Url(server, "http"));
  call.request.timeout_ns = 1;
  const HttpResponse late = Begin(call).get();
  EXPECT_EQ(late.status.code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(late.is_late);
}

TEST_F(HttpClientTest, ReportsThatNothingListens) {
  LoopbackServer server({.tls = false}, AnswerInTurn({}));
  server.Stop();
  const HttpResponse refused = Get(Url(server, "http"));
  EXPECT_EQ(refused.status.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(refused.delivery, Delivery::kNotSent);
  EXPECT_FALSE(refused.is_late);
}

TEST_F(HttpClientTest, EndOfSessionCancelsItsRequests) {
  LoopbackServer server({.tls = false}, AnswerInTurn({}));
  std::vector<std::future<HttpResponse>> open;
  for (size_t i = 0; i <= kMaxHttpConnections; ++i)
    open.push_back(Begin(Call(Url(server, "http"))));
  WaitUntil([&] { return server.connections() == kMaxHttpConnections; });
  session_ = nullptr;
  for (auto& answer : open) EXPECT_EQ(answer.get().status.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(server.connections(), kMaxHttpConnections);
}

TEST_F(HttpClientTest, LimitsServersWithRequestsUnderWay) {
  std::vector<std::unique_ptr<LoopbackServer>> servers;
  std::vector<std::future<HttpResponse>> open;
  for (size_t i = 0; i <= kMaxHttpServers; ++i) {
    servers.push_back(
        std::make_unique<LoopbackServer>(LoopbackServer::Options{.tls = false}, EchoFirstLines));
    EXPECT_TRUE(Get(Url(*servers.back(), "http")).status.ok()) << "idle ones make room";
  }
  LoopbackServer silent({.tls = false}, AnswerInTurn({}));
  for (size_t i = 0; i < kMaxHttpServers; ++i) {
    open.push_back(Begin(Call(Url(silent, "http"), "ca" + std::to_string(i))));
  }
  const auto ignore = [](const HttpResponse&) {};
  EXPECT_FALSE(session_->Send(Call(Url(*servers[0], "http")), ignore).ok());
  EXPECT_TRUE(session_->Send(Call(Url(silent, "http"), "ca0"), ignore).ok());
}

TEST(NoHttpClient, FailsEveryRequest) {
  NoHttpClient client;
  Status status;
  const Status sent =
      client.Open()->Send({}, [&](const HttpResponse& response) { status = response.status; });
  EXPECT_TRUE(sent.ok());
  EXPECT_EQ(status.code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace berth::host

#include "host/http/endpoint.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

using Scheme = ServerUrl::Scheme;

ServerUrl Url(std::string_view text) {
  auto url = ServerUrl::Parse(text, "server");
  EXPECT_TRUE(url.ok()) << text << ": " << url.status().message();
  return url.ok() ? *url : ServerUrl();
}

TEST(ServerUrl, ReadsTheParts) {
  const struct {
    const char* text;
    Scheme scheme;
    const char* host;
    int port;
    const char* path;
  } cases[] = {
      {"https://10.0.0.1:6443", Scheme::kHttps, "10.0.0.1", 6443, ""},
      {"https://10.0.0.1", Scheme::kHttps, "10.0.0.1", 443, ""},
      {"https://api.example.com:/", Scheme::kHttps, "api.example.com", 443, ""},
      {"http://localhost", Scheme::kHttp, "localhost", 80, ""},
      {"HTTP://localhost:1", Scheme::kHttp, "localhost", 1, ""},
      {"socks5://proxy", Scheme::kSocks5, "proxy", 1080, ""},
      {"socks5h://proxy:65535", Scheme::kSocks5, "proxy", 65535, ""},
      {"10.0.0.1:6443", Scheme::kHttps, "10.0.0.1", 6443, ""},
      {"api", Scheme::kHttps, "api", 443, ""},
      {"https://[::1]:6443", Scheme::kHttps, "::1", 6443, ""},
      {"https://[fd00::12]", Scheme::kHttps, "fd00::12", 443, ""},
      {"https://host/k8s/clusters/c-1/", Scheme::kHttps, "host", 443, "/k8s/clusters/c-1"},
      {"https://host//", Scheme::kHttps, "host", 443, ""},
      {"host_1.internal:6443/a@b", Scheme::kHttps, "host_1.internal", 6443, "/a@b"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const ServerUrl url = Url(c.text);
    EXPECT_EQ(url.scheme, c.scheme);
    EXPECT_EQ(url.host, c.host);
    EXPECT_EQ(url.port, c.port);
    EXPECT_EQ(url.path, c.path);
    EXPECT_EQ(url.user, "");
  }
}

TEST(ServerUrl, ReadsTheUserOfAProxy) {
  const struct {
    const char* text;
    const char* user;
    const char* password;
  } cases[] = {{"http://joe:pw@proxy:3128", "joe", "pw"},
               {"http://joe@proxy:3128", "joe", ""},
               {"http://joe:@proxy:3128", "joe", ""},
               {"http://jo%65:a%2Fb%3a@proxy:3128", "joe", "a/b:"},
               {"http://joe:a:b@c@proxy:3128", "joe", "a:b@c"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const ServerUrl url = Url(c.text);
    EXPECT_EQ(url.user, c.user);
    EXPECT_EQ(url.password, c.password);
    EXPECT_EQ(url.HostAndPort(), "proxy:3128");
    EXPECT_EQ(url.ToString(), "http://proxy:3128");
  }
}

TEST(ServerUrl, RejectsOtherTexts) {
  const struct {
    std::string text;
    const char* problem;
  } cases[] = {
      {"", "it is empty"},
      {std::string(4097, 'a'), "it has more than 4096 bytes"},
      {"https://a b", "it has a character that a URL must not have"},
      {"https://a\n", "it has a character that a URL must not have"},
      {"https://\xc3\xa4", "it has a character that a URL must not have"},
      {"ftp://host", "the scheme is not http, https or socks5"},
      {"://host", "the scheme is not http, https or socks5"},
      {"https://host?a=b", "it has a query or a fragment"},
      {"https://host/a#b", "it has a query or a fragment"},
      {"https://", "it has no host"},
      {"https://:6443", "it has no host"},
      {"https:///path", "it has no host"},
      {"https://a,b", "the host is no name and no address"},
      {"https://" + std::string(254, 'a'), "the host is no name and no address"},
      {"https://::1", "it has no host"},
      {"https://fd00::1", "an IPv6 address must be between [ and ]"},
      {"https://[::1", "the address has no ]"},
      {"https://[10.0.0.1]", "there is no IPv6 address between [ and ]"},
      {"https://[fe80::1%25eth0]", "there is no IPv6 address between [ and ]"},
      {"https://[::1]6443", "the port is no number from 1 to 65535"},
      {"https://host:0", "the port is no number from 1 to 65535"},
      {"https://host:65536", "the port is no number from 1 to 65535"},
      {"https://host:-1", "the port is no number from 1 to 65535"},
      {"https://host:6443x", "the port is no number from 1 to 65535"},
      {"https://:pw@host", "the user is empty"},
      {"https://a%4@host", "a % of the user or the password is not followed by two digits"},
      {"https://a:%zz@host", "a % of the user or the password is not followed by two digits"},
  };
  for (const auto& c : cases) {
    const auto url = ServerUrl::Parse(c.text, "server");
    ASSERT_FALSE(url.ok()) << c.text;
    EXPECT_EQ(url.status().code(), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(url.status().message().ends_with(c.problem)) << url.status().message();
  }
}

TEST(ServerUrl, TakesAHostOfTheLongestLength) {
  EXPECT_EQ(Url("https://" + std::string(253, 'a')).host.size(), 253U);
}

TEST(ServerUrl, ErrorsNameTheUrlWithoutItsCredentials) {
  EXPECT_EQ(ServerUrl::Parse("ftp://host", "clusters[0].cluster.server").status().message(),
            "clusters[0].cluster.server: expected a URL such as https://10.0.0.1:6443, found "
            "\"ftp://host\": the scheme is not http, https or socks5");
  for (const char* text :
       {"http://joe:secret@host:x", "joe:secret@host:x", "http://joe:secret%@host",
        "http://joe:secret/1@host:x", "ftp://joe:secret@host", "http://joe:secret@1@host:x",
        "https://host?token=secret", "https://host/a?access_token=secret#x", "https://host#secret",
        "https://joe:secret@host?token=secret", "https://host?mail=joe@host&token=secret",
        "host?%74oken=secret", "https://host?password=secret&user=joe"}) {
    const auto url = ServerUrl::Parse(text, "proxy-url");
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.status().message().find("secret"), std::string_view::npos)
        << url.status().message();
    EXPECT_NE(url.status().message().find("host"), std::string_view::npos);
  }
}

TEST(ServerUrl, IsWrittenWithBracketsAroundIpv6Address) {
  EXPECT_EQ(Url("https://[::1]/a").HostAndPort(), "[::1]:443");
  EXPECT_EQ(Url("https://[::1]/a").ToString(), "https://[::1]:443/a");
  EXPECT_EQ(Url("socks5://10.0.0.1").ToString(), "socks5://10.0.0.1:1080");
}

TEST(ServerUrl, KnowsLoopbackAddresses) {
  for (const char* host :
       {"localhost", "LocalHost", "127.0.0.1", "127.255.255.255", "[::1]", "[::ffff:127.0.0.1]"}) {
    EXPECT_TRUE(Url("https://" + std::string(host)).IsLoopback()) << host;
  }
  for (const char* host :
       {"10.0.0.1", "128.0.0.1", "126.255.255.255", "127.0.0.1.example.com",
        "localhost.example.com", "0.0.0.0", "[::]", "[::2]", "[::ffff:128.0.0.1]"}) {
    EXPECT_FALSE(Url("https://" + std::string(host)).IsLoopback()) << host;
  }
}

TEST(CheckEndpoint, RefusesPlainHttpOverANetwork) {
  const struct {
    const char* server;
    const char* proxy;
    bool allows_plain_http;
    bool is_accepted;
  } cases[] = {{"https://10.0.0.1", "", false, true},
               {"https://10.0.0.1", "http://proxy", false, true},
               {"http://127.0.0.1:8080", "", false, true},
               {"http://10.0.0.1:8080", "", false, false},
               {"http://10.0.0.1:8080", "", true, true},
               {"http://localhost", "http://proxy", false, false},
               {"http://localhost", "http://proxy", true, true},
               {"https://10.0.0.1", "https://proxy", false, true},
               {"http://localhost", "https://proxy", true, false},
               {"socks5://localhost", "", true, false}};
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.server) + " " + c.proxy);
    Endpoint endpoint;
    endpoint.server = Url(c.server);
    if (*c.proxy != '\0') endpoint.proxy = Url(c.proxy);
    EXPECT_EQ(CheckEndpoint(endpoint, c.allows_plain_http).ok(), c.is_accepted);
  }
  Endpoint endpoint;
  endpoint.server = Url("http://10.0.0.1:8080");
  EXPECT_EQ(CheckEndpoint(endpoint, false).message(),
            "expected https, found http://10.0.0.1:8080; use --allow-plain-http if no other party "
            "can read the network between");
  endpoint.proxy = Url("https://joe:secret@proxy");
  EXPECT_EQ(CheckEndpoint(endpoint, true).message(),
            "expected https, because the proxy https://proxy:443 has https, found "
            "http://10.0.0.1:8080");
}

TEST(CheckEndpoint, RefusesAUserInUrlWithoutShowingIt) {
  for (const char* text : {"https://joe:secret@host", "https://joe@host", "http://joe:secret@host",
                           "https://joe:secret@127.0.0.1"}) {
    SCOPED_TRACE(text);
    Endpoint endpoint;
    endpoint.server = Url(text);
    const std::string message(CheckEndpoint(endpoint, /*allow_plain_http=*/true).message());
    EXPECT_TRUE(message.starts_with("expected a URL without a user and a password, found http"))
        << message;
    EXPECT_EQ(message.find("joe"), std::string::npos) << message;
    EXPECT_EQ(message.find("secret"), std::string::npos) << message;
  }
  Endpoint endpoint;
  endpoint.server = Url("https://host");
  endpoint.proxy = Url("http://joe:secret@proxy");
  EXPECT_EQ(CheckEndpoint(endpoint, /*allow_plain_http=*/false), Status::Ok());
}

}  // namespace
}  // namespace berth::host

#include "host/serve/http_request.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

using Outcome = HttpParse::Outcome;

TEST(HttpRequestTest, ReadsARequest) {
  const std::string text =
      "GET /readyz/a%20b?verbose&exclude=%70ing HTTP/1.1\r\nHost: localhost\r\nX: y\r\n\r\n";
  const HttpParse parse = ParseHttpRequest(text, {}, true);
  ASSERT_EQ(parse.outcome, Outcome::kRequest) << parse.reason;
  EXPECT_EQ(parse.request.method, "GET");
  EXPECT_EQ(parse.request.path, "/readyz/a b");
  EXPECT_EQ(parse.request.query, "verbose&exclude=%70ing");
  EXPECT_EQ(parse.request.body, "");
  EXPECT_EQ(parse.bytes, text.size());
  EXPECT_TRUE(parse.keeps_connection);
}

TEST(HttpRequestTest, ReadsABodyAndLeavesTheNextRequest) {
  const std::string first =
      "PUT /debug/flags/v HTTP/1.1\r\nhost:localhost\r\ncontent-length: 2\r\n\r\n42";
  const HttpParse parse = ParseHttpRequest(first + "GET / HTTP/1.1\r\n", {}, true);
  ASSERT_EQ(parse.outcome, Outcome::kRequest) << parse.reason;
  EXPECT_EQ(parse.request.body, "42");
  EXPECT_EQ(parse.bytes, first.size());
}

TEST(HttpRequestTest, IsIncompleteAtEveryCutAndThenComplete) {
  const std::string text = "\r\nPUT /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc";
  for (size_t size = 0; size < text.size(); ++size) {
    const HttpParse parse = ParseHttpRequest(text.substr(0, size), {}, true);
    EXPECT_EQ(parse.outcome, Outcome::kIncomplete) << size << ": " << parse.reason;
  }
  const HttpParse parse = ParseHttpRequest(text, {}, true);
  EXPECT_EQ(parse.outcome, Outcome::kRequest);
  EXPECT_EQ(parse.bytes, text.size());
}

TEST(HttpRequestTest, KeepsTheConnectionAsTheClientAsks) {
  struct Case {
    const char* head;
    bool keeps;
  };
  const Case cases[] = {
      {"GET / HTTP/1.1\r\nHost: localhost", true},
      {"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close", false},
      {"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: x, Close", false},
      {"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive", true},
      {"GET / HTTP/1.0", false},
      {"GET / HTTP/1.0\r\nConnection: Keep-Alive", false},
  };
  for (const Case& c : cases) {
    const HttpParse parse = ParseHttpRequest(std::string(c.head) + "\r\n\r\n", {}, true);
    EXPECT_EQ(parse.outcome, Outcome::kRequest) << c.head;
    EXPECT_EQ(parse.keeps_connection, c.keeps) << c.head;
  }
}

TEST(HttpRequestTest, AllowsWebPagesToRead) {
  for (const char* method : {"GET", "HEAD"}) {
    const HttpParse parse = ParseHttpRequest(
        std::string(method) + " / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://a.example\r\n\r\n",
        {}, true);
    EXPECT_EQ(parse.outcome, Outcome::kRequest) << method;
  }
}

TEST(HttpRequestTest, RefusesWhatItDoesNotSupport) {
  struct Case {
    const char* name;
    std::string head;
    uint32_t status;
  };
  const Case cases[] = {
      {"no Host", "GET / HTTP/1.1", 400},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost", 400},
      {"a foreign Host", "GET / HTTP/1.1\r\nHost: evil.example", 403},
      {"a foreign Host in HTTP/1.0", "GET / HTTP/1.0\r\nHost: evil.example", 403},
      {"a change by a web page",
       "PUT /debug/flags/v HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example", 403},
      {"a change by a page of the server itself",
       "PUT /debug/flags/v HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost", 403},
      {"a change by a page without a name",
       "POST /debug/flags/v HTTP/1.1\r\nHost: localhost\r\nOrigin: null", 403},
      {"HTTP/2", "GET / HTTP/2.0\r\nHost: localhost", 505},
      {"no version", "GET /", 400},
      {"another protocol", "HELLO world", 400},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: localhost", 400},
      {"a method that is no token", "GE(T / HTTP/1.1\r\nHost: localhost", 400},
      {"a target without a path", "GET http://localhost/ HTTP/1.1\r\nHost: localhost", 400},
      {"a control character in the path", "GET /%0a HTTP/1.1\r\nHost: localhost", 400},
      {"a cut escape in the path", "GET /%4 HTTP/1.1\r\nHost: localhost", 400},
      {"a control character in the query", "GET /?\x01 HTTP/1.1\r\nHost: localhost", 400},
      {"a line end alone", "GET / HTTP/1.1\nHost: localhost", 505},
      {"a header without a colon", "GET / HTTP/1.1\r\nHost", 400},
      {"a space before the colon", "GET / HTTP/1.1\r\nHost : localhost", 400},
      {"a header over two lines", "GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b", 400},
      {"a control character in a header", "GET / HTTP/1.1\r\nHost: localhost\r\nX: \x01", 400},
      {"a chunked body", "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked", 411},
      {"a length that is no number", "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: +1",
       400},
      {"two lengths", "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 1",
       400},
      {"a length beyond 64 bits",
       "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999", 413},
      {"an unknown expectation", "GET / HTTP/1.1\r\nHost: localhost\r\nExpect: x", 417},
  };
  for (const Case& c : cases) {
    const HttpParse parse = ParseHttpRequest(c.head + "\r\n\r\n", {}, true);
    EXPECT_EQ(parse.outcome, Outcome::kRefused) << c.name;
    EXPECT_EQ(parse.refusal, c.status) << c.name;
    EXPECT_NE(parse.reason, "") << c.name;
  }
}

TEST(HttpRequestTest, RecognizesTlsAtTheFirstByte) {
  const HttpParse parse = ParseHttpRequest("\x16\x03\x01", {}, true);
  EXPECT_EQ(parse.refusal, 400u);
  EXPECT_EQ(parse.reason, "expected plain HTTP, found TLS");
}

TEST(HttpRequestTest, AppliesTheLimits) {
  const std::string head = "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n";
  struct Case {
    const char* name;
    size_t header_bytes;
    size_t body_bytes;
    uint32_t refusal;
  };
  const Case cases[] = {{"exact", head.size(), 5, 0},
                        {"the head is a byte too long", head.size() - 1, 5, 431},
                        {"the body is a byte too long", head.size(), 4, 413}};
  for (const Case& c : cases) {
    HttpLimits limits;
    limits.header_bytes = c.header_bytes;
    limits.body_bytes = c.body_bytes;
    EXPECT_EQ(ParseHttpRequest(head + "12345", limits, true).refusal, c.refusal) << c.name;
  }
  HttpLimits limits;
  limits.header_bytes = 20;
  const std::string endless = "GET /" + std::string(20, 'x');
  EXPECT_EQ(ParseHttpRequest(endless.substr(0, 19), limits, true).outcome, Outcome::kIncomplete);
  EXPECT_EQ(ParseHttpRequest(endless.substr(0, 20), limits, true).refusal, 431u);
}

TEST(HttpRequestTest, AsksForContinueOnlyBeforeTheBody) {
  const std::string head =
      "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n";
  EXPECT_FALSE(ParseHttpRequest(head.substr(0, head.size() - 1), {}, true).expects_continue);
  EXPECT_TRUE(ParseHttpRequest(head, {}, true).expects_continue);
  EXPECT_FALSE(ParseHttpRequest(head + "1", {}, true).expects_continue);
  EXPECT_EQ(ParseHttpRequest(head + "12", {}, true).outcome, Outcome::kRequest);
}

TEST(HttpRequestTest, AcceptsEveryHostBeyondTheLoopback) {
  const std::string text = "GET / HTTP/1.1\r\nHost: 10.1.2.3:10251\r\n\r\n";
  EXPECT_EQ(ParseHttpRequest(text, {}, false).outcome, Outcome::kRequest);
  EXPECT_EQ(ParseHttpRequest(text, {}, true).refusal, 403u);
}

TEST(LoopbackHostTest, KnowsTheNamesOfTheLoopbackNetwork) {
  for (const char* host : {"localhost", "LOCALHOST:10251", "localhost.", "127.0.0.1",
                           "127.255.0.9:1", "[::1]", "[::1]:10251", "[0:0::1]"}) {
    EXPECT_TRUE(IsLoopbackHost(host)) << host;
  }
  for (const char* host : {"", "localhost.evil.example", "evil.example", "128.0.0.1", "126.0.0.1",
                           "127.0.0.1.evil.example", "127.1", "[::2]", "[::1", "[::1]x",
                           "[::1]:", "localhost:", "localhost:x", "::1"}) {
    EXPECT_FALSE(IsLoopbackHost(host)) << host;
  }
}

TEST(DecodePrintableTest, DecodesEscapes) {
  EXPECT_EQ(DecodePrintable("/a%2Fb%2fc%25+"), "/a/b/c%+");
  EXPECT_EQ(DecodePrintable(""), "");
  for (const char* text : {"%", "%4", "%4g", "a%", "%00", "%7f", "\x01"}) {
    EXPECT_EQ(DecodePrintable(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace berth::host

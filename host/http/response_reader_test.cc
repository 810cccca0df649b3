#include "host/http/response_reader.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

// Everything that a reader reported.
struct Reading {
  Status status;
  size_t used = 0;  // Bytes of the text.
  int heads = 0;
  HttpHead head;
  std::string body;
  bool has_head = false;
  bool is_complete = false;
  bool keeps_alive = false;
};

struct Feeding {
  ResponseReader::Limits limits = {};
  std::string verb = "GET";
  size_t piece = std::string::npos;  // Bytes per call of Feed().
  bool ends = false;                 // The connection ends after the text.
};

Reading Read(const std::string& text, const Feeding& how = {}) {
  Reading reading;
  ResponseReader reader(how.limits, how.verb,
                        {.on_head =
                             [&](const HttpHead& head) {
                               ++reading.heads;
                               reading.head = head;
                             },
                         .on_body = [&](std::string_view bytes) { reading.body += bytes; }});
  while (reading.used < text.size() && !reader.is_complete()) {
    // A copy of the exact size, so that a sanitizer finds a read behind the piece.
    const std::string part = text.substr(reading.used, how.piece);
    const std::vector<char> piece(part.begin(), part.end());
    const Result<size_t> used = reader.Feed({piece.data(), piece.size()});
    if (!used.ok()) {
      reading.status = used.status();
      return reading;
    }
    EXPECT_LE(*used, piece.size());
    if (*used < piece.size()) {
      EXPECT_TRUE(reader.is_complete());
    }
    reading.used += *used;
  }
  if (how.ends && !reader.is_complete()) reading.status = reader.FeedEnd();
  reading.has_head = reader.has_head();
  reading.is_complete = reader.is_complete();
  reading.keeps_alive = reading.is_complete && reader.keeps_alive();
  return reading;
}

struct AnswerCase {
  const char* name;
  std::string text;
  uint32_t http_status;
  const char* body;
  bool keeps_alive = true;
  const char* verb = "GET";
};

const std::vector<AnswerCase>& Answers() {
  static const std::vector<AnswerCase> cases = {
      {"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"},
      {"no body", "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", 201, ""},
      {"status 204", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
      {"status 304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", 304, ""},
      {"no reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", 200, ""},
      {"close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", 200, "x",
       false},
      {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x", false},
      {"chunks",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n",
       200, "hello!"},
      {"chunk extensions and trailers",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
       "5;a=b;c=\"d;e\"\r\nhello\r\n0;x\r\nContent-Type: trailer\r\nRetry-After: 5\r\n\r\n",
       200, "hello"},
      {"no chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, ""},
      {"chunk of many bytes",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00001A\r\nabcdefghijklmnopqrstuvwxyz"
       "\r\n0\r\n\r\n",
       200, "abcdefghijklmnopqrstuvwxyz"},
      {"interim answers",
       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
       200, "ok"},
      {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", 200, "", true, "HEAD"},
      {"HEAD with chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, "", true,
       "HEAD"},
      {"error", "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nwhy", 404, "why"},
  };
  return cases;
}

TEST(ResponseReader, ReadsAnswersInPiecesOfEverySize) {
  for (const AnswerCase& c : Answers()) {
    for (size_t piece = 1; piece <= c.text.size(); ++piece) {
      SCOPED_TRACE(std::string(c.name) + ", pieces of " + std::to_string(piece));
      const Reading reading = Read(c.text, {.verb = c.verb, .piece = piece});
      ASSERT_TRUE(reading.status.ok()) << reading.status.message();
      EXPECT_TRUE(reading.is_complete);
      EXPECT_EQ(reading.used, c.text.size());
      EXPECT_EQ(reading.heads, 1);
      EXPECT_EQ(reading.head.http_status, c.http_status);
      EXPECT_EQ(reading.body, c.body);
      EXPECT_EQ(reading.keeps_alive, c.keeps_alive);
      EXPECT_EQ(reading.head.content_type, "");
      EXPECT_EQ(reading.head.retry_after_ns, 0);
    }
  }
}

TEST(ResponseReader, LeavesBytesThatFollowTheAnswer) {
  for (const AnswerCase& c : Answers()) {
    for (size_t piece = 1; piece <= c.text.size() + 3; ++piece) {
      SCOPED_TRACE(std::string(c.name) + ", pieces of " + std::to_string(piece));
      const Reading reading = Read(c.text + "HTT", {.verb = c.verb, .piece = piece});
      ASSERT_TRUE(reading.status.ok()) << reading.status.message();
      EXPECT_TRUE(reading.is_complete);
      EXPECT_EQ(reading.used, c.text.size());
      EXPECT_EQ(reading.body, c.body);
    }
  }
}

TEST(ResponseReader, ReportsAConnectionThatEndsAtEveryPlace) {
  for (const AnswerCase& c : Answers()) {
    for (size_t size = 0; size < c.text.size(); ++size) {
      SCOPED_TRACE(std::string(c.name) + ", " + std::to_string(size) + " bytes");
      const Reading reading = Read(c.text.substr(0, size), {.verb = c.verb, .ends = true});
      EXPECT_EQ(reading.status.code(), ErrorCode::kUnavailable);
      EXPECT_FALSE(reading.is_complete);
      EXPECT_TRUE(std::string(c.body).starts_with(reading.body));
    }
  }
}

TEST(ResponseReader, NamesThePlaceWhereTheConnectionEnded) {
  EXPECT_EQ(Read("", {.ends = true}).status.message(),
            "the server closed the connection without an answer");
  EXPECT_EQ(Read("HTTP/1.1 200 OK\r\n", {.ends = true}).status.message(),
            "the server closed the connection within the head of its answer");
  EXPECT_EQ(Read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx", {.ends = true}).status.message(),
            "the server closed the connection within the body of its answer");
}

TEST(ResponseReader, AnswerWithoutALengthEndsWithTheConnection) {
  const std::string text = "HTTP/1.1 200 OK\r\n\r\nhello";
  const Reading open = Read(text);
  EXPECT_TRUE(open.has_head);
  EXPECT_FALSE(open.is_complete);
  EXPECT_EQ(open.body, "hello");
  for (const size_t piece : {size_t{1}, text.size()}) {
    const Reading ended = Read(text, {.piece = piece, .ends = true});
    EXPECT_TRUE(ended.status.ok()) << ended.status.message();
    EXPECT_TRUE(ended.is_complete);
    EXPECT_FALSE(ended.keeps_alive);
    EXPECT_EQ(ended.body, "hello");
  }
  EXPECT_TRUE(Read("HTTP/1.1 200 OK\r\n\r\n", {.ends = true}).is_complete) << "an empty body";
}

TEST(ResponseReader, ReportsTheBodyWhileItArrives) {
  std::vector<std::string> parts;
  ResponseReader reader({}, "GET",
                        {.on_body = [&](std::string_view bytes) { parts.emplace_back(bytes); }});
  ASSERT_TRUE(reader.Feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").ok());
  EXPECT_TRUE(reader.has_head());
  ASSERT_TRUE(reader.Feed("a\r\n01234").ok());
  EXPECT_EQ(parts, (std::vector<std::string>{"01234"})) << "a chunk need not be complete";
  ASSERT_TRUE(reader.Feed("56789\r\n").ok());
  EXPECT_EQ(parts, (std::vector<std::string>{"01234", "56789"}));
}

TEST(ResponseReader, RejectsWhatIsNoAnswer) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string texts[] = {
      "GET / HTTP/1.1\r\n\r\n",
      "HTTP/2.0 200 OK\r\n\r\n",
      "HTTP/1.1 20 OK\r\n\r\n",
      "HTTP/1.1 2000 OK\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\n\r\n",
      "<html>a server that speaks something else</html>\r\n\r\n",
      std::string("\x15\x03\x01\x00\x02\x02\x46\r\n\r\n", 11),  // A TLS alert.
      "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
      "HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
      chunked + "x\r\n",
      chunked + "-1\r\n",
      chunked + "fffffffffffffffff\r\n",
      chunked + "1\r\nxx\r\n0\r\n\r\n",
  };
  for (const std::string& text : texts) {
    for (const size_t piece : {size_t{1}, text.size()}) {
      SCOPED_TRACE(text + ", pieces of " + std::to_string(piece));
      const Reading reading = Read(text, {.piece = piece});
      EXPECT_EQ(reading.status.code(), ErrorCode::kInvalidArgument) << reading.status.message();
    }
  }
}

TEST(ResponseReader, LimitsInterimAnswers) {
  std::string ten;
  for (int i = 0; i < 10; ++i) ten += "HTTP/1.1 100 Continue\r\n\r\n";
  const std::string final = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  EXPECT_TRUE(Read(ten + final).is_complete);
  EXPECT_EQ(Read(ten + "HTTP/1.1 100 Continue\r\n\r\n" + final).status.code(),
            ErrorCode::kInvalidArgument);
}

// ---- Limits -------------------------------------------------------------------------------------

TEST(ResponseReader, LimitsTheHead) {
  const std::string begin = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
  const std::string end = "\r\n\r\n";
  constexpr size_t kLimit = 1000;
  for (const size_t piece : {size_t{1}, size_t{100}, size_t{5000}}) {
    SCOPED_TRACE(piece);
    const Feeding how = {.limits = {.head_bytes = kLimit}, .piece = piece};
    const size_t room = kLimit - begin.size() - end.size();
    EXPECT_TRUE(Read(begin + std::string(room, 'x') + end, how).is_complete);
    EXPECT_EQ(Read(begin + std::string(room + 1, 'x') + end, how).status,
              Status::OutOfRange("the head of the answer has more than 1000 bytes"));
    EXPECT_EQ(Read("HTTP/1.1 200 " + std::string(5000, 'x'), how).status.code(),
              ErrorCode::kOutOfRange);
  }
}

TEST(ResponseReader, LimitsTheNumberOfHeaders) {
  const auto answer = [](int headers) {
    std::string text = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";
    for (int i = 1; i < headers; ++i) text += "X: y\r\n";
    return text + "\r\n";
  };
  EXPECT_TRUE(Read(answer(100)).is_complete);
  EXPECT_EQ(Read(answer(101)).status, Status::OutOfRange("the answer has more than 100 headers"));
}

TEST(ResponseReader, LimitsTheBody) {
  const auto with_length = [](size_t size) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'x');
  };
  const auto chunked = [](size_t size) {
    std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (size_t i = 0; i < size; ++i) text += "1\r\nx\r\n";
    return text + "0\r\n\r\n";
  };
  const auto until_end = [](size_t size) {
    return "HTTP/1.1 200 OK\r\n\r\n" + std::string(size, 'x');
  };
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{5000}}) {
    SCOPED_TRACE(piece);
    const Feeding how = {.limits = {.body_bytes = 100}, .piece = piece, .ends = true};
    const Status expected = Status::OutOfRange("the body of the answer has more than 100 bytes");
    EXPECT_EQ(Read(with_length(100), how).body.size(), 100U);
    EXPECT_EQ(Read(with_length(101), how).status, expected);
    EXPECT_EQ(Read(chunked(100), how).body.size(), 100U);
    EXPECT_EQ(Read(chunked(101), how).status, expected);
    EXPECT_EQ(Read(until_end(100), how).body.size(), 100U);
    EXPECT_EQ(Read(until_end(101), how).status, expected);
  }
}

TEST(ResponseReader, CutsTheBodyOfAnError) {
  const std::string text =
      "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 150\r\n\r\n" + std::string(150, 'x');
  for (const size_t piece : {size_t{1}, size_t{7}, text.size()}) {
    SCOPED_TRACE(piece);
    const Reading reading =
        Read(text, {.limits = {.body_bytes = 10, .error_body_bytes = 100}, .piece = piece});
    EXPECT_TRUE(reading.is_complete);
    EXPECT_EQ(reading.body.size(), 100U);
    EXPECT_TRUE(reading.keeps_alive) << "the connection may be used again";
  }
}

TEST(ResponseReader, LimitsTheLineOfAChunk) {
  const std::string text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(3000, 'x');
  for (const size_t piece : {size_t{1}, text.size()}) {
    EXPECT_EQ(Read(text, {.limits = {.head_bytes = 1000}, .piece = piece}).status.code(),
              ErrorCode::kOutOfRange);
  }
}

// ---- Headers ------------------------------------------------------------------------------------

HttpHead Head(const std::string& headers) {
  const Reading reading =
      Read("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n" + headers + "\r\n");
  EXPECT_TRUE(reading.is_complete) << reading.status.message();
  return reading.head;
}

TEST(ResponseReader, ReadsTheHeadersOfTheHead) {
  const HttpHead head = Head(
      "content-type: application/json\r\n"
      "DATE: Sat, 10 Jan 2026 08:00:00 GMT\r\n"
      "Warning: 299 - \"v1beta1 is deprecated\"\r\n"
      "Warning: 199 - \"other\"\r\n"
      "Warning: 299 - \"second\"\r\n");
  EXPECT_EQ(head.content_type, "application/json");
  EXPECT_EQ(head.date_ns, *ParseTime("2026-01-10T08:00:00Z"));
  EXPECT_EQ(head.warnings,
            (std::vector<std::string>{"299 - \"v1beta1 is deprecated\"", "299 - \"second\""}));
}

TEST(ResponseReader, ReadsRetryAfter) {
  const std::string date = "Date: Sat, 10 Jan 2026 08:00:00 GMT\r\n";
  const struct {
    std::string headers;
    int64_t expected_ns;
  } cases[] = {{"Retry-After: 1\r\n", kSecond},
               {"Retry-After: 0\r\n", 1},
               {"Retry-After: 4294967295\r\n", 4'294'967'295 * kSecond},
               {"Retry-After: 99999999999999999999\r\n", 4'294'967'295 * kSecond},
               {"Retry-After: -1\r\n", 0},
               {"Retry-After: 1.5\r\n", 0},
               {"Retry-After: soon\r\n", 0},
               {"Retry-After: \r\n", 0},
               {date + "Retry-After: Sat, 10 Jan 2026 08:00:30 GMT\r\n", 30 * kSecond},
               {"Retry-After: Sat, 10 Jan 2026 08:00:30 GMT\r\n" + date, 30 * kSecond},
               {date + "Retry-After: Sat, 10 Jan 2026 07:00:00 GMT\r\n", 1},
               {date + "Retry-After: Sun, 06 Nov 1600 08:49:37 GMT\r\n", 1},
               {date + "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n",
                std::numeric_limits<int64_t>::max() - 1'768'032'000 * kSecond},
               {"Date: Sun, 06 Nov 1600 08:49:37 GMT\r\n"
                "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n",
                std::numeric_limits<int64_t>::max()},
               {"Retry-After: Sat, 10 Jan 2026 08:00:30 GMT\r\n", 0}};
  for (const auto& c : cases) EXPECT_EQ(Head(c.headers).retry_after_ns, c.expected_ns) << c.headers;
}

TEST(ResponseReader, ReadsDates) {
  const struct {
    const char* text;
    const char* expected;  // "" if the date is not read.
  } cases[] = {{"Thu, 01 Jan 2026 00:00:01 GMT", "2026-01-01T00:00:01Z"},
               {"Thu, 31 Dec 2026 23:59:59 GMT", "2026-12-31T23:59:59Z"},
               {"Thu, 31 Dec 2026 23:59:59 CET", ""},
               {"Thu, 31 Feb 2026 23:59:59 GMT", ""},
               {"Thu, 31 anF 2026 23:59:59 GMT", ""},
               {"Thursday, 31-Dec-26 23:59:59 GMT", ""},
               {"Thu, 31 Dec 2026 23:59:59 GMT+", ""}};
  for (const auto& c : cases) {
    const int64_t date_ns = Head(std::string("Date: ") + c.text + "\r\n").date_ns;
    EXPECT_EQ(date_ns == 0 ? "" : FormatTime(date_ns), c.expected) << c.text;
  }
}

// ---- Requests -----------------------------------------------------------------------------------

TEST(WriteRequest, WritesHeadAndBody) {
  HttpRequest get = {.verb = "GET", .target = "/api/v1/pods?limit=1"};
  EXPECT_EQ(WriteRequest(get, "/prefix", "10.0.0.1:6443", "Authorization: Bearer x\r\n"),
            "GET /prefix/api/v1/pods?limit=1 HTTP/1.1\r\nHost: 10.0.0.1:6443\r\n"
            "Accept: application/json\r\nAuthorization: Bearer x\r\n\r\n");
  HttpRequest post = {.verb = "POST", .target = "/a", .body = "{}"};
  post.content_type = "application/json";
  EXPECT_EQ(WriteRequest(post, "", "h", ""),
            "POST /a HTTP/1.1\r\nHost: h\r\nAccept: application/json\r\n"
            "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  HttpRequest empty = {.verb = "DELETE", .target = "/a"};
  empty.accept = "";
  EXPECT_EQ(WriteRequest(empty, "", "h", ""),
            "DELETE /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
}

TEST(CheckRequest, RejectsTextsThatChangeTheRequest) {
  EXPECT_TRUE(CheckRequest({.verb = "GET", .target = "/"}).ok());
  EXPECT_TRUE(CheckRequest({.verb = "PATCH", .target = "/a%20b?c=d~"}).ok());
  const struct {
    const char* verb;
    const char* target;
  } cases[] = {{"", "/"},         {"get", "/"},         {"GET ", "/"},   {"GET\r\n", "/"},
               {"GET", ""},       {"GET", "a"},         {"GET", "/a b"}, {"GET", "/a\r\nX: y"},
               {"GET", "/a\x7f"}, {"GET", "/\xc3\xa4"}, {"GET", "/a\tb"}};
  for (const auto& c : cases) {
    EXPECT_EQ(CheckRequest({.verb = c.verb, .target = c.target}).code(),
              ErrorCode::kInvalidArgument)
        << c.verb << " " << c.target;
  }
}

TEST(CheckRequest, RejectsMediaTypesThatWouldAddHeaders) {
  for (const char* type : {"a\r\nX: y", "a\nb", "a\rb", "a\x7f", "a\xc3\xa4"}) {
    HttpRequest request = {.verb = "POST", .target = "/", .content_type = type};
    EXPECT_EQ(CheckRequest(request).code(), ErrorCode::kInvalidArgument) << type;
    request = {.verb = "POST", .target = "/", .accept = type};
    EXPECT_EQ(CheckRequest(request).code(), ErrorCode::kInvalidArgument) << type;
  }
  const HttpRequest request = {
      .verb = "POST", .target = "/", .content_type = "application/json; charset=utf-8"};
  EXPECT_TRUE(CheckRequest(request).ok());
}

TEST(ResponseReaderTest, NamesHttp2) {
  const auto frame = [](char type, char flags, char stream) {
    return std::string("\0\0\6", 3) + type + flags + std::string(3, '\0') + stream + "abcdef";
  };
  const struct {
    const char* name;
    std::string bytes;
    bool is_http2;
  } cases[] = {
      {"SETTINGS", frame(4, 0, 0), true},
      {"GOAWAY", frame(7, 0, 0), true},
      {"SETTINGS of a stream", frame(4, 0, 1), false},
      {"an acknowledgement", frame(4, 1, 0), false},
      {"another frame", frame(6, 0, 0), false},
      {"zeros", std::string(20, '\0'), false},
  };
  for (const auto& c : cases) {
    for (const size_t piece : {size_t{1}, size_t{8}, std::string::npos}) {
      SCOPED_TRACE(c.name);
      const Reading reading = Read(c.bytes, {.piece = piece, .ends = true});
      EXPECT_FALSE(reading.status.ok());
      EXPECT_EQ(reading.status == Status::InvalidArgument(
                                      "expected an HTTP/1.1 answer, found HTTP/2; use an address "
                                      "where the server speaks HTTP/1.1"),
                c.is_http2)
          << reading.status.message();
    }
  }
  const Reading body =
      Read("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n" + frame(4, 0, 0), {.piece = 1});
  EXPECT_TRUE(body.status.ok()) << "the bytes of a body are not searched";
  EXPECT_TRUE(body.is_complete);
}

TEST(ResponseReaderTest, KeepsEncodingAndLocation) {
  const Reading reading = Read(
      "HTTP/1.1 302 Found\r\nContent-Encoding: gzip\r\nlocation: /a\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(reading.head.content_encoding, "gzip");
  EXPECT_EQ(reading.head.location, "/a");
}

}  // namespace
}  // namespace berth::host

#include "host/serve/http_connection.h"

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/assert.h"
#include "host/base/file_descriptor.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A connection over a pair of sockets, in virtual time. The test is the client.
class HttpConnectionTest : public ::testing::Test {
 protected:
  HttpConnectionTest() {
    std::array<int, 2> ends{};
    BERTH_ASSERT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) ==
                 0);
    client_ = FileDescriptor(ends[0]);
    server_.assign({AF_UNIX, 0}, ends[1]);
    limits_.request_ns = 10;
    limits_.response_ns = 20;
    limits_.idle_ns = 30;
    handler_ = [this](const ServedRequest& request) {
      requests_.push_back(request.method + " " + request.path);
      return ServedResponse{.body = answer_};
    };
  }

  // Opens the connection and lets it wait for its first request.
  HttpConnection& Open() {
    connection_ =
        std::make_shared<HttpConnection>(std::move(server_), limits_, handler_, true, steady_ns_);
    connection_->Start();
    Continue();
    return *connection_;
  }
  // Continues the connection as far as it can. Returns whether it has not ended. This applies to
  // the next two methods too.
  bool Continue() {
    io_.restart();
    io_.poll();
    return !connection_->has_ended();
  }
  bool OnTime(int64_t now_ns) {
    connection_->OnTime(now_ns);
    return Continue();
  }
  bool OnStop() {
    connection_->OnStop();
    return Continue();
  }

  void Send(const std::string& text) {
    ASSERT_EQ(send(client_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // Returns what the client can read now.
  std::string Receive() {
    std::string text;
    std::array<char, 4096> piece;
    ssize_t size = 0;
    while ((size = recv(client_.get(), piece.data(), piece.size(), 0)) > 0) {
      text.append(piece.data(), static_cast<size_t>(size));
    }
    ended_ = size == 0;
    return text;
  }

  HttpLimits limits_;
  HttpHandler handler_;
  FileDescriptor client_;
  int64_t now_ns_ = 1000;
  const HttpConnection::Clock steady_ns_ = [this] { return now_ns_; };
  boost::asio::io_context io_;
  HttpConnection::Socket server_{io_};
  std::shared_ptr<HttpConnection> connection_;
  std::string answer_ = "hello";
  std::vector<std::string> requests_;
  bool ended_ = false;  // The last Receive() found the end of the stream.
};

std::string GetRequest() { return "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"; }

TEST_F(HttpConnectionTest, AnswersRequestsOneAfterTheOther) {
  Open();
  for (int i = 0; i < 3; ++i) {
    Send(GetRequest());
    EXPECT_TRUE(Continue());
    EXPECT_EQ(Receive(),
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
              "Content-Length: 5\r\nCache-Control: no-store\r\n"
              "X-Content-Type-Options: nosniff\r\n\r\nhello");
  }
  EXPECT_THAT(requests_, ElementsAre("GET /", "GET /", "GET /"));
  EXPECT_FALSE(ended_);
}

TEST_F(HttpConnectionTest, AnswersRequestsThatArriveTogetherInTheirOrder) {
  HttpConnection& connection = Open();
  Send("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /2 HTTP/1.1\r\nHost: localhost\r\n\r\nGET");
  EXPECT_TRUE(Continue());
  EXPECT_THAT(requests_, ElementsAre("GET /1", "GET /2"));
  EXPECT_EQ(connection.deadline_ns(), now_ns_ + limits_.request_ns) << "a request has begun";
  Send(" /3 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(Continue());
  EXPECT_THAT(requests_, ElementsAre("GET /1", "GET /2", "GET /3"));
}

TEST_F(HttpConnectionTest, HeadHasNoBody) {
  Open();
  Send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(Continue());
  const std::string answer = Receive();
  EXPECT_THAT(answer, HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST_F(HttpConnectionTest, EndsAfterAnswerIfClientAsksForIt) {
  Open();
  Send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(Continue());
  EXPECT_THAT(Receive(), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(ended_);
  client_ = FileDescriptor();
  EXPECT_FALSE(Continue()) << "the client has closed";
}

TEST_F(HttpConnectionTest, SendsContinueOnce) {
  Open();
  Send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_TRUE(Continue());
  EXPECT_EQ(Receive(), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(requests_, ElementsAre());
  Send("x");
  EXPECT_TRUE(Continue());
  EXPECT_THAT(Receive(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpConnectionTest, RefusesAndDropsWhatTheClientStillSends) {
  HttpConnection& connection = Open();
  Send("BAD\r\n\r\n" + std::string(1000, 'x'));
  EXPECT_TRUE(Continue());
  EXPECT_THAT(Receive(), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_TRUE(ended_);
  EXPECT_EQ(connection.TakeRefusal(), "this is no HTTP request");
  EXPECT_EQ(connection.TakeRefusal(), "");
  Send(GetRequest());
  EXPECT_TRUE(Continue());
  EXPECT_THAT(requests_, ElementsAre());
  EXPECT_TRUE(OnTime(connection.deadline_ns() - 1));
  EXPECT_FALSE(OnTime(connection.deadline_ns()));
}

TEST_F(HttpConnectionTest, RequestThatTricklesInEndsAtItsDeadline) {
  HttpConnection& connection = Open();
  now_ns_ += 5;
  Send("G");
  EXPECT_TRUE(Continue());
  const int64_t deadline_ns = now_ns_ + limits_.request_ns;
  for (const char c : std::string("ET / HT")) {
    now_ns_ += 1;
    Send(std::string(1, c));
    EXPECT_TRUE(Continue());
    EXPECT_EQ(connection.deadline_ns(), deadline_ns) << "a byte does not extend the deadline";
  }
  EXPECT_TRUE(OnTime(deadline_ns - 1));
  EXPECT_EQ(Receive(), "");
  EXPECT_TRUE(OnTime(deadline_ns)) << "the refusal was sent";
  EXPECT_THAT(Receive(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
}

TEST_F(HttpConnectionTest, ConnectionWithoutARequestEndsAtItsDeadline) {
  HttpConnection& connection = Open();
  EXPECT_EQ(connection.deadline_ns(), now_ns_ + limits_.request_ns) << "the first request";
  Send(GetRequest());
  now_ns_ += 7;
  EXPECT_TRUE(Continue());
  EXPECT_EQ(connection.deadline_ns(), now_ns_ + limits_.idle_ns) << "the next request";
  EXPECT_TRUE(OnTime(now_ns_ + limits_.idle_ns - 1));
  EXPECT_FALSE(OnTime(now_ns_ + limits_.idle_ns));
}

TEST_F(HttpConnectionTest, NonReadingClientEndsAtTheDeadline) {
  answer_ = std::string(size_t{4} << 20, 'x');
  HttpConnection& connection = Open();
  Send(GetRequest() + GetRequest());
  EXPECT_TRUE(Continue());
  EXPECT_TRUE(connection.is_answering());
  EXPECT_THAT(requests_, ElementsAre("GET /")) << "the second request waits";
  EXPECT_TRUE(OnTime(now_ns_ + limits_.response_ns - 1));
  EXPECT_FALSE(OnTime(now_ns_ + limits_.response_ns));
}

TEST_F(HttpConnectionTest, ImportanceGrowsUntilTheAnswerIsWritten) {
  answer_ = std::string(size_t{4} << 20, 'x');
  HttpConnection& connection = Open();
  const auto fresh = connection.Importance();
  now_ns_ += 5;
  Send("GET / HTTP/1.1\r\n");
  EXPECT_TRUE(Continue());
  EXPECT_EQ(connection.Importance(), fresh) << "a byte does not make it younger";
  Send("Host: localhost\r\n\r\n");
  EXPECT_TRUE(Continue());
  EXPECT_GT(connection.Importance(), std::pair(fresh.first, INT64_MAX)) << "it is answered";
  now_ns_ += kSecond - 1;
  EXPECT_GT(connection.Importance(), std::pair(fresh.first, INT64_MAX));
  now_ns_ += 1;
  EXPECT_LT(connection.Importance(), fresh) << "it has not been read for a second";
  while (connection.is_answering()) {
    static_cast<void>(Receive());
    ASSERT_TRUE(Continue());
  }
  const auto idle = connection.Importance();
  EXPECT_LT(idle, fresh) << "it is kept for another request";
  now_ns_ += 5;
  Send("GET");
  EXPECT_TRUE(Continue());
  EXPECT_GT(connection.Importance(), idle);
}

TEST_F(HttpConnectionTest, LargeAnswerIsWrittenAsTheClientReads) {
  answer_ = std::string(size_t{4} << 20, 'x');
  HttpConnection& connection = Open();
  Send(GetRequest());
  EXPECT_TRUE(Continue());
  std::string received = Receive();
  while (connection.is_answering()) {
    ASSERT_TRUE(Continue());
    received += Receive();
  }
  EXPECT_EQ(received.size() - received.find("\r\n\r\n") - 4, answer_.size());
}

TEST_F(HttpConnectionTest, StopsAtOnceOrAfterTheCurrentAnswer) {
  answer_ = std::string(size_t{4} << 20, 'x');
  Open();
  Send(GetRequest() + GetRequest());
  EXPECT_TRUE(Continue());
  EXPECT_TRUE(OnStop());
  bool stays = true;
  std::string received;
  while (stays) {
    received += Receive();
    stays = Continue();
  }
  received += Receive();
  EXPECT_EQ(received.size() - received.find("\r\n\r\n") - 4, answer_.size());
  EXPECT_THAT(requests_, ElementsAre("GET /")) << "the second request is not handled";
}

TEST_F(HttpConnectionTest, AnIdleConnectionStopsAtOnce) {
  Open();
  EXPECT_FALSE(OnStop());
}

TEST_F(HttpConnectionTest, EndsIfTheClientCloses) {
  Open();
  Send("GET /");
  EXPECT_TRUE(Continue());
  client_ = FileDescriptor();
  EXPECT_FALSE(Continue());
}

TEST_F(HttpConnectionTest, WritesTheMethodsThatAreAllowed) {
  handler_ = [](const ServedRequest&) { return ServedResponse{.status = 405, .allow = "PUT"}; };
  Open();
  Send(GetRequest());
  EXPECT_TRUE(Continue());
  const std::string answer = Receive();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 405 Method Not Allowed\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nAllow: PUT\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("Connection: close")));
}

}  // namespace
}  // namespace berth::host

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/file_descriptor.h"
#include "host/base/time_units.h"
#include "host/serve/http_server.h"
#include "host/serve/socket_address.h"

namespace berth::host {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr int kTimeoutMs = 10'000;

// A client with a blocking socket.
class HttpClient {
 public:
  explicit HttpClient(const std::string& address) {
    const auto parsed = ParseSocketAddress(address);
    socket_ = FileDescriptor(socket(parsed->protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(socket_.get(), parsed->data(), static_cast<socklen_t>(parsed->size())), 0);
  }

  void Send(const std::string& text) {
    EXPECT_EQ(send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // Reads until `end` was received, until the server closes, or until the time is over.
  std::string ReceiveUntil(const std::string& end) {
    std::string text;
    while (text.find(end) == std::string::npos) {
      std::array<pollfd, 1> wait = {{{.fd = socket_.get(), .events = POLLIN, .revents = 0}}};
      if (poll(wait.data(), wait.size(), kTimeoutMs) <= 0) return text + "(no answer in time)";
      std::array<char, 4096> piece;
      const ssize_t size = recv(socket_.get(), piece.data(), piece.size(), 0);
      if (size <= 0) return text + "(closed)";
      text.append(piece.data(), static_cast<size_t>(size));
    }
    return text;
  }

 private:
  FileDescriptor socket_;
};

std::string HelloRequest() { return "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"; }

class HttpServerTest : public ::testing::Test {
 protected:
  std::unique_ptr<HttpServer> Listen(const std::string& address) {
    auto server = HttpServer::Listen(
        address, limits_,
        [this](const ServedRequest& request) {
          return ServedResponse{.body = request.path + "!" + body_};
        },
        Clock(), Log());
    EXPECT_TRUE(server.ok()) << server.status().ToString();
    return server.ok() ? std::move(*server) : nullptr;
  }

  // Returns a clock that the test moves. The server reads it whenever a client sends something.
  std::function<int64_t()> Clock() {
    return [this] { return steady_ns_.load(); };
  }

  HttpLimits limits_;
  std::string body_;  // The end of each answer.
  std::atomic<int64_t> steady_ns_ = 0;
};

TEST_F(HttpServerTest, ServesSeveralClients) {
  const auto server = Listen("127.0.0.1:0");
  ASSERT_NE(server, nullptr);
  EXPECT_THAT(server->address(), StartsWith("127.0.0.1:"));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      HttpClient client(server->address());
      for (int request = 0; request < 10; ++request) {
        client.Send(HelloRequest());
        EXPECT_THAT(client.ReceiveUntil("!"), EndsWith("\r\n\r\n/hello!"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(HttpServerTest, RefusesAForeignHost) {
  const auto server = Listen("127.0.0.1:0");
  ASSERT_NE(server, nullptr);
  HttpClient client(server->address());
  client.Send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_THAT(client.ReceiveUntil("(never)"), StartsWith("HTTP/1.1 403 Forbidden\r\n"));
}

TEST_F(HttpServerTest, RefusesSlowClientsWithoutDelayingOthers) {
  const auto server = Listen("127.0.0.1:0");
  ASSERT_NE(server, nullptr);
  HttpClient slow(server->address());
  slow.Send("GET /");
  HttpClient other(server->address());
  other.Send(HelloRequest());
  // The bytes of the slow client arrived first, so that they have been read, too.
  EXPECT_THAT(other.ReceiveUntil("!"), EndsWith("/hello!"));
  steady_ns_ += limits_.request_ns;
  other.Send(HelloRequest());
  EXPECT_THAT(other.ReceiveUntil("!"), EndsWith("/hello!"));
  EXPECT_THAT(slow.ReceiveUntil("(never)"), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
}

// Clients that open connections and send nothing do not keep a health check from its answer.
TEST_F(HttpServerTest, AnswersAmongManyIdleConnections) {
  limits_.connections = 4;
  const auto server = Listen("127.0.0.1:0");
  ASSERT_NE(server, nullptr);
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (int i = 0; i < 40; ++i) {
    ++steady_ns_;
    idle.push_back(std::make_unique<HttpClient>(server->address()));
    if (i % 4 != 0) continue;
    HttpClient probe(server->address());
    probe.Send(HelloRequest());
    EXPECT_THAT(probe.ReceiveUntil("!"), EndsWith("/hello!"));
  }
  EXPECT_EQ(idle.front()->ReceiveUntil("(never)"), "(closed)");
  idle.back()->Send(HelloRequest());
  EXPECT_THAT(idle.back()->ReceiveUntil("!"), EndsWith("/hello!"));
}

TEST_F(HttpServerTest, ClosesAConnectionThatAnsweredFirst) {
  limits_.connections = 2;
  const auto server = Listen("127.0.0.1:0");
  ASSERT_NE(server, nullptr);
  HttpClient unused(server->address());
  ++steady_ns_;
  HttpClient used(server->address());
  used.Send(HelloRequest());
  EXPECT_THAT(used.ReceiveUntil("!"), EndsWith("/hello!"));
  ++steady_ns_;
  HttpClient last(server->address());
  EXPECT_EQ(used.ReceiveUntil("(never)"), "(closed)");
  for (HttpClient* client : {&unused, &last}) {
    client->Send(HelloRequest());
    EXPECT_THAT(client->ReceiveUntil("!"), EndsWith("/hello!"));
  }
}

// Clients that do not read large answers give way, too.
TEST_F(HttpServerTest, AnswersAmongClientsThatDoNotRead) {
  limits_.connections = 2;
  body_ = std::string(size_t{16} << 20, 'x');
  const auto server = Listen("127.0.0.1:0");
  ASSERT_NE(server, nullptr);
  std::vector<std::unique_ptr<HttpClient>> slow;
  for (int i = 0; i < 2; ++i) {
    slow.push_back(std::make_unique<HttpClient>(server->address()));
    slow.back()->Send(HelloRequest());
    EXPECT_THAT(slow.back()->ReceiveUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200 OK"));
  }
  steady_ns_ += kSecond;
  HttpClient probe(server->address());
  HttpClient idle(server->address());  // Closes one of the slow clients, not the probe.
  probe.Send("GET /hello HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_THAT(probe.ReceiveUntil("(never)"), StartsWith("HTTP/1.1 403 Forbidden"));
}

TEST_F(HttpServerTest, TheDestructorClosesIdleConnections) {
  auto server = Listen("127.0.0.1:0");
  ASSERT_NE(server, nullptr);
  HttpClient client(server->address());
  client.Send(HelloRequest());
  EXPECT_THAT(client.ReceiveUntil("!"), EndsWith("/hello!"));
  server = nullptr;
  EXPECT_EQ(client.ReceiveUntil("(never)"), "(closed)");
}

TEST_F(HttpServerTest, ListensOnAllAddresses) {
  const auto server = Listen(":0");
  ASSERT_NE(server, nullptr);
  const std::string port = server->address().substr(server->address().rfind(':'));
  HttpClient client("127.0.0.1" + port);
  client.Send(HelloRequest());
  EXPECT_THAT(client.ReceiveUntil("!"), EndsWith("/hello!"));
  HttpClient foreign("127.0.0.1" + port);
  foreign.Send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_THAT(foreign.ReceiveUntil("(never)"), StartsWith("HTTP/1.1 403 Forbidden\r\n"));
}

TEST_F(HttpServerTest, ReportsAddressThatIsInUseOrInvalid) {
  const auto server = Listen("127.0.0.1:0");
  ASSERT_NE(server, nullptr);
  const auto handler = [](const ServedRequest&) { return ServedResponse(); };
  const Status in_use =
      HttpServer::Listen(server->address(), limits_, handler, Clock(), Log()).status();
  EXPECT_EQ(in_use.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(in_use.message(), "listen " + server->address() + ": Address already in use");
  EXPECT_EQ(HttpServer::Listen("x", limits_, handler, Clock(), Log()).status().code(),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace berth::host

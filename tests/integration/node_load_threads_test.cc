// A plugin that learns the load of nodes from an HTTP source, on a thread of its own, and hands it
// over to the scheduling thread.
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "host/base/assert.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

// Answers every request with the same text.
class LoadSource {
 public:
  LoadSource() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    BERTH_ASSERT(::bind(listener_, generic, size) == 0 && ::listen(listener_, 8) == 0);
    BERTH_ASSERT(::getsockname(listener_, generic, &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~LoadSource() {
    ::shutdown(listener_, SHUT_RDWR);  // Ends accept().
    thread_.join();
    ::close(listener_);
  }
  LoadSource(const LoadSource&) = delete;
  LoadSource& operator=(const LoadSource&) = delete;

  uint16_t port() const { return port_; }
  void Set(std::string status, std::string body) {
    const std::scoped_lock lock(mutex_);
    answer_ = "HTTP/1.1 " + std::move(status) + "\r\n\r\n" + std::move(body);
  }
  // Waits until the client got the present answer and came back for another one. Whatever it does
  // with an answer before its next request is then done.
  void AwaitTwoRequests() const {
    const int before = requests_;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (requests_ < before + 2 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_GE(requests_, before + 2);
  }

 private:
  void Serve() {
    for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(client)) {
      char request[1024];
      if (::recv(client, request, sizeof(request), 0) <= 0) continue;
      const std::scoped_lock lock(mutex_);
      ++requests_;
      static_cast<void>(::send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL));
    }
  }

  const int listener_;
  uint16_t port_ = 0;
  std::atomic<int> requests_ = 0;
  std::mutex mutex_;
  std::string answer_ = "HTTP/1.1 503 Service Unavailable\r\n\r\n";
  std::thread thread_;
};

class NodeLoadTest : public ::testing::Test {
 protected:
  NodeLoadTest() { harness_.AddNodes({"a", "b", "c"}); }

  void Start() {
    const std::string args =
        "{\"port\": " + std::to_string(source_.port()) + ", \"everyMilliseconds\": 1}";
    const Status status =
        harness_.Start(TestProfile().Use("acme.NodeLoad", {Point::kScore}, args.c_str()));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void Report(const std::string& loads) {
    source_.Set("200 OK", loads);
    source_.AwaitTwoRequests();
    harness_.Settle();
  }
  std::string NodeOf(const std::string& pod) { return harness_.Schedule({.name = pod}).node; }

  LoadSource source_;
  Harness harness_;
};

TEST_F(NodeLoadTest, PrefersTheNodeWithTheLowestReportedLoad) {
  Start();
  Report("a 90\nb 10\nc 50\n");
  EXPECT_EQ(NodeOf("p1"), "b");
  Report("a 90\nb 95\nc 50\n");
  EXPECT_EQ(NodeOf("p2"), "c");
  Report("a 5\n");
  EXPECT_EQ(NodeOf("p3"), "a") << "the loads of the other nodes stay as they were";
}

TEST_F(NodeLoadTest, KeepsTheLoadsWhileTheSourceFails) {
  Start();
  Report("a 90\nb 10\nc 50\n");
  source_.Set("500 Internal Server Error", "a 0\n");
  source_.AwaitTwoRequests();
  harness_.Settle();
  EXPECT_EQ(NodeOf("p"), "b");
}

// The thread is inside a request, or waits for the next one, when the instance ends.
TEST_F(NodeLoadTest, EndsWhileItPolls) {
  for (int i = 0; i < 20; ++i) {
    Start();
    harness_.Stop();
  }
}

}  // namespace
}  // namespace berth::host

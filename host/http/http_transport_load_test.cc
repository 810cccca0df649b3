#include <dirent.h>

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "host/http/http_transport.h"
#include "tests/harness/api_server/loopback_server.h"
#include "tests/harness/api_server/transport_fixture.h"

namespace berth::host {
namespace {

size_t OpenDescriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  size_t count = 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

class HttpTransportLoadTest : public TransportTest {
 protected:
  // Keeps `parallel` requests open until `total` are answered. Each answer must be that of its
  // request.
  void SendMany(int total, int parallel) {
    std::atomic<int> answered = 0;
    int started = 0;
    std::function<void()> send_next = [&] {
      if (started == total) return;
      const std::string target = "/" + std::to_string(started++);
      transport_->Send({.verb = "GET", .target = target}, [&, target](HttpResponse response) {
        EXPECT_EQ(response.body, "GET " + target + " HTTP/1.1") << response.status.message();
        send_next();
        ++answered;
      });
    };
    io_.RunAndWait([&] {
      for (int i = 0; i < parallel; ++i) send_next();
    });
    WaitUntil([&] { return answered == total; });
  }
};

TEST_F(HttpTransportLoadTest, ManyRequestsNeedTheSameFewDescriptors) {
  LoopbackServer server({}, EchoFirstLines);
  HttpTransport::Options options;
  options.pool.connections = 64;
  Connect(server, options);
  // More requests than connections, so that some wait. The pool opens a few at a time.
  int sent = 0;
  for (; connections_ < 64 && sent < 100'000; sent += 1'000) SendMany(1'000, 100);
  const size_t before = OpenDescriptors();
  EXPECT_EQ(connections_, 64);
  SendMany(9'000, 100);
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_EQ(connections_, 64);
  EXPECT_EQ(server.connections(), 64U);
  EXPECT_EQ(reports_, sent + 9'000);
}

TEST_F(HttpTransportLoadTest, ConnectionsThatEndAreNotLeaked) {
  LoopbackServer server({.tls = false}, [](LoopbackServer::Peer& peer, size_t connection) {
    std::string request;
    if (!peer.ReadRequest(request)) return;
    // Every third connection ends without an answer.
    if (connection % 3 == 0) return peer.Reset();
    peer.Write(HttpAnswer(200, "", "Connection: close\r\n"));
  });
  Connect(Url(server, "http"), nullptr);
  const auto send = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const HttpResponse response = Get("/x");
      EXPECT_TRUE(response.is_success() || response.delivery == Delivery::kUnknown)
          << response.status.message();
    }
    // The server closes its descriptors on threads of its own.
    server.Stop();
    server.Start();
  };
  send(20);
  const size_t before = OpenDescriptors();
  send(200);
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_EQ(connections_, 0);
}

}  // namespace
}  // namespace berth::host

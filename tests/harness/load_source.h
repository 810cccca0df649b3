// A source of the loads of nodes, for acme.NodeLoad: an HTTP server on a thread of its own.
#ifndef BERTH_TESTS_HARNESS_LOAD_SOURCE_H_
#define BERTH_TESTS_HARNESS_LOAD_SOURCE_H_

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

namespace berth::host {

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
  // Keeps requests without an answer until Release().
  void Hold() { holds_ = true; }
  void Release() { holds_ = false; }
  // Waits until a request is open that is kept without an answer.
  void AwaitHeldRequest() const {
    Await([this] { return is_held_.load(); });
    EXPECT_TRUE(is_held_);
  }
  // Waits until the client got the present answer and came back for another one. Whatever it does
  // with an answer before its next request is then done.
  void AwaitTwoRequests() const {
    const int before = requests_;
    Await([this, before] { return requests_ >= before + 2; });
    EXPECT_GE(requests_, before + 2);
  }

 private:
  template <class F>
  static void Await(F happened) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!happened() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void Serve() {
    for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(client)) {
      char request[1024];
      if (::recv(client, request, sizeof(request), 0) <= 0) continue;
      is_held_ = holds_.load();
      Await([this] { return !holds_; });
      is_held_ = false;
      const std::scoped_lock lock(mutex_);
      ++requests_;
      static_cast<void>(::send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL));
    }
  }

  const int listener_;
  uint16_t port_ = 0;
  std::atomic<int> requests_ = 0;
  std::atomic<bool> holds_ = false;
  std::atomic<bool> is_held_ = false;
  std::mutex mutex_;
  std::string answer_ = "HTTP/1.1 503 Service Unavailable\r\n\r\n";
  std::thread thread_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_LOAD_SOURCE_H_

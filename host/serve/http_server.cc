#include "host/serve/http_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <netinet/in.h>

#include "host/base/assert.h"
#include "host/base/file_descriptor.h"
#include "host/base/time_units.h"
#include "host/serve/socket_address.h"

namespace berth::host {
namespace {

constexpr int64_t kStopNs = 5 * kSecond;
// How long the server accepts no connection after the system refused one, such as for lack of
// descriptors. poll() would report the same connection again at once.
constexpr int64_t kAcceptPauseNs = 100 * kMillisecond;
constexpr int kBacklog = 64;

// Opens the socket of a server. Returns no descriptor and sets `error` if the system refuses it.
FileDescriptor OpenListener(const SocketAddress& address, int& error) {
  FileDescriptor listener(
      socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  error = errno;
  if (!listener.ok()) return {};
  const int on = 1;
  const int off = 0;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // A server on all addresses of IPv6 also listens on those of IPv4.
  if (address.is_ipv6()) {
    setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  const bool listens = bind(listener.get(), address.get(), address.bytes) == 0 &&
                       listen(listener.get(), kBacklog) == 0;
  error = errno;
  return listens ? std::move(listener) : FileDescriptor();
}

// Opens the socket for `text`, as HttpServer::Listen() takes it. ":80" is "0.0.0.0:80" on a machine
// without IPv6.
Result<FileDescriptor> OpenListenerAt(std::string_view text) {
  const auto address = ParseSocketAddress(text);
  if (!address.ok()) return address.status();
  int error = 0;
  FileDescriptor listener = OpenListener(*address, error);
  if (!listener.ok() && text.starts_with(':') &&
      (error == EAFNOSUPPORT || error == EADDRNOTAVAIL)) {
    listener = OpenListener(*ParseSocketAddress("0.0.0.0" + std::string(text)), error);
  }
  if (listener.ok()) return listener;
  return Status::Unavailable(
      std::string("listen ").append(text).append(": ").append(std::strerror(error)));
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(FileDescriptor listener, const Limits& limits, Handler handler,
       std::function<int64_t()> steady_ns, Log log)
      : listener_(std::move(listener)),
        address_(LocalAddress(listener_.get()).ToString()),
        limits_(limits),
        handler_(std::move(handler)),
        steady_ns_(std::move(steady_ns)),
        log_(log),
        stop_signal_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    BERTH_ASSERT(stop_signal_.ok());
    thread_ = std::thread([this] { Run(); });
  }
  ~Impl() {
    // This fails only if the counter is at its maximum; then the thread is woken anyway.
    static_cast<void>(eventfd_write(stop_signal_.get(), 1));
    thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::string& address() const { return address_; }

 private:
  using Connections = std::vector<std::unique_ptr<HttpConnection>>;

  // ---- On the thread of the server ----

  void Run() {
    while (true) {
      Wait();
      const int64_t now_ns = steady_ns_();
      if (!stop_ns_.has_value() && waits_[0].revents != 0) BeginStop(now_ns);
      ContinueConnections(now_ns);
      if (!stop_ns_.has_value() && waits_[1].revents != 0) AcceptConnections(now_ns);
      if (stop_ns_.has_value() && (connections_.empty() || now_ns >= *stop_ns_)) return;
    }
  }

  // Waits until a socket is ready or a deadline has passed. Fills waits_: the signal to stop, the
  // listener, and the connections in their order.
  void Wait() {
    const int64_t now_ns = steady_ns_();
    const bool is_stopping = stop_ns_.has_value();
    const bool accepts = !is_stopping && now_ns >= accept_ns_;
    int64_t until_ns = is_stopping ? *stop_ns_ : INT64_MAX;
    if (!is_stopping && !accepts) until_ns = accept_ns_;
    waits_.clear();
    // poll() ignores negative descriptors.
    waits_.push_back({.fd = is_stopping ? -1 : stop_signal_.get(), .events = POLLIN, .revents = 0});
    waits_.push_back({.fd = accepts ? listener_.get() : -1, .events = POLLIN, .revents = 0});
    for (const auto& connection : connections_) {
      waits_.push_back(
          {.fd = connection->descriptor(), .events = connection->events(), .revents = 0});
      until_ns = std::min(until_ns, connection->deadline_ns());
    }
    int timeout_ms = -1;
    if (until_ns != INT64_MAX) {
      const int64_t left_ns = std::clamp<int64_t>(until_ns - now_ns, 0, kMinute);
      timeout_ms = static_cast<int>((left_ns + kMillisecond - 1) / kMillisecond);
    }
    const int ready = poll(waits_.data(), waits_.size(), timeout_ms);
    BERTH_ASSERT(ready >= 0 || errno == EINTR);
    if (ready < 0) {
      for (pollfd& wait : waits_) wait.revents = 0;
    }
  }

  void ContinueConnections(int64_t now_ns) {
    constexpr size_t kFirstConnection = 2;
    for (size_t i = 0; i < connections_.size(); ++i) {
      HttpConnection& connection = *connections_[i];
      const bool is_ready =
          kFirstConnection + i < waits_.size() && waits_[kFirstConnection + i].revents != 0;
      bool stays = !is_ready || connection.OnReady(now_ns);
      stays = stays && connection.OnTime(now_ns);
      if (const std::string refusal = connection.TakeRefusal(); !refusal.empty()) {
        log_.Debug("Refused an HTTP request", {{.key = "reason", .value = refusal}});
      }
      if (!stays) connections_[i] = nullptr;
    }
    std::erase(connections_, nullptr);
  }

  void AcceptConnections(int64_t now_ns) {
    while (true) {
      FileDescriptor socket(
          accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket.ok()) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) PauseAccepting(errno, now_ns);
        return;
      }
      if (connections_.size() >= limits_.connections) {
        log_.Debug("Closed an HTTP connection because there are too many");
        continue;
      }
      const bool is_loopback = LocalAddress(socket.get()).IsLoopback();
      connections_.push_back(std::make_unique<HttpConnection>(std::move(socket), limits_, handler_,
                                                              is_loopback, now_ns));
    }
  }

  void PauseAccepting(int error, int64_t now_ns) {
    accept_ns_ = now_ns + kAcceptPauseNs;
    log_.Error("Cannot accept an HTTP connection", std::strerror(error));
  }

  void BeginStop(int64_t now_ns) {
    stop_ns_ = now_ns + kStopNs;
    listener_ = FileDescriptor();
    // The events in waits_ belong to the connections at their old places.
    waits_.clear();
    std::erase_if(connections_, [](const auto& connection) { return !connection->OnStop(); });
  }

  FileDescriptor listener_;
  const std::string address_;
  const Limits limits_;
  const Handler handler_;
  const std::function<int64_t()> steady_ns_;
  const Log log_;
  const FileDescriptor stop_signal_;

  Connections connections_;
  std::vector<pollfd> waits_;
  std::optional<int64_t> stop_ns_;  // Set when the server stops: when it must have ended.
  int64_t accept_ns_ = INT64_MIN;   // No connection is accepted before this time.

  std::thread thread_;  // Last: it uses the others.
};

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(std::string_view address,
                                                       const Limits& limits, Handler handler,
                                                       std::function<int64_t()> steady_ns,
                                                       Log log) {
  auto listener = OpenListenerAt(address);
  if (!listener.ok()) return std::move(listener).status();
  return std::unique_ptr<HttpServer>(new HttpServer(std::make_unique<Impl>(
      std::move(*listener), limits, std::move(handler), std::move(steady_ns), log)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() = default;

const std::string& HttpServer::address() const { return impl_->address(); }

}  // namespace berth::host

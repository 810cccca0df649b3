#include "host/serve/http_server.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "host/base/time_units.h"
#include "host/serve/http_connection.h"
#include "host/serve/socket_address.h"

namespace berth::host {
namespace {

namespace asio = boost::asio;
using Acceptor = asio::ip::tcp::acceptor;

constexpr int64_t kStopNs = 5 * kSecond;
// How long the server accepts no connection after the system refused one, such as for lack of
// descriptors. The system would report the same connection again at once.
constexpr std::chrono::milliseconds kAcceptPause(100);
constexpr int kBacklog = 1024;
// An operation with it returns an error code instead of throwing.
constexpr auto kErrorAndResult = asio::as_tuple(asio::use_awaitable);

// Opens the socket of a server.
boost::system::error_code Open(const SocketAddress& address, Acceptor& acceptor) {
  boost::system::error_code error;
  boost::system::error_code ignored;
  acceptor.open(address.protocol(), error);
  if (error) return error;
  acceptor.set_option(Acceptor::reuse_address(true), ignored);
  // A server on all addresses of IPv6 also listens on those of IPv4.
  if (address.address().is_v6()) acceptor.set_option(asio::ip::v6_only(false), ignored);
  acceptor.bind(address, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (error) acceptor.close(ignored);
  return error;
}

// Opens the socket for `text`, as HttpServer::Listen() takes it. ":80" is "0.0.0.0:80" on a machine
// without IPv6.
Status OpenAt(std::string_view text, Acceptor& acceptor) {
  const auto address = ParseSocketAddress(text);
  if (!address.ok()) return address.status();
  boost::system::error_code error = Open(*address, acceptor);
  if (text.starts_with(':') && (error == asio::error::address_family_not_supported ||
                                error == std::errc::address_not_available)) {
    error = Open(*ParseSocketAddress("0.0.0.0" + std::string(text)), acceptor);
  }
  if (!error) return Status::Ok();
  return Status::Unavailable(
      std::string("listen ").append(text).append(": ").append(error.message()));
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpLimits& limits, HttpHandler handler, std::function<int64_t()> steady_ns, Log log)
      : limits_(limits),
        handler_(std::move(handler)),
        steady_ns_(std::move(steady_ns)),
        log_(log),
        acceptor_(io_) {}
  ~Impl() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] { BeginStop(); });
    thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status Listen(std::string_view address) {
    if (Status status = OpenAt(address, acceptor_); !status.ok()) return status;
    address_ = ToText(acceptor_.local_endpoint());
    asio::co_spawn(io_, AcceptConnections(), [](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);  // Ends the process, as on any other thread.
    });
    thread_ = std::thread([this] { Run(); });
    return Status::Ok();
  }

  const std::string& address() const { return address_; }

 private:
  // ---- On the thread of the server ----

  void Run() {
    const auto work = asio::make_work_guard(io_);
    while (true) {
      io_.run_one_for(TimeToDeadline());
      const int64_t now_ns = steady_ns_();
      CheckConnections(now_ns);
      if (stop_ns_.has_value() && (connections_.empty() || now_ns >= *stop_ns_)) return;
    }
  }

  std::chrono::nanoseconds TimeToDeadline() const {
    int64_t until_ns = stop_ns_.value_or(INT64_MAX);
    for (const auto& connection : connections_) {
      until_ns = std::min(until_ns, connection->deadline_ns());
    }
    const int64_t now_ns = steady_ns_();
    return std::chrono::nanoseconds(until_ns <= now_ns ? 0 : std::min(until_ns - now_ns, kMinute));
  }

  void CheckConnections(int64_t now_ns) {
    for (const auto& connection : connections_) {
      connection->OnTime(now_ns);
      if (const std::string refusal = connection->TakeRefusal(); !refusal.empty()) {
        log_.Debug("Refused an HTTP request", {{.key = "reason", .value = refusal}});
      }
    }
    std::erase_if(connections_, [](const auto& connection) { return connection->has_ended(); });
  }

  asio::awaitable<void> AcceptConnections() {
    asio::steady_timer pause(io_);
    while (true) {
      auto [error, socket] = co_await acceptor_.async_accept(kErrorAndResult);
      if (!acceptor_.is_open()) co_return;
      if (!error) {
        Begin(std::move(socket));
        continue;
      }
      log_.Error("Cannot accept an HTTP connection", error.message());
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(kErrorAndResult);
    }
  }

  void Begin(asio::ip::tcp::socket socket) {
    if (connections_.size() >= limits_.connections) CloseOne();
    boost::system::error_code error;
    const SocketAddress local = socket.local_endpoint(error);
    if (error) return;
    connections_.push_back(std::make_shared<HttpConnection>(std::move(socket), limits_, handler_,
                                                            IsLoopback(local), steady_ns_));
    connections_.back()->Start();
  }

  // Closes the connection that is the least important.
  void CloseOne() {
    const auto least = std::ranges::min_element(
        connections_, {}, [](const auto& connection) { return connection->Importance(); });
    (*least)->Close();
    connections_.erase(least);
    log_.Debug("Closed an HTTP connection because there are too many");
  }

  void BeginStop() {
    stop_ns_ = steady_ns_() + kStopNs;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    for (const auto& connection : connections_) connection->OnStop();
  }

  const HttpLimits limits_;
  const HttpHandler handler_;
  const std::function<int64_t()> steady_ns_;
  const Log log_;

  asio::io_context io_{1};
  Acceptor acceptor_;
  std::string address_;
  std::vector<std::shared_ptr<HttpConnection>> connections_;
  std::optional<int64_t> stop_ns_;  // Set when the server stops: when it must have ended.

  std::thread thread_;  // Last: it uses the others.
};

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(std::string_view address,
                                                       const HttpLimits& limits,
                                                       HttpHandler handler,
                                                       std::function<int64_t()> steady_ns,
                                                       Log log) {
  auto impl = std::make_unique<Impl>(limits, std::move(handler), std::move(steady_ns), log);
  if (Status status = impl->Listen(address); !status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() = default;

const std::string& HttpServer::address() const { return impl_->address(); }

}  // namespace berth::host

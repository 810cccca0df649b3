#include "host/cluster/kubernetes/http/byte_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "host/base/assert.h"
#include "host/base/file_descriptor.h"
#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/http/proxy_tunnel.h"
#include "host/cluster/kubernetes/http/socket_stream.h"

namespace berth::host {
namespace {

using Tcp = boost::asio::ip::tcp;
using AsioError = boost::system::error_code;

constexpr int64_t kMinAddressNs = 2 * kSecond;

std::string AddressText(const Tcp::endpoint& address) {
  const std::string host = address.address().to_string();
  const std::string port = std::to_string(address.port());
  return address.address().is_v6() ? "[" + host + "]:" + port : host + ":" + port;
}

std::string AsioText(const AsioError& error) {
  std::string text = error.message();
  if (!text.empty()) text.front() = ToLower(text.front());
  return text;
}

AsioError LastError() { return {errno, boost::system::system_category()}; }

void SetOption(int socket, int level, int name, int value) {
  // A system without the option works too; it finds a dead peer later.
  static_cast<void>(::setsockopt(socket, level, name, &value, sizeof value));
}

void SetOptions(int socket, const DialOptions& options) {
  SetOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, options.keep_alive_idle_s);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, options.keep_alive_interval_s);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPCNT, options.keep_alive_probes);
  SetOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(options.user_timeout_ms));
}

// Looks up, connects, asks the proxy, starts TLS, in this order.
class DialAttempt final : public std::enable_shared_from_this<DialAttempt> {
 public:
  DialAttempt(IoThread& io, const Endpoint& endpoint, std::shared_ptr<const TlsContext> tls,
              const DialOptions& options, DialDone done)
      : io_(io),
        endpoint_(endpoint),
        tls_(std::move(tls)),
        options_(options),
        done_(std::move(done)),
        resolver_(io.context()),
        descriptor_(io.context()),
        timer_(io) {}

  void Start() {
    deadline_ns_ = io_.NowNs() + options_.connect_timeout_ns;
    const ServerUrl& peer = endpoint_.proxy ? *endpoint_.proxy : endpoint_.server;
    AsioError error;
    const auto address = boost::asio::ip::make_address(peer.host, error);
    if (!error) {
      addresses_.emplace_back(address, peer.port);
      // `done` must not be called within Dial().
      return timer_.StartAfter(0, [this] { Connect(); });
    }
    timer_.StartAt(deadline_ns_, [this] {
      Fail(Status::Unavailable("dial tcp: lookup " + PeerName() + ": i/o timeout"));
    });
    resolver_.async_resolve(peer.host, std::to_string(peer.port),
                            [self = shared_from_this()](const AsioError& failure,
                                                        const Tcp::resolver::results_type& found) {
                              if (self->done_) self->OnAddresses(failure, found);
                            });
  }

  void Cancel() {
    // The destructor of the callback may destroy its owner.
    const DialDone done = std::exchange(done_, nullptr);
    timer_.Stop();
    resolver_.cancel();
    AsioError ignored;
    descriptor_.close(ignored);
    stream_.reset();
    tunnel_.reset();
  }

 private:
  std::string PeerName() const {
    return endpoint_.proxy ? endpoint_.proxy->host : endpoint_.server.host;
  }

  void OnAddresses(const AsioError& error, const Tcp::resolver::results_type& found) {
    if (error) {
      return Fail(Status::Unavailable("dial tcp: lookup " + PeerName() + ": " + AsioText(error)));
    }
    for (const auto& entry : found) addresses_.push_back(entry.endpoint());
    Connect();
  }

  // Connects to the next address.
  void Connect() {
    if (next_ == addresses_.size()) return Fail(Status::Unavailable(Join(errors_, "; ")));
    const Tcp::endpoint& address = addresses_[next_];
    const int64_t now_ns = io_.NowNs();
    const auto left = static_cast<int64_t>(addresses_.size() - next_);
    const int64_t part_ns = std::max((deadline_ns_ - now_ns) / left, kMinAddressNs);
    const int64_t until_ns = std::max(std::min(now_ns + part_ns, deadline_ns_), now_ns);
    FileDescriptor socket(::socket(address.protocol().family(),
                                   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (!socket.ok()) return TryNext("socket", LastError());
    SetOptions(socket.get(), options_);
    int result = 0;
    do {
      result = ::connect(socket.get(), address.data(), static_cast<socklen_t>(address.size()));
    } while (result != 0 && errno == EINTR);
    if (result != 0 && errno != EINPROGRESS) return TryNext("connect", LastError());
    AsioError error;
    descriptor_.assign(socket.get(), error);
    if (error) return TryNext("epoll", error);
    socket.Release();
    timer_.StartAt(until_ns, [this] {
      AsioError ignored;
      descriptor_.close(ignored);
      TryNext("", boost::asio::error::timed_out);
    });
    descriptor_.async_wait(descriptor_.wait_write,
                           [self = shared_from_this(), attempt = next_](const AsioError& failure) {
                             const bool is_current = self->done_ && self->next_ == attempt;
                             if (is_current && !failure) self->OnConnected();
                           });
  }

  void OnConnected() {
    int code = 0;
    socklen_t size = sizeof code;
    ::getsockopt(descriptor_.native_handle(), SOL_SOCKET, SO_ERROR, &code, &size);
    // The stream registers the socket again.
    FileDescriptor socket(descriptor_.release());
    if (code != 0) return TryNext("connect", {code, boost::system::system_category()});
    timer_.Stop();
    stream_ =
        std::make_unique<SocketStream>(io_, std::move(socket), AddressText(addresses_[next_]));
    if (!endpoint_.proxy) return StartServerTls();
    if (endpoint_.proxy->scheme != ServerUrl::Scheme::kHttps) return OpenTunnel();
    // As in client-go, the CA and the client certificate are those of the server.
    BERTH_ASSERT(tls_ != nullptr);
    StartTls(*endpoint_.proxy, endpoint_.proxy->host, [this](Status status) {
      if (!status.ok()) return Fail(std::move(status).Annotate("proxy"));
      OpenTunnel();
    });
  }

  void OpenTunnel() {
    timer_.StartAt(std::max(deadline_ns_, io_.NowNs() + kMinAddressNs), [this] {
      Fail(Status::Unavailable("proxy " + endpoint_.proxy->ToString() + ": no answer within " +
                               std::to_string(options_.connect_timeout_ns / kSecond) + "s"));
    });
    tunnel_ = ProxyTunnel::Create(*stream_, *endpoint_.proxy, endpoint_.server);
    tunnel_->Start([this](Status status) {
      if (!status.ok()) return Fail(std::move(status));
      StartServerTls();
    });
  }

  void StartServerTls() {
    if (tls_ == nullptr) return End(std::unique_ptr<ByteStream>(std::move(stream_)));
    StartTls(endpoint_.server, tls_->server_name(), [this](Status status) {
      if (!status.ok()) return Fail(std::move(status));
      End(std::unique_ptr<ByteStream>(std::move(stream_)));
    });
  }

  void StartTls(const ServerUrl& peer, const std::string& name, ByteStream::WriteDone done) {
    timer_.StartAfter(options_.handshake_timeout_ns, [this, peer] {
      Fail(Status::Unavailable(peer.ToString() + ": TLS handshake timeout"));
    });
    stream_->StartTls(tls_, peer, name, std::move(done));
  }

  // `call` is the system call that failed; empty for a time-out.
  void TryNext(const std::string& call, const AsioError& error) {
    std::string text = "dial tcp " + AddressText(addresses_[next_]) + ": ";
    text += call.empty() ? "i/o timeout" : call + ": " + AsioText(error);
    errors_.push_back(std::move(text));
    ++next_;
    Connect();
  }

  void Fail(Status status) { End(std::move(status)); }

  void End(Result<std::unique_ptr<ByteStream>> result) {
    // The callback may destroy the handle, which calls Cancel().
    const auto self = shared_from_this();
    const DialDone done = std::exchange(done_, nullptr);
    Cancel();
    done(std::move(result));
  }

  IoThread& io_;
  const Endpoint endpoint_;
  const std::shared_ptr<const TlsContext> tls_;
  const DialOptions options_;
  DialDone done_;  // Empty: the attempt has ended.
  Tcp::resolver resolver_;
  boost::asio::posix::stream_descriptor descriptor_;  // While it is being connected.
  OwnedTimer timer_;
  int64_t deadline_ns_ = 0;
  std::vector<Tcp::endpoint> addresses_;
  size_t next_ = 0;  // The address that is being tried.
  std::vector<std::string> errors_;
  std::unique_ptr<ProxyTunnel> tunnel_;
  std::unique_ptr<SocketStream> stream_;
};

class DialHandle final : public Dialing {
 public:
  explicit DialHandle(std::shared_ptr<DialAttempt> attempt) : attempt_(std::move(attempt)) {}
  ~DialHandle() override { attempt_->Cancel(); }
  DialHandle(const DialHandle&) = delete;
  DialHandle& operator=(const DialHandle&) = delete;

 private:
  const std::shared_ptr<DialAttempt> attempt_;
};

}  // namespace

std::unique_ptr<Dialing> Dial(IoThread& io, const Endpoint& endpoint,
                              std::shared_ptr<const TlsContext> tls, const DialOptions& options,
                              DialDone done) {
  auto attempt =
      std::make_shared<DialAttempt>(io, endpoint, std::move(tls), options, std::move(done));
  attempt->Start();
  return std::make_unique<DialHandle>(std::move(attempt));
}

}  // namespace berth::host

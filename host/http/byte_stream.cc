#include "host/http/byte_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "host/base/assert.h"
#include "host/base/base64.h"
#include "host/base/file_descriptor.h"
#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/http/response_reader.h"
#include "host/http/socket_stream.h"

namespace berth::host {
namespace {

// ---- Proxies ------------------------------------------------------------------------------------

// The dialogue of a client with a proxy before the first byte of the server. The proxy looks
// the name of the server up.
//
// Threading: that of the stream.
// Lifetime:  `stream` must outlive it. If it is destroyed before `done` is called, the stream must
//            be closed before anything else happens.
class ProxyTunnel {
 public:
  using Done = std::function<void(Status status)>;

  // `name` is in front of errors.
  ProxyTunnel(ByteStream& stream, std::string name) : stream_(stream), name_(std::move(name)) {}
  virtual ~ProxyTunnel() = default;
  ProxyTunnel(const ProxyTunnel&) = delete;
  ProxyTunnel& operator=(const ProxyTunnel&) = delete;

  // Calls `done` once, never within the call; it may destroy the tunnel and the stream.
  // Errors: kPermissionDenied: the proxy wants another user or password;
  //         kUnavailable: every other refusal, and a connection that was lost. The message names
  //         the proxy and the server.
  void Start(Done done) {
    done_ = std::move(done);
    Begin();
  }

 protected:
  virtual void Begin() = 0;
  void End(Status status) {
    if (!status.ok()) status = std::move(status).Annotate(name_);
    std::exchange(done_, nullptr)(std::move(status));
  }
  ByteStream& stream() { return stream_; }

 private:
  ByteStream& stream_;
  const std::string name_;
  Done done_;
};

std::string ConnectRequest(const ServerUrl& proxy, const ServerUrl& server) {
  const std::string target = server.HostAndPort();
  std::string text = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n";
  if (!proxy.user.empty()) {
    text +=
        "Proxy-Authorization: Basic " + EncodeBase64(proxy.user + ":" + proxy.password) + "\r\n";
  }
  return text + "\r\n";
}

class HttpTunnel final : public ProxyTunnel {
 public:
  HttpTunnel(ByteStream& stream, const ServerUrl& proxy, const ServerUrl& server)
      : ProxyTunnel(stream, "proxy " + proxy.ToString() + ": CONNECT " + server.HostAndPort()),
        request_(ConnectRequest(proxy, server)),
        // A success has no body, as an answer to HEAD. The body of a refusal is not read.
        reader_({}, "HEAD",
                {.on_head = [this](const HttpHead& head) { http_status_ = head.http_status; }}) {}

 private:
  void Begin() override {
    stream().Write(request_, [this](Status status) {
      if (!status.ok()) return End(std::move(status));
      ReadMore();
    });
  }

  void ReadMore() {
    stream().Read(buffer_, [this](Status status, size_t size) {
      if (!status.ok()) return End(std::move(status));
      if (size == 0) return End(reader_.FeedEnd());
      OnBytes(size);
    });
  }

  void OnBytes(size_t size) {
    const Result<size_t> used = reader_.Feed({buffer_.data(), size});
    if (!used.ok()) return End(Status::Unavailable(std::string(used.status().message())));
    if (!reader_.is_complete()) return ReadMore();
    if (http_status_ == 407) {
      return End(Status::PermissionDenied(
          "the status is 407; set the user and the password in proxy-url"));
    }
    if (http_status_ / 100 != 2) {
      return End(Status::Unavailable("the status is " + std::to_string(http_status_)));
    }
    // The server waits for the client's first bytes, with TLS and without.
    if (*used != size) return End(Status::Unavailable("found bytes behind the head of the answer"));
    End(Status::Ok());
  }

  const std::string request_;
  uint32_t http_status_ = 0;
  ResponseReader reader_;
  std::array<char, 4096> buffer_{};
};

constexpr char kVersion = 5;
constexpr char kNoUser = 0;       // The method "no authentication required".
constexpr char kUserMethod = 2;   // The method "user name and password".
constexpr char kUserVersion = 1;  // RFC 1929
constexpr char kConnect = 1;
constexpr size_t kMaxText = 255;  // The length of a text is one byte.

// Types of addresses.
constexpr char kV4 = 1;
constexpr char kName = 3;
constexpr char kV6 = 4;

// Returns the text behind its length.
std::string Counted(const std::string& text) {
  return static_cast<char>(static_cast<unsigned char>(text.size())) + text;
}

// Returns the type of the address and the address, as RFC 1928 encodes them.
std::string TargetText(const std::string& host) {
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    return kV4 + std::string(reinterpret_cast<const char*>(&v4), sizeof v4);
  }
  in6_addr v6{};
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) {
    return kV6 + std::string(reinterpret_cast<const char*>(&v6), sizeof v6);
  }
  return kName + Counted(host);
}

std::string ReplyText(char reply) {
  switch (reply) {
    case 1: return "general failure";
    case 2: return "the rules of the proxy do not permit the connection";
    case 3: return "network unreachable";
    case 4: return "host unreachable";
    case 5: return "connection refused";
    case 6: return "TTL expired";
    default: return "reply " + std::to_string(static_cast<unsigned char>(reply));
  }
}

// SOCKS 5 (RFC 1928), with a user and a password (RFC 1929) if the URL of the proxy has a user.
// Reads no byte behind the proxy's last answer.
class SocksTunnel final : public ProxyTunnel {
 public:
  SocksTunnel(ByteStream& stream, const ServerUrl& proxy, const ServerUrl& server)
      : ProxyTunnel(stream, "proxy " + proxy.ToString() + ": connect to " + server.HostAndPort()),
        proxy_(proxy),
        server_(server) {}

 private:
  // A step that gets the bytes of an answer.
  using Step = void (SocksTunnel::*)(std::string_view answer);

  void Begin() override {
    std::string methods = {kVersion, 1, kNoUser};
    if (!proxy_.user.empty()) methods = {kVersion, 2, kNoUser, kUserMethod};
    Ask(std::move(methods), 2, &SocksTunnel::OnMethod);
  }

  // Writes `bytes`, reads an answer of exactly `size` bytes, and passes it to `next`.
  void Ask(std::string bytes, size_t size, Step next) {
    bytes_ = std::move(bytes);
    stream().Write(bytes_, [this, size, next](Status status) {
      if (!status.ok()) return End(std::move(status));
      filled_ = 0;
      Read(size, next);
    });
  }

  // Reads until the answer has `size` bytes.
  void Read(size_t size, Step next) {
    BERTH_ASSERT(filled_ < size && size <= buffer_.size());
    const std::span<char> room(buffer_.data() + filled_, size - filled_);
    stream().Read(room, [this, size, next](Status status, size_t count) {
      if (!status.ok()) return End(std::move(status));
      if (count == 0) return End(Status::Unavailable("the proxy closed the connection"));
      filled_ += count;
      if (filled_ < size) return Read(size, next);
      (this->*next)({buffer_.data(), size});
    });
  }

  void OnMethod(std::string_view answer) {
    if (answer[0] != kVersion) {
      return End(Status::Unavailable("expected an answer of SOCKS 5, found other bytes"));
    }
    if (answer[1] == kNoUser) return SendTarget();
    const bool is_user_wanted = answer[1] == kUserMethod && !proxy_.user.empty();
    if (!is_user_wanted) {
      return End(Status::PermissionDenied(
          "the proxy wants authentication; set the user and the password in proxy-url"));
    }
    if (proxy_.user.size() > kMaxText || proxy_.password.size() > kMaxText) {
      return End(Status::PermissionDenied(
          "expected a user and a password of at most 255 bytes in proxy-url"));
    }
    Ask(kUserVersion + Counted(proxy_.user) + Counted(proxy_.password), 2, &SocksTunnel::OnUser);
  }

  void OnUser(std::string_view answer) {
    if (answer[1] != 0) {
      return End(Status::PermissionDenied("the proxy refused the user or the password"));
    }
    SendTarget();
  }

  void SendTarget() {
    if (server_.host.size() > kMaxText) {
      return End(Status::Unavailable("expected a name of at most 255 bytes"));
    }
    std::string request = {kVersion, kConnect, 0};
    request += TargetText(server_.host);
    request += static_cast<char>(server_.port >> 8);
    request += static_cast<char>(server_.port & 0xFF);
    // The answer has an address, too. Its fifth byte is the length of a name.
    Ask(std::move(request), 5, &SocksTunnel::OnTarget);
  }

  void OnTarget(std::string_view answer) {
    if (answer[0] != kVersion) {
      return End(Status::Unavailable("expected an answer of SOCKS 5, found other bytes"));
    }
    if (answer[1] != 0) return End(Status::Unavailable(ReplyText(answer[1])));
    constexpr size_t kBefore = 4;  // The bytes in front of the address.
    constexpr size_t kPort = 2;
    switch (answer[3]) {
      case kV4: return Read(kBefore + 4 + kPort, &SocksTunnel::OnBoundAddress);
      case kV6: return Read(kBefore + 16 + kPort, &SocksTunnel::OnBoundAddress);
      case kName: {
        const size_t size = static_cast<unsigned char>(answer[4]);
        return Read(kBefore + 1 + size + kPort, &SocksTunnel::OnBoundAddress);
      }
      default: break;
    }
    End(Status::Unavailable("expected an address, found other bytes"));
  }

  void OnBoundAddress(std::string_view /*answer*/) { End(Status::Ok()); }

  const ServerUrl proxy_;
  const ServerUrl server_;
  std::string bytes_;  // To be written.
  std::array<char, 512> buffer_{};
  size_t filled_ = 0;
};

// Returns a tunnel that is not started: CONNECT for a proxy with the scheme http or https (RFC
// 9110, section 9.3.6), SOCKS 5 for one with the scheme socks5 (RFC 1928). With https, the stream
// has TLS with the proxy already. A user and a password in the URL of the proxy are sent (RFC 7617,
// RFC 1929).
std::unique_ptr<ProxyTunnel> MakeTunnel(ByteStream& stream, const ServerUrl& proxy,
                                        const ServerUrl& server) {
  if (proxy.scheme == ServerUrl::Scheme::kSocks5) {
    return std::make_unique<SocksTunnel>(stream, proxy, server);
  }
  return std::make_unique<HttpTunnel>(stream, proxy, server);
}

// ---- Dialing ------------------------------------------------------------------------------------

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
    stream_ = SocketStream::Create(io_, std::move(socket), AddressText(addresses_[next_]));
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
    tunnel_ = MakeTunnel(*stream_, *endpoint_.proxy, endpoint_.server);
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

#include "tests/harness/api_server/loopback_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "host/base/assert.h"
#include "host/base/file_descriptor.h"
#include "tests/harness/api_server/test_certificates.h"

namespace berth::host {
namespace {

struct TlsDeleter {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
  void operator()(BIO* bio) const { ::BIO_free(bio); }
  void operator()(X509* certificate) const { ::X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
};
template <class T>
using TlsPtr = std::unique_ptr<T, TlsDeleter>;

TlsPtr<X509> ReadPem(const std::string& pem) {
  const TlsPtr<BIO> bio(::BIO_new_mem_buf(pem.data(), -1));
  return TlsPtr<X509>(::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

TlsPtr<SSL_CTX> ServerTls(const LoopbackServer::Options& options) {
  if (!options.tls) return nullptr;
  const TestCertificates& made = Certificates();
  const bool is_default = options.certificate_pem.empty();
  const std::string& key_pem = is_default ? made.server_key_pem : options.key_pem;
  TlsPtr<SSL_CTX> context(::SSL_CTX_new(::TLS_server_method()));
  const TlsPtr<X509> certificate = ReadPem(is_default ? made.server_pem : options.certificate_pem);
  const TlsPtr<BIO> bio(::BIO_new_mem_buf(key_pem.data(), -1));
  const TlsPtr<EVP_PKEY> key(::PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  BERTH_ASSERT(::SSL_CTX_use_certificate(context.get(), certificate.get()) == 1);
  BERTH_ASSERT(::SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1);
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  ::SSL_CTX_set_max_proto_version(context.get(), options.max_tls_version);
  // Without it, a server that verifies clients refuses every session.
  constexpr unsigned char kSessions[] = "loopback";
  ::SSL_CTX_set_session_id_context(context.get(), kSessions, sizeof kSessions);
  ::SSL_CTX_set_security_level(context.get(), 0);  // Permits TLS 1.1.
  if (options.requires_client_certificate) {
    const TlsPtr<X509> ca = ReadPem(made.ca_pem);
    ::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context.get()), ca.get());
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return context;
}

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// Returns the size that the header Content-Length announces; 0 without one.
size_t BodySize(const std::string& head) {
  constexpr std::string_view kHeader = "\r\nContent-Length: ";
  const size_t at = head.find(kHeader);
  if (at == std::string::npos) return 0;
  return std::strtoul(head.c_str() + at + kHeader.size(), nullptr, 10);
}

bool SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

class SocketPeer final : public LoopbackServer::Peer {
 public:
  explicit SocketPeer(FileDescriptor socket) : socket_(std::move(socket)) {}

  // Returns false if the handshake has failed.
  bool Accept(SSL_CTX* context) {
    if (context == nullptr) return true;
    ssl_.reset(::SSL_new(context));
    ::SSL_set_fd(ssl_.get(), socket_.get());
    const bool is_accepted = ::SSL_accept(ssl_.get()) == 1;
    ::ERR_clear_error();
    is_connected_ = is_accepted;
    return is_accepted;
  }

  ~SocketPeer() override {
    if (is_connected_) ::SSL_shutdown(ssl_.get());
    ::ERR_clear_error();
  }
  SocketPeer(const SocketPeer&) = delete;
  SocketPeer& operator=(const SocketPeer&) = delete;

  bool ReadRequest(std::string& request) override {
    for (;;) {
      const size_t end = received_.find("\r\n\r\n");
      if (end != std::string::npos) {
        const size_t size = end + 4 + BodySize(received_.substr(0, end + 2));
        if (received_.size() >= size) {
          request = received_.substr(0, size);
          received_.erase(0, size);
          return true;
        }
      }
      if (!ReadSome()) return false;
    }
  }

  bool ReadBytes(size_t size, std::string& bytes) override {
    while (received_.size() < size) {
      if (!ReadSome()) return false;
    }
    bytes = received_.substr(0, size);
    received_.erase(0, size);
    return true;
  }

  bool Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const auto size = static_cast<int>(bytes.size());
      const auto count = ssl_ ? ::SSL_write(ssl_.get(), bytes.data(), size)
                              : ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return Lose();
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }

  bool Trickle(std::string_view bytes, int64_t pause_ns) override {
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (!Write(bytes.substr(i, 1))) return false;
      std::this_thread::sleep_for(std::chrono::nanoseconds(pause_ns));
    }
    return true;
  }

  void WaitForClose() override {
    while (ReadSome()) received_.clear();
  }

  bool WaitForReset() override {
    is_connected_ = false;
    std::array<char, 4096> buffer{};
    ssize_t count = 0;
    do {
      count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    } while (count > 0);
    return count < 0 && errno == ECONNRESET;
  }

  void Reset() override {
    is_connected_ = false;  // No end of TLS.
    const linger at_once = {.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ssl_ = nullptr;
    socket_ = FileDescriptor();
  }

  void CloseWriting() override {
    is_connected_ = false;
    ::shutdown(socket_.get(), SHUT_WR);
  }

  void Relay(uint16_t port) override {
    BERTH_ASSERT(received_.empty());
    const FileDescriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = Loopback(port);
    if (::connect(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      return;
    }
    std::array<pollfd, 2> sides = {pollfd{socket_.get(), POLLIN, 0}, {other.get(), POLLIN, 0}};
    std::array<char, 16384> buffer{};
    for (;;) {
      const bool has_pending = ssl_ && ::SSL_has_pending(ssl_.get()) == 1;
      if (::poll(sides.data(), sides.size(), has_pending ? 0 : -1) < 0) return;
      if (has_pending || sides[0].revents != 0) {
        if (!ReadSome() || !SendAll(other.get(), std::exchange(received_, {}))) return;
      }
      if (sides[1].revents == 0) continue;
      const ssize_t size = ::recv(other.get(), buffer.data(), buffer.size(), 0);
      if (size <= 0 || !Write({buffer.data(), static_cast<size_t>(size)})) return;
    }
  }

  std::string ClientCommonName() const override {
    const TlsPtr<X509> peer(ssl_ ? ::SSL_get1_peer_certificate(ssl_.get()) : nullptr);
    if (peer == nullptr) return "";
    std::array<char, 64> name{};
    ::X509_NAME_get_text_by_NID(::X509_get_subject_name(peer.get()), NID_commonName, name.data(),
                                static_cast<int>(name.size()));
    return name.data();
  }

  bool IsResumed() const override { return ssl_ && ::SSL_session_reused(ssl_.get()) == 1; }

  std::string ServerName() const override {
    const char* const name =
        ssl_ ? ::SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name) : nullptr;
    return name != nullptr ? name : "";
  }

 private:
  bool ReadSome() {
    if (!socket_.ok()) return false;
    std::array<char, 16384> buffer{};
    const auto count = ssl_ ? ::SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()))
                            : ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return Lose();
    received_.append(buffer.data(), static_cast<size_t>(count));
    return true;
  }

  bool Lose() {
    is_connected_ = false;
    ::ERR_clear_error();
    return false;
  }

  FileDescriptor socket_;
  TlsPtr<SSL> ssl_;
  bool is_connected_ = false;  // With TLS, whose end must be written.
  std::string received_;
};

}  // namespace

class LoopbackServer::Impl {
 public:
  Impl(const Options& options, Handler handler)
      : tls_(ServerTls(options)), handler_(std::move(handler)) {
    Start();
  }
  ~Impl() { Stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Start() {
    BERTH_ASSERT(!listener_.ok());
    listener_ = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address = Loopback(port_);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    BERTH_ASSERT(::bind(listener_.get(), plain, size) == 0);
    BERTH_ASSERT(::listen(listener_.get(), 512) == 0);
    BERTH_ASSERT(::getsockname(listener_.get(), plain, &size) == 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { AcceptAll(); });
  }

  void Stop() {
    if (!listener_.ok()) return;
    ::shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    listener_ = FileDescriptor();
    {
      const std::lock_guard lock(mutex_);
      for (const Connection& connection : open_) ::shutdown(connection.socket.get(), SHUT_RDWR);
    }
    for (Connection& connection : open_) connection.thread.join();
    open_.clear();
  }

  uint16_t port() const { return port_; }
  size_t connections() const { return connections_; }

 private:
  struct Connection {
    FileDescriptor socket;  // A copy, so that Stop() can end it.
    std::thread thread;
  };

  void AcceptAll() {
    for (;;) {
      FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket.ok() && (errno == EINTR || errno == ECONNABORTED)) continue;
      if (!socket.ok()) return;
      // Otherwise Reset() would discard what was written immediately before.
      const int on = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      const size_t number = connections_++;
      const std::lock_guard lock(mutex_);
      Connection& connection = open_.emplace_back();
      connection.socket = FileDescriptor(::dup(socket.get()));
      connection.thread = std::thread([this, &connection, number, fd = socket.Release()] {
        Serve(connection, FileDescriptor(fd), number);
      });
    }
  }

  void Serve(Connection& connection, FileDescriptor socket, size_t number) {
    // OpenSSL writes without MSG_NOSIGNAL.
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    {
      SocketPeer peer(std::move(socket));
      if (peer.Accept(tls_.get())) handler_(peer, number);
    }
    // Both descriptors must be closed to end the connection.
    const std::lock_guard lock(mutex_);
    connection.socket = FileDescriptor();
  }

  const TlsPtr<SSL_CTX> tls_;
  const Handler handler_;
  uint16_t port_ = 0;
  FileDescriptor listener_;
  std::thread acceptor_;
  std::mutex mutex_;  // Guards open_ while the acceptor runs, and the sockets in it.
  std::list<Connection> open_;
  std::atomic<size_t> connections_ = 0;
};

LoopbackServer::LoopbackServer(const Options& options, Handler handler)
    : impl_(std::make_unique<Impl>(options, std::move(handler))) {}

LoopbackServer::~LoopbackServer() = default;

uint16_t LoopbackServer::port() const { return impl_->port(); }

size_t LoopbackServer::connections() const { return impl_->connections(); }

void LoopbackServer::Stop() { impl_->Stop(); }

void LoopbackServer::Start() { impl_->Start(); }

std::string HttpAnswer(int http_status, std::string_view body, std::string_view headers) {
  std::string text = "HTTP/1.1 " + std::to_string(http_status) + " Status\r\n";
  text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size());
  return text.append("\r\n").append(headers).append("\r\n").append(body);
}

}  // namespace berth::host

#include "host/http/socket_stream.h"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "host/base/assert.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

// The socket below OpenSSL. OpenSSL's own one raises SIGPIPE and does not count.
struct Wire {
  int socket = -1;
  bool has_ended = false;  // The peer has closed its side.
  int error = 0;           // The errno of the last call that failed; 0: none.
  uint64_t sent_bytes = 0;
};

// Returns the number of bytes; 0 at the end; -1 after an error, or if the socket is not ready:
// Wire::error is 0 then.
ssize_t ReadSocket(Wire& wire, char* buffer, size_t size) {
  ssize_t count = 0;
  do {
    count = ::recv(wire.socket, buffer, size, 0);
  } while (count < 0 && errno == EINTR);
  if (count == 0) wire.has_ended = true;
  if (count < 0 && errno != EAGAIN) wire.error = errno;
  return count;
}

ssize_t WriteSocket(Wire& wire, const char* bytes, size_t size) {
  ssize_t count = 0;
  do {
    count = ::send(wire.socket, bytes, size, MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  if (count > 0) wire.sent_bytes += static_cast<uint64_t>(count);
  if (count < 0 && errno != EAGAIN) wire.error = errno;
  return count;
}

Wire& WireOf(BIO* bio) { return *static_cast<Wire*>(::BIO_get_data(bio)); }

int BioRead(BIO* bio, char* buffer, int size) {
  BIO_clear_retry_flags(bio);
  Wire& wire = WireOf(bio);
  const ssize_t count = ReadSocket(wire, buffer, static_cast<size_t>(size));
  if (count < 0 && wire.error == 0) BIO_set_retry_read(bio);
  return static_cast<int>(count);
}

int BioWrite(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  Wire& wire = WireOf(bio);
  const ssize_t count = WriteSocket(wire, bytes, static_cast<size_t>(size));
  if (count < 0 && wire.error == 0) BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

long BioControl(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return WireOf(bio).has_ended ? 1 : 0;
  return 0;
}

BIO* NewBio(Wire& wire) {
  struct Deleter {
    void operator()(BIO_METHOD* method) const { ::BIO_meth_free(method); }
  };
  static const std::unique_ptr<BIO_METHOD, Deleter> kMethod = [] {
    std::unique_ptr<BIO_METHOD, Deleter> method(::BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket"));
    ::BIO_meth_set_read(method.get(), &BioRead);
    ::BIO_meth_set_write(method.get(), &BioWrite);
    ::BIO_meth_set_ctrl(method.get(), &BioControl);
    return method;
  }();
  BIO* const bio = ::BIO_new(kMethod.get());
  ::BIO_set_data(bio, &wire);
  ::BIO_set_init(bio, 1);
  return bio;
}

// Returns a BIO whose bytes are the content of another TLS connection, which must outlive it.
BIO* NewBio(SSL* ssl) {
  BIO* const bio = ::BIO_new(::BIO_f_ssl());
  BIO_set_ssl(bio, ssl, BIO_NOCLOSE);
  return bio;
}

// Sends the end of TLS if there is a connection.
void Shutdown(SSL* ssl) {
  if (ssl == nullptr) return;
  ::ERR_clear_error();
  if (::SSL_is_init_finished(ssl) == 1) ::SSL_shutdown(ssl);
  ::ERR_clear_error();
}

struct SslDeleter {
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
  void operator()(X509* certificate) const { ::X509_free(certificate); }
};
using RefusedCertificate = std::unique_ptr<X509, SslDeleter>;

int RecordRefusal(int is_ok, X509_STORE_CTX* store) {
  if (is_ok != 0) return is_ok;
  auto* const ssl = static_cast<SSL*>(
      ::X509_STORE_CTX_get_ex_data(store, ::SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* const refused = static_cast<RefusedCertificate*>(SSL_get_app_data(ssl));
  X509* const certificate = ::X509_STORE_CTX_get_current_cert(store);
  if (certificate != nullptr) ::X509_up_ref(certificate);
  refused->reset(certificate);
  return is_ok;
}

// Returns the text of an errno as Go writes it: "connection refused".
std::string ErrorText(int error) {
  std::string text = std::generic_category().message(error);
  if (!text.empty()) text.front() = ToLower(text.front());
  return text;
}

// How far one attempt to read, write or shake hands got.
struct Step {
  enum class State : uint8_t { kDone, kNeedsRead, kNeedsWrite };

  static Step Failed(Status status) { return {.status = std::move(status)}; }

  State state = State::kDone;
  Status status = {};
  size_t size = 0;
};

// A socket that callbacks of the context share with the stream.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using WriteDone = ByteStream::WriteDone;
  using ReadDone = ByteStream::ReadDone;

  Connection(IoThread& io, FileDescriptor socket, std::string peer)
      : io_(io), peer_(std::move(peer)), descriptor_(io.context(), socket.get()) {
    wire_.socket = socket.Release();
  }

  void StartTls(std::shared_ptr<const TlsContext> tls, const ServerUrl& peer,
                const std::string& name, WriteDone done) {
    BERTH_ASSERT(proxy_ssl_ == nullptr && !write_done_ && !read_done_);
    tls_ = std::move(tls);
    tls_peer_ = peer;
    tls_name_ = name;
    refused_.reset();
    proxy_ssl_ = std::move(ssl_);
    ssl_.reset(::SSL_new(tls_->context()));
    BIO* const bio = proxy_ssl_ == nullptr ? NewBio(wire_) : NewBio(proxy_ssl_.get());
    ::SSL_set_bio(ssl_.get(), bio, bio);
    SSL_set_app_data(ssl_.get(), &refused_);
    ::SSL_set_verify(ssl_.get(), ::SSL_get_verify_mode(ssl_.get()), &RecordRefusal);
    SetPeerName(ssl_.get(), name);
    // A session of the proxy must not stand for the certificate of the server.
    if (name == tls_->server_name()) tls_->ResumeSession(ssl_.get());
    write_done_ = std::move(done);
    Continue(&Connection::Handshake, /*is_within_call=*/true);
  }

  void Write(std::string_view bytes, WriteDone done) {
    BERTH_ASSERT(!write_done_ && done && !bytes.empty());
    out_ = bytes;
    write_done_ = std::move(done);
    Continue(&Connection::TryWrite, /*is_within_call=*/true);
  }

  void Read(std::span<char> buffer, ReadDone done) {
    BERTH_ASSERT(!read_done_ && done && !buffer.empty());
    in_ = buffer;
    read_done_ = std::move(done);
    // The answer to what was just written has not arrived: an attempt would be in vain.
    const bool is_early = std::exchange(has_asked_, false);
    if (is_early && !HasPending()) return Wait(&Connection::TryRead, /*needs_write=*/false);
    Continue(&Connection::TryRead, /*is_within_call=*/true);
  }

  bool IsStale() {
    BERTH_ASSERT(!read_done_);
    if (is_closed_ || read_failure_) return true;
    char byte = 0;
    if (ssl_ == nullptr) {
      return ::recv(wire_.socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
    }
    // Reads what belongs to TLS itself, such as session tickets.
    ::ERR_clear_error();
    const int result = ::SSL_peek(ssl_.get(), &byte, 1);
    return ::SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_READ;
  }

  uint64_t sent_bytes() const { return wire_.sent_bytes; }

  std::string_view tls_version() const {
    if (ssl_ == nullptr) return "";
    // No other versions are allowed; see TlsContext.
    return ::SSL_version(ssl_.get()) == TLS1_2_VERSION ? "TLS 1.2" : "TLS 1.3";
  }

  void Abort() {
    if (is_closed_) return;
    // Without it, the system repeats what was written until the user timeout, also after close().
    const linger at_once = {.l_onoff = 1, .l_linger = 0};
    static_cast<void>(::setsockopt(wire_.socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
    ssl_.reset();
    proxy_ssl_.reset();
    Close();
  }

  void Close() {
    if (std::exchange(is_closed_, true)) return;
    // The destructors of the callbacks may destroy their owners.
    const WriteDone write_done = std::move(write_done_);
    const ReadDone read_done = std::move(read_done_);
    write_done_ = nullptr;
    read_done_ = nullptr;
    Shutdown(ssl_.get());
    ssl_.reset();
    Shutdown(proxy_ssl_.get());
    proxy_ssl_.reset();
    boost::system::error_code ignored;
    descriptor_.close(ignored);
  }

 private:
  using Attempt = Step (Connection::*)();

  // Makes an attempt, and another one when the socket is ready, until the operation is complete.
  void Continue(Attempt attempt, bool is_within_call) {
    Step step = (this->*attempt)();
    const bool is_read = attempt == &Connection::TryRead;
    if (step.state != Step::State::kDone) {
      return Wait(attempt, step.state == Step::State::kNeedsWrite);
    }
    if (!is_read) {
      written_ = std::make_unique<Step>(std::move(step));
      if (!is_within_call) return CompleteWrite();
      return io_.Post([self = shared_from_this()] { self->CompleteWrite(); });
    }
    if (!is_within_call) return CompleteRead(std::move(step));
    io_.Post([self = shared_from_this(), step = std::move(step)] { self->CompleteRead(step); });
  }

  // Makes an attempt when the socket is ready.
  void Wait(Attempt attempt, bool needs_write) {
    descriptor_.async_wait(
        needs_write ? descriptor_.wait_write : descriptor_.wait_read,
        [self = shared_from_this(), attempt](const boost::system::error_code& error) {
          if (!error && !self->is_closed_) self->Continue(attempt, /*is_within_call=*/false);
        });
  }

  // Returns whether a read has something to tell that was taken from the socket before.
  bool HasPending() const {
    return read_failure_ != nullptr || wire_.error != 0 || wire_.has_ended ||
           (ssl_ != nullptr && ::SSL_has_pending(ssl_.get()) == 1) ||
           (proxy_ssl_ != nullptr && ::SSL_has_pending(proxy_ssl_.get()) == 1);
  }

  // The callbacks may start the next operation or destroy the stream.
  void CompleteWrite() {
    if (is_closed_ || written_ == nullptr) return;
    const std::unique_ptr<Step> step = std::move(written_);
    std::exchange(write_done_, nullptr)(std::move(step->status));
  }

  void CompleteRead(Step step) {
    // The answer to a request must not be seen before the end of its write.
    CompleteWrite();
    if (is_closed_) return;
    std::exchange(read_done_, nullptr)(std::move(step.status), step.size);
  }

  Step Handshake() {
    ::ERR_clear_error();
    const int result = ::SSL_connect(ssl_.get());
    if (result == 1) return {};
    Step step = AfterTls(result, "the TLS handshake with " + peer_);
    // The session may be what the server refuses.
    if (step.state == Step::State::kDone) tls_->ForgetSession();
    return step;
  }

  Step TryWrite() {
    while (!out_.empty()) {
      if (ssl_ != nullptr) {
        ::ERR_clear_error();
        size_t count = 0;
        const int result = ::SSL_write_ex(ssl_.get(), out_.data(), out_.size(), &count);
        if (result != 1) return AfterTls(result, "write tcp " + peer_);
        out_.remove_prefix(count);
        continue;
      }
      const ssize_t count = WriteSocket(wire_, out_.data(), out_.size());
      if (count >= 0) {
        out_.remove_prefix(static_cast<size_t>(count));
      } else if (wire_.error == 0) {
        return {.state = Step::State::kNeedsWrite};
      } else {
        return Step::Failed(Lost("write tcp " + peer_));
      }
    }
    has_asked_ = true;
    return {};
  }

  Step TryRead() {
    if (read_failure_) return *std::exchange(read_failure_, nullptr);
    if (ssl_ != nullptr) return TryTlsRead();
    const ssize_t count = ReadSocket(wire_, in_.data(), in_.size());
    if (count >= 0) return {.size = static_cast<size_t>(count)};
    if (wire_.error == 0) return {.state = Step::State::kNeedsRead};
    return Step::Failed(Lost("read tcp " + peer_));
  }

  // Reads the records of TLS that have arrived, as many as the buffer has room for.
  Step TryTlsRead() {
    size_t size = 0;
    while (size < in_.size()) {
      ::ERR_clear_error();
      size_t count = 0;
      const int result = ::SSL_read_ex(ssl_.get(), in_.data() + size, in_.size() - size, &count);
      size += count;
      if (result == 1 && ::SSL_has_pending(ssl_.get()) == 1) continue;
      if (result == 1) break;
      Step step = AfterTls(result, "read tcp " + peer_);
      if (size == 0) return step;
      if (step.state == Step::State::kDone) read_failure_ = std::make_unique<Step>(std::move(step));
      break;
    }
    return {.size = size};
  }

  // Returns what the failed call of OpenSSL means. `what` is in front of errors.
  Step AfterTls(int result, const std::string& what) {
    switch (::SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ: return {.state = Step::State::kNeedsRead};
      case SSL_ERROR_WANT_WRITE: return {.state = Step::State::kNeedsWrite};
      case SSL_ERROR_ZERO_RETURN:
        if (::SSL_is_init_finished(ssl_.get()) == 1) return {};
        break;
      default: break;
    }
    const unsigned long error = ::ERR_get_error();
    ::ERR_clear_error();
    const bool is_connected = ::SSL_is_init_finished(ssl_.get()) == 1;
    const long verified = tls_->is_insecure() ? X509_V_OK : ::SSL_get_verify_result(ssl_.get());
    const bool is_untrusted = !is_connected && verified != X509_V_OK;
    // A server refuses a client certificate with an alert, in TLS 1.3 after the handshake.
    if (is_untrusted || IsCredentialAlert(error)) {
      return Step::Failed(Status::PermissionDenied(
          DescribeTlsError(error, verified, refused_.get(), *tls_, tls_peer_, tls_name_)));
    }
    // Another alert explains the end of the connection that follows it.
    const bool is_alert =
        ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET;
    const bool is_lost = wire_.error != 0 || wire_.has_ended || HasProxyEnded();
    if (is_lost && !is_alert) return Step::Failed(Lost(what));
    if (is_connected) {
      const char* const reason = ::ERR_reason_error_string(error);
      return Step::Failed(
          Status::Unavailable(what + ": " + (reason != nullptr ? reason : "unknown TLS error")));
    }
    return Step::Failed(Status::Unavailable(
        DescribeTlsError(error, verified, nullptr, *tls_, tls_peer_, tls_name_)));
  }

  // Returns whether the proxy has sent the end of its TLS.
  bool HasProxyEnded() const {
    return proxy_ssl_ != nullptr &&
           (::SSL_get_shutdown(proxy_ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

  Status Lost(const std::string& what) const {
    return Status::Unavailable(what + ": " +
                               (wire_.error != 0 ? ErrorText(wire_.error) : "unexpected EOF"));
  }

  IoThread& io_;
  const std::string peer_;
  boost::asio::posix::stream_descriptor descriptor_;  // Owns the socket.
  Wire wire_;
  std::shared_ptr<const TlsContext> tls_;  // Null: no TLS.
  ServerUrl tls_peer_;  // The peer of the last handshake, and the name in its certificate.
  std::string tls_name_;
  RefusedCertificate refused_;
  // Both refer to wire_ and refused_, and ssl_ to proxy_ssl_, which is null unless ssl_ is within
  // it.
  std::unique_ptr<SSL, SslDeleter> proxy_ssl_;
  std::unique_ptr<SSL, SslDeleter> ssl_;
  std::string_view out_;  // What remains of the bytes to write.
  WriteDone write_done_;  // Also of the handshake.
  std::span<char> in_;
  ReadDone read_done_;
  std::unique_ptr<Step> written_;       // The end of a write that write_done_ has not been told.
  std::unique_ptr<Step> read_failure_;  // Found behind bytes that were read; for the next read.
  bool has_asked_ = false;              // Something was written since the last read.
  bool is_closed_ = false;
};

class Stream final : public SocketStream {
 public:
  Stream(IoThread& io, FileDescriptor socket, std::string peer)
      : connection_(std::make_shared<Connection>(io, std::move(socket), std::move(peer))) {}
  ~Stream() override { connection_->Close(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void StartTls(std::shared_ptr<const TlsContext> tls, const ServerUrl& peer,
                const std::string& name, WriteDone done) override {
    connection_->StartTls(std::move(tls), peer, name, std::move(done));
  }
  void Write(std::string_view bytes, WriteDone done) override {
    connection_->Write(bytes, std::move(done));
  }
  void Read(std::span<char> buffer, ReadDone done) override {
    connection_->Read(buffer, std::move(done));
  }
  bool IsStale() override { return connection_->IsStale(); }
  uint64_t sent_bytes() const override { return connection_->sent_bytes(); }
  std::string_view tls_version() const override { return connection_->tls_version(); }
  void Close() override { connection_->Close(); }
  void Abort() override { connection_->Abort(); }

 private:
  const std::shared_ptr<Connection> connection_;
};

}  // namespace

std::unique_ptr<SocketStream> SocketStream::Create(IoThread& io, FileDescriptor socket,
                                                   std::string peer) {
  return std::make_unique<Stream>(io, std::move(socket), std::move(peer));
}

}  // namespace berth::host

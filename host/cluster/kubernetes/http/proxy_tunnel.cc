#include "host/cluster/kubernetes/http/proxy_tunnel.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>

#include "host/base/assert.h"
#include "host/base/base64.h"
#include "host/cluster/kubernetes/http/response_reader.h"

namespace berth::host {
namespace {

// ---- HTTP ---------------------------------------------------------------------------------------

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
      : stream_(stream),
        name_("proxy " + proxy.ToString() + ": CONNECT " + server.HostAndPort()),
        request_(ConnectRequest(proxy, server)) {
    // A success has no body, as an answer to HEAD. The body of a refusal is not read.
    reader_.emplace(ResponseReader::Limits(), "HEAD",
                    ResponseReader::Events{.on_head = [this](const HttpHead& head) {
                      http_status_ = head.http_status;
                    }});
  }
  HttpTunnel(const HttpTunnel&) = delete;
  HttpTunnel& operator=(const HttpTunnel&) = delete;

  void Start(Done done) override {
    done_ = std::move(done);
    stream_.Write(request_, [this](Status status) {
      if (!status.ok()) return End(std::move(status));
      ReadMore();
    });
  }

 private:
  void ReadMore() {
    stream_.Read(buffer_, [this](Status status, size_t size) {
      if (!status.ok()) return End(std::move(status));
      if (size == 0) return End(reader_->FeedEnd());
      OnBytes(size);
    });
  }

  void OnBytes(size_t size) {
    const Result<size_t> used = reader_->Feed({buffer_.data(), size});
    if (!used.ok()) return End(Status::Unavailable(std::string(used.status().message())));
    if (!reader_->is_complete()) return ReadMore();
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

  void End(Status status) {
    if (!status.ok()) status = std::move(status).Annotate(name_);
    std::exchange(done_, nullptr)(std::move(status));
  }

  ByteStream& stream_;
  const std::string name_;  // For messages.
  const std::string request_;
  uint32_t http_status_ = 0;
  std::optional<ResponseReader> reader_;
  std::array<char, 4096> buffer_{};
  Done done_;
};

// ---- SOCKS --------------------------------------------------------------------------------------

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
      : stream_(stream), proxy_(proxy), server_(server) {}
  SocksTunnel(const SocksTunnel&) = delete;
  SocksTunnel& operator=(const SocksTunnel&) = delete;

  void Start(Done done) override;

 private:
  // A step that gets the bytes of an answer.
  using Step = void (SocksTunnel::*)(std::string_view answer);

  // Writes `bytes`, reads an answer of exactly `size` bytes, and passes it to `next`.
  void Ask(std::string bytes, size_t size, Step next);
  // Reads until the answer has `size` bytes.
  void Read(size_t size, Step next);
  void OnMethod(std::string_view answer);
  void OnUser(std::string_view answer);
  void SendTarget();
  void OnTarget(std::string_view answer);
  void OnBoundAddress(std::string_view answer);
  void End(Status status);

  ByteStream& stream_;
  const ServerUrl proxy_;
  const ServerUrl server_;
  std::string bytes_;  // To be written.
  std::array<char, 512> buffer_{};
  size_t filled_ = 0;
  Done done_;
};

void SocksTunnel::Start(Done done) {
  done_ = std::move(done);
  std::string methods = {kVersion, 1, kNoUser};
  if (!proxy_.user.empty()) methods = {kVersion, 2, kNoUser, kUserMethod};
  Ask(std::move(methods), 2, &SocksTunnel::OnMethod);
}

void SocksTunnel::Ask(std::string bytes, size_t size, Step next) {
  bytes_ = std::move(bytes);
  stream_.Write(bytes_, [this, size, next](Status status) {
    if (!status.ok()) return End(std::move(status));
    filled_ = 0;
    Read(size, next);
  });
}

void SocksTunnel::Read(size_t size, Step next) {
  BERTH_ASSERT(filled_ < size && size <= buffer_.size());
  const std::span<char> room(buffer_.data() + filled_, size - filled_);
  stream_.Read(room, [this, size, next](Status status, size_t count) {
    if (!status.ok()) return End(std::move(status));
    if (count == 0) return End(Status::Unavailable("the proxy closed the connection"));
    filled_ += count;
    if (filled_ < size) return Read(size, next);
    (this->*next)({buffer_.data(), size});
  });
}

void SocksTunnel::OnMethod(std::string_view answer) {
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

void SocksTunnel::OnUser(std::string_view answer) {
  if (answer[1] != 0) {
    return End(Status::PermissionDenied("the proxy refused the user or the password"));
  }
  SendTarget();
}

void SocksTunnel::SendTarget() {
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

void SocksTunnel::OnTarget(std::string_view answer) {
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

void SocksTunnel::OnBoundAddress(std::string_view /*answer*/) { End(Status::Ok()); }

void SocksTunnel::End(Status status) {
  if (!status.ok()) {
    status = std::move(status).Annotate("proxy " + proxy_.ToString() + ": connect to " +
                                        server_.HostAndPort());
  }
  std::exchange(done_, nullptr)(std::move(status));
}

}  // namespace

std::unique_ptr<ProxyTunnel> ProxyTunnel::Create(ByteStream& stream, const ServerUrl& proxy,
                                                 const ServerUrl& server) {
  if (proxy.scheme == ServerUrl::Scheme::kSocks5) {
    return std::make_unique<SocksTunnel>(stream, proxy, server);
  }
  return std::make_unique<HttpTunnel>(stream, proxy, server);
}

}  // namespace berth::host

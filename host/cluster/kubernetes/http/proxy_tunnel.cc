#include "host/cluster/kubernetes/http/proxy_tunnel.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "host/base/base64.h"
#include "host/cluster/kubernetes/http/response_reader.h"
#include "host/cluster/kubernetes/http/socks_tunnel.h"

namespace berth::host {
namespace {

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

}  // namespace

std::unique_ptr<ProxyTunnel> ProxyTunnel::Create(ByteStream& stream, const ServerUrl& proxy,
                                                 const ServerUrl& server) {
  if (proxy.scheme == ServerUrl::Scheme::kSocks5) {
    return std::make_unique<SocksTunnel>(stream, proxy, server);
  }
  return std::make_unique<HttpTunnel>(stream, proxy, server);
}

}  // namespace berth::host

// One request on one connection, up to the end of its answer.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_HTTP_HTTP_EXCHANGE_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_HTTP_HTTP_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/cluster/kubernetes/http/byte_stream.h"
#include "host/cluster/kubernetes/http/response_reader.h"
#include "host/cluster/kubernetes/http/transport.h"

namespace berth::host {

// Writes the bytes of a request and reads its answer at the same time, because a server may answer
// and close the connection before it has read a long request.
//
// Threading: that of the stream.
// Lifetime:  `stream` must live until on_end is called, or until Abandon() and ByteStream::Close()
//            are. Each callback may call Abandon() and drop the last reference.
class HttpExchange final : public std::enable_shared_from_this<HttpExchange> {
 public:
  struct End {
    Status status = {};  // Ok: the answer is complete.
    // No byte of the request has left.
    bool is_unsent = false;
    bool may_reuse = false;  // The connection may be used for another request.
  };
  struct Events {
    std::function<void(const HttpHead& head)> on_head = {};
    std::function<void(std::string_view bytes)> on_body = {};
    std::function<void(End end)> on_end = {};  // Called once, last, never within Start().
  };

  // `bytes`: those of WriteRequest(). `buffer_bytes`: how much is read at once.
  HttpExchange(ByteStream& stream, const ResponseReader::Limits& limits, const HttpRequest& request,
               std::string bytes, size_t buffer_bytes);
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  // Writes the first bytes at once.
  // REQUIRES: the exchange is owned by a shared_ptr.
  void Start(Events events);
  // Ends the exchange. No event follows.
  void Abandon() { is_over_ = true; }
  // Reads nothing more after the part that is being read, or goes on.
  void SetPaused(bool is_paused);
  // Returns whether a byte of the request has left.
  bool is_sent() const { return stream_.sent_bytes() != sent_before_; }

 private:
  void ReadMore();
  void OnRead(const Status& status, size_t size);
  void Finish(End end);

  ByteStream& stream_;
  ResponseReader reader_;
  const std::string bytes_;
  const uint64_t sent_before_;
  const size_t buffer_bytes_;
  const std::unique_ptr<char[]> buffer_;
  Events events_;
  bool is_written_ = false;
  bool is_paused_ = false;
  bool has_stopped_ = false;  // The next read begins with the end of the pause.
  bool is_over_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_HTTP_HTTP_EXCHANGE_H_

#include "host/cluster/kubernetes/http/http_exchange.h"

#include <utility>

namespace berth::host {

HttpExchange::HttpExchange(ByteStream& stream, const ResponseReader::Limits& limits,
                           const HttpRequest& request, std::string bytes, size_t buffer_bytes)
    : stream_(stream),
      reader_(limits, request.verb,
              {.on_head =
                   [this](const HttpHead& head) {
                     if (!is_over_) events_.on_head(head);
                   },
               .on_body =
                   [this](std::string_view body) {
                     if (!is_over_) events_.on_body(body);
                   }}),
      bytes_(std::move(bytes)),
      sent_before_(stream.sent_bytes()),
      buffer_bytes_(buffer_bytes),
      // Zeros would cost more than the rest of a small request.
      buffer_(std::make_unique_for_overwrite<char[]>(buffer_bytes)) {}

void HttpExchange::Start(Events events) {
  events_ = std::move(events);
  stream_.Write(bytes_, [self = shared_from_this()](const Status& status) {
    // After an error, the read finds an answer that explains it, or the end of the connection.
    self->is_written_ = status.ok();
  });
  ReadMore();
}

void HttpExchange::SetPaused(bool is_paused) {
  is_paused_ = is_paused;
  if (!is_paused && !is_over_ && has_stopped_) ReadMore();
}

void HttpExchange::ReadMore() {
  has_stopped_ = is_paused_;
  if (is_paused_) return;
  stream_.Read({buffer_.get(), buffer_bytes_},
               [self = shared_from_this()](Status status, size_t size) {
                 if (!self->is_over_) self->OnRead(status, size);
               });
}

void HttpExchange::OnRead(const Status& status, size_t size) {
  if (!status.ok()) return Finish({.status = status, .is_unsent = !is_sent()});
  if (size == 0) {
    Status ended = reader_.FeedEnd();
    const bool is_lost = !ended.ok();
    return Finish({.status = std::move(ended), .is_unsent = is_lost && !is_sent()});
  }
  const Result<size_t> used = reader_.Feed({buffer_.get(), size});
  if (is_over_) return;
  if (!used.ok()) return Finish({.status = used.status()});
  if (!reader_.is_complete()) return ReadMore();
  Finish({.may_reuse = is_written_ && *used == size && reader_.keeps_alive()});
}

void HttpExchange::Finish(End end) {
  is_over_ = true;
  events_.on_end(std::move(end));
}

}  // namespace berth::host

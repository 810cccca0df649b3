// Reads HTTP/1.1 answers from bytes, with Boost.Beast's parser.
#ifndef BERTH_HOST_HTTP_RESPONSE_READER_H_
#define BERTH_HOST_HTTP_RESPONSE_READER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "host/base/status.h"
#include "host/http/transport.h"

namespace berth::host {

// Gets bytes in pieces of any size and reports the head, the parts of the body and the end of one
// answer. It does no input or output, so that it can be tested and fuzzed with bytes alone.
//
// Threading: one thread at a time.
class ResponseReader {
 public:
  struct Limits {
    size_t head_bytes = size_t{64} << 10;
    size_t headers = 100;
    // The limit for an answer with 2xx. 0: none; the receiver of a stream has limits of its own.
    size_t body_bytes = 0;
    size_t error_body_bytes = size_t{64} << 10;  // If the status is not 2xx. The rest is dropped.
    size_t warnings = 10;                        // More headers "Warning" are dropped.
    // `body_bytes`, which is not 0 then, is the limit for every status, not `error_body_bytes`.
    bool limits_every_status = false;
    bool keeps_headers = false;  // See HttpHead::headers.
  };
  struct Events {
    // HttpHead::retry_after_ns of a date is the difference to the header Date, so that the clock of
    // this machine does not matter; 0 without a Date. "Retry-After: 0" is 1.
    std::function<void(const HttpHead& head)> on_head = {};
    std::function<void(std::string_view bytes)> on_body = {};
  };

  // `verb`: that of the request; an answer to HEAD has no body.
  // Must not: be destroyed within a call to `events`.
  ResponseReader(const Limits& limits, std::string_view verb, Events events);
  ~ResponseReader();

  // Reads bytes of the connection. Answers with a status of 1xx are skipped, at most ten of them;
  // 101 (Switching Protocols) is an error, because no request asks for it.
  // Returns: how many bytes belong to this answer. Fewer than all of them only if it is complete.
  // Errors: kInvalidArgument for what is no HTTP/1.1 answer; kOutOfRange for a limit. Names the
  //         limit and the value.
  // Must not: be called again after an error, or once the answer is complete.
  Result<size_t> Feed(std::string_view bytes);
  // The connection has ended. Returns kUnavailable unless the answer ends with the connection.
  // Must not: be called after an error, or once the answer is complete.
  Status FeedEnd();

  bool has_head() const;
  bool is_complete() const;
  // Returns whether the connection may be used for another request. REQUIRES: is_complete().
  bool keeps_alive() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// Returns an error for a request that could be read as another one or as several: a verb that is
// not upper-case letters, a target that is no path or has spaces or control characters, or a media
// type with control characters, which would add headers.
Status CheckRequest(const HttpRequest& request);

// Returns the head and the body of a request as bytes. `host` is the header Host, `headers` are
// complete lines such as "Authorization: Bearer x\r\n".
// REQUIRES: CheckRequest(request) is Ok; the other texts have no line end, except `headers`.
std::string WriteRequest(const HttpRequest& request, std::string_view path_prefix,
                         std::string_view host, std::string_view headers);

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_RESPONSE_READER_H_

// One connection of the HTTP server.
#ifndef BERTH_HOST_SERVE_HTTP_CONNECTION_H_
#define BERTH_HOST_SERVE_HTTP_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/file_descriptor.h"
#include "host/serve/http_message.h"
#include "host/serve/http_request.h"

namespace berth::host {

using HttpHandler = std::function<ServedResponse(const ServedRequest& request)>;

// Reads requests from a socket and writes the answers, without ever blocking. While an answer is
// written, nothing is read, so that a client that does not read its answers costs the memory of one
// answer. After the last answer, what the client still sends is read and dropped for a second, so
// that the client receives the answer instead of a reset.
//
// Threading: one thread.
class HttpConnection {
 public:
  // `socket`: a stream socket in nonblocking mode. `is_loopback`: see ParseHttpRequest().
  // Lifetime: `limits` and `handler` must outlive the connection.
  HttpConnection(FileDescriptor socket, const HttpLimits& limits, const HttpHandler& handler,
                 bool is_loopback, int64_t now_ns);

  int descriptor() const { return socket_.get(); }
  // Returns the events of poll() that the connection waits for.
  int16_t events() const;
  // Returns when OnTime() must be called at the latest.
  int64_t deadline_ns() const { return deadline_ns_; }
  // Returns whether an answer is being written.
  bool is_answering() const { return state_ == State::kWriting; }

  // Continues after poll() reported an event. Returns false if the connection has ended and must be
  // destroyed. This applies to the next two methods too.
  bool OnReady(int64_t now_ns);
  // Ends the connection if its deadline has passed.
  bool OnTime(int64_t now_ns);
  // Ends the connection at once, or after the answer that is being written.
  bool OnStop();

  // Returns why a request was refused since the last call; empty if none was.
  std::string TakeRefusal() { return std::exchange(refusal_, {}); }

 private:
  enum class State : uint8_t {
    kIdle,       // No byte of a request was received.
    kReading,    // The beginning of a request was received.
    kWriting,    // An answer is being written.
    kLingering,  // The answer was written; what the client sends is dropped until it closes.
  };

  bool Read(int64_t now_ns);
  // Handles the requests that have been received, up to the first answer that is not written at
  // once.
  bool HandleReceived(int64_t now_ns);
  bool Write(int64_t now_ns);
  bool Drop();
  void Refuse(uint32_t status, std::string_view reason, int64_t now_ns);
  // Puts an answer into the output.
  void Answer(const ServedResponse& response, bool is_head, int64_t now_ns);
  void BeginIdle(int64_t now_ns);

  const FileDescriptor socket_;
  const HttpLimits& limits_;
  const HttpHandler& handler_;
  const bool is_loopback_;

  State state_ = State::kIdle;
  int64_t deadline_ns_ = 0;
  std::string received_;
  std::string output_;
  size_t written_ = 0;  // How many bytes of output_.
  bool closes_after_answer_ = false;
  bool has_continued_ = false;  // "100 Continue" was sent for the request that is being read.
  bool is_stopping_ = false;
  size_t dropped_bytes_ = 0;
  std::string refusal_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_HTTP_CONNECTION_H_

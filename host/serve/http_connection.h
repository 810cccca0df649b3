// One connection of the HTTP server.
#ifndef BERTH_HOST_SERVE_HTTP_CONNECTION_H_
#define BERTH_HOST_SERVE_HTTP_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "host/serve/http_message.h"
#include "host/serve/http_request.h"

namespace berth::host {

// Reads requests from a socket and writes the answers, without ever blocking. While an answer is
// written, nothing is read, so that a client that does not read its answers costs the memory of one
// answer. After the last answer, what the client still sends is read and dropped for a second, so
// that the client receives the answer instead of a reset.
//
// Threading: the thread that runs the executor of the socket.
// Lifetime:  the connection owns itself from Start() until it has ended.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Clock = std::function<int64_t()>;

  // `is_loopback`: see ParseHttpRequest().
  // Lifetime: `limits`, `handler` and `steady_ns` must outlive the connection.
  HttpConnection(Socket socket, const HttpLimits& limits, const HttpHandler& handler,
                 bool is_loopback, const Clock& steady_ns);

  // Starts to read. Called: once.
  void Start();
  // Returns whether the connection has ended: its socket is closed.
  bool has_ended() const { return !socket_.is_open(); }
  // Returns when OnTime() must be called at the latest.
  int64_t deadline_ns() const { return deadline_ns_; }
  // Returns whether an answer is being written.
  bool is_answering() const { return state_ == State::kWriting; }

  // Returns what is compared if there are too many connections: the lowest one is closed. First
  // come those that are kept for another request, then those that have not read an answer within a
  // second or got their last one, then those whose request has not arrived, and then those whose
  // answer is being written; of the same kind, the oldest. A health check, which sends its request
  // at once, is answered although many clients open connections and send or read nothing.
  std::pair<int32_t, int64_t> Importance() const;

  // Ends the connection if its deadline has passed.
  void OnTime(int64_t now_ns);
  // Ends the connection at once, whatever its state.
  void Close();
  // Ends the connection at once, or after the answer that is being written.
  void OnStop();

  // Returns why a request was refused since the last call; empty if none was.
  std::string TakeRefusal() { return std::exchange(refusal_, {}); }

 private:
  enum class State : uint8_t {
    kIdle,       // No byte of a request was received.
    kReading,    // The beginning of a request was received.
    kWriting,    // An answer is being written.
    kLingering,  // The answer was written; what the client sends is dropped until it closes.
  };

  boost::asio::awaitable<void> Serve();
  // Returns the next request, or why it is refused; nullopt if the connection ends.
  boost::asio::awaitable<std::optional<HttpParse>> ReadRequest();
  // Drops what the client sends until it closes.
  boost::asio::awaitable<void> Linger();
  // Reads some of the bytes that have arrived. Returns false at their end.
  bool ReadSome();
  // Puts an answer into the output.
  void Answer(const ServedResponse& response, bool is_head);
  void BeginIdle();

  Socket socket_;
  const HttpLimits& limits_;
  const HttpHandler& handler_;
  const bool is_loopback_;
  const Clock& steady_ns_;

  State state_ = State::kIdle;
  int64_t since_ns_;  // When the connection was accepted, or its last answer was begun or ended.
  int64_t deadline_ns_ = 0;
  bool has_answered_ = false;
  std::string received_;
  std::string output_;
  bool is_late_ = false;  // The deadline passed while a request was read.
  bool closes_after_answer_ = false;
  bool has_continued_ = false;  // "100 Continue" was sent for the request that is being read.
  bool is_stopping_ = false;
  size_t dropped_bytes_ = 0;
  std::string refusal_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_HTTP_CONNECTION_H_

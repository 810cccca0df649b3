#include "host/serve/http_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

constexpr size_t kPieceBytes = size_t{16} << 10;
constexpr int64_t kLingerNs = kSecond;
constexpr size_t kMostDroppedBytes = size_t{1} << 20;

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

// Returns the text of an answer, without its body if the request was HEAD.
std::string ResponseText(const ServedResponse& response, bool is_head, bool closes) {
  std::string text = "HTTP/1.1 " + std::to_string(response.status);
  text.append(" ").append(HttpReason(response.status)).append("\r\n");
  text.append("Content-Type: ").append(response.content_type).append("\r\n");
  text.append("Content-Length: ").append(std::to_string(response.body.size())).append("\r\n");
  if (!response.allow.empty()) text.append("Allow: ").append(response.allow).append("\r\n");
  text.append("Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n");
  if (closes) text.append("Connection: close\r\n");
  text.append("\r\n");
  if (!is_head) text.append(response.body);
  return text;
}

}  // namespace

HttpConnection::HttpConnection(FileDescriptor socket, const HttpLimits& limits,
                               const HttpHandler& handler, bool is_loopback, int64_t now_ns)
    : socket_(std::move(socket)),
      limits_(limits),
      handler_(handler),
      is_loopback_(is_loopback),
      // A new connection has the time of a request, because a client opens it to send one.
      deadline_ns_(now_ns + limits.request_ns) {}

int16_t HttpConnection::events() const { return state_ == State::kWriting ? POLLOUT : POLLIN; }

bool HttpConnection::OnReady(int64_t now_ns) {
  switch (state_) {
    case State::kIdle:
    case State::kReading: return Read(now_ns);
    case State::kWriting: return Write(now_ns) && HandleReceived(now_ns);
    case State::kLingering: return Drop();
  }
  return false;
}

bool HttpConnection::OnTime(int64_t now_ns) {
  if (now_ns < deadline_ns_) return true;
  if (state_ != State::kReading) return false;
  Refuse(408, "the request was not complete in time", now_ns);
  return Write(now_ns);
}

bool HttpConnection::OnStop() {
  is_stopping_ = true;
  closes_after_answer_ = true;
  return state_ == State::kWriting;
}

bool HttpConnection::Read(int64_t now_ns) {
  std::array<char, kPieceBytes> piece;
  const ssize_t size = recv(socket_.get(), piece.data(), piece.size(), 0);
  if (size < 0) return WouldBlock(errno);
  if (size == 0) return false;
  received_.append(piece.data(), static_cast<size_t>(size));
  if (state_ == State::kIdle) {
    state_ = State::kReading;
    deadline_ns_ = now_ns + limits_.request_ns;
  }
  return HandleReceived(now_ns);
}

bool HttpConnection::HandleReceived(int64_t now_ns) {
  while (state_ == State::kReading) {
    HttpParse parse = ParseHttpRequest(received_, limits_, is_loopback_);
    if (parse.outcome == HttpParse::Outcome::kIncomplete) {
      if (!parse.expects_continue || std::exchange(has_continued_, true)) return true;
      // A client that does not receive this line sends the body anyway after a while.
      constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      static_cast<void>(send(socket_.get(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL));
      return true;
    }
    if (parse.outcome == HttpParse::Outcome::kRefused) {
      Refuse(parse.refusal, parse.reason, now_ns);
    } else {
      received_.erase(0, parse.bytes);
      has_continued_ = false;
      closes_after_answer_ = !parse.keeps_connection;
      Answer(handler_(parse.request), parse.request.method == "HEAD", now_ns);
    }
    if (!Write(now_ns)) return false;
  }
  return true;
}

bool HttpConnection::Write(int64_t now_ns) {
  while (written_ < output_.size()) {
    const ssize_t size =
        send(socket_.get(), output_.data() + written_, output_.size() - written_, MSG_NOSIGNAL);
    if (size < 0) return WouldBlock(errno);
    written_ += static_cast<size_t>(size);
  }
  output_ = std::string();
  written_ = 0;
  if (!closes_after_answer_) {
    BeginIdle(now_ns);
    return true;
  }
  if (is_stopping_) return false;
  shutdown(socket_.get(), SHUT_WR);
  received_ = std::string();
  state_ = State::kLingering;
  deadline_ns_ = now_ns + kLingerNs;
  return true;
}

bool HttpConnection::Drop() {
  std::array<char, kPieceBytes> piece;
  const ssize_t size = recv(socket_.get(), piece.data(), piece.size(), 0);
  if (size < 0) return WouldBlock(errno);
  dropped_bytes_ += static_cast<size_t>(size);
  return size > 0 && dropped_bytes_ <= kMostDroppedBytes;
}

void HttpConnection::Refuse(uint32_t status, std::string_view reason, int64_t now_ns) {
  refusal_ = reason;
  closes_after_answer_ = true;
  Answer({.status = status, .body = std::string(reason) + '\n'}, false, now_ns);
}

void HttpConnection::Answer(const ServedResponse& response, bool is_head, int64_t now_ns) {
  output_ = ResponseText(response, is_head, closes_after_answer_);
  written_ = 0;
  state_ = State::kWriting;
  deadline_ns_ = now_ns + limits_.response_ns;
}

void HttpConnection::BeginIdle(int64_t now_ns) {
  // The next request may have been received together with the one before.
  state_ = received_.empty() ? State::kIdle : State::kReading;
  deadline_ns_ = now_ns + (received_.empty() ? limits_.idle_ns : limits_.request_ns);
}

}  // namespace berth::host

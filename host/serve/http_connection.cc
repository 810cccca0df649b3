#include "host/serve/http_connection.h"

#include <array>
#include <exception>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

namespace asio = boost::asio;

constexpr size_t kPieceBytes = size_t{16} << 10;
constexpr int64_t kLingerNs = kSecond;
// A client that has not read an answer for so long gives way to others.
constexpr int64_t kSlowNs = kSecond;
constexpr size_t kMostDroppedBytes = size_t{1} << 20;
// An operation with it returns an error code instead of throwing.
constexpr auto kWithError = asio::as_tuple(asio::use_awaitable);

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

HttpConnection::HttpConnection(Socket socket, const HttpLimits& limits, const HttpHandler& handler,
                               bool is_loopback, const Clock& steady_ns)
    : socket_(std::move(socket)),
      limits_(limits),
      handler_(handler),
      is_loopback_(is_loopback),
      steady_ns_(steady_ns),
      since_ns_(steady_ns_()),
      // A new connection has the time of a request, because a client opens it to send one.
      deadline_ns_(steady_ns_() + limits.request_ns) {
  boost::system::error_code ignored;  // A socket that is of no use ends at its first operation.
  socket_.non_blocking(true, ignored);
}

void HttpConnection::Start() {
  asio::co_spawn(
      socket_.get_executor(), [self = shared_from_this()] { return self->Serve(); },
      [](const std::exception_ptr& error) {
        if (error) std::rethrow_exception(error);
      });
}

std::pair<int32_t, int64_t> HttpConnection::Importance() const {
  switch (state_) {
    case State::kIdle: return {has_answered_ ? 0 : 2, since_ns_};
    case State::kReading: return {2, since_ns_};
    case State::kLingering: return {1, since_ns_};
    case State::kWriting: return {steady_ns_() - since_ns_ < kSlowNs ? 3 : 1, since_ns_};
  }
  return {};
}

void HttpConnection::OnTime(int64_t now_ns) {
  if (now_ns < deadline_ns_ || has_ended()) return;
  if (state_ != State::kReading) return Close();
  is_late_ = true;
  deadline_ns_ = now_ns + limits_.response_ns;
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

void HttpConnection::OnStop() {
  is_stopping_ = true;
  if (state_ != State::kWriting) Close();
}

asio::awaitable<void> HttpConnection::Serve() {
  while (true) {
    const std::optional<HttpParse> parse = co_await ReadRequest();
    if (!parse.has_value()) break;
    if (parse->outcome == HttpParse::Outcome::kRefused) {
      refusal_ = parse->reason;
      closes_after_answer_ = true;
      Answer({.status = parse->refusal, .body = parse->reason + '\n'}, false);
    } else {
      received_.erase(0, parse->bytes);
      has_continued_ = false;
      closes_after_answer_ = !parse->keeps_connection;
      Answer(handler_(parse->request), parse->request.method == "HEAD");
    }
    const auto [error, size] =
        co_await asio::async_write(socket_, asio::buffer(output_), kWithError);
    output_ = std::string();
    if (error || is_stopping_) break;
    if (closes_after_answer_) {
      co_await Linger();
      break;
    }
    BeginIdle();
  }
  Close();
}

asio::awaitable<std::optional<HttpParse>> HttpConnection::ReadRequest() {
  while (true) {
    HttpParse parse = ParseHttpRequest(received_, limits_, is_loopback_);
    if (parse.outcome != HttpParse::Outcome::kIncomplete) co_return parse;
    if (parse.expects_continue && !std::exchange(has_continued_, true)) {
      // A client that does not receive this line sends the body anyway after a while.
      static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      co_await asio::async_write(socket_, asio::buffer(kContinue), kWithError);
    }
    const auto [error] = co_await socket_.async_wait(Socket::wait_read, kWithError);
    if (is_late_) {
      parse.outcome = HttpParse::Outcome::kRefused;
      parse.refusal = 408;
      parse.reason = "the request was not complete in time";
      co_return parse;
    }
    if (error || !ReadSome()) co_return std::nullopt;
  }
}

asio::awaitable<void> HttpConnection::Linger() {
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  state_ = State::kLingering;
  since_ns_ = steady_ns_();
  deadline_ns_ = steady_ns_() + kLingerNs;
  while (dropped_bytes_ <= kMostDroppedBytes) {
    received_ = std::string();
    const auto [error] = co_await socket_.async_wait(Socket::wait_read, kWithError);
    if (error || !ReadSome()) co_return;
    dropped_bytes_ += received_.size();
  }
}

bool HttpConnection::ReadSome() {
  std::array<char, kPieceBytes> piece;
  boost::system::error_code error;
  const size_t size = socket_.read_some(asio::buffer(piece), error);
  if (error) return error == asio::error::would_block;
  received_.append(piece.data(), size);
  if (state_ == State::kIdle) {
    state_ = State::kReading;
    deadline_ns_ = steady_ns_() + limits_.request_ns;
  }
  return true;
}

void HttpConnection::Answer(const ServedResponse& response, bool is_head) {
  output_ = ResponseText(response, is_head, closes_after_answer_);
  state_ = State::kWriting;
  since_ns_ = steady_ns_();
  deadline_ns_ = steady_ns_() + limits_.response_ns;
}

void HttpConnection::BeginIdle() {
  // The next request may have been received together with the one before.
  state_ = received_.empty() ? State::kIdle : State::kReading;
  since_ns_ = steady_ns_();
  has_answered_ = true;
  deadline_ns_ = steady_ns_() + (received_.empty() ? limits_.idle_ns : limits_.request_ns);
}

void HttpConnection::Close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace berth::host

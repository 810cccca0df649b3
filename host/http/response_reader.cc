#include "host/http/response_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "host/base/assert.h"
#include "host/base/saturating.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

namespace http = boost::beast::http;
using BeastError = boost::beast::error_code;
using BeastText = boost::beast::string_view;

constexpr int kMaxInterimAnswers = 10;
// The size of the shortest body in chunks, which is the empty one.
constexpr size_t kMinChunkedBody = std::string_view("0\r\n\r\n").size();

std::string_view ToView(BeastText text) { return {text.data(), text.size()}; }

// Reads a date such as "Sun, 06 Nov 1994 08:49:37 GMT". Returns 0 for other texts. (RFC 9110,
// section 5.6.7; the obsolete forms are not read.)
int64_t ReadDate(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr size_t kSize = 29;
  if (text.size() != kSize || text.substr(25) != " GMT") return 0;
  const size_t month = kMonths.find(text.substr(8, 3));
  if (month == std::string_view::npos || month % 3 != 0) return 0;
  const std::string number = std::to_string(month / 3 + 1);
  std::string time(text.substr(12, 4));
  time.append(number.size() == 1 ? "-0" : "-").append(number).append("-");
  time.append(text.substr(5, 2)).append("T").append(text.substr(17, 8)).append("Z");
  const Result<int64_t> read = ParseTime(time);
  return read.ok() ? *read : 0;
}

// Returns the header Retry-After; 0 if it is malformed.
int64_t ReadRetryAfter(std::string_view text, int64_t date_ns) {
  if (IsNumber(text)) {
    uint32_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc()) seconds = std::numeric_limits<uint32_t>::max();
    return std::max<int64_t>(seconds * kSecond, 1);
  }
  const int64_t until_ns = ReadDate(text);
  if (until_ns == 0 || date_ns == 0) return 0;
  return std::max<int64_t>(SubtractTimes(until_ns, date_ns), 1);
}

constexpr size_t kFrameHeader = 9;  // Of HTTP/2.

// Returns whether the bytes begin with a frame of HTTP/2 about the whole connection: SETTINGS, the
// first frame of each server, or GOAWAY. (RFC 9113, sections 3.4 and 4.1)
bool IsHttp2(std::string_view bytes) {
  constexpr char kSettings = 4;
  constexpr char kGoAway = 7;
  if (bytes.size() < kFrameHeader || bytes[0] != 0) return false;
  const bool is_for_connection = bytes.substr(4, 5) == std::string_view("\0\0\0\0\0", 5);
  return is_for_connection && (bytes[3] == kSettings || bytes[3] == kGoAway);
}

// One message of the connection: the answer, or an interim answer with the status 1xx.
class Message final : public http::basic_parser<false> {
 public:
  Message(const ResponseReader::Limits& limits, const ResponseReader::Events& events,
          bool has_no_body)
      : limits_(limits), events_(events) {
    header_limit(std::numeric_limits<uint32_t>::max());
    body_limit(boost::none);
    skip(has_no_body);
    eager(true);
  }

  bool has_head() const { return has_head_; }
  bool is_interim() const { return head_.http_status / 100 == 1; }
  // Returns whether the next bytes are the first chunk of the body.
  bool is_before_chunks() const { return has_head_ && chunked() && !has_chunk_; }
  // Returns why this class stopped the parser; Ok if the parser itself stopped.
  const Status& problem() const { return problem_; }

 private:
  void on_request_impl(http::verb, BeastText, BeastText, int, BeastError&) override {}

  void on_response_impl(int code, BeastText, int, BeastError& error) override {
    head_.http_status = static_cast<uint32_t>(code);
    if (code == 101 || code < 100) {
      Stop(Status::InvalidArgument("expected an HTTP answer, found the status " +
                                   std::to_string(code)),
           error);
    }
  }

  // Fields after the last chunk are called trailers; they are not read.
  void on_field_impl(http::field field, BeastText name, BeastText text,
                     BeastError& error) override {
    if (has_head_) return;
    if (++fields_ > limits_.headers) {
      return Stop(Status::OutOfRange("the answer has more than " + std::to_string(limits_.headers) +
                                     " headers"),
                  error);
    }
    const std::string_view value = ToView(text);
    if (limits_.keeps_headers) head_.headers.emplace_back(ToView(name), value);
    if (field == http::field::content_type) head_.content_type = value;
    if (field == http::field::content_encoding) head_.content_encoding = value;
    if (field == http::field::location) head_.location = value;
    if (field == http::field::date) head_.date_ns = ReadDate(value);
    if (field == http::field::retry_after) retry_after_ = value;
    const bool is_kept = head_.warnings.size() < limits_.warnings && value.starts_with("299 ");
    if (field == http::field::warning && is_kept) head_.warnings.emplace_back(value);
  }

  void on_header_impl(BeastError&) override {
    has_head_ = true;
    if (!retry_after_.empty()) head_.retry_after_ns = ReadRetryAfter(retry_after_, head_.date_ns);
    if (!is_interim() && events_.on_head) events_.on_head(head_);
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>& length, BeastError& error) override {
    const bool is_too_long = IsLimited() && length && *length > limits_.body_bytes;
    if (is_too_long) StopAtBodyLimit(error);
  }

  std::size_t on_body_impl(BeastText text, BeastError& error) override {
    TakeBody(ToView(text), error);
    return text.size();
  }

  void on_chunk_header_impl(std::uint64_t, BeastText, BeastError&) override { has_chunk_ = true; }

  std::size_t on_chunk_body_impl(std::uint64_t, BeastText text, BeastError& error) override {
    TakeBody(ToView(text), error);
    return text.size();
  }

  void on_finish_impl(BeastError&) override {}

  bool IsSuccess() const { return head_.http_status / 100 == 2; }
  bool IsLimited() const {
    return (IsSuccess() || limits_.limits_every_status) && limits_.body_bytes != 0;
  }

  void TakeBody(std::string_view bytes, BeastError& error) {
    if (IsLimited() && bytes.size() > limits_.body_bytes - body_bytes_) {
      return StopAtBodyLimit(error);
    }
    if (!IsSuccess() && !limits_.limits_every_status) {
      bytes = bytes.substr(0, limits_.error_body_bytes - body_bytes_);
    }
    body_bytes_ += bytes.size();
    if (!bytes.empty() && events_.on_body) events_.on_body(bytes);
  }

  void StopAtBodyLimit(BeastError& error) {
    Stop(Status::OutOfRange("the body of the answer has more than " +
                            std::to_string(limits_.body_bytes) + " bytes"),
         error);
  }

  void Stop(Status problem, BeastError& error) {
    problem_ = std::move(problem);
    error = http::error::body_limit;  // Any error ends the parser; see problem().
  }

  const ResponseReader::Limits& limits_;
  const ResponseReader::Events& events_;
  HttpHead head_;
  std::string retry_after_;
  bool has_head_ = false;
  bool has_chunk_ = false;
  size_t fields_ = 0;
  size_t body_bytes_ = 0;  // Passed to on_body.
  Status problem_;
};

}  // namespace

class ResponseReader::Impl {
 public:
  Impl(const Limits& limits, std::string_view verb, Events events)
      : limits_(limits), events_(std::move(events)), is_head_(verb == "HEAD") {
    Begin();
  }

  Result<size_t> Feed(std::string_view bytes) {
    BERTH_ASSERT(!is_complete_);
    // The parser needs a head or the line of a chunk as a whole.
    const bool has_rest = !rest_.empty();
    if (has_rest) rest_.append(bytes);
    const std::string_view all = has_rest ? std::string_view(rest_) : bytes;
    if (!has_begun_ && IsHttp2(all)) {
      return Status::InvalidArgument(
          "expected an HTTP/1.1 answer, found HTTP/2; use an address where the server speaks "
          "HTTP/1.1");
    }
    if (!has_begun_ && all.size() < kFrameHeader && all.starts_with('\0')) {
      if (!has_rest) rest_.assign(bytes);  // The parser would refuse the beginning of a frame.
      return bytes.size();
    }
    size_t used = 0;
    Status status = Parse(all, used);
    has_begun_ = has_begun_ || used > 0;
    if (!status.ok()) return status;
    const size_t left = all.size() - used;
    if (is_complete_) return bytes.size() - std::min(left, bytes.size());
    if (has_rest) {
      rest_.erase(0, used);
    } else {
      rest_.assign(bytes.substr(used));
    }
    if (rest_.size() <= limits_.head_bytes) return bytes.size();
    return Status::OutOfRange("a head or a chunk of the answer has a line of more than " +
                              std::to_string(limits_.head_bytes) + " bytes");
  }

  Status FeedEnd() {
    BERTH_ASSERT(!is_complete_);
    if (!has_head()) {
      return Status::Unavailable(message_->got_some() || !rest_.empty()
                                     ? "the server closed the connection within the head of its "
                                       "answer"
                                     : "the server closed the connection without an answer");
    }
    BeastError error;
    if (rest_.empty()) message_->put_eof(error);
    if (error || !rest_.empty()) {
      return Status::Unavailable("the server closed the connection within the body of its answer");
    }
    is_complete_ = true;
    return Status::Ok();
  }

  bool has_head() const { return message_->has_head() && !message_->is_interim(); }
  bool is_complete() const { return is_complete_; }
  bool keeps_alive() const {
    BERTH_ASSERT(is_complete_);
    return message_->keep_alive();
  }

 private:
  void Begin() {
    head_bytes_ = 0;
    message_.emplace(limits_, events_, is_head_);
  }

  // Adds the number of the bytes that were read to `used`.
  Status Parse(std::string_view all, size_t& used) {
    while (used < all.size() && !is_complete_) {
      const std::string_view left = all.substr(used);
      if (IsPartOfEmptyBody(left)) return Status::Ok();
      const std::string_view piece = left.substr(0, Room());
      BeastError error;
      const size_t read = message_->put(boost::asio::buffer(piece.data(), piece.size()), error);
      used += read;
      if (!message_->problem().ok()) return message_->problem();
      if (!message_->has_head()) head_bytes_ += read;
      if (error == http::error::need_more) {
        if (piece.size() == left.size()) return Status::Ok();
        if (!message_->has_head()) return HeadIsTooLong();
        continue;
      }
      if (error) return Status::InvalidArgument("expected an HTTP/1.1 answer: " + error.message());
      if (!message_->is_done()) continue;
      Status status = EndMessage();
      if (!status.ok()) return status;
    }
    return Status::Ok();
  }

  // Beast asserts that it gets the whole end of an empty body, or less than its first line.
  bool IsPartOfEmptyBody(std::string_view left) const {
    return message_->is_before_chunks() && left.starts_with('0') && left.size() < kMinChunkedBody;
  }

  // Returns how many bytes the parser may get at once. Its own limit of the head counts each line
  // for itself.
  size_t Room() const {
    if (message_->has_head()) return std::string_view::npos;
    return std::max<size_t>(limits_.head_bytes - head_bytes_, 1);
  }

  // Called: when the parser has read a whole message.
  Status EndMessage() {
    if (!message_->is_interim()) {
      is_complete_ = true;
      return Status::Ok();
    }
    if (++interim_answers_ > kMaxInterimAnswers) {
      return Status::InvalidArgument("expected an HTTP answer, found more than " +
                                     std::to_string(kMaxInterimAnswers) + " interim answers");
    }
    Begin();
    return Status::Ok();
  }

  Status HeadIsTooLong() const {
    return Status::OutOfRange("the head of the answer has more than " +
                              std::to_string(limits_.head_bytes) + " bytes");
  }

  const Limits limits_;
  const Events events_;
  const bool is_head_;  // The request was HEAD.
  std::optional<Message> message_;
  std::string rest_;       // Bytes that the parser cannot read before more have arrived.
  size_t head_bytes_ = 0;  // Read of the head that is not complete.
  int interim_answers_ = 0;
  bool has_begun_ = false;  // The parser has read something.
  bool is_complete_ = false;
};

ResponseReader::ResponseReader(const Limits& limits, std::string_view verb, Events events)
    : impl_(std::make_unique<Impl>(limits, verb, std::move(events))) {}

ResponseReader::~ResponseReader() = default;

Result<size_t> ResponseReader::Feed(std::string_view bytes) { return impl_->Feed(bytes); }

Status ResponseReader::FeedEnd() { return impl_->FeedEnd(); }

bool ResponseReader::has_head() const { return impl_->has_head(); }

bool ResponseReader::is_complete() const { return impl_->is_complete(); }

bool ResponseReader::keeps_alive() const { return impl_->keeps_alive(); }

Status CheckRequest(const HttpRequest& request) {
  const std::string& verb = request.verb;
  if (verb.empty() || !std::all_of(verb.begin(), verb.end(), [](char c) { return IsUpper(c); })) {
    return Status::InvalidArgument("expected a verb such as GET, found " + Quoted(verb));
  }
  const std::string& target = request.target;
  const auto is_valid = [](char c) { return c > ' ' && c <= '~'; };
  if (!target.starts_with('/') || !std::all_of(target.begin(), target.end(), is_valid)) {
    return Status::InvalidArgument(
        "expected a path such as /api/v1/pods with escaped characters, found " + Quoted(target));
  }
  for (const std::string_view type : {request.content_type, request.accept}) {
    const auto is_text = [](char c) { return c >= ' ' && c <= '~'; };
    if (std::all_of(type.begin(), type.end(), is_text)) continue;
    return Status::InvalidArgument("expected a media type such as application/json, found " +
                                   Quoted(type));
  }
  return Status::Ok();
}

std::string WriteRequest(const HttpRequest& request, std::string_view path_prefix,
                         std::string_view host, std::string_view headers) {
  std::string text;
  text.reserve(256 + request.target.size() + headers.size() + request.body.size());
  text.append(request.verb).append(" ").append(path_prefix).append(request.target);
  text.append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n");
  if (!request.accept.empty()) text.append("Accept: ").append(request.accept).append("\r\n");
  text.append(headers);
  if (!request.content_type.empty()) {
    text.append("Content-Type: ").append(request.content_type).append("\r\n");
  }
  // A server may wait for the body of a POST that announces none.
  const bool may_have_body = request.verb != "GET" && request.verb != "HEAD";
  if (may_have_body || !request.body.empty()) {
    text.append("Content-Length: ").append(std::to_string(request.body.size())).append("\r\n");
  }
  return text.append("\r\n").append(request.body);
}

}  // namespace berth::host

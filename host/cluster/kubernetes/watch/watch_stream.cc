#include "host/cluster/kubernetes/watch/watch_stream.h"

#include <utility>

#include "host/base/time.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

// How long a watch without a line must live, so that the next one starts without a delay.
constexpr int64_t kShortWatchNs = kSecond;
// The server sends a bookmark about once a minute.
constexpr int64_t kBookmarkSilenceNs = 150 * kSecond;

}  // namespace

WatchStream::WatchStream(Executor& executor, ObjectReader& reader, ObjectIndex& index, Owner& owner,
                         Options options)
    : executor_(executor),
      reader_(reader),
      index_(index),
      owner_(owner),
      options_(std::move(options)),
      splitter_(options_.max_line_bytes),
      is_collecting_(options_.collects),
      collect_timer_(executor) {}
WatchStream::~WatchStream() = default;

void WatchStream::Open(Transport& transport, HttpRequest request) {
  started_ns_ = executor_.NowNs();
  stream_ = transport.Open(std::move(request), *this);
  stream_->SetSilenceLimit(is_collecting_ ? options_.collect_silence_ns
                                          : options_.watch_silence_ns);
}

void WatchStream::SetPaused(bool is_paused) {
  is_paused_ = is_paused;
  if (!is_collecting_) stream_->SetPaused(is_paused);
}

void WatchStream::OnHead(const HttpHead& /*head*/) {
  has_head_ = true;
  if (!is_collecting_) return owner_.OnWatchHead();
  collect_timer_.StartAfter(kMaxCollectNs, [this] {
    End({EndReason::kEnded, Status::Unavailable("the initial events had no end within " +
                                                FormatDuration(kMaxCollectNs))});
  });
}

void WatchStream::OnBytes(std::string_view bytes) {
  std::optional<StreamEnd> end;
  Status status = splitter_.Append(bytes, [&](std::string_view line) {
    end = TakeLine(line);
    return !end;
  });
  if (!end && !status.ok()) end = StreamEnd{EndReason::kUnreadable, std::move(status)};
  if (!events_.empty()) owner_.OnWatchEvents(std::exchange(events_, {}));
  if (end) {
    End(*std::move(end));
  } else {
    owner_.OnWatchPart();
  }
}

void WatchStream::OnEnd(HttpResponse response) {
  StreamEnd end = EndOf(response);
  // A connection that is lost after the head is a usual end of a watch, not an error.
  if (has_head_ && !response.status.ok()) end.why = EndReason::kEnded;
  End(std::move(end));
}

void WatchStream::End(StreamEnd end) {
  collect_timer_.Stop();
  stream_.reset();
  const bool is_short = !has_line_ && executor_.NowNs() - started_ns_ < kShortWatchNs;
  owner_.OnStreamEnd(std::move(end), is_collecting_, is_short);
}

std::optional<StreamEnd> WatchStream::TakeLine(std::string_view text) {
  Result<WatchLine> line = reader_.ReadLine(text, options_.kind);
  if (!line.ok()) return StreamEnd{EndReason::kUnreadable, std::move(line).status()};
  if (line->type == WatchLine::Type::kError) return EndOf(line->error);
  has_line_ = true;
  owner_.OnWatchLine();
  if (line->type == WatchLine::Type::kBookmark) return TakeBookmark(*line);
  return TakeObject(std::move(line).value());
}

std::optional<StreamEnd> WatchStream::TakeBookmark(const WatchLine& line) {
  if (!is_collecting_) {
    owner_.OnVersion(line.resource_version);
    stream_->SetSilenceLimit(kBookmarkSilenceNs);
    return std::nullopt;
  }
  if (!line.ends_initial_events) return std::nullopt;
  Status status = owner_.OnInitialEvents(initial_.Take(), line.resource_version);
  if (!status.ok()) return StreamEnd{EndReason::kLagged, std::move(status)};
  is_collecting_ = false;
  collect_timer_.Stop();
  stream_->SetSilenceLimit(options_.watch_silence_ns);
  if (is_paused_) stream_->SetPaused(true);
  return std::nullopt;
}

std::optional<StreamEnd> WatchStream::TakeObject(WatchLine line) {
  const std::string version = line.resource_version;
  if (!line.decode_error.ok()) {
    TakeUndecodable(line);
  } else {
    ObjectIndex& index = is_collecting_ ? initial_ : index_;
    const uint64_t lagged = index.lagged();
    AnyObject object = std::move(line.object);
    // An object that was delivered before is kept once.
    if (is_collecting_) object = index_.Reuse(std::move(object));
    Add(line.type == WatchLine::Type::kDeleted ? index.Delete(std::move(object))
                                               : index.Put(std::move(object)));
    if (index.lagged() != lagged) {
      return StreamEnd{EndReason::kLagged,
                       Status::Unavailable("the server sent the resourceVersion " + version +
                                           ", which is older than a state that it sent before")};
    }
  }
  if (!is_collecting_) owner_.OnVersion(version);
  return std::nullopt;
}

void WatchStream::TakeUndecodable(const WatchLine& line) {
  std::optional<AnyObject> known = owner_.OnUndecodable(line.mark, line.decode_error);
  ObjectIndex& index = is_collecting_ ? initial_ : index_;
  if (line.type == WatchLine::Type::kDeleted) {
    Add(index.DeleteNamed(line.mark.ns, line.mark.name, line.resource_version));
  } else if (is_collecting_ && known) {
    // The last good state stays.
    Add(initial_.Put(*std::move(known)));
  }
}

void WatchStream::Add(std::optional<WatchEvent> event) {
  // The events of a list are found when it is complete.
  if (event && !is_collecting_) events_.push_back(*std::move(event));
}

}  // namespace berth::host

#include "host/cluster/kubernetes/watch/list_and_watch.h"

#include <algorithm>
#include <utility>

#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/http/endpoint.h"

namespace berth::host {
namespace {

// How long a watch without a line must live, so that the next one starts without a delay.
constexpr int64_t kShortWatchNs = kSecond;
// The server sends a bookmark about once a minute.
constexpr int64_t kBookmarkSilenceNs = 150 * kSecond;

EndReason ReasonOf(uint32_t http_status, const ServerStatus& server) {
  if (IsVersionTooLarge(http_status, server)) return EndReason::kTooLarge;
  if (IsExpired(http_status, server)) return EndReason::kExpired;
  if (RefusesInitialEvents(http_status)) return EndReason::kRefused;
  if (http_status == 401 || http_status == 403) return EndReason::kDenied;
  if (http_status == 404) return EndReason::kNotFound;
  return http_status == 429 ? EndReason::kBusy : EndReason::kError;
}

// Returns the user of a message such as `nodes is forbidden: User "system:x" cannot list ...`, with
// its quotes; empty if there is none.
std::string_view UserIn(std::string_view message) {
  constexpr std::string_view kMark = "User \"";
  const size_t at = message.find(kMark);
  if (at == message.npos) return {};
  const size_t end = message.find('"', at + kMark.size());
  if (end == message.npos) return {};
  const size_t quote = at + kMark.size() - 1;
  return message.substr(quote, end + 1 - quote);
}

// Returns whether `version` is at least `wanted`. Versions that are no numbers are only equal or
// not.
bool HasReached(std::string_view version, std::string_view wanted) {
  const std::optional<bool> is_older = IsOlder(version, wanted);
  return is_older ? !*is_older : version == wanted;
}

}  // namespace

// ---- Ends ---------------------------------------------------------------------------------------

StreamEnd EndOf(const HttpResponse& response) {
  if (!response.status.ok()) {
    const bool is_denied = response.status.code() == ErrorCode::kPermissionDenied;
    return {is_denied ? EndReason::kDenied : EndReason::kBusy, response.status};
  }
  if (response.is_success()) return {};
  const ServerStatus server = ReadServerStatus(response.body);
  const int64_t retry_ns =
      std::max(response.head.retry_after_ns, server.retry_after_seconds * kSecond);
  return {ReasonOf(response.head.http_status, server), StatusOf(response), retry_ns};
}

StreamEnd EndOf(const ServerStatus& server) {
  const EndReason why = ReasonOf(server.code, server);
  std::string message = server.message.empty() ? "the watch ended with an error" : server.message;
  return {why, Status::Unavailable(std::move(message)), server.retry_after_seconds * kSecond};
}

std::string MissingRuleText(const Resource& resource, std::string_view verb,
                            std::string_view needed_by, std::string_view server_message) {
  std::string text = "cannot ";
  text.append(verb).append(" ").append(resource.plural);
  if (!needed_by.empty()) text.append(" (needed by ").append(needed_by).append(")");
  const std::string_view user = UserIn(server_message);
  if (user.empty()) {
    text.append(": ").append(server_message);
  } else {
    text.append(": the user ").append(user).append(" may not");
  }
  text.append(". Add this rule to one of its roles: {apiGroups: [");
  text.append(resource.group.empty() ? "\"\"" : resource.group);
  return text.append("], resources: [")
      .append(resource.plural)
      .append("], verbs: [get, list, watch]}");
}

// ---- Lists --------------------------------------------------------------------------------------

PagedList::PagedList(Transport& transport, ObjectReader& reader, Owner& owner, Options options)
    : transport_(transport), reader_(reader), owner_(owner), options_(std::move(options)) {}
PagedList::~PagedList() = default;

void PagedList::Start() {
  splitter_.emplace(options_.limits);
  const std::string limit = options_.page == 0 ? "" : std::to_string(options_.page);
  stream_ = transport_.Open(
      {.verb = "GET",
       .target = WithQuery(options_.path, {{"continue", continue_token_},
                                           {"fieldSelector", options_.field_selector},
                                           {"limit", limit}}),
       .timeout_ns = options_.head_timeout_ns},
      *this);
  stream_->SetSilenceLimit(options_.silence_ns);
}

void PagedList::OnBytes(std::string_view bytes) {
  Status status =
      splitter_->Append(bytes, [this](std::string_view item) { return TakeItem(item); });
  if (!status.ok()) End(std::move(status));
}

Status PagedList::TakeItem(std::string_view item) {
  Result<AnyObject> object = reader_.ReadItem(item, options_.kind);
  if (object.ok()) {
    owner_.OnRead(*object, reader_.problems());
    progress_.AddItem(Base(*object).ns(), Base(*object).name());
    objects_.push_back(owner_.OnItem(std::move(object).value()));
    return {};
  }
  const ObjectMark mark = reader_.ReadMark(item);
  progress_.AddItem(mark.ns, mark.name);
  std::optional<AnyObject> kept = owner_.OnUndecodable(mark, object.status());
  if (kept) objects_.push_back(*std::move(kept));
  return {};
}

void PagedList::OnEnd(HttpResponse response) {
  if (!response.is_success()) {
    const bool is_expired = response.status.ok() &&
                            IsExpired(response.head.http_status, ReadServerStatus(response.body));
    if (is_expired && !continue_token_.empty() && options_.page != 0) {
      // Without pages the list needs no token. If the server sends one nevertheless, and it
      // expires, that is an error.
      options_.page = 0;
      progress_ = {};
      continue_token_.clear();
      resource_version_.clear();
      objects_.clear();
      owner_.OnRestart();
      return Start();
    }
    Status status = StatusOf(response);
    return End(std::move(status), std::move(response));
  }
  Result<std::string> rest = splitter_->Finish();
  if (!rest.ok()) return End(std::move(rest).status());
  Result<ObjectReader::ListMeta> meta = ObjectReader::ReadListMeta(*rest);
  if (!meta.ok()) return End(std::move(meta).status());
  if (resource_version_.empty()) resource_version_ = std::move(meta->resource_version);
  Status goes_on = progress_.EndPage(meta->continue_token);
  if (!goes_on.ok()) return End(std::move(goes_on));
  if (meta->continue_token.empty()) return End({});
  continue_token_ = std::move(meta->continue_token);
  Start();
}

void PagedList::End(Status status, HttpResponse response) {
  stream_.reset();
  Outcome outcome;
  outcome.status = std::move(status);
  outcome.response = std::move(response);
  if (outcome.status.ok()) outcome.objects = std::move(objects_);
  outcome.resource_version = std::move(resource_version_);
  owner_.OnListEnd(std::move(outcome));
}

// ---- Watches ------------------------------------------------------------------------------------

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
  ObjectIndex& index = is_collecting_ ? initial_ : index_;
  const uint64_t lagged = index.lagged();
  if (!line.decode_error.ok()) {
    TakeUndecodable(line);
  } else {
    AnyObject object = std::move(line.object);
    if (line.type == WatchLine::Type::kDeleted) {
      owner_.OnDeleted(Base(object).ns(), Base(object).name());
    } else {
      owner_.OnRead(object, line.problems);
    }
    // An object that was delivered before is kept once.
    if (is_collecting_) object = index_.Reuse(std::move(object));
    Add(line.type == WatchLine::Type::kDeleted ? index.Delete(std::move(object))
                                               : index.Put(std::move(object)));
  }
  if (index.lagged() != lagged) {
    Status status = Status::Unavailable("the server sent the resourceVersion " + version +
                                        ", which is older than a state that it sent before");
    if (is_collecting_) return StreamEnd{EndReason::kLagged, std::move(status)};
    owner_.OnOlderState(status);
  }
  if (!is_collecting_) owner_.OnVersion(version);
  return std::nullopt;
}

void WatchStream::TakeUndecodable(const WatchLine& line) {
  std::optional<AnyObject> known = owner_.OnUndecodable(line.mark, line.decode_error);
  ObjectIndex& index = is_collecting_ ? initial_ : index_;
  if (line.type == WatchLine::Type::kDeleted) {
    owner_.OnDeleted(line.mark.ns, line.mark.name);
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

// ---- Refreshes ----------------------------------------------------------------------------------

struct RefreshWaiters::Waiter {
  Waiter(Executor& executor, uint64_t number) : id(number), timer(executor) {}

  const uint64_t id;
  int64_t patience_ns = 0;
  std::function<void()> done;
  std::string version;  // Empty until the server has answered.
  OwnedTimer timer;     // For the next question, and then for the patience.
};

RefreshWaiters::RefreshWaiters(Transport& transport, Executor& executor, Owner& owner,
                               Options options)
    : transport_(transport),
      executor_(executor),
      owner_(owner),
      options_(std::move(options)),
      delay_(options_.delay, options_.seed) {}

RefreshWaiters::~RefreshWaiters() { *alive_ = false; }

void RefreshWaiters::SetPath(std::string path) {
  path_ = std::move(path);
  if (path_.empty()) return;
  for (const auto& waiter : waiters_) {
    if (waiter->version.empty()) Ask(*waiter);
  }
}

void RefreshWaiters::Add(int64_t patience_ns, std::function<void()> done) {
  auto& waiter = waiters_.emplace_back(std::make_unique<Waiter>(executor_, ++last_));
  waiter->patience_ns = patience_ns;
  waiter->done = std::move(done);
  if (!path_.empty()) Ask(*waiter);
}

void RefreshWaiters::Ask(const Waiter& waiter) {
  HttpRequest request;
  request.verb = "GET";
  request.target = WithQuery(path_, {{"limit", "1"}});
  request.timeout_ns = options_.timeout_ns;
  transport_.Send(std::move(request),
                  [this, alive = alive_, id = waiter.id](const HttpResponse& response) {
                    if (*alive) OnAnswer(id, response);
                  });
}

void RefreshWaiters::OnAnswer(uint64_t id, const HttpResponse& response) {
  Waiter* const waiter = Find(id);
  if (waiter == nullptr || path_.empty() || !waiter->version.empty()) return;
  waiter->version = VersionOf(response);
  if (waiter->version.empty()) {
    const int64_t delay_ns = delay_.NextNs(executor_.NowNs(), response.head.retry_after_ns);
    waiter->timer.StartAfter(delay_ns, [this, id] {
      const Waiter* const later = Find(id);
      if (later != nullptr && !path_.empty()) Ask(*later);
    });
    return;
  }
  waiter->timer.StartAfter(waiter->patience_ns, [this, id] { OnTimer(id); });
  owner_.OnVersionKnown();
}

std::string RefreshWaiters::VersionOf(const HttpResponse& response) const {
  if (!response.is_success()) return {};
  ListSplitter splitter(options_.list_limits);
  const auto ignore = [](std::string_view) { return Status(); };
  if (!splitter.Append(response.body, ignore).ok()) return {};
  const Result<std::string> rest = splitter.Finish();
  if (!rest.ok()) return {};
  Result<ObjectReader::ListMeta> meta = ObjectReader::ReadListMeta(*rest);
  return meta.ok() ? std::move(meta->resource_version) : std::string();
}

void RefreshWaiters::OnTimer(uint64_t id) {
  Waiter* const waiter = Find(id);
  if (waiter == nullptr) return;
  // The next list may fail or be too old as well.
  waiter->timer.StartAfter(waiter->patience_ns, [this, id] { OnTimer(id); });
  owner_.OnImpatient();
}

void RefreshWaiters::OnReached(std::string_view version) {
  std::vector<std::function<void()>> done;
  std::erase_if(waiters_, [&](const std::unique_ptr<Waiter>& waiter) {
    if (waiter->version.empty() || !HasReached(version, waiter->version)) return false;
    done.push_back(std::move(waiter->done));
    return true;
  });
  for (const auto& call : done) call();
}

void RefreshWaiters::ReleaseAll() {
  std::vector<std::unique_ptr<Waiter>> released = std::move(waiters_);
  waiters_.clear();
  for (const auto& waiter : released) waiter->done();
}

RefreshWaiters::Waiter* RefreshWaiters::Find(uint64_t id) {
  const auto at = std::ranges::find(waiters_, id, [](const auto& waiter) { return waiter->id; });
  return at == waiters_.end() ? nullptr : at->get();
}

std::string RefreshWaiters::NewestOf(std::string_view version) const {
  std::string newest(version);
  for (const auto& waiter : waiters_) {
    if (newest.empty() || IsOlder(newest, waiter->version).value_or(false)) {
      newest = waiter->version;
    }
  }
  return newest;
}

}  // namespace berth::host

#include "host/cluster/kubernetes/watch/reflector.h"

#include <optional>
#include <set>
#include <utility>

#include "host/base/assert.h"
#include "host/base/split_mix.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/watch/list_and_watch.h"
#include "host/cluster/kubernetes/watch/unreadable_objects.h"
#include "host/http/endpoint.h"

namespace berth::host {
namespace {

// How long after its timeoutSeconds a watch that is silent is closed.
constexpr int64_t kEndOfWatchNs = 30 * kSecond;
constexpr int kErrorsBeforeList = 3;
constexpr int kOlderListsBeforeAccepting = 3;

// The names of objects that cannot be read, as a whole or in part, are each kept up to this number.
constexpr size_t kMaxReported = 1000;

// Reports each error once, however often it repeats.
// Threading: one thread.
// Lifetime:  `sink` must outlive it.
class ReflectorReports {
 public:
  // `needed_by`: see Reflector::Options.
  ReflectorReports(ReflectorSink& sink, std::string kind,
                   std::function<std::string(std::string_view kind)> needed_by, Log log)
      : sink_(sink), kind_(std::move(kind)), needed_by_(std::move(needed_by)), log_(log) {}

  // Reports why a list or a watch (`verb`) failed, unless it is the last report. If a rule is
  // missing, the report names it. `resource`: null if it is not known.
  void Error(const Resource* resource, std::string_view verb, const StreamEnd& end) {
    Status status = end.status;
    if (end.why == EndReason::kDenied && resource != nullptr &&
        status.message().find("User \"") != std::string::npos) {
      const std::string needed_by = needed_by_ ? needed_by_(kind_) : "";
      status = Status::PermissionDenied(
          MissingRuleText(*resource, verb, needed_by, end.status.message()));
    }
    if (status == reported_) return;
    reported_ = status;
    const std::string message = std::string("Cannot ").append(verb);
    log_.Error(message, status.message(), {{"kind", kind_}});
    sink_.OnWatchError(status);
  }

  // The kind can be read. Reports it after an error.
  void Ok() {
    if (reported_.ok()) return;
    reported_ = {};
    log_.Info("The kind can be read again", {{"kind", kind_}});
    sink_.OnWatchError({});
  }

  // Logs an object that cannot be decoded, unless its name was logged before or too many were.
  void Undecodable(const ObjectMark& mark, const Status& status) {
    LogOnce(undecodable_, "Cannot read an object; its last state stays", mark.Key(), status);
  }

  // Logs values of an object that cannot be read, in the same way.
  void Problems(const AnyObject& object, const Status& problems) {
    LogOnce(partial_, "Cannot read values of an object; they count as absent",
            std::string(Base(object).Key()), problems);
  }

 private:
  using Names = std::set<std::string, std::less<>>;

  void LogOnce(Names& names, std::string_view message, std::string name, const Status& status) {
    if (names.contains(name) || names.size() >= kMaxReported) return;
    log_.Error(message, status.message(), {{"kind", kind_}, {"object", name}});
    names.insert(std::move(name));
  }

  ReflectorSink& sink_;
  const std::string kind_;
  const std::function<std::string(std::string_view kind)> needed_by_;
  const Log log_;
  Status reported_;  // The last report.
  Names undecodable_;
  Names partial_;
};

// ---- The state machine --------------------------------------------------------------------------

class ReflectorMachine final : public Reflector,
                               private PagedList::Owner,
                               private WatchStream::Owner,
                               private RefreshWaiters::Owner {
 public:
  ReflectorMachine(Transport& transport, Executor& executor, Discovery& discovery,
                   ObjectReader& reader, ReflectorSink& sink, Options options, Log log)
      : transport_(transport),
        executor_(executor),
        discovery_(discovery),
        reader_(reader),
        sink_(sink),
        options_(std::move(options)),
        log_(log),
        reports_(sink, options_.kind, options_.needed_by, log),
        random_(options_.seed),
        delay_(options_.delay, random_.Next()),
        relist_delay_(options_.delay, random_.Next()),
        waiters_(transport, executor, static_cast<RefreshWaiters::Owner&>(*this),
                 {.delay = options_.delay,
                  .seed = random_.Next(),
                  .list_limits = options_.list_limits,
                  .timeout_ns = options_.head_timeout_ns}),
        timer_(executor),
        relist_timer_(executor) {}

  ~ReflectorMachine() override {
    *alive_ = false;
    if (listener_ != 0) discovery_.Unfollow(listener_);
  }

  void Start() override {
    BERTH_ASSERT(listener_ == 0);
    listener_ = discovery_.Follow(options_.kind,
                                  [this](const Resource* resource) { OnResource(resource); });
  }

  void Refresh(int64_t patience_ns, std::function<void()> done) override {
    waiters_.Add(patience_ns, std::move(done));
    if (state_ != State::kNotServed) return;
    executor_.Post([this, alive = alive_] {
      if (*alive) CheckWaiters();
    });
  }

  void SetPaused(bool is_paused) override {
    is_paused_ = is_paused;
    if (watch_) watch_->SetPaused(is_paused);
  }

  void RenewConnection() override {
    if (state_ != State::kWatching || !watch_->IsOutdated()) return;
    log_.Info("The client certificate or the CA has changed; opening the watch again",
              {{"kind", options_.kind}});
    watch_.reset();
    BeginWatch();
  }

  State state() const override { return state_; }
  bool is_synced() const override { return is_synced_; }
  const ReflectorCounts& counts() const override { return counts_; }
  size_t objects() const override { return index_.size(); }
  const UnreadableObjects& unreadable() const override { return unreadable_; }

 private:
  // The step that follows a delay.
  enum class Next : uint8_t { kList, kWatch };

  void OnResource(const Resource* resource) {
    if (resource != nullptr && !resource->CanWatch()) {
      ReportError("watch",
                  {EndReason::kError, Status::Unsupported("the server does not support watches of "
                                                          "this kind")});
      resource = nullptr;
    }
    if (resource != nullptr) {
      const bool is_other = !resource_ || resource_->CollectionPath() != resource->CollectionPath();
      resource_ = *resource;
      if (!is_other) return;
      StopRequests();
      BeginList();
      waiters_.SetPath(resource_->CollectionPath());
      return;
    }
    if (state_ == State::kNotServed) return;
    StopRequests();
    resource_.reset();
    waiters_.SetPath({});
    state_ = State::kNotServed;
    is_synced_ = false;
    last_version_.clear();
    is_consistent_ = false;
    unreadable_ = {};
    std::vector<WatchEvent> events = index_.Clear();
    events.emplace_back().type = WatchType::kNotServed;
    log_.Info("The server does not serve the kind", {{"kind", options_.kind}});
    sink_.OnEvents(std::move(events));
    CheckWaiters();
  }

  void StopRequests() {
    timer_.Stop();
    relist_timer_.Stop();
    pages_.reset();
    watch_.reset();
  }

  // ---- Lists
  void BeginList() {
    BERTH_ASSERT(resource_ && !watch_ && !pages_);
    relist_timer_.Stop();
    state_ = State::kListing;
    unreadable_.BeginList();
    if (!has_initial_events_ || needs_pages_once_) return BeginPages();
    OpenWatch(/*collects=*/true, is_consistent_ ? std::string() : waiters_.NewestOf(last_version_));
  }

  void BeginPages() {
    PagedList::Options options;
    options.path = resource_->CollectionPath();
    options.kind = options_.kind;
    options.field_selector = options_.field_selector;
    options.page = options_.page;
    options.limits = options_.list_limits;
    options.head_timeout_ns = options_.head_timeout_ns;
    options.silence_ns = options_.list_silence_ns;
    is_consistent_ = true;
    PagedList::Owner& owner = *this;
    pages_ = std::make_unique<PagedList>(transport_, reader_, owner, std::move(options));
    pages_->Start();
  }

  Status FinishList(std::vector<AnyObject> objects, const std::string& version) {
    std::vector<WatchEvent> events;
    if (Status status = Replace(std::move(objects), version, &events); !status.ok()) {
      if (is_consistent_) ++older_lists_;
      return status;
    }
    if (IsOlder(version, last_version_).value_or(false)) {
      log_.Warning("The resourceVersions of the server went back; every object was read again",
                   {{"kind", options_.kind}, {"from", last_version_}, {"to", version}});
    }
    last_version_ = version;
    older_lists_ = 0;
    is_consistent_ = false;
    needs_pages_once_ = false;
    unreadable_.EndList();
    ++counts_.lists;
    counts_.last_event_ns = executor_.NowNs();
    if (!is_synced_) events.emplace_back().type = WatchType::kSynced;
    is_synced_ = true;
    if (!events.empty()) sink_.OnEvents(std::move(events));
    reader_.ReleaseIds();
    reports_.Ok();
    return {};
  }

  Status Replace(std::vector<AnyObject> objects, const std::string& version,
                 std::vector<WatchEvent>* events) {
    const bool is_accepted = is_consistent_ && older_lists_ + 1 >= kOlderListsBeforeAccepting;
    if (!is_accepted && IsOlder(version, last_version_).value_or(false)) {
      return Status::Unavailable("the list has the resourceVersion " + version + ", but " +
                                 last_version_ + " was seen");
    }
    Result<std::vector<WatchEvent>> differences =
        index_.Replace(std::move(objects), version, is_accepted);
    if (!differences.ok()) return std::move(differences).status();
    *events = std::move(differences).value();
    return {};
  }

  void OnListFailed(StreamEnd end) {
    const bool had_version = !is_consistent_ && !waiters_.NewestOf(last_version_).empty();
    switch (end.why) {
      case EndReason::kExpired:
      case EndReason::kTooLarge:
        is_consistent_ = true;
        if (had_version) return BeginList();
        break;
      case EndReason::kNotFound: discovery_.OnNotFound(options_.kind); break;
      case EndReason::kLagged:
      case EndReason::kUnreadable:
        ++counts_.relists_error;
        is_consistent_ = true;
        break;
      default: break;
    }
    ReportError("list", end);
    Wait(Next::kList, end.retry_after_ns);
  }

  AnyObject OnItem(AnyObject object) override { return index_.Reuse(std::move(object)); }
  void OnRead(const AnyObject& object, const Status& problems) override {
    if (problems.ok()) return unreadable_.Remove(Base(object).ns(), Base(object).name());
    ++counts_.undecodable;
    reports_.Problems(object, problems);
    unreadable_.Add(Base(object).ns(), Base(object).name(), problems.message());
  }
  std::optional<AnyObject> OnUndecodable(const ObjectMark& mark, const Status& status) override {
    ++counts_.undecodable;
    reports_.Undecodable(mark, status);
    unreadable_.Add(mark.ns, mark.name, status.message());
    const AnyObject* known = index_.Find(mark.ns, mark.name);
    return known == nullptr ? std::nullopt : std::optional(*known);
  }

  void OnRestart() override { unreadable_.BeginList(); }

  void OnDeleted(std::string_view ns, std::string_view name) override {
    unreadable_.Remove(ns, name);
  }

  void OnListEnd(PagedList::Outcome outcome) override {
    pages_.reset();
    if (!outcome.status.ok()) {
      // A list of 2xx that cannot be read has no answer.
      StreamEnd end =
          outcome.response.delivery == Delivery::kAnswered || !outcome.response.status.ok()
              ? EndOf(outcome.response)
              : StreamEnd{EndReason::kUnreadable, outcome.status};
      return OnListFailed(std::move(end));
    }
    Status status = FinishList(std::move(outcome.objects), outcome.resource_version);
    if (!status.ok()) return OnListFailed({EndReason::kLagged, std::move(status)});
    BeginWatch();
    CheckWaiters();
  }

  // ---- The watch
  void BeginWatch() {
    BERTH_ASSERT(resource_ && !watch_ && !pages_);
    state_ = State::kWatching;
    OpenWatch(/*collects=*/false, last_version_);
  }

  void OpenWatch(bool collects, std::string_view version) {
    ++counts_.watches;
    // As client-go: a random time from five to ten minutes, so that watches do not end together.
    const int64_t seconds = 300 + static_cast<int64_t>(random_.Next() % 301);
    HttpRequest request;
    request.verb = "GET";
    request.timeout_ns = options_.head_timeout_ns;
    request.target = WithQuery(resource_->CollectionPath(),
                               {{"allowWatchBookmarks", "true"},
                                {"fieldSelector", options_.field_selector},
                                {"resourceVersion", version},
                                {"resourceVersionMatch", collects ? "NotOlderThan" : ""},
                                {"sendInitialEvents", collects ? "true" : ""},
                                {"timeoutSeconds", std::to_string(seconds)},
                                {"watch", "true"}});
    WatchStream::Options options;
    options.kind = options_.kind;
    options.max_line_bytes = options_.max_line_bytes;
    options.collects = collects;
    options.collect_silence_ns = options_.list_silence_ns;
    options.watch_silence_ns = seconds * kSecond + kEndOfWatchNs;
    WatchStream::Owner& owner = *this;
    watch_ = std::make_unique<WatchStream>(executor_, reader_, index_, owner, std::move(options));
    watch_->Open(transport_, std::move(request));
    if (is_paused_) watch_->SetPaused(true);
  }

  void OnWatchHead() override { reports_.Ok(); }
  void OnWatchLine() override {
    counts_.last_event_ns = executor_.NowNs();
    // A list that succeeds does not show that the watch after it will.
    if (state_ == State::kListing) return;
    expired_in_row_ = 0;
    errors_in_row_ = 0;
  }

  void OnVersion(std::string_view version) override {
    if (version.empty() || IsOlder(version, last_version_).value_or(false)) return;
    last_version_ = version;
  }

  void OnWatchEvents(std::vector<WatchEvent> events) override { sink_.OnEvents(std::move(events)); }
  void OnWatchPart() override { CheckWaiters(); }
  // Another list replaces the state. The watch goes on until then, so that no other object is
  // delayed; a server that sends older states again and again is asked less and less often.
  void OnOlderState(const Status& status) override {
    if (relist_timer_.is_running()) return;
    ReportError("watch", {EndReason::kLagged, status});
    ++counts_.relists_error;
    relist_timer_.StartAfter(relist_delay_.NextNs(executor_.NowNs()), [this] {
      watch_.reset();
      BeginList();
    });
  }
  Status OnInitialEvents(std::vector<AnyObject> objects, const std::string& version) override {
    Status status = FinishList(std::move(objects), version);
    if (status.ok()) state_ = State::kWatching;
    return status;
  }

  void OnStreamEnd(StreamEnd end, bool was_collecting, bool is_short) override {
    watch_.reset();
    if (!was_collecting) return OnWatchEnd(std::move(end), is_short);
    switch (end.why) {
      case EndReason::kRefused:
        log_.Info("The server does not send initial events; listing instead",
                  {{"kind", options_.kind}, {"reason", end.status.message()}});
        has_initial_events_ = false;
        return BeginList();
      case EndReason::kEnded:
        needs_pages_once_ = true;
        if (end.status.ok()) end.status = Status::Unavailable("the initial events have no end");
        [[fallthrough]];
      default: OnListFailed(std::move(end));
    }
  }

  void OnWatchEnd(StreamEnd end, bool is_short) {
    switch (end.why) {
      case EndReason::kEnded:
        if (is_short) return Wait(Next::kWatch);
        return BeginWatch();
      case EndReason::kExpired:
        ++counts_.relists_expired;
        log_.Info("The watch has expired; reading everything again",
                  {{"kind", options_.kind}, {"resourceVersion", last_version_}});
        if (++expired_in_row_ > 1) return Wait(Next::kList, end.retry_after_ns);
        return BeginList();
      case EndReason::kBusy:
      case EndReason::kDenied:
        ReportError("watch", end);
        return Wait(Next::kWatch, end.retry_after_ns);
      default: OnWatchError(std::move(end));
    }
  }

  void OnWatchError(StreamEnd end) {
    ReportError("watch", end);
    Next next = Next::kList;
    if (end.why == EndReason::kNotFound) {
      discovery_.OnNotFound(options_.kind);
    } else if (end.why == EndReason::kLagged || end.why == EndReason::kUnreadable) {
      ++counts_.relists_error;
      // Errors of requests before do not make this delay longer: the server does answer.
      return WaitFor(relist_delay_, next, end.retry_after_ns);
    } else if (++errors_in_row_ < kErrorsBeforeList) {
      next = Next::kWatch;
    } else {
      errors_in_row_ = 0;
      ++counts_.relists_error;
      is_consistent_ = true;
    }
    Wait(next, end.retry_after_ns);
  }

  void Wait(Next next, int64_t at_least_ns = 0) { WaitFor(delay_, next, at_least_ns); }
  void WaitFor(RetryDelay& delay, Next next, int64_t at_least_ns) {
    state_ = State::kWaiting;
    // A list that is due must not come earlier than the server permits.
    if (relist_timer_.is_running()) next = Next::kList;
    relist_timer_.Stop();
    timer_.StartAfter(delay.NextNs(executor_.NowNs(), at_least_ns), [this, next] {
      if (next == Next::kList) {
        BeginList();
      } else {
        BeginWatch();
      }
    });
  }

  void ReportError(std::string_view verb, const StreamEnd& end) {
    reports_.Error(resource_ ? &*resource_ : nullptr, verb, end);
  }

  void CheckWaiters() {
    if (waiters_.is_empty()) return;
    if (state_ == State::kNotServed) {
      waiters_.ReleaseAll();
    } else if (is_synced_) {
      waiters_.OnReached(last_version_);
    }
  }
  void OnVersionKnown() override { CheckWaiters(); }
  void OnImpatient() override {
    // The watch may have reached the version before the server answered.
    CheckWaiters();
    // A list that is under way may reach it; its errors are repeated with a delay.
    if (waiters_.is_empty() || state_ != State::kWatching) return;
    watch_.reset();
    BeginList();
  }

  Transport& transport_;
  Executor& executor_;
  Discovery& discovery_;
  ObjectReader& reader_;
  ReflectorSink& sink_;
  const Options options_;
  const Log log_;

  State state_ = State::kDiscovering;
  Discovery::ListenerId listener_ = 0;
  std::optional<Resource> resource_;
  ObjectIndex index_;
  UnreadableObjects unreadable_;
  ReflectorCounts counts_;
  std::string last_version_;  // Of everything that was delivered.
  bool is_synced_ = false;
  bool is_paused_ = false;
  bool has_initial_events_ = true;  // Whether the server supports them, as far as it is known.
  bool needs_pages_once_ = false;
  bool is_consistent_ = false;  // The next list has no resourceVersion.
  int expired_in_row_ = 0;
  int errors_in_row_ = 0;
  int older_lists_ = 0;
  ReflectorReports reports_;
  SplitMix64 random_;
  RetryDelay delay_;
  RetryDelay relist_delay_;  // Before a list that replaces what a watch has sent.
  RefreshWaiters waiters_;
  OwnedTimer timer_;
  OwnedTimer relist_timer_;  // Runs beside a watch that has sent an older state.
  std::unique_ptr<PagedList> pages_;
  std::unique_ptr<WatchStream> watch_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

std::unique_ptr<Reflector> Reflector::Create(Transport& transport, Executor& executor,
                                             Discovery& discovery, ObjectReader& reader,
                                             ReflectorSink& sink, Options options, Log log) {
  return std::make_unique<ReflectorMachine>(transport, executor, discovery, reader, sink,
                                            std::move(options), log);
}

}  // namespace berth::host

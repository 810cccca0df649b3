#include "host/cluster/kubernetes/write/event_sender.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "host/base/assert.h"
#include "host/base/hash.h"
#include "host/base/split_mix.h"
#include "host/base/text.h"
#include "host/cluster/kubernetes/answers/api_error.h"
#include "host/cluster/kubernetes/write/fair_queue.h"
#include "host/cluster/kubernetes/write/request_bodies.h"
#include "host/http/pacing.h"

namespace berth::host {
namespace {

// The most bytes of a reportingInstance. (kube-apiserver: pkg/apis/core/validation/events.go)
constexpr size_t kMaxInstanceBytes = 128;
// client-go: tools/events/event_broadcaster.go, recordToSink.
constexpr double kRetryJitter = 0.25;
// The memory of an event that waits, with its place in the queue and without its texts.
constexpr size_t kWaitingBytes = 600;
// How many objects and reasons are remembered as known to the server. Beyond it, events of more of
// them count as first ones.
constexpr size_t kMaxKnown = size_t{16} << 10;

template <class Reference, class Visit>
void ForEachText(Reference& reference, const Visit& visit) {
  for (auto* const text : {&reference.api_version, &reference.kind, &reference.ns, &reference.name,
                           &reference.uid, &reference.resource_version}) {
    visit(*text);
  }
}

// Calls visit(text) for each text of the event's key.
template <class KeyedEvent, class Visit>
void ForEachKeyText(KeyedEvent& event, const Visit& visit) {
  for (auto* const text : {&event.type, &event.action, &event.reason, &event.reporting_controller,
                           &event.reporting_instance}) {
    visit(*text);
  }
  ForEachText(event.regarding, visit);
  if (event.related) ForEachText(*event.related, visit);
}

class SeriesSender final : public EventSender {
 public:
  SeriesSender(Transport& transport, Executor& executor, const Clock& wall, Options options,
               Log log)
      : transport_(transport),
        executor_(executor),
        wall_(wall),
        options_(std::move(options)),
        log_(log),
        random_(options_.seed),
        retry_timer_(executor),
        finish_timer_(executor),
        refresh_timer_(executor),
        flush_timer_(executor) {
    BERTH_ASSERT(options_.queue_bytes > 0 && options_.in_flight > 0 && options_.max_series > 0);
  }

  void Send(Event event) override {
    if (is_flushing_) {
      ++counts_.ended;
      return;
    }
    Complete(event);
    if (event.is_unique) return Enqueue(NewSeries(std::move(event)));
    std::string key = KeyOf(event);
    const auto found = series_.find(key);
    if (found == series_.end()) return AddSeries(std::move(key), std::move(event));
    Repeat(SeriesRef(found->second), event.time_ns);
  }

  void Flush(int64_t limit_ns, std::function<void()> done) override {
    BERTH_ASSERT(!is_flushing_);
    is_flushing_ = true;
    flushed_ = std::move(done);
    for (const auto& [at_ns, key] : std::exchange(retries_, {})) Resume(key, at_ns);
    flush_timer_.StartAfter(limit_ns, [this] { FinishFlush(); });
    SendNext();
    Refresh();
    FinishFlushIfEmpty();
  }

  const Counts& counts() const override { return counts_; }
  size_t waiting() const override { return queue_.size(); }
  size_t waiting_bytes() const override { return queue_.bytes(); }
  size_t series() const override { return series_.size(); }

 private:
  struct Series;
  using SeriesRef = std::shared_ptr<Series>;

  // Thousands of series wait for repetitions, nearly always in vain, and a thousand events may wait
  // for a connection. A series has an event only while a request of it is under way: the key, the
  // note and the time are the same facts in half of the memory.
  struct Series {
    uint64_t subject = 0;          // A hash of SubjectOf().
    std::string key;               // Empty as long as nothing needs it.
    std::unique_ptr<Event> event;  // The first one; null: in the key and in the next two.
    std::string note;
    int64_t first_ns = 0;
    std::string name;
    int32_t count = 1;
    int64_t last_ns = 0;     // The time of the last event, for its text.
    int64_t active_ns = 0;   // The executor's time of the last event.
    int64_t retry_ns = 0;    // The executor's time of the next try, while it waits for that.
    int32_t written = 0;     // The count that the server has; 0: the event was not created.
    int32_t sent = 0;        // The count in the request under way.
    uint32_t tries = 0;      // How often the request that waits or is under way was sent.
    bool is_busy = false;    // A request waits or is under way.
    bool is_unique = false;  // Event::is_unique.
    bool is_first = false;   // No event about its subject was accepted before, or lost after it.
    bool is_listed = false;  // In `series_`: further events belong to it.
    std::list<SeriesRef>::iterator age;

    EventSeries Repetitions() const { return {count, last_ns}; }
    // REQUIRES: CompactEvent() was called.
    size_t Bytes() const { return kWaitingBytes + key.size() + note.size() + name.size(); }
    const Event& UseEvent() {
      if (event != nullptr) return *event;
      event = std::make_unique<Event>();
      std::string_view rest = key;
      const auto take = [&rest](std::string& text) {
        size_t size = 0;
        const char* const end = std::from_chars(rest.data(), rest.data() + rest.size(), size).ptr;
        const auto begin = static_cast<size_t>(end - rest.data()) + 1;
        BERTH_ASSERT(begin + size <= rest.size());
        text = rest.substr(begin, size);
        rest.remove_prefix(begin + size);
      };
      ForEachKeyText(*event, take);
      if (!rest.empty()) ForEachText(event->related.emplace(), take);
      event->note = std::move(note);
      event->time_ns = first_ns;
      return *event;
    }

    void CompactEvent() {
      if (event == nullptr) return;
      if (key.empty()) {
        key = KeyOf(*event);
        key.shrink_to_fit();  // Not later: `series_` may refer to the key.
      }
      note = std::move(event->note);
      note.shrink_to_fit();
      first_ns = event->time_ns;
      event = nullptr;
    }
  };

  static std::string KeyOf(const Event& event) {
    std::string key;
    ForEachKeyText(event, [&key](const std::string& text) {
      key.append(std::to_string(text.size())).append(1, ':').append(text);
    });
    return key;
  }

  // Returns what events must share for one to take the place of another that waits.
  static std::string SubjectOf(const Event& event) {
    std::string subject = event.reason;
    for (const std::string* text : {&event.regarding.kind, &event.regarding.ns,
                                    &event.regarding.name, &event.regarding.uid}) {
      subject.append(1, '/').append(*text);
    }
    return subject;
  }

  // Sets the fields that the sender of the event has left out.
  void Complete(Event& event) {
    if (event.time_ns == 0) event.time_ns = wall_.NowNs();
    const bool is_given =
        !event.reporting_instance.empty() && event.reporting_instance != event.reporting_controller;
    if (is_given || options_.host_name.empty()) return;
    event.reporting_instance =
        Truncate(event.reporting_controller + "-" + options_.host_name, kMaxInstanceBytes, "");
  }

  // ---- Series ----
  SeriesRef NewSeries(Event event) {
    // Two events of one object at the same time have different names.
    last_name_ns_ = std::max(event.time_ns, last_name_ns_ + 1);
    auto series = std::make_shared<Series>();
    series->name = EventName(event, last_name_ns_);
    series->last_ns = event.time_ns;
    series->active_ns = executor_.NowNs();
    series->is_unique = event.is_unique;
    if (!event.is_unique) series->subject = HashBytes(SubjectOf(event));
    series->event = std::make_unique<Event>(std::move(event));
    return series;
  }

  void AddSeries(std::string key, Event event) {
    if (series_.size() >= options_.max_series) EndSeries(SeriesRef(by_age_.front()));
    const SeriesRef series = NewSeries(std::move(event));
    series->is_listed = true;
    series->age = by_age_.insert(by_age_.end(), series);
    key.shrink_to_fit();
    series->key = std::move(key);
    series_.emplace(series->key, series);
    StartTimers();
    Enqueue(series);
  }

  void Repeat(const SeriesRef& series, int64_t time_ns) {
    ++counts_.repeated;
    if (series->count < std::numeric_limits<int32_t>::max()) ++series->count;
    series->last_ns = std::max(series->last_ns, time_ns);
    series->active_ns = executor_.NowNs();
    by_age_.splice(by_age_.end(), by_age_, series->age);
    if (series->count == 2) Enqueue(series);
  }

  // Removes the series, so that its next event is a new one. Its count is written if it has
  // changed.
  void EndSeries(const SeriesRef& series) {
    ForgetSeries(series);
    // If a request is under way, its answer continues here.
    if (series->written < series->count) Enqueue(series);
  }

  // Removes the series without writing its count.
  void ForgetSeries(const SeriesRef& series) {
    if (!std::exchange(series->is_listed, false)) return;
    by_age_.erase(series->age);
    series_.erase(series->key);
  }

  // Ends the series whose time has passed.
  void EndOldSeries() {
    const int64_t now_ns = executor_.NowNs();
    while (!by_age_.empty() && by_age_.front()->active_ns + options_.finish_ns <= now_ns) {
      EndSeries(SeriesRef(by_age_.front()));
    }
    StartTimers();
  }

  // Writes the counts that have changed.
  void Refresh() {
    // Without references into the list, because a full queue may remove series.
    const std::vector<SeriesRef> all(by_age_.begin(), by_age_.end());
    for (const SeriesRef& series : all) {
      if (series->written > 0 && series->written < series->count) Enqueue(series);
    }
  }

  void StartTimers() {
    if (by_age_.empty()) return;
    if (!finish_timer_.is_running()) {
      finish_timer_.StartAt(by_age_.front()->active_ns + options_.finish_ns,
                            [this] { EndOldSeries(); });
    }
    if (!refresh_timer_.is_running()) {
      refresh_timer_.StartAfter(options_.refresh_ns, [this] {
        Refresh();
        StartTimers();
      });
    }
  }

  // ---- Requests ----
  // Lets the event or the count of the series wait, unless a request of it waits or is under way.
  void Enqueue(const SeriesRef& series) {
    if (has_ended_ || series->is_busy) return;
    series->is_busy = true;
    series->tries = 0;
    if (series->written == 0 && !series->is_unique && RememberSubject(series->subject)) {
      series->is_first = true;
    }
    if (in_flight_ < options_.in_flight) return SendOne(series);
    Wait(series);
    DropSurplus();
  }

  // Lets the series wait for a connection. Of two about the same object and reason, only the newer
  // one waits, and it is a first event if one of them was.
  void Wait(const SeriesRef& series) {
    const Event& event = series->UseEvent();
    const std::string ns = event.regarding.ns;
    // An event that belongs to no series, and the count of one, cannot be replaced.
    const bool has_own_place = series->is_unique || series->written > 0;
    const std::string key = has_own_place ? "#" + series->name : SubjectOf(event);
    series->CompactEvent();
    SeriesRef newer = series;
    if (const SeriesRef* const waiting = queue_.Find(key)) {
      SeriesRef older = *waiting;
      const bool had_place_of_first = older->is_first;
      if (older->active_ns > newer->active_ns) std::swap(older, newer);
      newer->is_first |= std::exchange(older->is_first, false);
      const bool keeps_place = newer->is_first == had_place_of_first;
      if (keeps_place) {
        queue_.Replace(key, newer->Bytes(), newer);
      } else {
        queue_.Remove(key);
      }
      GiveUp(older, counts_.repeated);
      if (keeps_place) return;
    }
    const bool is_first = newer->is_unique || newer->is_first;
    queue_.Push(key, ns, is_first ? QueueRank::kFirst : QueueRank::kRepeat, newer->Bytes(), newer);
  }

  // Returns whether this is the first event for the subject.
  bool RememberSubject(uint64_t subject) {
    if (known_.size() >= kMaxKnown) known_.clear();
    return known_.insert(subject).second;
  }

  void DropSurplus() {
    while (waiting_bytes() > options_.queue_bytes) {
      const SeriesRef series = queue_.Drop();
      if (counts_.full % 1000 == 0) {
        log_.Warning("Events are dropped because too many wait",
                     {{"waiting", std::to_string(waiting() + 1)},
                      {"namespace", series->UseEvent().regarding.ns}});
      }
      GiveUp(series, counts_.full);
    }
  }

  // Records that the request of the series has ended without success.
  void GiveUp(const SeriesRef& series, uint64_t& counter) {
    ++counter;
    series->is_busy = false;
    if (series->is_listed) series->CompactEvent();
    // The next event with this key is the first one for the server.
    if (series->written > 0) return;
    ForgetSeries(series);
    if (std::exchange(series->is_first, false)) known_.erase(series->subject);
  }

  void SendNext() {
    while (!has_ended_ && in_flight_ < options_.in_flight) {
      const std::optional<SeriesRef> series = queue_.Pop();
      if (!series) return;  // The others are to be tried again later.
      SendOne(*series);
    }
  }

  void SendOne(const SeriesRef& series) {
    ++in_flight_;
    ++series->tries;
    series->sent = series->count;
    HttpRequest request;
    const Event& event = series->UseEvent();
    if (series->written == 0) {
      const bool is_series = series->count > 1;
      request.verb = "POST";
      request.target = EventPath(event);
      request.body = EventBody(event, series->name,
                               is_series ? std::optional(series->Repetitions()) : std::nullopt);
      request.content_type = kJson;
    } else {
      request.verb = "PATCH";
      request.target = EventPath(event, series->name);
      request.body = EventSeriesBody(series->Repetitions());
      request.content_type = kMergePatch;
    }
    request.timeout_ns = options_.request_timeout_ns;
    const auto was_refused = std::make_shared<bool>(false);
    if (options_.may_send) {
      request.may_send = [may_send = options_.may_send, was_refused] {
        Status status = may_send();
        *was_refused = !status.ok();
        return status;
      };
    }
    transport_.Send(std::move(request), [this, alive = std::weak_ptr<bool>(alive_), series,
                                         was_refused](const HttpResponse& response) {
      if (!alive.expired()) OnAnswer(series, response, *was_refused);
    });
  }

  void OnAnswer(const SeriesRef& series, const HttpResponse& response, bool was_refused) {
    const bool is_creation = series->written == 0;
    const ErrorCode code = StatusOf(response).code();
    // An earlier try has created the event, perhaps without its series.
    if (is_creation && code == ErrorCode::kAlreadyExists) series->sent = 1;
    if (code == ErrorCode::kOk || (is_creation && code == ErrorCode::kAlreadyExists)) {
      OnStored(series);
    } else if (was_refused) {
      GiveUp(series, counts_.refused);
    } else if (!is_creation && code == ErrorCode::kNotFound && !has_ended_) {
      // The server keeps events for an hour only.
      series->written = 0;
      Wait(series);
    } else {
      OnFailed(series, response);
    }
    --in_flight_;  // Not before: what the answer has let wait takes its turn.
    SendNext();
    FinishFlushIfEmpty();
  }

  void OnStored(const SeriesRef& series) {
    ++counts_.sent;
    last_refusal_ = 0;
    series->is_first = false;
    series->written = series->sent;
    if (series->is_listed) series->CompactEvent();
    series->is_busy = false;
    if (series->written == series->count) return;
    // The first repetition is written at once, and the last count of a series that has ended.
    if (series->written == 1 || !series->is_listed || is_flushing_) Enqueue(series);
  }

  void OnFailed(const SeriesRef& series, const HttpResponse& response) {
    if (RetryClassOf(response) != RetryClass::kFinal) {
      return TryLater(series, response.head.retry_after_ns);
    }
    LogRefusal(*series, response);
    GiveUp(series, counts_.refused);
  }

  void LogRefusal(Series& series, const HttpResponse& response) {
    // One record for each kind of refusal in turn: without permission, every event is refused.
    if (std::exchange(last_refusal_, response.head.http_status) == response.head.http_status)
      return;
    if (ReadServerStatus(response.body).cause == "NamespaceTerminating") return;
    const Event& event = series.UseEvent();
    log_.Error(
        "The server refused an event", StatusOf(response).message(),
        {{"object", event.regarding.ns + "/" + event.regarding.name}, {"reason", event.reason}});
  }

  void TryLater(const SeriesRef& series, int64_t at_least_ns) {
    if (has_ended_ || is_flushing_ || series->tries >= options_.tries) {
      return GiveUp(series, counts_.failed);
    }
    const double random = static_cast<double>(random_.Next() >> 11) * 0x1p-53;
    const auto delay_ns =
        static_cast<int64_t>(static_cast<double>(options_.retry_ns) * (1 + kRetryJitter * random));
    const std::string ns = series->UseEvent().regarding.ns;
    const std::string key = "+" + series->name;
    series->CompactEvent();
    series->retry_ns = executor_.NowNs() + std::max(delay_ns, LimitRetryAfterNs(at_least_ns));
    queue_.Push(key, ns, QueueRank::kLater, series->Bytes(), series);
    retries_.emplace(series->retry_ns, key);
    StartRetryTimer();
    DropSurplus();
  }

  void RunRetries() {
    while (!retries_.empty() && retries_.begin()->first <= executor_.NowNs()) {
      const auto [at_ns, key] = *retries_.begin();
      retries_.erase(retries_.begin());
      Resume(key, at_ns);
    }
    StartRetryTimer();
    SendNext();
  }

  // Lets a series that was to be tried again at this time wait for a connection, unless it was
  // dropped. It may have failed once more since, and have another time.
  void Resume(const std::string& key, int64_t at_ns) {
    const SeriesRef* const found = queue_.Find(key);
    if (found != nullptr && (*found)->retry_ns == at_ns) Wait(*queue_.Remove(key));
  }

  void StartRetryTimer() {
    retry_timer_.Stop();
    if (retries_.empty()) return;
    retry_timer_.StartAt(retries_.begin()->first, [this] { RunRetries(); });
  }

  void FinishFlushIfEmpty() {
    if (is_flushing_ && !has_ended_ && queue_.empty() && in_flight_ == 0) FinishFlush();
  }

  void FinishFlush() {
    has_ended_ = true;
    alive_.reset();
    counts_.ended += waiting();
    while (!queue_.empty()) queue_.Drop();
    retries_.clear();
    for (OwnedTimer* timer : {&retry_timer_, &finish_timer_, &refresh_timer_, &flush_timer_}) {
      timer->Stop();
    }
    executor_.Post(std::exchange(flushed_, nullptr));
  }

  Transport& transport_;
  Executor& executor_;
  const Clock& wall_;
  const Options options_;
  const Log log_;
  SplitMix64 random_;
  FairQueue<SeriesRef> queue_;
  std::multimap<int64_t, std::string> retries_;             // Keys in the queue, by time.
  std::unordered_map<std::string_view, SeriesRef> series_;  // By Series::key.
  std::list<SeriesRef> by_age_;         // The series whose last event is the oldest comes first.
  std::unordered_set<uint64_t> known_;  // Hashes of the subjects of events that were accepted.
  size_t in_flight_ = 0;
  int64_t last_name_ns_ = 0;   // The number in the last name.
  uint32_t last_refusal_ = 0;  // The HTTP status that was logged last.
  Counts counts_;
  OwnedTimer retry_timer_;
  OwnedTimer finish_timer_;
  OwnedTimer refresh_timer_;
  OwnedTimer flush_timer_;
  std::function<void()> flushed_;
  bool is_flushing_ = false;  // Flush() was called.
  bool has_ended_ = false;    // Flush() is over.
  // Expires at the end of Flush(), and when this object is destroyed: answers that come later are
  // ignored.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace

std::unique_ptr<EventSender> EventSender::Create(Transport& transport, Executor& executor,
                                                 const Clock& wall, Options options, Log log) {
  return std::make_unique<SeriesSender>(transport, executor, wall, std::move(options), log);
}

}  // namespace berth::host

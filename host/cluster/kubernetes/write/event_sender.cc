#include "host/cluster/kubernetes/write/event_sender.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/base/assert.h"
#include "host/base/text.h"
#include "host/cluster/kubernetes/http/api_error.h"
#include "host/cluster/kubernetes/http/retry_delay.h"
#include "host/cluster/kubernetes/write/request_bodies.h"

namespace berth::host {
namespace {

// The most bytes of a reportingInstance. (kube-apiserver: pkg/apis/core/validation/events.go)
constexpr size_t kMaxInstanceBytes = 128;
// client-go: tools/events/event_broadcaster.go, recordToSink.
constexpr double kRetryJitter = 0.25;

void AppendKeyPart(std::string& key, std::string_view part) {
  key.append(std::to_string(part.size())).append(1, ':').append(part);
}

void AppendKeyParts(std::string& key, const ObjectReference& reference) {
  for (const std::string* part : {&reference.api_version, &reference.kind, &reference.ns,
                                  &reference.name, &reference.uid, &reference.resource_version}) {
    AppendKeyPart(key, *part);
  }
}

// Removes the first part from the key.
std::string TakeKeyPart(std::string_view& key) {
  size_t size = 0;
  const char* const end = std::from_chars(key.data(), key.data() + key.size(), size).ptr;
  const auto begin = static_cast<size_t>(end - key.data()) + 1;
  BERTH_ASSERT(begin + size <= key.size());
  std::string part(key.substr(begin, size));
  key.remove_prefix(begin + size);
  return part;
}

ObjectReference TakeKeyParts(std::string_view& key) {
  // The members are initialised in this order.
  return {.api_version = TakeKeyPart(key),
          .kind = TakeKeyPart(key),
          .ns = TakeKeyPart(key),
          .name = TakeKeyPart(key),
          .uid = TakeKeyPart(key),
          .resource_version = TakeKeyPart(key)};
}

}  // namespace

// Thousands of series wait for repetitions, nearly always in vain, and a thousand events may wait
// for a connection. A series has an event only while a request of it is under way: the key, the
// note and the time are the same facts in half of the memory.
struct EventSender::Series {
  std::string key;               // Empty as long as nothing needs it.
  std::unique_ptr<Event> event;  // The first one; null: in the key and in the next two.
  std::string note;
  int64_t first_ns = 0;
  std::string name;
  int32_t count = 1;
  int64_t last_ns = 0;     // The time of the last event, for its text.
  int64_t active_ns = 0;   // The executor's time of the last event.
  int32_t written = 0;     // The count that the server has; 0: the event was not created.
  int32_t sent = 0;        // The count in the request under way.
  uint32_t tries = 0;      // How often the request that waits or is under way was sent.
  bool is_busy = false;    // A request waits or is under way.
  bool is_listed = false;  // In `series_`: further events belong to it.
  std::list<SeriesRef>::iterator age;

  EventSeries Repetitions() const { return {count, last_ns}; }
  const Event& UseEvent();
  void CompactEvent();
};

const Event& EventSender::Series::UseEvent() {
  if (event != nullptr) return *event;
  event = std::make_unique<Event>();
  std::string_view rest = key;
  for (std::string* part : {&event->type, &event->action, &event->reason,
                            &event->reporting_controller, &event->reporting_instance}) {
    *part = TakeKeyPart(rest);
  }
  event->regarding = TakeKeyParts(rest);
  if (!rest.empty()) event->related = TakeKeyParts(rest);
  event->note = std::move(note);
  event->time_ns = first_ns;
  return *event;
}

void EventSender::Series::CompactEvent() {
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

EventSender::EventSender(Transport& transport, Executor& executor, const Clock& wall,
                         Options options, Log log)
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
  BERTH_ASSERT(options_.queue > 0 && options_.in_flight > 0 && options_.max_series > 0);
}

EventSender::~EventSender() = default;

void EventSender::Send(Event event) {
  if (has_ended_) {
    ++counts_.dropped;
    return;
  }
  Complete(event);
  if (event.is_unique) return Enqueue(NewSeries(std::move(event)));
  std::string key = KeyOf(event);
  const auto found = series_.find(key);
  if (found == series_.end()) return AddSeries(std::move(key), std::move(event));
  Repeat(SeriesRef(found->second), event.time_ns);
}

std::string EventSender::KeyOf(const Event& event) {
  std::string key;
  for (const std::string* part : {&event.type, &event.action, &event.reason,
                                  &event.reporting_controller, &event.reporting_instance}) {
    AppendKeyPart(key, *part);
  }
  AppendKeyParts(key, event.regarding);
  if (event.related) AppendKeyParts(key, *event.related);
  return key;
}

void EventSender::Complete(Event& event) {
  if (event.time_ns == 0) event.time_ns = wall_.NowNs();
  const bool is_given =
      !event.reporting_instance.empty() && event.reporting_instance != event.reporting_controller;
  if (is_given || options_.host_name.empty()) return;
  event.reporting_instance =
      Truncate(event.reporting_controller + "-" + options_.host_name, kMaxInstanceBytes, "");
}

// ---- Series -------------------------------------------------------------------------------------

EventSender::SeriesRef EventSender::NewSeries(Event event) {
  // Two events of one object at the same time have different names.
  last_name_ns_ = std::max(event.time_ns, last_name_ns_ + 1);
  auto series = std::make_shared<Series>();
  series->name = EventName(event, last_name_ns_);
  series->last_ns = event.time_ns;
  series->active_ns = executor_.NowNs();
  series->event = std::make_unique<Event>(std::move(event));
  return series;
}

void EventSender::AddSeries(std::string key, Event event) {
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

void EventSender::Repeat(const SeriesRef& series, int64_t time_ns) {
  ++counts_.repeated;
  if (series->count < std::numeric_limits<int32_t>::max()) ++series->count;
  series->last_ns = std::max(series->last_ns, time_ns);
  series->active_ns = executor_.NowNs();
  by_age_.splice(by_age_.end(), by_age_, series->age);
  if (series->count == 2) Enqueue(series);
}

void EventSender::EndSeries(const SeriesRef& series) {
  ForgetSeries(series);
  // If a request is under way, its answer continues here.
  if (series->written < series->count) Enqueue(series);
}

void EventSender::ForgetSeries(const SeriesRef& series) {
  if (!std::exchange(series->is_listed, false)) return;
  by_age_.erase(series->age);
  series_.erase(series->key);
}

void EventSender::EndOldSeries() {
  const int64_t now_ns = executor_.NowNs();
  while (!by_age_.empty() && by_age_.front()->active_ns + options_.finish_ns <= now_ns) {
    EndSeries(SeriesRef(by_age_.front()));
  }
  StartTimers();
}

void EventSender::Refresh() {
  // Without references into the list, because a full queue may remove series.
  const std::vector<SeriesRef> all(by_age_.begin(), by_age_.end());
  for (const SeriesRef& series : all) {
    if (series->written > 0 && series->written < series->count) Enqueue(series);
  }
}

void EventSender::StartTimers() {
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

// ---- Requests -----------------------------------------------------------------------------------

void EventSender::Enqueue(const SeriesRef& series) {
  if (has_ended_ || series->is_busy) return;
  if (waiting() >= options_.queue) DropOldest();
  series->is_busy = true;
  series->tries = 0;
  queue_.push_back(series);
  SendNext();
  const bool waits = !queue_.empty() && queue_.back() == series;
  if (waits) series->CompactEvent();
}

void EventSender::DropOldest() {
  SeriesRef oldest;
  if (!retries_.empty()) {
    oldest = std::move(retries_.begin()->second);
    retries_.erase(retries_.begin());
  } else {
    oldest = std::move(queue_.front());
    queue_.pop_front();
  }
  if (counts_.dropped % 1000 == 0) {
    log_.Warning("Events are dropped because too many wait",
                 {{"waiting", std::to_string(waiting() + 1)}});
  }
  GiveUp(oldest, counts_.dropped);
}

void EventSender::GiveUp(const SeriesRef& series, uint64_t& counter) {
  ++counter;
  series->is_busy = false;
  if (series->is_listed) series->CompactEvent();
  // The next event with this key is the first one for the server.
  if (series->written == 0) ForgetSeries(series);
}

void EventSender::SendNext() {
  while (!has_ended_ && in_flight_ < options_.in_flight && !queue_.empty()) {
    const SeriesRef series = std::move(queue_.front());
    queue_.pop_front();
    SendOne(series);
  }
}

void EventSender::SendOne(const SeriesRef& series) {
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

void EventSender::OnAnswer(const SeriesRef& series, const HttpResponse& response,
                           bool was_refused) {
  --in_flight_;
  const bool is_creation = series->written == 0;
  const ErrorCode code = StatusOf(response).code();
  if (code == ErrorCode::kOk || (is_creation && code == ErrorCode::kAlreadyExists)) {
    OnStored(series);
  } else if (was_refused) {
    GiveUp(series, counts_.refused);
  } else if (!is_creation && code == ErrorCode::kNotFound && !has_ended_) {
    // The server keeps events for an hour only.
    series->written = 0;
    queue_.push_front(series);
  } else {
    OnFailed(series, response);
  }
  SendNext();
  FinishFlushIfEmpty();
}

void EventSender::OnStored(const SeriesRef& series) {
  ++counts_.sent;
  last_refusal_ = 0;
  series->written = series->sent;
  if (series->is_listed) series->CompactEvent();
  series->is_busy = false;
  if (series->written == series->count) return;
  // The first repetition is written at once, and the last count of a series that has ended.
  if (series->written == 1 || !series->is_listed || is_flushing_) Enqueue(series);
}

void EventSender::OnFailed(const SeriesRef& series, const HttpResponse& response) {
  if (RetryClassOf(response) != RetryClass::kFinal) {
    return TryLater(series, response.head.retry_after_ns);
  }
  LogRefusal(*series, response);
  GiveUp(series, counts_.refused);
}

void EventSender::LogRefusal(Series& series, const HttpResponse& response) {
  // One record for each kind of refusal in turn: without permission, every event is refused.
  if (std::exchange(last_refusal_, response.head.http_status) == response.head.http_status) return;
  if (ReadServerStatus(response.body).cause == "NamespaceTerminating") return;
  const Event& event = series.UseEvent();
  log_.Error(
      "The server refused an event", StatusOf(response).message(),
      {{"object", event.regarding.ns + "/" + event.regarding.name}, {"reason", event.reason}});
}

void EventSender::TryLater(const SeriesRef& series, int64_t at_least_ns) {
  if (has_ended_ || is_flushing_ || series->tries >= options_.tries) {
    return GiveUp(series, counts_.refused);
  }
  if (waiting() >= options_.queue) return GiveUp(series, counts_.dropped);
  const double random = static_cast<double>(random_.Next() >> 11) * 0x1p-53;
  const auto delay_ns =
      static_cast<int64_t>(static_cast<double>(options_.retry_ns) * (1 + kRetryJitter * random));
  series->CompactEvent();
  retries_.emplace(executor_.NowNs() + std::max(delay_ns, LimitRetryAfterNs(at_least_ns)), series);
  StartRetryTimer();
}

void EventSender::RunRetries() {
  while (!retries_.empty() && retries_.begin()->first <= executor_.NowNs()) {
    queue_.push_back(std::move(retries_.begin()->second));
    retries_.erase(retries_.begin());
  }
  StartRetryTimer();
  SendNext();
}

void EventSender::StartRetryTimer() {
  retry_timer_.Stop();
  if (retries_.empty()) return;
  retry_timer_.StartAt(retries_.begin()->first, [this] { RunRetries(); });
}

// ---- Flush --------------------------------------------------------------------------------------

void EventSender::Flush(int64_t limit_ns, std::function<void()> done) {
  BERTH_ASSERT(!is_flushing_);
  is_flushing_ = true;
  flushed_ = std::move(done);
  for (auto& [at_ns, series] : retries_) queue_.push_back(std::move(series));
  retries_.clear();
  Refresh();
  flush_timer_.StartAfter(limit_ns, [this] { FinishFlush(); });
  SendNext();
  FinishFlushIfEmpty();
}

void EventSender::FinishFlushIfEmpty() {
  if (is_flushing_ && !has_ended_ && queue_.empty() && in_flight_ == 0) FinishFlush();
}

void EventSender::FinishFlush() {
  has_ended_ = true;
  alive_.reset();
  counts_.dropped += waiting();
  queue_.clear();
  retries_.clear();
  for (OwnedTimer* timer : {&retry_timer_, &finish_timer_, &refresh_timer_, &flush_timer_}) {
    timer->Stop();
  }
  executor_.Post(std::exchange(flushed_, nullptr));
}

}  // namespace berth::host

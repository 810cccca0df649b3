#include "host/process/replay/stream_driver.h"

#include <simdjson.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/assert.h"
#include "host/base/json_text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/process/assemble/input_files.h"

namespace berth::host {
namespace {

// In real time, at most this many events are applied before the scheduler runs.
constexpr size_t kMaxEventsAtOnce = 1000;
// At most this many steps without an attempt are made at one virtual time while a recording is
// followed. It is more than the 32 steps after which SchedulingLoop::Step() tries a pod.
constexpr uint32_t kMaxRounds = 64;
// About 95 years. Later times do not fit into a timestamp.
constexpr int64_t kLongestRunNs = 3'000'000'000 * kSecond;

// Removes the white space, so that the object is on one line.
std::string Minify(std::string_view json) {
  std::string text(json.size() + simdjson::SIMDJSON_PADDING, '\0');
  size_t size = 0;
  const auto error = simdjson::minify(json.data(), json.size(), text.data(), size);
  BERTH_ASSERT_MSG(!error, "%s", simdjson::error_message(error));
  text.resize(size);
  return text;
}

}  // namespace

// ---- Recording ----------------------------------------------------------------------------------

Result<Recording> Recording::Create(const std::string& path) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return SystemError(path, errno);
  return Recording(path, std::move(file));
}

Recording::Recording(std::string path, std::ofstream file)
    : path_(std::move(path)), file_(std::move(file)) {}

void Recording::AddEvent(StreamType type, int64_t after_ns, std::string_view object_json) {
  file_ << R"({"type":")" << StreamTypeName(type) << '"';
  if (after_ns > 0) file_ << R"(,"after":")" << FormatDuration(after_ns) << '"';
  file_ << R"(,"object":)" << Minify(object_json) << "}\n";
}

void Recording::AddAttempt(int64_t after_ns) { AddEvent(StreamType::kAttempt, after_ns, "{}"); }

void Recording::AddDecision(const DecisionLine& line) {
  file_ << R"({"type":"DECISION","object":)" << DumpJson(ToJson(line)) << "}\n";
}

Status Recording::Flush() {
  if (file_.flush()) return {};
  return Status::Unavailable(path_ + ": the recording could not be written");
}

// ---- StreamDriver -------------------------------------------------------------------------------

Status StreamDriver::Run(const Collaborators& used) {
  used_ = used;
  last_due_ns_ = recorded_ns_ = used_.reporter->start_ns();
  stream_ended_ = used_.feed == nullptr;
  RunRounds();
  next_.reset();  // Its object must not outlive the scheduler.
  return error_;
}

bool StreamDriver::RunRound() {
  if (!is_stopping()) StopOnError(ApplyDueEvents());
  if (!is_stopping()) BeforeStep();
  if (FollowRecording() || SkipToNextChange()) return true;
  const bool did = Step() && !(is_virtual() && used_.scheduler->BusyAdvanceNs() > 0);
  used_.reporter->ReportWaitingPods();
  // A request to stop wakes the waker once, and FetchEvent() may have consumed that.
  const bool has_more = !is_stopping() && (has_due_events_ || is_stop_requested());
  return did || has_more || IsFinished();
}

void StreamDriver::StopOnError(Status status) {
  if (status.ok()) return;
  if (error_.ok()) error_ = std::move(status);
  StopOnce();
}

void StreamDriver::OnStop() { used_.scheduler->loop().Stop(); }

// ---- The stream ---------------------------------------------------------------------------------

Status StreamDriver::ApplyDueEvents() {
  const int64_t now_ns = used_.clock->NowNs();
  has_due_events_ = false;
  for (size_t count = 0; is_virtual() || count < kMaxEventsAtOnce; ++count) {
    if (!next_.has_value()) {
      if (Status status = FetchEvent(); !status.ok()) return status;
    }
    has_attempts_ |= IsNextAnAttempt();
    if (!next_.has_value() || next_->due_ns > now_ns || is_stop_requested()) return {};
    if (is_virtual() && IsNextAnAttempt()) return {};
    ApplyNext(now_ns);
  }
  has_due_events_ = true;
  return {};
}

// Virtual time must not pass before the next event is known, so this waits for it.
Status StreamDriver::FetchEvent() {
  PendingEvent next;
  while (!stream_ended_) {
    switch (used_.feed->Take(next.text)) {
      case EventFeed::Next::kObject: return ReadEvent(std::move(next));
      case EventFeed::Next::kEnd: stream_ended_ = true; break;
      case EventFeed::Next::kFailed: return used_.feed->error();
      case EventFeed::Next::kNothingYet:
        if (!is_virtual()) return {};
        Flush();
        if (is_stop_requested() || is_stopping()) return {};
        waker().Wait(INT64_MAX);
        if (!is_stop_requested()) BeforeStep();
    }
  }
  return {};
}

Status StreamDriver::ReadEvent(PendingEvent next) {
  Result<StreamEvent> event = ReadStreamEvent(next.text, used_.scheduler->cluster().decoder());
  if (event.ok()) {
    has_event_ = true;
    next.event = std::move(event).value();
  } else if (has_event_ && event.status().code() == ErrorCode::kUnsupported) {
    next.event.rejection = std::move(event).status();
  } else {
    return used_.feed->Locate(event.status());
  }
  if (next.event.after_ns > used_.reporter->start_ns() + kLongestRunNs - last_due_ns_) {
    next.event = StreamEvent();
    next.event.rejection =
        PlaceInEvent(next.text, Status::OutOfRange("/after: expected a stream of at most 95 years, "
                                                   "found a longer one"));
  }
  next.due_ns = last_due_ns_ + next.event.after_ns;
  next_ = std::move(next);
  return {};
}

void StreamDriver::Reject(const Status& why) {
  ++rejected_;
  if (rejected_ > kMaxReported) return;
  used_.log.Error(std::string(used_.feed->Locate(why).message()) + "; the event is skipped", {});
  if (rejected_ == kMaxReported) {
    used_.log.Error(std::to_string(kMaxReported) +
                        " events were rejected; further ones are counted, but not reported",
                    {});
  }
}

void StreamDriver::ApplyNext(int64_t now_ns) {
  const PendingEvent next = std::move(*next_);
  next_.reset();
  // An event without `after` is applied when it comes; the next one is counted from that time.
  last_due_ns_ = next.event.after_ns > 0 ? next.due_ns : std::max(next.due_ns, now_ns);
  const StreamEvent& event = next.event;
  if (!event.rejection.ok()) return Reject(event.rejection);
  if (!HasObject(event.type)) return;
  const Result<bool> changed = used_.scheduler->Apply(event);
  if (!changed.ok()) return Reject(PlaceInEvent(next.text, changed.status()));
  ++events_;
  if (used_.recording != nullptr) {
    used_.recording->AddEvent(event.type, now_ns - recorded_ns_, event.object_json);
    recorded_ns_ = now_ns;
  }
}

// ---- Time ---------------------------------------------------------------------------------------

bool StreamDriver::IsDone() {
  if (!IsFinished()) return false;
  return is_stopping() || used_.scheduler->IsRunaway() || !used_.scheduler->TryParkedAgain();
}

bool StreamDriver::IsFinished() {
  if (is_stopping()) return used_.scheduler->loop().binding_count() == 0;
  if (!stream_ended_ || next_.has_value()) return false;
  if (used_.scheduler->IsRunaway()) return has_reached_limit_ = true;
  const bool has_nothing_to_do =
      (used_.scheduler->AtRest() && !HasRetries()) || used_.scheduler->IsStalled();
  if (!has_nothing_to_do) return false;
  const PluginWait::Awaited awaited = used_.scheduler->Awaited();
  has_reached_limit_ = awaited == PluginWait::Awaited::kLimitReached;
  return awaited != PluginWait::Awaited::kPlugins;
}

bool StreamDriver::IsNextAnAttempt() const {
  return next_.has_value() && next_->event.rejection.ok() &&
         next_->event.type == StreamType::kAttempt;
}

bool StreamDriver::FollowRecording() {
  if (!is_virtual() || !has_attempts_ || is_stopping() || !next_.has_value()) return false;
  const int64_t now_ns = used_.clock->NowNs();
  if (next_->due_ns <= now_ns) return !IsNextAnAttempt();
  // A plugin that always requests something must not stop the time.
  if (++rounds_ < kMaxRounds && used_.scheduler->Settle()) return true;
  if (used_.scheduler->WaitForThreads(waker())) return true;
  rounds_ = 0;
  const std::optional<int64_t> timer_ns = used_.scheduler->NextTimerNs();
  const bool is_sooner = timer_ns.has_value() && *timer_ns > now_ns && *timer_ns < next_->due_ns;
  used_.virtual_clock->AdvanceTo(is_sooner ? *timer_ns : next_->due_ns);
  return true;
}

bool StreamDriver::Step() {
  const uint64_t attempts = used_.scheduler->loop().attempts();
  bool did = used_.scheduler->Step();
  // The attempt saw the events that were due until now. Events that are due later come after it in
  // the recording.
  const int64_t now_ns = used_.clock->NowNs();
  const bool did_try = used_.scheduler->loop().attempts() > attempts;
  const bool is_awaited = is_virtual() && IsNextAnAttempt();
  const bool is_recorded = used_.recording != nullptr && (!is_virtual() || has_attempts_) &&
                           !used_.scheduler->has_tried_parked_again();
  if (did_try && is_recorded) {
    used_.recording->AddAttempt(now_ns - recorded_ns_);
    recorded_ns_ = now_ns;
  }
  if (!is_awaited) return did;
  if (!did_try) did = ++rounds_ < kMaxRounds && (did || used_.scheduler->WaitForThreads(waker()));
  // The event is over when its attempt was made. With other profiles or plugins than in the
  // recorded run there may be no pod to try.
  if (did_try || !did) {
    rounds_ = 0;
    ApplyNext(now_ns);
  }
  return true;
}

// Attempts take no virtual time, so that pods which are always requeued at once could keep the next
// event from ever being due.
bool StreamDriver::SkipToNextChange() {
  if (!is_virtual() || is_stopping() || !used_.scheduler->IsStalled()) return false;
  if (used_.scheduler->WaitForAnnouncedWork(waker())) return true;
  std::optional<int64_t> to_ns;
  if (used_.scheduler->loop().plugin_work().NextTimerNs().has_value()) {
    // Only plugins can change anything: no pod is tried until a timer has fired.
    const int64_t busy_ns = used_.scheduler->BusyAdvanceNs();
    if (busy_ns == 0 && used_.scheduler->Settle()) return true;
    to_ns = used_.scheduler->NextTimerNs();
    if (busy_ns > 0) to_ns = used_.clock->NowNs() + busy_ns;
  }
  if (next_.has_value()) to_ns = std::min(to_ns.value_or(next_->due_ns), next_->due_ns);
  if (!to_ns.has_value() || *to_ns <= used_.clock->NowNs()) return false;
  used_.virtual_clock->AdvanceTo(*to_ns);
  return true;
}

bool StreamDriver::HasRetries() const {
  const SchedulingQueue& queue = used_.scheduler->loop().queue();
  if (queue.CountIn(QueuePlace::kErrorBackoff) == 0) return false;
  bool found = false;
  queue.ForEach([&found](const QueuedEntity& entity) {
    found |= entity.place == QueuePlace::kErrorBackoff && entity.error_count < kMaxErrors;
  });
  return found;
}

void StreamDriver::Flush() {
  Driver::Flush();
  if (used_.recording != nullptr) StopOnError(used_.recording->Flush());
}

void StreamDriver::Wait() {
  std::optional<int64_t> until_ns = used_.scheduler->NextStepNs();
  const int64_t busy_ns = is_virtual() ? used_.scheduler->BusyAdvanceNs() : 0;
  if (busy_ns > 0) until_ns = used_.clock->NowNs() + busy_ns;
  if (next_.has_value()) until_ns = std::min(until_ns.value_or(next_->due_ns), next_->due_ns);
  const int64_t wait_ns = until_ns.has_value() ? *until_ns - used_.clock->NowNs() : INT64_MAX;
  // In real time, the limit of threads begins when nothing but them keeps the run from ending.
  if (!is_stopping() && (is_virtual() || (stream_ended_ && !next_.has_value()))) {
    const int64_t most_ns = is_virtual() ? INT64_MAX : wait_ns;
    if (used_.scheduler->WaitForAnnouncedWork(waker(), most_ns) || IsFinished()) return;
  }
  if (is_virtual() && used_.scheduler->WaitForThreads(waker())) return;
  if (!until_ns.has_value() || !is_virtual()) {
    waker().Wait(wait_ns);
    return;
  }
  used_.virtual_clock->AdvanceTo(std::max(*until_ns, used_.clock->NowNs()));
  if (next_.has_value()) used_.scheduler->OnProgress();  // The next event comes closer.
}

}  // namespace berth::host

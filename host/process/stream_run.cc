#include "host/process/stream_run.h"

#include <algorithm>
#include <utility>

namespace berth::host {
namespace {

// So many lines are applied at once where time is real: then the scheduler has its turn.
constexpr size_t kMaxLinesAtOnce = 1000;
// Some hundred years: what is later does not fit into a timestamp.
constexpr int64_t kLongestRunNs = int64_t{3'000'000'000} * 1'000'000'000;

}  // namespace

Status StreamRun::Run() {
  last_due_ns_ = recorded_ns_ = parts_.log->start_ns();
  stream_ended_ = parts_.feed == nullptr;
  while (!IsDone()) {
    if (ShallStop()) Stop();
    if (!stopping_) Note(TakeLines());
    if (parts_.before_step && !stopping_) parts_.before_step();
    const bool did = parts_.scheduler->Step();
    parts_.log->AfterStep();
    // Who asks to stop wakes once, and FetchLine() may have been woken.
    const bool has_more = !stopping_ && (lines_left_ || ShallStop());
    if (!did && !has_more && !IsDone()) Wait();
  }
  Note(Flush());
  return error_;
}

void StreamRun::Note(Status status) {
  if (status.ok()) return;
  if (error_.ok()) error_ = std::move(status);
  Stop();
}

void StreamRun::Stop() {
  if (std::exchange(stopping_, true)) return;
  parts_.scheduler->loop().Stop();
}

// ---- The stream ---------------------------------------------------------------------------------

Status StreamRun::TakeLines() {
  const int64_t now_ns = parts_.clock->NowNs();
  lines_left_ = false;
  for (size_t count = 0; is_virtual() || count < kMaxLinesAtOnce; ++count) {
    if (!next_.has_value()) {
      if (Status status = FetchLine(); !status.ok()) return status;
    }
    if (!next_.has_value() || next_->due_ns > now_ns || ShallStop()) return {};
    if (Status status = ApplyLine(now_ns); !status.ok()) return status;
  }
  lines_left_ = true;
  return {};
}

// Virtual time must not pass before the next line is known: it is waited for.
Status StreamRun::FetchLine() {
  NextLine line;
  while (!stream_ended_) {
    switch (parts_.feed->Take(line.text)) {
      case EventFeed::Next::kObject: return ReadLine(std::move(line));
      case EventFeed::Next::kEnd: stream_ended_ = true; break;
      case EventFeed::Next::kFailed: return parts_.feed->error();
      case EventFeed::Next::kNothingYet:
        if (!is_virtual()) return {};
        if (Status status = Flush(); !status.ok()) return status;
        if (ShallStop()) return {};
        parts_.waker->Wait(INT64_MAX);
        if (parts_.before_step && !ShallStop()) parts_.before_step();
    }
  }
  return {};
}

Status StreamRun::ReadLine(NextLine line) {
  Result<StreamEvent> event = ReadStreamEvent(line.text, parts_.scheduler->decoder());
  if (!event.ok()) return parts_.feed->Locate(event.status());
  line.event = std::move(event).value();
  if (line.event.after_ns > parts_.log->start_ns() + kLongestRunNs - last_due_ns_) {
    return parts_.feed->Locate(
        {ErrorCode::kOutOfRange,
         std::to_string(line.text.line) + ": /after: the stream would be longer than 95 years"});
  }
  line.due_ns = last_due_ns_ + line.event.after_ns;
  next_ = std::move(line);
  return {};
}

Status StreamRun::ApplyLine(int64_t now_ns) {
  const NextLine line = std::move(*next_);
  next_.reset();
  // A line that comes when it comes is the beginning of what is counted from there.
  last_due_ns_ = line.event.after_ns > 0 ? line.due_ns : std::max(line.due_ns, now_ns);
  const StreamEvent& event = line.event;
  if (event.type == StreamType::kBookmark || event.type == StreamType::kDecision) return {};
  const Result<bool> changed = parts_.scheduler->Apply(event);
  if (!changed.ok()) {
    return parts_.feed->Locate(changed.status().Annotate(std::to_string(line.text.line)));
  }
  ++events_;
  if (parts_.recording != nullptr) {
    parts_.recording->AddEvent(event.type, now_ns - recorded_ns_, event.object_json);
    recorded_ns_ = now_ns;
  }
  return {};
}

// ---- Time ---------------------------------------------------------------------------------------

bool StreamRun::IsDone() const {
  if (stopping_) return parts_.scheduler->loop().in_flight() == 0;
  return stream_ended_ && !next_.has_value() && parts_.scheduler->AtRest() && !HasRetries();
}

bool StreamRun::HasRetries() const {
  const SchedulingQueue& queue = parts_.scheduler->loop().queue();
  if (queue.CountIn(QueuePlace::kErrorBackoff) == 0) return false;
  bool found = false;
  queue.ForEach([&found](const QueuedEntity& entity) {
    found |= entity.place == QueuePlace::kErrorBackoff && entity.error_count < kMaxErrors;
  });
  return found;
}

Status StreamRun::Flush() {
  if (parts_.flush) parts_.flush();
  return parts_.recording != nullptr ? parts_.recording->Flush() : Status();
}

void StreamRun::Wait() {
  const bool was_stopping = stopping_;
  Note(Flush());
  if (!was_stopping && (stopping_ || ShallStop())) return;  // Run() looks again.
  if (is_virtual() && parts_.scheduler->WaitForThreads(*parts_.waker)) return;
  std::optional<int64_t> until_ns = parts_.scheduler->NextStepNs();
  if (next_.has_value()) until_ns = std::min(until_ns.value_or(next_->due_ns), next_->due_ns);
  if (!until_ns.has_value()) {
    parts_.waker->Wait(INT64_MAX);
  } else if (is_virtual()) {
    parts_.virtual_clock->AdvanceTo(std::max(*until_ns, parts_.clock->NowNs()));
  } else {
    parts_.waker->Wait(*until_ns - parts_.clock->NowNs());
  }
}

}  // namespace berth::host

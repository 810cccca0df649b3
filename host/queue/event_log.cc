#include "host/queue/event_log.h"

#include <algorithm>
#include <utility>

namespace berth::host {

void EventLog::Start(QueueEntry& entry) {
  BERTH_ASSERT(!entry.is_recording);
  entry.is_recording = true;
  entry.recording = ++recordings_;
  entry.log_start = first_ + records_.size();
  recorders_.PushBack(entry);
  CountRecorders();
}

void EventLog::StartFrom(QueueEntry& other, QueueEntry& entry) {
  BERTH_ASSERT(!entry.is_recording);
  if (!other.is_recording) return;
  entry.is_recording = true;
  entry.recording = ++recordings_;
  entry.log_start = other.log_start;
  recorders_.InsertAfter(other, entry);
  CountRecorders();
}

void EventLog::Stop(QueueEntry& entry) {
  if (!entry.is_recording) return;
  entry.is_recording = false;
  recorders_.Remove(entry);
  CountRecorders();
  Trim();
}

void EventLog::Append(const QueueEvent& event, PluginBits plugins, const EntityFilter* filter) {
  if (recorders_.empty()) return;
  Record record{.event = event, .only = 0, .except = {}, .counted = nullptr};
  if (filter != nullptr) {
    for (const QueueEntry* entry = recorders_.front(); entry != nullptr; entry = entry->next) {
      if (!(*filter)(entry->entity)) record.except.push_back(entry->recording);
    }
    if (record.except.size() == recorders_.size()) return;
  }
  Add(std::move(record), plugins);
}

void EventLog::AppendFor(const QueueEntry& entry, const QueueEvent& event, PluginBits plugins) {
  if (entry.is_recording)
    Add({.event = event, .only = entry.recording, .except = {}, .counted = nullptr}, plugins);
}

void EventLog::PolicyChanged() { std::ranges::fill(registered_, kAllPlugins); }

void EventLog::Add(Record record, PluginBits plugins) {
  if (meter_ != nullptr) {
    record.counted = &meter_->InflightEventsOf(EventLabel(record.event));
    record.counted->Add(1);
  }
  records_.push_back(std::move(record));
  registered_.push_back(plugins);
  if (records_.size() <= max_events_) return;
  DropOldest();
  while (!recorders_.empty() && recorders_.front()->log_start < first_) {
    recorders_.front()->is_recording = false;
    recorders_.Remove(*recorders_.front());
  }
  CountRecorders();
  Trim();
}

void EventLog::Trim() {
  const uint64_t seen =
      recorders_.empty() ? first_ + records_.size() : recorders_.front()->log_start;
  while (first_ < seen) DropOldest();
}

// kube-scheduler counts the marker of each pod in flight as an event "PodPopped".
void EventLog::CountRecorders() {
  if (meter_ == nullptr) return;
  meter_->InflightEventsOf(QueueMeter::kPodPopped).Set(static_cast<int64_t>(recorders_.size()));
}

void EventLog::DropOldest() {
  if (Gauge* counted = records_.front().counted; counted != nullptr) counted->Add(-1);
  records_.pop_front();
  registered_.pop_front();
  ++first_;
}

void EventLog::CheckInvariants() const {
  BERTH_ASSERT(records_.size() <= max_events_ && registered_.size() == records_.size());
  BERTH_ASSERT(records_.empty() || !recorders_.empty());
  uint64_t start = first_;
  for (const QueueEntry* entry = recorders_.front(); entry != nullptr; entry = entry->next) {
    BERTH_ASSERT(entry->is_recording && entry->log_start >= start);
    BERTH_ASSERT(entry->entity.place == QueuePlace::kInFlight);
    start = entry->log_start;
  }
  BERTH_ASSERT(recorders_.empty() || recorders_.front()->log_start == first_);
}

}  // namespace berth::host

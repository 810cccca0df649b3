#include "host/runtime/done.h"

#include <mutex>
#include <shared_mutex>
#include <utility>

#include "host/base/assert.h"
#include "host/runtime/handle.h"

namespace berth::host {

berth_done* Promises::Open(Answer answer, Kind kind) {
  BERTH_ASSERT(answer != nullptr);
  const std::scoped_lock lock(mutex_);
  Entry* fresh = nullptr;
  if (free_count_ < kRestingEntries) {
    fresh = entries_.emplace_back(std::make_unique<Entry>()).get();
    fresh->table = this;
  }
  Entry& entry = fresh != nullptr ? *fresh : PopFree();
  entry.is_open = true;
  entry.kind = kind;
  entry.answer = std::move(answer);
  return HandleOf<berth_done>(entry);
}

void Promises::PushFree(Entry& entry) {
  entry.next_free = nullptr;
  if (last_free_ != nullptr) {
    last_free_->next_free = &entry;
  } else {
    first_free_ = &entry;
  }
  last_free_ = &entry;
  ++free_count_;
}

Promises::Entry& Promises::PopFree() {
  Entry& entry = *first_free_;
  first_free_ = entry.next_free;
  if (first_free_ == nullptr) last_free_ = nullptr;
  --free_count_;
  return entry;
}

Promises::Answer Promises::Take(berth_done* done) {
  Entry& entry = EntryOf<Entry>(done);
  if (!entry.is_open || HandleOf<berth_done>(entry) != done) return nullptr;
  entry.is_open = false;
  ++entry.generation;
  PushFree(entry);
  return std::exchange(entry.answer, nullptr);
}

bool Promises::Close(berth_done* done) {
  // Destroyed after the lock is released: what it holds may take locks.
  Answer answer;
  const std::scoped_lock lock(mutex_);
  answer = Take(done);
  return answer != nullptr;
}

std::vector<Promises::Answer> Promises::CloseAll() {
  std::vector<Answer> answers;
  const std::unique_lock answering(answering_);
  const std::scoped_lock lock(mutex_);
  for (const auto& entry : entries_) {
    if (entry->is_open) answers.push_back(Take(HandleOf<berth_done>(*entry)));
  }
  return answers;
}

void Promises::DisallowBind(berth_done* done) {
  Entry& entry = EntryOf<Entry>(done);
  const std::scoped_lock lock(mutex_);
  if (entry.is_open && HandleOf<berth_done>(entry) == done) entry.kind = Kind::kOther;
}

void Promises::Complete(berth_done* done, berth_code code, std::string_view reason) {
  if (done == nullptr) return;
  Promises& table = *EntryOf<Entry>(done).table;
  const std::shared_lock answering(table.answering_);
  Answer answer;
  {
    const std::scoped_lock lock(table.mutex_);
    answer = table.Take(done);
  }
  if (answer) answer(code, reason);
}

bool Promises::IsOpenForBind(berth_done* done) {
  if (done == nullptr) return false;
  Entry& entry = EntryOf<Entry>(done);
  const std::scoped_lock lock(entry.table->mutex_);
  return entry.is_open && HandleOf<berth_done>(entry) == done && entry.kind == Kind::kBind;
}

Promises::Answer Promises::CompletionFor(berth_done* done) {
  return [table = EntryOf<Entry>(done).table->weak_from_this(), done](berth_code code,
                                                                      std::string_view reason) {
    if (const auto held = table.lock()) Complete(done, code, reason);
  };
}

size_t Promises::open_count() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size() - free_count_;
}

// ---- PromiseTables ------------------------------------------------------------------------------

std::shared_ptr<Promises> PromiseTables::Take(const std::string& owner) {
  auto& tables = tables_[owner];
  if (tables.empty()) return Promises::Make();
  std::shared_ptr<Promises> table = std::move(tables.back());
  tables.pop_back();
  return table;
}

void PromiseTables::GiveBack(const std::string& owner, std::shared_ptr<Promises> table) {
  BERTH_ASSERT(table->open_count() == 0);
  tables_[owner].push_back(std::move(table));
}

}  // namespace berth::host

#include "host/runtime/done.h"

#include <mutex>
#include <shared_mutex>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {

Promises::Place& Promises::PlaceOf(berth_done* done) {
  const size_t use = reinterpret_cast<uintptr_t>(done) % kUses;
  return *reinterpret_cast<Place*>(reinterpret_cast<std::byte*>(done) - use);
}

berth_done* Promises::HandleOf(Place& place) {
  return reinterpret_cast<berth_done*>(reinterpret_cast<std::byte*>(&place) + place.uses % kUses);
}

berth_done* Promises::Open(Answer answer, Of of) {
  BERTH_ASSERT(answer != nullptr);
  const std::scoped_lock lock(mutex_);
  Place* fresh = nullptr;
  if (free_count_ < kRestingPlaces) {
    fresh = places_.emplace_back(std::make_unique<Place>()).get();
    fresh->table = this;
  }
  Place& place = fresh != nullptr ? *fresh : PopFree();
  place.is_open = true;
  place.of = of;
  place.answer = std::move(answer);
  return HandleOf(place);
}

void Promises::PushFree(Place& place) {
  place.next_free = nullptr;
  if (last_free_ != nullptr) {
    last_free_->next_free = &place;
  } else {
    first_free_ = &place;
  }
  last_free_ = &place;
  ++free_count_;
}

Promises::Place& Promises::PopFree() {
  Place& place = *first_free_;
  first_free_ = place.next_free;
  if (first_free_ == nullptr) last_free_ = nullptr;
  --free_count_;
  return place;
}

Promises::Answer Promises::Take(berth_done* done) {
  Place& place = PlaceOf(done);
  if (!place.is_open || HandleOf(place) != done) return nullptr;
  place.is_open = false;
  ++place.uses;
  PushFree(place);
  return std::exchange(place.answer, nullptr);
}

bool Promises::Close(berth_done* done) {
  // Destroyed without the lock: who knows what it holds.
  Answer answer;
  const std::scoped_lock lock(mutex_);
  answer = Take(done);
  return answer != nullptr;
}

std::vector<Promises::Answer> Promises::CloseAll() {
  std::vector<Answer> answers;
  const std::unique_lock answering(answering_);
  const std::scoped_lock lock(mutex_);
  for (const auto& place : places_) {
    if (place->is_open) answers.push_back(Take(HandleOf(*place)));
  }
  return answers;
}

void Promises::Withdraw(berth_done* done) {
  Place& place = PlaceOf(done);
  const std::scoped_lock lock(mutex_);
  if (place.is_open && HandleOf(place) == done) place.of = Of::kAny;
}

void Promises::Complete(berth_done* done, berth_code code, std::string_view reason) {
  if (done == nullptr) return;
  Promises& table = *PlaceOf(done).table;
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
  Place& place = PlaceOf(done);
  const std::scoped_lock lock(place.table->mutex_);
  return place.is_open && HandleOf(place) == done && place.of == Of::kBind;
}

Promises::Answer Promises::Hold(berth_done* done) {
  return [table = PlaceOf(done).table->weak_from_this(), done](berth_code code,
                                                               std::string_view reason) {
    if (const auto held = table.lock()) Complete(done, code, reason);
  };
}

size_t Promises::open_count() const {
  const std::scoped_lock lock(mutex_);
  return places_.size() - free_count_;
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

#include "host/plan/promises.h"

#include <utility>

#include "host/base/assert.h"

namespace berth::host {

Promises::Id Promises::Open(Answer answer, Kind kind) {
  BERTH_ASSERT(answer != nullptr);
  const std::scoped_lock lock(mutex_);
  open_.emplace(++last_, Entry{std::move(answer), kind});
  return last_;
}

Promises::Answer Promises::Take(Id id) {
  auto node = open_.extract(id);
  return node.empty() ? nullptr : std::move(node.mapped().answer);
}

bool Promises::Close(Id id) {
  // Destroyed after the lock is released: what it holds may take locks.
  Answer answer;
  const std::scoped_lock lock(mutex_);
  answer = Take(id);
  return answer != nullptr;
}

std::vector<Promises::Answer> Promises::CloseAll() {
  std::vector<Answer> answers;
  const std::unique_lock answering(answering_);
  const std::scoped_lock lock(mutex_);
  answers.reserve(open_.size());
  for (auto& [id, entry] : open_) answers.push_back(std::move(entry.answer));
  open_.clear();
  return answers;
}

void Promises::DisallowBind(Id id) {
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(id);
  if (found != open_.end()) found->second.kind = Kind::kOther;
}

bool Promises::Complete(Id id, berth_code code, std::vector<std::string> reasons) {
  // The lock outlives the answer, so that nothing that the answer holds is destroyed after
  // CloseAll() has returned.
  const std::shared_lock answering(answering_);
  Answer answer;
  {
    const std::scoped_lock lock(mutex_);
    if (id == 0 || id > last_) return false;
    answer = Take(id);
  }
  if (answer) answer(code, std::move(reasons));
  return true;
}

bool Promises::IsOpenForBind(Id id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(id);
  return found != open_.end() && found->second.kind == Kind::kBind;
}

size_t Promises::open_count() const {
  const std::scoped_lock lock(mutex_);
  return open_.size();
}

}  // namespace berth::host

#include "host/api/decode_problems.h"

#include <utility>

#include "host/base/assert.h"

namespace berth::host {

std::string PointerSegment(std::string_view segment) {
  std::string pointer = "/";
  for (const char c : segment) {
    if (c == '~') {
      pointer.append("~0");
    } else if (c == '/') {
      pointer.append("~1");
    } else {
      pointer.push_back(c);
    }
  }
  return pointer;
}

void DecodeProblems::Clear() {
  kept_.clear();
  invalid_selector_.clear();
  count_ = 0;
  is_skipping_ = false;
  is_fatal_ = false;
}

bool DecodeProblems::Take(DecodeFault& error) {
  if (!is_skipping_ || is_fatal_) return false;
  ++count_;
  DecodeFault problem = std::exchange(error, {});
  if (kept_.size() < kMaxKept) kept_.push_back(std::move(problem));
  return true;
}

void DecodeProblems::Place(size_t first, std::string_view segment) {
  const std::string pointer = PointerSegment(segment);
  for (size_t i = first; i < kept_.size(); ++i) kept_[i].path.insert(0, pointer);
}

DecodeFault DecodeProblems::TakeFirst() {
  BERTH_ASSERT(!kept_.empty());
  DecodeFault first = std::move(kept_.front());
  Clear();
  return first;
}

Status DecodeProblems::ToStatus() const {
  if (empty()) return {};
  std::string text;
  for (const DecodeFault& problem : kept_) {
    text.append(text.empty() ? "" : "; ").append(problem.path).append(": ").append(problem.message);
  }
  if (count_ > kept_.size()) {
    text.append("; and ").append(std::to_string(count_ - kept_.size())).append(" more");
  }
  return Status::InvalidArgument(std::move(text));
}

}  // namespace berth::host

// The texts that have an id: one table for the fake host and the objects of a test.
#ifndef BERTH_TESTING_IDS_H_
#define BERTH_TESTING_IDS_H_

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <berth/abi.h>

namespace berth::testing {

inline berth_str ToAbi(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view FromAbi(berth_str text) {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

// The table only grows: an id is valid as long as the table. The empty text has an id like any
// other.
//
// Threading: any.
class Ids {
 public:
  Ids() = default;
  Ids(const Ids&) = delete;
  Ids& operator=(const Ids&) = delete;

  berth_id Intern(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    texts_.emplace_back(text);
    const auto id = static_cast<berth_id>(texts_.size());
    ids_.emplace(texts_.back(), id);
    return id;
  }

  // Returns 0 for the empty text, which means that an object does not have the value.
  berth_id InternOrNone(std::string_view text) { return text.empty() ? 0 : Intern(text); }

  // Returns 0 if the text has no id.
  berth_id Find(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    const auto found = ids_.find(text);
    return found == ids_.end() ? 0 : found->second;
  }

  // Returns an empty text for 0 and for ids that do not exist.
  std::string_view Text(berth_id id) const {
    const std::lock_guard lock(mutex_);
    return id == 0 || id > texts_.size() ? std::string_view() : std::string_view(texts_[id - 1]);
  }

  bool Knows(berth_id id) const {
    const std::lock_guard lock(mutex_);
    return id != 0 && id <= texts_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> texts_;                       // id - 1 -> text; addresses are stable
  std::unordered_map<std::string_view, berth_id> ids_;  // views of texts_
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_IDS_H_

// The texts that have an id: one table for the fake host and the objects of a test.
#ifndef BERTH_TESTING_IDS_H_
#define BERTH_TESTING_IDS_H_

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <berth/abi.h>

namespace berth::testing {

inline berth_str ToAbi(std::string_view text) { return {text.data(), text.size()}; }
std::string_view FromAbi(berth_str text);

// The table only grows: an id is valid as long as the table. The empty text has an id like any
// other.
//
// Threading: any.
class Ids {
 public:
  Ids() = default;
  Ids(const Ids&) = delete;
  Ids& operator=(const Ids&) = delete;

  berth_id Intern(std::string_view text);

  // Returns 0 for the empty text, which means that an object does not have the value.
  berth_id InternOrNone(std::string_view text) { return text.empty() ? 0 : Intern(text); }

  // Returns 0 if the text has no id.
  berth_id Find(std::string_view text) const;

  // Returns an empty text for 0 and for ids that do not exist.
  std::string_view Text(berth_id id) const;

  bool Knows(berth_id id) const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> texts_;                       // id - 1 -> text; addresses are stable
  std::unordered_map<std::string_view, berth_id> ids_;  // views of texts_
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_IDS_H_

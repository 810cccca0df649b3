// The texts that have an id: one table for the fake host and the objects of a test.
#ifndef BERTH_TESTING_IDS_H_
#define BERTH_TESTING_IDS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <berth/abi.h>

namespace berth::testing {

inline berth_str ToAbi(std::string_view text) { return {text.data(), text.size()}; }
std::string_view FromAbi(berth_str text);

// The objects of a test that exist now, by their views, so that the fake host can retain them.
//
// Threading: any.
class LiveViews {
 public:
  void Add(const berth_tagged& view, std::weak_ptr<const void> owner);
  void Remove(const void* view);
  // Returns null if it is no view of an object of this kind that exists.
  std::shared_ptr<const void> Find(const berth_tagged& view) const;

 private:
  struct Entry {
    uint32_t kind;
    std::weak_ptr<const void> owner;
  };
  mutable std::mutex mutex_;
  std::unordered_map<const void*, Entry> views_;
};

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

  LiveViews& views() { return views_; }

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> texts_;                       // id - 1 -> text; addresses are stable
  std::unordered_map<std::string_view, berth_id> ids_;  // views of texts_
  LiveViews views_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_IDS_H_

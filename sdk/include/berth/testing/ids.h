// The texts that have an id: one table for the fake host and the objects of a test.
#ifndef BERTH_TESTING_IDS_H_
#define BERTH_TESTING_IDS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <berth/abi.h>

namespace berth::testing {

inline berth_str ToAbi(std::string_view text) { return {text.data(), text.size()}; }
std::string_view FromAbi(berth_str text);
// Returns whether the text has a length but no content, so that it must not be read.
inline bool IsNull(berth_str text) { return text.ptr == nullptr && text.len != 0; }

// The objects of a test that exist now, by their views, so that the fake host can retain them.
//
// Threading: any.
class LiveViews {
 public:
  void Add(const berth_tagged& view, std::weak_ptr<const void> owner);
  void Remove(const void* view);
  // Returns null if it is no view of an object of this kind that exists.
  std::shared_ptr<const void> Find(const berth_tagged& view) const;
  // Returns 1, 2, 3, ...
  uint64_t NextVersion();

 private:
  struct Entry {
    uint32_t kind;
    std::weak_ptr<const void> owner;
  };
  mutable std::mutex mutex_;
  std::unordered_map<const void*, Entry> views_;
  uint64_t last_version_ = 0;
};

// The ids of texts, with a count of their uses: the views of a test's objects hold the ids in them,
// and each instance holds the ids that its plugin interned. An id whose last use ends is dropped,
// and its number is never assigned again, so that a stale id never means another text. The empty
// text has an id like any other.
//
// Threading: any.
class Ids {
 public:
  Ids() = default;
  Ids(const Ids&) = delete;
  Ids& operator=(const Ids&) = delete;

  // Adds a use of the text's id and returns the id.
  berth_id Intern(std::string_view text);

  // Ends one use of each of these ids. 0 and ids that are not in use are ignored.
  void Release(std::span<const berth_id> ids);
  void Release(berth_id id) { Release({&id, 1}); }

  // Returns 0 if the text has no id.
  berth_id Find(std::string_view text) const;

  // Returns an empty text for 0 and for ids that are not in use.
  std::string_view Text(berth_id id) const;

  // Returns whether the id is in use.
  bool Knows(berth_id id) const;

  // Returns the text of an id that was dropped; std::nullopt for an id that is in use, that never
  // existed, or whose text was not kept.
  std::optional<std::string> DroppedText(berth_id id) const;

  // Whether the texts of ids that are dropped from now on are kept for DroppedText(): the last
  // 65,536 of them. True at first. Measurements of memory switch it off.
  bool keeps_dropped() const { return keeps_dropped_; }
  void set_keeps_dropped(bool keeps) { keeps_dropped_ = keeps; }

  // The number of ids that are in use.
  size_t size() const;

  // The paths that the plugin under test names in kFields: the views of pods and nodes have these
  // parts and no others. Nothing before a plugin is known: the views have all parts that are set.
  const std::optional<std::vector<std::string>>& fields() const { return fields_; }
  void set_fields(std::vector<std::string> fields) { fields_ = std::move(fields); }

  LiveViews& views() { return views_; }

 private:
  static constexpr size_t kMostDropped = 65'536;

  struct Entry {
    std::string text;
    uint64_t uses = 0;
  };
  using Entries = std::unordered_map<berth_id, Entry>;  // the address of an entry is stable

  void Drop(Entries::iterator entry);

  mutable std::mutex mutex_;
  Entries live_;
  std::unordered_map<std::string_view, berth_id> by_text_;  // views of the texts in live_
  berth_id last_ = 0;
  Entries dropped_;
  std::deque<berth_id> dropped_order_;
  std::atomic<bool> keeps_dropped_ = true;
  std::optional<std::vector<std::string>> fields_;
  LiveViews views_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_IDS_H_

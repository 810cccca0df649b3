// The objects of a watch whose present state cannot be read as a whole.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_UNREADABLE_OBJECTS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_UNREADABLE_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/sample.h"
#include "host/base/text.h"

namespace berth::host {

// Names objects until they can be read, or are gone. An object that a list does not have is gone.
//
// Threading: one thread at a time.
// Cost:      Remove() costs one comparison while every object can be read, as usual.
class UnreadableObjects {
 public:
  // `why` is shown to users; at most kMaxReason bytes of it are kept. An object whose name cannot
  // be read, and objects beyond kMaxObjects, are not kept.
  void Add(std::string_view ns, std::string_view name, std::string_view why) {
    if (name.empty()) return;
    std::string key = KeyOf(ns, name);
    if (objects_.size() >= kMaxObjects && !objects_.contains(key)) return;
    objects_.insert_or_assign(std::move(key), Entry{Truncate(why, kMaxReason, "..."), list_});
  }
  void Remove(std::string_view ns, std::string_view name) {
    if (!objects_.empty()) objects_.erase(KeyOf(ns, name));
  }

  // A list begins; it may never end. Objects that are added between here and EndList() belong to
  // it.
  void BeginList() { ++list_; }
  // The list replaces everything before it.
  void EndList() {
    std::erase_if(objects_, [this](const auto& object) { return object.second.list != list_; });
  }

  // Returns up to `limit` objects, as SampleOf() selects them: "default/a: /spec/replicas: expected
  // an integer".
  Sample Read(size_t limit) const {
    return SampleOf(
        objects_, limit, [](const auto& object) -> std::string_view { return object.first; },
        [](const auto& object) { return object.first + ": " + object.second.why; });
  }

 private:
  static constexpr size_t kMaxReason = 300;
  static constexpr size_t kMaxObjects = 10'000;

  struct Entry {
    std::string why;
    uint64_t list;  // The list under way when it was added.
  };

  static std::string KeyOf(std::string_view ns, std::string_view name) {
    return ns.empty() ? std::string(name) : std::string(ns).append("/").append(name);
  }

  std::map<std::string, Entry, std::less<>> objects_;  // By "namespace/name".
  uint64_t list_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_UNREADABLE_OBJECTS_H_

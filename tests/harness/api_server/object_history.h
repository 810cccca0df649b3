// The objects of one kind in a model of an API server, now and at earlier revisions.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_OBJECT_HISTORY_H_
#define BERTH_TESTS_HARNESS_API_SERVER_OBJECT_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "host/base/clock.h"
#include "host/cluster/client.h"

namespace berth::host {

// Watches one kind of a cluster, and keeps the JSON texts of its objects with the changes that led
// to them. A pod in a final phase counts as deleted, as in the lists and watches that have the
// scheduler's field selector.
//
// Threading: one thread.
// Lifetime:  the client and the clock must outlive it.
class ObjectHistory final : private WatchSink {
 public:
  // The JSON text of an object without kind and apiVersion. It is never changed.
  using Text = std::shared_ptr<const std::string>;
  using State = std::map<std::string, Text, std::less<>>;  // By "namespace/name".
  // Returns the text of an object.
  using Compose = std::function<std::string(const AnyObject& object)>;

  struct Change {
    uint64_t revision = 0;
    int64_t time_ns = 0;  // When the change was observed.
    WatchType type = WatchType::kAdded;
    std::string key;
    Text text;    // For a deletion: the last state, with the revision of the deletion.
    Text before;  // Null if the object did not exist.
  };

  // `window`: how many changes are kept.
  ObjectHistory(ObjectSource& source, const Clock& clock, const std::string& kind, size_t window,
                Compose compose);
  ~ObjectHistory() override;
  ObjectHistory(const ObjectHistory&) = delete;
  ObjectHistory& operator=(const ObjectHistory&) = delete;

  bool is_served() const { return is_served_; }
  const State& now() const { return now_; }
  // Returns the state at a revision. REQUIRES: it is at least oldest().
  State At(uint64_t revision) const;
  // The changes that are kept, the oldest first.
  const std::deque<Change>& changes() const { return changes_; }
  // Returns the index of the first change after the revision.
  size_t FirstAfter(uint64_t revision) const;

  // Returns the first revision at which a list or a new watch can begin.
  uint64_t oldest() const;
  // Returns whether a watch that has seen everything up to the revision has missed a change.
  bool HasLost(uint64_t revision) const { return revision < lost_; }
  // Forgets the changes up to the revision.
  void Compact(uint64_t revision);

 private:
  void OnEvents(std::span<WatchEvent> events) override;
  void Apply(const WatchEvent& event);
  void DropFirst();

  const Clock& clock_;
  const size_t window_;
  const Compose compose_;
  bool is_served_ = true;
  State now_;
  std::deque<Change> changes_;
  uint64_t lost_ = 0;       // The revision of the last change that is not kept.
  uint64_t compacted_ = 0;  // The argument of Compact().
  std::unique_ptr<Watch> watch_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_OBJECT_HISTORY_H_

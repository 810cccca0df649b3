// Calls the QueueSort of a plugin, and checks that its order and its lanes do not contradict
// themselves.
#ifndef BERTH_TESTING_QUEUE_SORT_H_
#define BERTH_TESTING_QUEUE_SORT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/ids.h>
#include <berth/testing/instance.h>
#include <berth/testing/queued.h>
#include <berth/testing/report.h>

namespace berth::testing {

using SortKey = std::array<uint8_t, BERTH_SORT_KEY_SIZE>;

// The functions of PluginUnderTest of the same names.
//
// Lifetime: the instance and the ids must outlive it.
class QueueSortCaller {
 public:
  // REQUIRES: the instance has a QueueSort.
  QueueSortCaller(Instance* instance, Ids* ids);

  // REQUIRES: QueueSort has a key.
  SortKey Key(const QueuedSpec& queued) const;
  bool Less(const QueuedSpec& a, const QueuedSpec& b) const;
  // REQUIRES: QueueSort has lanes.
  uint64_t Lane(const QueuedSpec& queued) const;
  // Returns the pod to try now. Those for which `is_next(lane, pod)` holds precede the others of
  // their lane. REQUIRES: `active` is not empty.
  using IsNext = std::function<bool(uint64_t lane, const QueuedSpec& pod)>;
  size_t Next(const std::vector<QueuedSpec>& active, const IsNext& is_next) const;

 private:
  bool AskLess(const QueuedSpec& a, const QueuedSpec& b) const;
  size_t AskNext(const std::vector<QueuedSpec>& active,
                 const std::map<uint64_t, std::vector<size_t>>& lanes) const;

  Instance& instance_;
  Reporter& reporter_;
  Ids& ids_;
  const berth_queue_sort_2& point_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_QUEUE_SORT_H_

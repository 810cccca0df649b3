#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/call.h>
#include <berth/testing/ids.h>
#include <berth/testing/instance.h>
#include <berth/testing/queue_sort.h>
#include <berth/testing/queued.h>
#include <berth/testing/report.h>

namespace berth::testing {

QueueSortCaller::QueueSortCaller(Instance* instance, Ids* ids)
    : instance_(*instance),
      reporter_(instance->reporter()),
      ids_(*ids),
      point_(*instance->queue_sort) {}

SortKey QueueSortCaller::Key(const QueuedSpec& queued) const {
  SortKey keys[2] = {};
  for (SortKey& key : keys) {
    WithQueued(queued, ids_, [&](const berth_queued& view) {
      const CallScope scope(&reporter_, "QueueSort", kQueue);
      point_.key(instance_.self(), &view, key.data());
    });
  }
  if (keys[0] != keys[1]) reporter_.Fail(Check::kRepeat, "QueueSort returns two keys for one pod");
  return keys[0];
}

bool QueueSortCaller::Less(const QueuedSpec& a, const QueuedSpec& b) const {
  if (point_.key != nullptr) return Key(a) < Key(b);
  const bool less = AskLess(a, b);
  if (less && AskLess(b, a))
    reporter_.Fail(Check::kRepeat, "QueueSort orders each of two pods before the other");
  if (AskLess(a, a)) reporter_.Fail(Check::kRepeat, "QueueSort orders a pod before itself");
  return less;
}

uint64_t QueueSortCaller::Lane(const QueuedSpec& queued) const {
  uint64_t lanes[2] = {};
  for (uint64_t& lane : lanes) {
    WithQueued(queued, ids_, [&](const berth_queued& view) {
      const CallScope scope(&reporter_, "QueueSort", kQueue);
      lane = point_.lane(instance_.self(), &view);
    });
  }
  if (lanes[0] != lanes[1])
    reporter_.Fail(Check::kRepeat, "QueueSort returns two lanes for one pod");
  return lanes[0];
}

size_t QueueSortCaller::Next(const std::vector<QueuedSpec>& active, const IsNext& is_next) const {
  std::map<uint64_t, std::vector<size_t>> lanes;
  for (size_t i = 0; i < active.size(); ++i) {
    lanes[point_.lane != nullptr ? Lane(active[i]) : 0].push_back(i);
  }
  for (auto& [lane, entities] : lanes) {
    const auto is_before = [&, of = lane](size_t a, size_t b) {
      const bool a_is_next = is_next(of, active[a]);
      return a_is_next == is_next(of, active[b]) ? Less(active[a], active[b]) : a_is_next;
    };
    const auto first = std::min_element(entities.begin(), entities.end(), is_before);
    std::iter_swap(entities.begin(), first);
  }
  return AskNext(active, lanes);
}

bool QueueSortCaller::AskLess(const QueuedSpec& a, const QueuedSpec& b) const {
  bool less = false;
  WithQueued(a, ids_, [&](const berth_queued& first) {
    WithQueued(b, ids_, [&](const berth_queued& second) {
      const CallScope scope(&reporter_, "QueueSort", kQueue);
      less = point_.less(instance_.self(), &first, &second) != 0;
    });
  });
  return less;
}

// `lanes`: the entities by lane, the first one first.
size_t QueueSortCaller::AskNext(const std::vector<QueuedSpec>& active,
                                const std::map<uint64_t, std::vector<size_t>>& lanes) const {
  const size_t first = lanes.begin()->second.front();
  if (point_.next == nullptr) return first;
  std::vector<berth_lane> views;
  size_t next = 0;
  // The views of the first entities live within nested calls of WithQueued.
  const std::function<void(decltype(lanes.begin()))> ask = [&](auto lane) {
    if (lane == lanes.end()) {
      const CallScope scope(&reporter_, "QueueSort", kQueue);
      next = point_.next(instance_.self(),
                         {views.data(), static_cast<uint32_t>(views.size()), sizeof(berth_lane)});
      return;
    }
    WithQueued(active[lane->second.front()], ids_, [&](const berth_queued& view) {
      views.push_back({lane->first, lane->second.size(), &view});
      ask(std::next(lane));
    });
  };
  ask(lanes.begin());
  if (next < lanes.size()) return std::next(lanes.begin(), static_cast<ptrdiff_t>(next))->second[0];
  reporter_.Fail(Check::kCodes, "QueueSort's next returns the index " + std::to_string(next) +
                                    " of " + std::to_string(lanes.size()) + " lanes");
  return first;
}

}  // namespace berth::testing

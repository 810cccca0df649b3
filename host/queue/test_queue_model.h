// A simple model of the scheduling queue for tests: it keeps a list, searches it at every step, and
// calls hints for each pod separately.
#ifndef BERTH_HOST_QUEUE_TEST_QUEUE_MODEL_H_
#define BERTH_HOST_QUEUE_TEST_QUEUE_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/base/hash.h"
#include "host/base/time_units.h"
#include "host/queue/scheduling_queue.h"
#include "host/queue/test_queue.h"

namespace berth::host {

// An event with the data that determines the result of a hint.
struct ModelEvent {
  uint32_t resource = BERTH_RESOURCE_WILDCARD;
  uint32_t action = BERTH_ACTION_ALL;
  std::string object;
};

// The result of a hint: a hash of the interest, of the pod parts that the interest declares, and of
// the event.
inline bool HintResult(const Interest& interest, const std::string& name, const std::string& label,
                       const ModelEvent& what) {
  const std::string pod = interest.pod_parts == 0 ? name : label;
  return HashBytes(std::to_string(interest.plugin) + "/" + std::to_string(interest.index) + "/" +
                   pod + "/" + std::to_string(what.action) + "/" + what.object) %
             3 ==
         0;
}

inline std::vector<Interest> ModelTable() {
  std::vector<Interest> table = TestQueue::DefaultTable();
  table.push_back({.plugin = 7,
                   .index = 0,
                   .resource = BERTH_RESOURCE_POD_ANY,
                   .actions = BERTH_ACTION_ALL,
                   .has_hint = true,
                   .pod_parts = 0});
  table.push_back({.plugin = 8,
                   .index = 0,
                   .resource = BERTH_RESOURCE_WILDCARD,
                   .actions = BERTH_ACTION_ADD | BERTH_ACTION_DELETE,
                   .has_hint = true,
                   .pod_parts = BERTH_PART(LABELS)});
  return table;
}

struct ModelPod {
  std::string name;
  std::string label = "x";
  int32_t priority = 0;
  int32_t touches = 0;
  std::string nominated;  // status.nominatedNodeName

  QueuePlace place = QueuePlace::kActive;
  uint32_t attempts = 0, rejected = 0, errors = 0;
  int64_t queued_ns = 0, first_ns = 0, parked_ns = 0;
  std::set<PluginId> plugins, pending;
  std::optional<PluginId> gate;
  bool was_flushed = false;
  uint64_t sequence = 0;
  uint64_t lane = 0;  // The lane since the pod became active; meaningless in other places.
  // Fields of pods in flight:
  bool is_removed = false;
  bool is_recording = false;
  size_t log_start = 0;  // The index into log_ of the first event after Pop().
};

// The lane of a pod with this label.
inline uint64_t ModelLane(const std::string& label) { return HashBytes(label) % 3; }

// The index of the lane that is next after `taken` entities were taken from the active queue.
inline size_t ModelNextLane(uint64_t taken, size_t lanes) {
  return HashBytes(std::to_string(taken)) % lanes;
}

class QueueModel {
 public:
  using Options = SchedulingQueue::Options;

  QueueModel(std::vector<Interest> table, Options options, const int64_t& now_ns)
      : table_(std::move(table)), options_(options), now_ns_(now_ns), start_ns_(now_ns) {}

  std::map<std::string, ModelPod> pods;  // Keyed by name.
  std::map<std::string, PluginId> gated_by;
  std::map<std::string, std::string> nominations;
  bool has_lanes = false;

  // --- the methods of SchedulingQueue ----------------------------------------------------------

  void Add(const ModelPod& pod) {
    ModelPod& fresh = pods[pod.name] = pod;
    fresh.queued_ns = now_ns_;
    fresh.sequence = ++sequence_;
    if (!fresh.nominated.empty()) nominations[fresh.name] = fresh.nominated;
    Requeue(fresh, false, false, true);
    OnEvent({BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_ACTION_ADD, fresh.name},
            [&fresh](const ModelPod& other) { return other.name != fresh.name; });
  }

  void Update(const ModelPod& seen) {
    if (!pods.contains(seen.name)) return Add(seen);
    ModelPod& pod = pods.at(seen.name);
    const std::string old_label = pod.label, old_status = pod.nominated;
    const std::string old_node = NodeOf(pod.name);
    pod.label = seen.label;
    pod.touches = seen.touches;
    pod.nominated = seen.nominated;
    const bool is_in_flight = pod.place == QueuePlace::kInFlight;
    if (!is_in_flight || !old_node.empty()) {
      if (seen.nominated != old_status) SetNode(pod.name, seen.nominated);
    }
    const ModelEvent change{BERTH_RESOURCE_TARGET_POD,
                            old_label != seen.label ? uint32_t{BERTH_ACTION_UPDATE_POD_LABEL}
                                                    : uint32_t{BERTH_ACTION_UPDATE},
                            pod.name};
    if (is_in_flight) {
      pod.is_removed = false;
      if (pod.is_recording && !Matching(change).empty()) Log(change, {pod.name});
    } else if (pod.place == QueuePlace::kGated) {
      Requeue(pod, true, false);
    } else if (pod.place == QueuePlace::kUnschedulable) {
      const int how = DecideRequeueing(pod, change);
      if (how > 0) Requeue(pod, how == 1, false);
    }
    const bool was_removed = !old_node.empty() && NodeOf(pod.name) != old_node;
    const bool was_cleared = !old_status.empty() && old_status != seen.nominated;
    if (was_removed || was_cleared) {
      OnNominationChanged(BERTH_ACTION_DELETE, pod.name, pod.priority);
    } else if (!old_node.empty() && old_label != seen.label) {
      OnNominationChanged(BERTH_ACTION_UPDATE_POD_LABEL, pod.name, pod.priority);
    }
  }

  void Remove(const std::string& name) {
    if (!pods.contains(name) || pods.at(name).is_removed) return;
    const bool was_nominated = nominations.erase(name) != 0;
    const int32_t priority = pods.at(name).priority;
    if (pods.at(name).place == QueuePlace::kInFlight) {
      pods.at(name).is_removed = true;
    } else {
      pods.erase(name);
    }
    if (was_nominated) OnNominationChanged(BERTH_ACTION_DELETE, name, priority);
  }

  void OnEvent(const ModelEvent& what, const std::function<bool(const ModelPod&)>& filter) {
    const bool is_wildcard = what.resource == BERTH_RESOURCE_WILDCARD;
    if (!is_wildcard && Matching(what).empty()) return;
    std::set<std::string> recorders;
    for (auto& [name, pod] : pods) {
      if (pod.is_recording && filter(pod)) recorders.insert(name);
    }
    if (!recorders.empty()) Log(what, recorders);
    for (auto& [name, pod] : pods) {
      if (!IsParked(pod) || !filter(pod)) continue;
      const int how = DecideRequeueing(pod, what);
      if (how > 0) Requeue(pod, how == 1, false);
    }
  }

  std::string Pop() {
    ModelPod* first = nullptr;
    const auto rank = [](const ModelPod& pod) {
      return std::tuple(-pod.priority, pod.queued_ns, pod.sequence);
    };
    const std::optional<uint64_t> lane = NextLane();
    for (auto& [name, pod] : pods) {
      if (pod.place != QueuePlace::kActive || (lane.has_value() && pod.lane != *lane)) continue;
      if (first == nullptr || rank(pod) < rank(*first)) first = &pod;
    }
    for (auto& [name, pod] : pods) {
      if (!options_.pop_from_backoff || pod.place != QueuePlace::kBackoff) continue;
      if (first != nullptr && first->place == QueuePlace::kActive) break;
      if (first == nullptr ||
          std::tuple(Until(pod), rank(pod)) < std::tuple(Until(*first), rank(*first))) {
        first = &pod;
      }
    }
    if (first == nullptr) return "";
    first->place = QueuePlace::kInFlight;
    ++first->attempts;
    first->plugins.clear();
    first->pending.clear();
    first->is_recording = true;
    first->log_start = log_.size();
    return first->name;
  }

  void Return(const std::string& name, const std::set<PluginId>& plugins,
              const std::set<PluginId>& pending) {
    ModelPod& pod = pods.at(name);
    if (pod.is_removed) {
      pods.erase(name);
      return;
    }
    pod.plugins = plugins;
    pod.pending = pending;
    pod.queued_ns = now_ns_;
    pod.was_flushed = false;
    pod.sequence = ++sequence_;
    const bool is_error = plugins.empty() && pending.empty();
    pod.errors = is_error ? pod.errors + 1 : 0;
    if (!is_error) ++pod.rejected;
    int how = is_error || !pod.is_recording ? 1 : 0;
    if (how == 0) {
      for (size_t i = pod.log_start; i < log_.size(); ++i) {
        if (log_[i].second.contains(name))
          how = std::max(how, DecideRequeueing(pod, log_[i].first));
      }
    }
    pod.is_recording = false;
    if (how > 0) return Requeue(pod, how == 1, false);
    pod.place = QueuePlace::kUnschedulable;
    pod.parked_ns = now_ns_;
  }

  void Done(const std::string& name) {
    nominations.erase(name);
    pods.erase(name);
  }

  void Activate(const std::string& name) {
    if (!pods.contains(name)) return;
    ModelPod& pod = pods.at(name);
    if (pod.place == QueuePlace::kActive) return;
    if (pod.place != QueuePlace::kInFlight) return Requeue(pod, false, false);
    if (pod.is_recording) Log({}, {name});
  }

  void Tick() {
    for (auto& [name, pod] : pods) {
      if (!IsBackingOff(pod) || IsOn(pod, WholeSecond(now_ns_))) continue;
      Requeue(pod, false, pod.was_flushed);
    }
    constexpr int64_t kGrid = 30 * kSecond;
    const int64_t grid_ns = start_ns_ + (now_ns_ - start_ns_) / kGrid * kGrid;
    for (auto& [name, pod] : pods) {
      if (IsParked(pod) && grid_ns > flushed_ns_ &&
          grid_ns - pod.parked_ns > options_.flush_after_ns) {
        Requeue(pod, true, true);
      }
    }
    flushed_ns_ = std::max(flushed_ns_, grid_ns);
  }

  // --- state that tests compare ----------------------------------------------------------------

  static bool IsBackingOff(const ModelPod& pod) {
    return pod.place == QueuePlace::kBackoff || pod.place == QueuePlace::kErrorBackoff;
  }
  int64_t Until(const ModelPod& pod) const {
    const uint32_t count = pod.errors > 0 ? pod.errors : pod.rejected;
    if (count == 0 || options_.max_backoff_ns == 0) return 0;
    int64_t duration = options_.initial_backoff_ns;
    for (uint32_t i = 1; i < count && duration < options_.max_backoff_ns; ++i) duration *= 2;
    const int64_t until = pod.queued_ns + std::min(duration, options_.max_backoff_ns);
    return options_.pop_from_backoff ? WholeSecond(until) : until;
  }

 private:
  // Returns the lane from which the next pod is taken, if there are lanes and active pods.
  std::optional<uint64_t> NextLane() {
    std::set<uint64_t> lanes;
    for (const auto& [name, pod] : pods) {
      if (pod.place == QueuePlace::kActive) lanes.insert(pod.lane);
    }
    if (!has_lanes || lanes.empty()) return std::nullopt;
    return *std::next(lanes.begin(), static_cast<ptrdiff_t>(ModelNextLane(taken_++, lanes.size())));
  }
  static bool IsParked(const ModelPod& pod) {
    return pod.place == QueuePlace::kUnschedulable || pod.place == QueuePlace::kGated;
  }
  static int64_t WholeSecond(int64_t at_ns) { return at_ns / kSecond * kSecond; }
  bool IsOn(const ModelPod& pod, int64_t at_ns) const {
    const int64_t until = Until(pod);
    return until != 0 && until >= (options_.pop_from_backoff ? WholeSecond(at_ns) : at_ns);
  }
  std::string NodeOf(const std::string& name) const {
    const auto found = nominations.find(name);
    return found != nominations.end() ? found->second : "";
  }
  void SetNode(const std::string& name, const std::string& node) {
    nominations.erase(name);
    if (!node.empty()) nominations[name] = node;
  }
  void OnNominationChanged(uint32_t action, const std::string& name, int32_t priority) {
    OnEvent({BERTH_RESOURCE_ASSIGNED_POD, action, name}, [priority, &name](const ModelPod& pod) {
      return pod.priority <= priority && pod.name != name;
    });
  }

  void Log(const ModelEvent& what, std::set<std::string> recorders) {
    log_.emplace_back(what, std::move(recorders));
    for (auto& [name, pod] : pods) {
      if (log_.size() - pod.log_start > options_.max_logged_events) pod.is_recording = false;
    }
  }

  std::vector<const Interest*> Matching(const ModelEvent& what) const {
    std::vector<const Interest*> matching;
    for (const Interest& interest : table_) {
      const uint32_t r = interest.resource;
      const bool is_any_pod =
          r == BERTH_RESOURCE_POD_ANY && (what.resource == BERTH_RESOURCE_ASSIGNED_POD ||
                                          what.resource == BERTH_RESOURCE_TARGET_POD);
      const bool is_everything =
          r == BERTH_RESOURCE_WILDCARD && what.resource != BERTH_RESOURCE_UNSCHEDULED_POD;
      if (r != what.resource && !is_everything && !is_any_pod) continue;
      if ((interest.actions & what.action) == 0 || what.action > interest.actions) continue;
      matching.push_back(&interest);
    }
    return matching;
  }

  // Returns 0 if the event does not requeue the pod, 1 if it does after the backoff, 2 if it does
  // immediately.
  int DecideRequeueing(const ModelPod& pod, const ModelEvent& what) const {
    if (what.resource == BERTH_RESOURCE_WILDCARD) return 1;
    int how = 0;
    for (const Interest* interest : Matching(what)) {
      if (interest->has_hint && !HintResult(*interest, pod.name, pod.label, what)) continue;
      if (pod.plugins.contains(interest->plugin)) how = std::max(how, 1);
      if (pod.pending.contains(interest->plugin)) how = 2;
    }
    return how;
  }

  void Requeue(ModelPod& pod, bool waits, bool was_flushed, bool is_new = false) {
    const bool from_backoff = !is_new && IsBackingOff(pod);
    const bool to_backoff = waits && IsOn(pod, now_ns_);
    const bool runs_pre_enqueue = options_.pop_from_backoff ? !from_backoff : !to_backoff;
    pod.is_recording = false;
    if (runs_pre_enqueue && gated_by.contains(pod.name)) {
      pod.place = QueuePlace::kGated;
      pod.gate = gated_by.at(pod.name);
      pod.plugins = {*pod.gate};
      pod.pending.clear();
      pod.was_flushed = false;
      pod.parked_ns = now_ns_;
      return;
    }
    pod.gate.reset();
    pod.was_flushed = was_flushed;
    pod.place = !to_backoff       ? QueuePlace::kActive
                : pod.errors != 0 ? QueuePlace::kErrorBackoff
                                  : QueuePlace::kBackoff;
    if (to_backoff) return;
    if (pod.first_ns == 0) pod.first_ns = now_ns_;
    pod.lane = ModelLane(pod.label);
  }

  std::vector<Interest> table_;
  Options options_;
  const int64_t& now_ns_;
  int64_t start_ns_;
  int64_t flushed_ns_ = 0;
  uint64_t sequence_ = 0;
  uint64_t taken_ = 0;  // How many pods were taken from lanes.
  // The events, each with the pods that record it.
  std::vector<std::pair<ModelEvent, std::set<std::string>>> log_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_TEST_QUEUE_MODEL_H_

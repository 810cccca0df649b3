// The order of pods that share an entity, as the host's queue keeps it.
#ifndef BERTH_TESTING_ENTITY_RUNS_H_
#define BERTH_TESTING_ENTITY_RUNS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace berth::testing {

// For each lane, the entity of the pod that was taken last, and its pods that were taken since the
// first of them was taken in the order of QueueSort.
class EntityRuns {
 public:
  // Returns whether the pod comes before those of other entities in its lane. `entity`: "" for a
  // pod that stands alone.
  bool IsNext(uint64_t lane, const std::string& entity, const std::string& uid) const {
    const auto run = runs_.find(lane);
    return !entity.empty() && run != runs_.end() && run->second.entity == entity &&
           run->second.taken.count(uid) == 0;
  }
  void Take(uint64_t lane, const std::string& entity, const std::string& uid) {
    if (!IsNext(lane, entity, uid)) runs_[lane] = {entity, {}};
    runs_[lane].taken.insert(uid);
  }

 private:
  struct Run {
    std::string entity;
    std::set<std::string> taken;
  };
  std::map<uint64_t, Run> runs_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_ENTITY_RUNS_H_

// Constraints with ScheduleAnyway: raw scores of nodes.
// kube-scheduler: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go
#ifndef BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_SOFT_H_
#define BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_SOFT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include <berth/dependence.h>
#include <berth/nodes.h>
#include <berth/topology.h>
#include <berth/topology_index.h>

#include "constraints.h"
#include "scoring.h"
#include "tally.h"

namespace spread {

// One soft constraint in one cycle.
//
// Threading: reads: [cycle] and [block].
class SoftConstraint {
 public:
  // `is_hostname`: the key is kubernetes.io/hostname. Then the score of a node depends on its own
  // pods, and every candidate is a domain.
  SoftConstraint(const Constraint& constraint, Tally tally, bool is_hostname);

  const Tally& tally() const { return tally_; }
  bool is_hostname() const { return is_hostname_; }
  uint64_t domains() const { return domains_; }
  bool HasKey(uint32_t row) const {
    return tally_.topology->DomainOf(row) != berth::Topology::kNone;
  }
  // Puts the rows whose part may differ from the earlier state, as far as the number of domains
  // does not decide it. Returns kAll if they are not known.
  berth::Stale PutChangedRows(const berth::TopologyHistory& history, berth::RowSink& rows) const;
  // Sets the number of domains of the candidates, and computes what the counts add to scores.
  void SetDomains(uint64_t domains);

  // Returns what the constraint adds to the raw score of a node that has the key.
  double PartOf(uint32_t row) const {
    const uint32_t index = is_hostname_ ? row : tally_.topology->DomainOf(row);
    return index < parts_.size() ? parts_[index] : part_without_pods_;
  }

 private:
  berth::Stale PutRowsOfPods(const berth::TopologyHistory& history, berth::RowSink& rows) const;

  Tally tally_;
  int32_t max_skew_;
  bool is_hostname_;
  uint64_t domains_ = 0;
  double part_without_pods_ = 0;
  std::vector<double> parts_;  // By row for hostnames, else by domain.
};

// All soft constraints of a pod.
class SoftConstraints {
 public:
  // `require_all_keys`: a node that lacks a key is ignored. Otherwise it gets no part of the
  // constraint, and all nodes without the key form a domain with those that have an empty value.
  explicit SoftConstraints(bool require_all_keys) : require_all_keys_(require_all_keys) {}

  void Add(SoftConstraint constraint) { list_.push_back(std::move(constraint)); }
  const std::vector<SoftConstraint>& list() const { return list_; }
  bool require_all_keys() const { return require_all_keys_; }

  // Computes the weight of each constraint from the nodes that get a score.
  // `total`: the number of nodes of the cluster. `empty_value`: the id of the empty text.
  void SetCandidates(const berth::Nodes& feasible, uint64_t total, berth_id empty_value);

  // Returns the raw score of a node, or kIgnored.
  int64_t RawScore(uint32_t row) const {
    double score = 0;
    for (const SoftConstraint& constraint : list_) {
      if (constraint.HasKey(row)) {
        score += constraint.PartOf(row);
      } else if (require_all_keys_) {
        return kIgnored;
      }
    }
    return Round(score);
  }

 private:
  struct Seen;

  bool require_all_keys_;
  std::vector<SoftConstraint> list_;
};

}  // namespace spread

#endif  // BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_SOFT_H_

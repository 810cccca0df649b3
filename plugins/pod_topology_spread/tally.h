// The number of matching pods in each domain of a constraint.
#ifndef BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_TALLY_H_
#define BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_TALLY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include <berth/columns.h>
#include <berth/dependence.h>
#include <berth/node_terms.h>
#include <berth/nodes.h>
#include <berth/topology.h>
#include <berth/topology_index.h>

#include "constraints.h"

namespace spread {

// The columns of the plugin.
using Columns = berth::Columns<berth::TaintsHard>;

// The counts of one constraint in one cycle. They do not change.
//
// Lifetime: `counter` and `topology` are valid until the cycle ends.
struct Tally {
  const berth::PodCounter* counter = nullptr;
  const berth::Topology* topology = nullptr;
  std::vector<uint32_t> counts;   // By domain.
  std::vector<uint8_t> eligible;  // By domain: 1 if the constraint includes a node of the domain.
  uint32_t domains = 0;           // The number of eligible domains.
  // By row: 1 if the constraint includes the node. Empty if it includes every node with the key.
  std::vector<uint8_t> included;
  // The domain of included nodes without the key.
  uint32_t absent = berth::Topology::kNone;

  // True if the constraint leaves out nodes that have its key, or counts nodes without it.
  bool narrowed() const { return !included.empty(); }
  // Returns the domain in which the pods of a row are counted, or kNone.
  uint32_t DomainOf(uint32_t row) const {
    const uint32_t domain = topology->DomainOf(row);
    if (!narrowed()) return domain;
    if (row >= included.size() || included[row] == 0) return berth::Topology::kNone;
    return domain == berth::Topology::kNone ? absent : domain;
  }
};

// Describes what is counted, for the pod of the cycle.
struct TallyRequest {
  const Constraints& constraints;
  berth::Cycle& cycle;
  // Only nodes that have the keys of all constraints are counted. Otherwise a node without a key
  // counts in the domain of the empty value, as in kube-scheduler.
  bool require_all_keys;
  // Constraints with this key get no counts by domain, only the counter and the topology.
  berth_id counted_by_row = BERTH_ID_NONE;
};

// Counts pods for constraints. If every constraint includes all nodes that have its key, this costs
// time in proportion to the number of domains; otherwise to the number of nodes.
//
// Threading: [cycle], in PreFilter and PreScore.
class Tallier {
 public:
  Tallier(const berth::Host& host, berth::TopologyIndex& index)
      : host_(host), index_(index), empty_value_(host.Intern("")) {}

  // Returns one tally for each constraint, in order. `all`: all nodes of the cluster.
  std::vector<Tally> Count(const TallyRequest& request, const berth::Nodes& all) const;

 private:
  struct Pass;

  Tally CountDomains(const TallyRequest& request, const Constraint& constraint) const;
  bool IsNarrowed(const TallyRequest& request, const std::vector<Tally>& tallies,
                  const berth::Nodes& all) const;
  void CountNodes(const TallyRequest& request, const berth::Nodes& all,
                  std::vector<Tally>& tallies) const;

  const berth::Host host_;
  berth::TopologyIndex& index_;
  const berth_id empty_value_;
};

// The differences between the counts of a tally and those of an earlier state.
struct TallyChanges {
  std::vector<int64_t> by_domain;  // The count now minus the count then.
  bool any = false;
};

// Returns what changed since the earlier state, or no value if that is not known: then any count
// may have changed. `nodes_matter`: a change of a node that has no counted pods also makes it
// unknown.
std::optional<TallyChanges> ChangesSince(const berth::TopologyHistory& history, const Tally& tally,
                                         bool nodes_matter);

// Puts the rows of the flagged domains. `flagged`: by domain; may be empty. Returns whether there
// are any rows.
bool PutRows(const berth::Topology& topology, const std::vector<uint8_t>& flagged,
             berth::RowSink& rows);

}  // namespace spread

#endif  // BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_TALLY_H_

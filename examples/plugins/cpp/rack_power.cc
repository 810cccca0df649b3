// Keeps the power draw of every rack within the limit of its breaker, and spreads the draw over the
// racks.
//
// Nodes have the label acme.com/rack and offer watts as an extended resource. Pods request them
// like any other resource: `requests: {acme.com/watts: 300}`. NodeResourcesFit limits each node to
// its own supply; this plugin limits the nodes of one rack together.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <berth/plugin.h>

namespace {

using Watts = int64_t;

// A pod may request up to 2^63-1 watts. It counts with this many at most, which is more than any
// rack can carry, so that the sums of a cluster do not overflow and can be subtracted exactly.
constexpr Watts kMostWatts = Watts{1} << 40;

using Draws = std::unordered_map<berth_id, Watts>;

Watts DrawOf(const Draws& draws, berth_id rack) {
  const auto found = draws.find(rack);
  return found != draws.end() ? found->second : 0;
}

// The draw of every rack. OnChange keeps it up to date, so that no pod's attempt has to look at all
// nodes. A node's name and its rack are ids of the node and its pods, and an entry is erased with
// the last of them.
class RackIndex {
 public:
  Watts Of(berth_id rack) const { return DrawOf(racks_, rack); }
  // Increases with every change.
  uint64_t version() const { return version_; }

  void SetRack(berth_id node, berth_id rack) { Set(node, {rack, nodes_[node].watts}); }
  void Add(berth_id node, Watts watts) {
    const Node& now = nodes_[node];
    Set(node, {now.rack, now.watts + watts});
  }

 private:
  struct Node {
    berth_id rack = BERTH_ID_NONE;
    Watts watts = 0;

    bool operator==(const Node&) const = default;
  };

  void Set(berth_id name, const Node& now) {
    Node& node = nodes_[name];
    if (node != now) ++version_;
    Draw(node.rack, -node.watts);
    Draw(now.rack, now.watts);
    node = now;
    if (node == Node()) nodes_.erase(name);
  }
  void Draw(berth_id rack, Watts watts) {
    if ((racks_[rack] += watts) == 0) racks_.erase(rack);
  }

  std::unordered_map<berth_id, Node> nodes_;  // By name.
  Draws racks_;
  uint64_t version_ = 1;
};

class RackPower : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.RackPower";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Keeps every rack within its power budget, and spreads the power draw over the racks.";

  // The texts of the reasons. Bit i of a verdict means reason i.
  static constexpr berth::Reasons kReasons{"Rack power budget exceeded", "Node is in no rack"};
  enum Reason : int { kNoPower, kNoRack };

  // The columns that the plugin reads for every node: one array per column.
  using Rack = berth::Label<"acme.com/rack">;
  using Columns = berth::Columns<Rack>;
  using Node = berth::NodeRow<Columns>;

  // The arguments in a profile.
  struct Args {
    int64_t watts_per_rack = 0;
    int64_t reserve_percent = 0;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("wattsPerRack", &Args::watts_per_rack, berth::Range{1, 1'000'000},
                 berth::kRequired, "The power that the breaker of a rack can carry, in watts."),
      berth::Arg("reservePercent", &Args::reserve_percent, berth::Range{0, 90},
                 "The percentage of wattsPerRack that stays free."));

  // The state of one pod's attempt: its own draw, and by how much the draw of a rack differs from
  // the index while the host asks what would be with another pod, or without one.
  struct State {
    Watts pod_watts = 0;
    Draws differences;
  };

  // The results depend on the node's label, and on the pods of all nodes of its rack.
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNode | berth::kOther,
                                                       .pod_parts = BERTH_PART(REQUESTS)};
  static constexpr berth::Dependence kScoreDependence = kFilterDependence;
  // The host normalises the watts to 0..100; the rack with the lowest draw gets the highest score.
  static constexpr berth::Normalize kNormalize = berth::Normalize::kMaxReversed;

  RackPower(const berth::Host& host, const Args& args)
      : watts_(host.Intern("acme.com/watts")),
        rack_(host.Intern("acme.com/rack")),
        budget_(args.watts_per_rack * (100 - args.reserve_percent) / 100) {}

  // Called for every change of a node or of a pod on a node.
  void OnChange(const berth::Change& change) {
    switch (change.kind) {
      case BERTH_CHANGE_NODE_ADDED:
      case BERTH_CHANGE_NODE_CHANGED:
        return index_.SetRack(change.node->name, RackOf(*change.node));
      case BERTH_CHANGE_NODE_REMOVED: return index_.SetRack(change.node->name, BERTH_ID_NONE);
      case BERTH_CHANGE_POD_ADDED: return index_.Add(change.pod->node_name, Draw(*change.pod));
      case BERTH_CHANGE_POD_CHANGED:
        return index_.Add(change.pod->node_name, Draw(*change.pod) - Draw(*change.old_pod));
      case BERTH_CHANGE_POD_REMOVED: return index_.Add(change.pod->node_name, -Draw(*change.pod));
      default: return;
    }
  }

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    const Watts watts = Amount(cycle.pod().scalar_requests());
    if (watts == 0) return berth::Status::Skip();
    cycle.Emplace<State>(watts, Draws());
    return berth::Status::Success();
  }

  // Called during preemption, on copies of State, to evaluate a node with another pod or without
  // one.
  berth::Status AddPod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    cycle.State<State>().differences[node[Rack{}]] += Draw(*pod);
    return berth::Status::Success();
  }
  berth::Status RemovePod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    cycle.State<State>().differences[node[Rack{}]] -= Draw(*pod);
    return berth::Status::Success();
  }

  // Called per node. The SDK compiles the loop over the nodes into this library.
  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const berth_id rack = node[Rack{}];
    if (rack == BERTH_ID_NONE) return berth::Unresolvable(kNoRack);
    const State& state = cycle.State<State>();
    const Watts drawn = index_.Of(rack) + DrawOf(state.differences, rack);
    return berth::UnschedulableIf(drawn + state.pod_watts > budget_, kNoPower);
  }
  // Called before the host reuses results: another pod may have changed the draw of a rack.
  berth::Stale FilterChanged(const berth::Cycle& /*cycle*/, uint64_t& token,
                             berth::RowSink& /*rows*/) const {
    const bool is_current = token == index_.version();
    token = index_.version();
    return is_current ? berth::Stale::kNone : berth::Stale::kAll;
  }

  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& /*all*/) {
    const bool draws = cycle.TryState<State>() != nullptr;
    return draws ? berth::Status::Success() : berth::Status::Skip();
  }
  int64_t Score(const berth::Cycle& /*cycle*/, const Node& node) const {
    return index_.Of(node[Rack{}]);
  }
  berth::Stale ScoreChanged(const berth::Cycle& cycle, uint64_t& token,
                            berth::RowSink& rows) const {
    return FilterChanged(cycle, token, rows);
  }

  // The events that may make room for a pod that this plugin rejected.
  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE | BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
            {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL}};
  }

 private:
  // Returns the watts, limited to kMostWatts.
  Watts Amount(berth::Span<const berth_quantity> amounts) const {
    for (const berth_quantity& amount : amounts) {
      if (amount.name == watts_) return std::min(amount.value, kMostWatts);
    }
    return 0;
  }
  berth_id RackOf(const berth_node& node) const {
    return berth::FindLabel(berth::Labels(node.meta->labels), rack_);
  }
  // Returns the draw of a pod on its node.
  Watts Draw(const berth_pod& pod) const {
    return Amount(berth::Span<const berth_quantity>(pod.accounted->scalars));
  }

  const berth_id watts_;
  const berth_id rack_;
  const Watts budget_;
  RackIndex index_;
};

}  // namespace

BERTH_PLUGIN(RackPower)

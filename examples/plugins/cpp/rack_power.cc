// Keeps the power draw of every rack within the limit of its breaker, and spreads the draw over the
// racks.
//
// Nodes have the label acme.com/rack and offer watts as an extended resource. Pods request them
// like any other resource: `requests: {acme.com/watts: 300}`. NodeResourcesFit limits each node to
// its own supply; this plugin limits the nodes of one rack together.
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

namespace {

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
  using Watts = berth::Req<"acme.com/watts">;
  using Columns = berth::Columns<Rack, Watts>;
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

  // The state of one pod's attempt: its own draw, and the draw of every rack.
  struct State {
    int64_t pod_watts = 0;
    std::map<berth_id, int64_t> racks;

    int64_t Of(berth_id rack) const {
      const auto found = racks.find(rack);
      return found != racks.end() ? found->second : 0;
    }
  };

  // The results also depend on pods of other nodes, so the host does not reuse them.
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNodePods | berth::kOther,
                                                       .pod_parts = BERTH_PART(REQUESTS)};
  static constexpr berth::Dependence kScoreDependence = kFilterDependence;
  // The host normalises the watts to 0..100; the rack with the lowest draw gets the highest score.
  static constexpr berth::Normalize kNormalize = berth::Normalize::kMaxReversed;

  RackPower(const berth::Host& host, const Args& args)
      : watts_(host.Intern("acme.com/watts")),
        budget_(args.watts_per_rack * (100 - args.reserve_percent) / 100) {}

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& all,
                          berth::PreFilterOut& /*out*/) {
    State& state = cycle.Emplace<State>();
    state.pod_watts = Draw(cycle.pod().scalar_requests());
    if (state.pod_watts == 0) return berth::Status::Skip();
    all.ForEach<Columns>([&](const Node& node) { state.racks[node[Rack{}]] += node[Watts{}]; });
    return berth::Status::Success();
  }

  // Called during preemption, on copies of State, to evaluate a node with another pod or without
  // one.
  berth::Status AddPod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    cycle.State<State>().racks[node[Rack{}]] +=
        Draw(berth::Span<const berth_quantity>(pod->accounted->scalars));
    return berth::Status::Success();
  }
  berth::Status RemovePod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    cycle.State<State>().racks[node[Rack{}]] -=
        Draw(berth::Span<const berth_quantity>(pod->accounted->scalars));
    return berth::Status::Success();
  }

  // Called per node. The SDK compiles the loop over the nodes into this library.
  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const berth_id rack = node[Rack{}];
    if (rack == BERTH_ID_NONE) return berth::Unresolvable(kNoRack);
    const State& state = cycle.State<State>();
    return berth::UnschedulableIf(state.Of(rack) + state.pod_watts > budget_, kNoPower);
  }

  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& /*all*/) {
    const bool draws = cycle.State<State>().pod_watts != 0;
    return draws ? berth::Status::Success() : berth::Status::Skip();
  }
  int64_t Score(const berth::Cycle& cycle, const Node& node) const {
    return cycle.State<State>().Of(node[Rack{}]);
  }

  // The events that may make room for a pod that this plugin rejected.
  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE | BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
            {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL}};
  }

 private:
  int64_t Draw(berth::Span<const berth_quantity> amounts) const {
    for (const berth_quantity& amount : amounts) {
      if (amount.name == watts_) return amount.value;
    }
    return 0;
  }

  const berth_id watts_;
  const int64_t budget_;
};

}  // namespace

BERTH_PLUGIN(RackPower)

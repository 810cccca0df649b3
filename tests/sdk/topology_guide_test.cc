// Tests the sample of sdk/README.md about the index over pods and domains.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/plugin.h>
#include <berth/testing/gtest.h>
#include <berth/topology_deltas.h>
#include <berth/topology_index.h>

namespace {

// The sample. Its formatting is that of the page.
// clang-format off
class ZoneLimit : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.ZoneLimit";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Limits the pods with equal labels in each zone.";
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS, BERTH_SERVICE_SELECTORS};
  static constexpr berth::Reasons kReasons{"zone has too many pods of the application"};
  enum Reason : int { kTooMany };
  // Also on other nodes: see FilterChanged.
  static constexpr berth::Dependence kFilterDependence{
      .cluster = berth::kNode | berth::kOther,
      .pod_parts = BERTH_PART(NAMESPACE) | BERTH_PART(LABELS)};
  using Node = berth::NodeRow<Columns>;
  struct State {
    berth::PodQuery query;
    berth::CountedDomains pods;
    berth::CountChanges changes;  // What AddPod and RemovePod changed.
  };

  explicit ZoneLimit(berth::Host host)
      : host_(host), zone_(host.Intern("topology.kubernetes.io/zone")),
        index_(host, {.terms = false, .namespaces = false}) {}

  void OnChange(const berth::Change& change) { index_.OnChange(change); }

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes&, berth::PreFilterOut&) {
    const berth_id app = cycle.pod().Label(host_.Find("app"));
    if (app == BERTH_ID_NONE) return berth::Status::Skip();
    const berth::Selector same = host_.selectors().FromText("app=" + std::string(host_.Text(app)));
    berth::PodQuery query(berth::PodQuery::kWithoutTerminating);
    query.In(cycle.pod().ns(), same.get());
    const berth::CountedDomains pods = index_.Count(query, zone_, cycle.id());
    cycle.Emplace<State>(State{std::move(query), pods, {}});
    return berth::Status::Success();
  }
  berth::Status AddPod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    return Change(cycle.State<State>(), pod, node, 1);
  }
  berth::Status RemovePod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    return Change(cycle.State<State>(), pod, node, -1);
  }
  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const State& state = cycle.State<State>();
    const uint32_t zone = state.pods.topology->DomainOf(node.row());
    if (zone == berth::Topology::kNone) return berth::kPass;
    const int64_t pods = static_cast<int64_t>(state.pods.counts->At(zone)) + state.changes.At(zone);
    return berth::UnschedulableIf(pods >= kMost, kTooMany);
  }
  berth::Stale FilterChanged(const berth::Cycle& cycle, uint64_t& token,
                             berth::RowSink& rows) const {
    const berth::TopologyHistory history = index_.ExchangeToken(token);
    const berth::CountedDomains& pods = cycle.State<State>().pods;
    berth::TopologyDeltas deltas;
    if (!deltas.Read(*pods.counter).Since(history, 0)) return berth::Stale::kAll;
    berth::DomainSink domains(rows);
    deltas.ForEachDomain(*pods.counter, *pods.topology, [&](uint32_t zone, int64_t, uint32_t row) {
      domains.Put(*pods.topology, zone, row);
    });
    return domains.stale();
  }

 private:
  static constexpr int64_t kMost = 10;
  berth::Status Change(State& state, const berth::Pod& pod, const Node& node, int64_t sign) const {
    const uint32_t zone = state.pods.topology->DomainOf(node.row());
    const bool counts = zone != berth::Topology::kNone && index_.Matches(state.query, pod);
    if (counts) state.changes.Add(zone, sign);
    return berth::Status::Success();
  }

  berth::Host host_;
  const berth_id zone_;
  berth::TopologyIndex index_;
};
// clang-format on

}  // namespace

namespace berth::testing {
namespace {

PodSpec App(const std::string& name) { return MakePod(name).Label("app", "web"); }

TEST(TopologyGuide, LimitsThePodsOfAZone) {
  const std::string zone = "topology.kubernetes.io/zone";
  PluginUnderTest plugin(kEntryOf<ZoneLimit>,
                         {.nodes = {MakeNode("a").Label(zone, "a"), MakeNode("b").Label(zone, "b"),
                                    MakeNode("none")}});
  EXPECT_EQ(plugin.Filter(MakePod("p")).pre_filter, Skip());
  for (int i = 0; i < 10; ++i) plugin.AddPod(App("web" + std::to_string(i)), i < 9 ? "a" : "b");
  EXPECT_EQ(plugin.Filter(App("p")).Fitting(), (std::vector<std::string>{"a", "b", "none"}));
  plugin.AddPod(App("last"), "a");
  const FilterResult result = plugin.Filter(App("p"));
  EXPECT_EQ(result.Fitting(), (std::vector<std::string>{"b", "none"}));
  EXPECT_EQ(result.On("a"), Unschedulable("zone has too many pods of the application"));
}

}  // namespace
}  // namespace berth::testing

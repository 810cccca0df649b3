// InterPodAffinity: places the pod with regard to the pods on nodes of the same topology domain.
// kube-scheduler: pkg/scheduler/framework/plugins/interpodaffinity
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <berth/plugin.h>
#include <berth/topology_index.h>

#include "args.h"
#include "filter_state.h"
#include "hints.h"
#include "parse_error.h"
#include "score_state.h"

namespace {

class InterPodAffinity : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "InterPodAffinity";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Places pods near, or away from, other pods: affinity and anti-affinity between pods.";
  static constexpr std::array kServices{BERTH_SERVICE_OBJECTS, BERTH_SERVICE_STRINGS};
  static constexpr std::array kKinds{berth::kNamespaceKind};
  static constexpr std::array kPodFields{"/spec/affinity/podAffinity",
                                         "/spec/affinity/podAntiAffinity"};
  static constexpr berth::Reasons kReasons{"node(s) didn't match pod affinity rules",
                                           "node(s) didn't match pod anti-affinity rules",
                                           "node(s) didn't satisfy existing pods anti-affinity "
                                           "rules"};
  enum Reason : int { kAffinity, kAntiAffinity, kExistingAntiAffinity };
  // The labels of the pod decide which terms of other pods mean it. The signatures cover that.
  static constexpr berth::Dependence kFilterDependence{
      .cluster = berth::kNode | berth::kOther,
      .pod_parts = BERTH_PART(NAMESPACE) | BERTH_PART(POD_AFFINITY)};
  static constexpr berth::Dependence kScoreDependence = kFilterDependence;
  static constexpr berth::Normalize kNormalize = berth::Normalize::kMinMaxFloat;
  using Node = berth::NodeRow<Columns>;
  using Args = affinity::Args;
  static constexpr auto kArgs = affinity::kArgRows;
  using State = affinity::FilterState;
  using ScoreState = affinity::ScoreState;

  InterPodAffinity(const berth::Host& host, const Args& args)
      : host_(host), args_(args), index_(host) {}

  void OnChange(const berth::Change& change) { index_.OnChange(change); }

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    const std::string error = affinity::ParseError(cycle.pod(), host_);
    if (!error.empty()) return berth::Status::Unresolvable("parsing pod: " + error);
    State& state = cycle.Emplace<State>();
    state.Prepare(cycle.pod(), cycle.id(), index_);
    return state.MayIgnore() ? berth::Status::Skip() : berth::Status::Success();
  }

  berth::Status AddPod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    cycle.State<State>().Change(cycle.pod(), pod, *node.view(), node.row(), 1, index_);
    return berth::Status::Success();
  }

  berth::Status RemovePod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    cycle.State<State>().Change(cycle.pod(), pod, *node.view(), node.row(), -1, index_);
    return berth::Status::Success();
  }

  std::optional<berth::Signature> SignFilter(const berth::Cycle& cycle) const {
    berth::Signer signer = host_.NewSigner();
    cycle.State<State>().Sign(signer);
    return signer.Take();
  }

  berth::Stale FilterChanged(const berth::Cycle& cycle, uint64_t& token,
                             berth::RowSink& rows) const {
    const berth::TopologyHistory history = index_.ExchangeToken(token);
    if (history.since() == 0) return berth::Stale::kAll;
    return cycle.State<State>().Changed(history, cycle.pod().ns(), rows);
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const State& state = cycle.State<State>();
    const uint32_t rejections = state.RejectionsOf(node.row(), *node.view());
    if (rejections == 0) return berth::kPass;
    const bool near = (rejections & affinity::kNoKey) == 0 &&
                      ((rejections & affinity::kNoPods) == 0 || state.MayBeFirst());
    if (!near) return berth::Unresolvable(kAffinity);
    if ((rejections & affinity::kOwnAntiAffinity) != 0) return berth::Unschedulable(kAntiAffinity);
    return berth::UnschedulableIf((rejections & affinity::kExistingPodsAntiAffinity) != 0,
                                  kExistingAntiAffinity);
  }

  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& /*all*/) {
    const berth::Pod pod = cycle.pod();
    if (args_.ignore_preferred_terms_of_existing_pods && !ScoreState::HasPreferredTerms(pod)) {
      return berth::Status::Skip();
    }
    const std::string error = affinity::ParseError(pod, host_);
    if (!error.empty()) return berth::Status::Error("failed to parse pod: " + error);
    ScoreState& state = cycle.Emplace<ScoreState>();
    const bool any = state.Prepare(pod, args_.hard_pod_affinity_weight, cycle.id(), index_);
    return any ? berth::Status::Success() : berth::Status::Skip();
  }

  std::optional<berth::Signature> SignScore(const berth::Cycle& cycle) const {
    berth::Signer signer = host_.NewSigner();
    cycle.State<ScoreState>().Sign(signer);
    return signer.Take();
  }

  berth::Stale ScoreChanged(const berth::Cycle& cycle, uint64_t& token,
                            berth::RowSink& rows) const {
    const berth::TopologyHistory history = index_.ExchangeToken(token);
    if (history.since() == 0) return berth::Stale::kAll;
    return cycle.State<ScoreState>().Changed(history, cycle.pod().ns(), rows);
  }

  int64_t Score(const berth::Cycle& cycle, const Node& node) const {
    return cycle.State<ScoreState>().ScoreOf(node.row());
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    constexpr uint64_t kParts =
        BERTH_PART(NAMESPACE) | BERTH_PART(LABELS) | BERTH_PART(POD_AFFINITY);
    return {{.resource = BERTH_RESOURCE_POD_ANY,
             .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_POD_LABEL | BERTH_ACTION_DELETE,
             .pod_parts = kParts},
            {.resource = BERTH_RESOURCE_NODE,
             .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL | BERTH_ACTION_DELETE,
             .pod_parts = kParts},
            {.resource = BERTH_RESOURCE_CUSTOM,
             .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE | BERTH_ACTION_DELETE,
             .kind = berth::kNamespaceKind,
             .pod_parts = kParts}};
  }

  berth::QueueingHint Hint(const berth::Queued& queued, const berth::Event& event) {
    return affinity::Helps(*queued.pod, event, index_, host_) ? berth::QueueingHint::kQueue
                                                              : berth::QueueingHint::kSkip;
  }

 private:
  const berth::Host host_;
  const Args args_;
  berth::TopologyIndex index_;
};

}  // namespace

BERTH_PLUGIN(InterPodAffinity)

// PodTopologySpread: spreads the pods of a set evenly over zones, hosts or other domains.
// kube-scheduler: pkg/scheduler/framework/plugins/podtopologyspread/
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/plugin.h>
#include <berth/selectors.h>
#include <berth/topology_index.h>

#include "args.h"
#include "constraints.h"
#include "default_selectors.h"
#include "hard.h"
#include "hints.h"
#include "labels.h"
#include "scoring.h"
#include "soft.h"
#include "tally.h"

namespace {

using spread::Action;
using spread::Constraint;
using spread::Constraints;
using spread::HardConstraint;
using spread::SoftConstraint;
using spread::SoftConstraints;
using spread::Tally;

class PodTopologySpread : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "PodTopologySpread";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Spreads the pods of a set evenly over zones, hosts or other domains.";
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS, BERTH_SERVICE_OBJECTS,
                                        BERTH_SERVICE_SELECTORS, BERTH_SERVICE_COLUMNS};
  static constexpr std::array kKinds{spread::kServices, spread::kReplicationControllers,
                                     spread::kReplicaSets, spread::kStatefulSets};
  static constexpr std::array kPodFields{"/spec/topologySpreadConstraints"};
  static constexpr berth::Reasons kReasons{
      "node(s) didn't match pod topology spread constraints (missing required label)",
      "node(s) didn't match pod topology spread constraints"};
  enum Reason : int { kMissingLabel, kSkew };
  // The signatures cover the labels of the pod and, if a policy honours them, its node selection
  // and tolerations. FilterChanged() and ScoreChanged() cover the pods on all nodes.
  static constexpr berth::Dependence kFilterDependence{
      .cluster = berth::kNode | berth::kOther,
      .pod_parts = BERTH_PART(NAMESPACE) | BERTH_PART(SPREAD)};
  static constexpr berth::Dependence kScoreDependence = kFilterDependence;
  using Columns = spread::Columns;
  using Block = berth::Block<Columns>;
  using Node = berth::NodeRow<Columns>;
  using Args = spread::Args;
  static constexpr auto kArgs = spread::kArgRows;
  static void Validate(const Args& args, berth::ArgErrors& errors) { spread::Check(args, errors); }

  struct State {
    Constraints constraints;
    std::vector<HardConstraint> hard;
  };
  struct ScoreState {
    Constraints constraints;
    SoftConstraints soft;
  };

  PodTopologySpread(const berth::Host& host, const Args& args)
      : host_(host),
        hostname_(host.Intern(spread::kHostname)),
        empty_value_(host.Intern("")),
        index_(host, {.terms = false, .namespaces = false}),
        tallier_(host, index_),
        source_(host, args, index_) {}

  void OnChange(const berth::Change& change) { index_.OnChange(change); }

  // Skips pods without hard constraints.
  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& all,
                          berth::PreFilterOut& /*out*/) {
    const berth::Pod pod = cycle.pod();
    Constraints found = source_.Of(pod, Action::kDoNotSchedule);
    if (!found.valid) return InvalidSelector("hard");
    if (found.list.empty()) return berth::Status::Skip();
    State& state = cycle.Emplace<State>();
    state.constraints = std::move(found);
    const std::vector<Constraint>& list = state.constraints.list;
    std::vector<Tally> tallies =
        tallier_.Count({state.constraints, cycle, true, BERTH_ID_NONE}, all);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool matches_self = berth::Matches(list[i].selector, pod.labels(), host_);
      state.hard.emplace_back(list[i], std::move(tallies[i]), matches_self);
    }
    return berth::Status::Success();
  }

  berth::Status AddPod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    return ChangePods(cycle, pod, node, 1);
  }
  berth::Status RemovePod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    return ChangePods(cycle, pod, node, -1);
  }

  std::optional<berth::Signature> SignFilter(const berth::Cycle& cycle) const {
    const State& state = cycle.State<State>();
    berth::Signer signer = NewSigner(cycle.pod(), state.constraints);
    for (const HardConstraint& each : state.hard) {
      signer.Add(each.matches_self()).Add(each.tally().narrowed());
    }
    return signer.Take();
  }

  berth::Stale FilterChanged(const berth::Cycle& cycle, uint64_t& token,
                             berth::RowSink& rows) const {
    const berth::TopologyHistory history = index_.ExchangeToken(token);
    if (history.since() == 0) return berth::Stale::kAll;
    std::vector<std::vector<uint8_t>> changed;
    for (const HardConstraint& each : cycle.State<State>().hard) {
      std::optional<std::vector<uint8_t>> domains = each.DomainsChangedSince(history);
      if (!domains.has_value()) return berth::Stale::kAll;
      changed.push_back(std::move(*domains));
    }
    bool any = false;
    std::size_t i = 0;
    for (const HardConstraint& each : cycle.State<State>().hard) {
      any |= spread::PutRows(*each.tally().topology, changed[i++], rows);
    }
    return any ? berth::Stale::kRows : berth::Stale::kNone;
  }

  berth::Status Filter(const berth::Cycle& cycle, const Block& block, berth::FilterOut& out) const {
    const std::vector<HardConstraint>& hard = cycle.State<State>().hard;
    if (hard.size() == 1) {
      FilterBlock(block, out.codes(), out.reasons(),
                  [only = &hard.front()](uint32_t row) { return VerdictOf(*only, row); });
    } else {
      FilterBlock(block, out.codes(), out.reasons(), [&hard](uint32_t row) {
        berth::Verdict verdict = berth::kPass;
        for (const HardConstraint& each : hard) {
          verdict = VerdictOf(each, row);
          if (!verdict.ok()) break;
        }
        return verdict;
      });
    }
    return berth::Status::Success();
  }

  // Skips pods without soft constraints.
  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& feasible,
                         const berth::Nodes& all) {
    const berth::Pod pod = cycle.pod();
    Constraints found = source_.Of(pod, Action::kScheduleAnyway);
    if (!found.valid) return InvalidSelector("soft");
    if (found.list.empty()) return berth::Status::Skip();
    const bool require_all_keys = source_.RequiresAllKeys(pod);
    ScoreState& state =
        cycle.Emplace<ScoreState>(std::move(found), SoftConstraints(require_all_keys));
    const std::vector<Constraint>& list = state.constraints.list;
    std::vector<Tally> tallies =
        tallier_.Count({state.constraints, cycle, require_all_keys, hostname_}, all);
    for (std::size_t i = 0; i < list.size(); ++i) {
      state.soft.Add(SoftConstraint(list[i], std::move(tallies[i]), list[i].key == hostname_));
    }
    state.soft.SetCandidates(feasible, all.size(), empty_value_);
    return berth::Status::Success();
  }

  // The numbers of domains determine the weights.
  std::optional<berth::Signature> SignScore(const berth::Cycle& cycle) const {
    const ScoreState& state = cycle.State<ScoreState>();
    berth::Signer signer = NewSigner(cycle.pod(), state.constraints);
    for (const SoftConstraint& each : state.soft.list()) {
      signer.Add(each.domains()).Add(each.tally().narrowed());
    }
    return signer.Take();
  }

  berth::Stale ScoreChanged(const berth::Cycle& cycle, uint64_t& token,
                            berth::RowSink& rows) const {
    const berth::TopologyHistory history = index_.ExchangeToken(token);
    if (history.since() == 0) return berth::Stale::kAll;
    bool any = false;
    for (const SoftConstraint& each : cycle.State<ScoreState>().soft.list()) {
      const berth::Stale stale = each.PutChangedRows(history, rows);
      if (stale == berth::Stale::kAll) return stale;
      any |= stale == berth::Stale::kRows;
    }
    return any ? berth::Stale::kRows : berth::Stale::kNone;
  }

  berth::Status Score(const berth::Cycle& cycle, const Block& block, std::span<int64_t> out) const {
    const SoftConstraints& soft = cycle.State<ScoreState>().soft;
    const uint32_t* const rows = block.abi().rows;
    block.ForEachIndex([&](uint32_t i) { out[i] = soft.RawScore(rows[i]); });
    return berth::Status::Success();
  }

  berth::Status NormalizeScore(berth::Cycle& /*cycle*/, berth::Scores& scores) {
    spread::Normalize(scores.values());
    return berth::Status::Success();
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    return spread::Interests(source_.HasDefault(Action::kDoNotSchedule));
  }

  berth::QueueingHint Hint(const berth::Queued& queued, const berth::Event& event) {
    const berth::Pod pod = *queued.pod;
    if (berth::ObjectIn(event.before) != nullptr || berth::ObjectIn(event.after) != nullptr) {
      return spread::ObjectHelps(pod, event, host_) ? berth::QueueingHint::kQueue
                                                    : berth::QueueingHint::kSkip;
    }
    if (!spread::MayHelp(event)) return berth::QueueingHint::kSkip;
    const Constraints hard = source_.Of(pod, Action::kDoNotSchedule);
    return spread::Helps(pod, hard, event, host_) ? berth::QueueingHint::kQueue
                                                  : berth::QueueingHint::kSkip;
  }

 private:
  static berth::Status InvalidSelector(std::string_view kind) {
    return berth::Status::Error("obtaining pod's " + std::string(kind) +
                                " topology spread constraints: a labelSelector is not valid");
  }

  static berth::Verdict VerdictOf(const HardConstraint& constraint, uint32_t row) {
    const uint32_t domain = constraint.DomainOf(row);
    if (domain == berth::Topology::kNone) return berth::Unresolvable(kMissingLabel);
    return berth::UnschedulableIf(!constraint.Accepts(domain), kSkew);
  }

  // Sets the verdicts of the selected nodes. The outputs alias nothing, so that the compiler need
  // not load the state again after each store.
  template <class F>
  static void FilterBlock(const Block& block, uint8_t* __restrict codes,
                          uint64_t* __restrict reasons, F verdict_of) {
    const uint32_t* const rows = block.abi().rows;
    block.ForEachIndex([=](uint32_t i) {
      const berth::Verdict verdict = verdict_of(rows[i]);
      codes[i] = verdict.code;
      reasons[i] = verdict.reasons;
    });
  }

  // Changes the counts as if a pod were added to a node or removed from it. A pod that is being
  // deleted is not counted on its node, so that its removal changes nothing. kube-scheduler
  // subtracts it, and the count may then be too low by one.
  berth::Status ChangePods(berth::Cycle& cycle, const berth::Pod& pod, const Node& node,
                           int64_t change) const {
    if (pod.ns() != cycle.pod().ns() || pod->meta->deleted_ns != 0) {
      return berth::Status::Success();
    }
    State& state = cycle.State<State>();
    for (std::size_t i = 0; i < state.hard.size(); ++i) {
      const berth_selector* const selector = state.constraints.list[i].selector;
      if (!spread::Counts(selector) || !berth::Matches(selector, pod.labels(), host_)) continue;
      const uint32_t domain = state.hard[i].tally().DomainOf(node.row());
      if (domain != berth::Topology::kNone) state.hard[i].AddPods(domain, change);
    }
    return berth::Status::Success();
  }

  berth::Signer NewSigner(const berth::Pod& pod, const Constraints& constraints) const {
    berth::Signer signer = host_.NewSigner();
    spread::AddTo(constraints, host_, signer);
    if (constraints.HonorAffinity()) signer.Add(pod.PartHash(BERTH_PART_NODE_SELECTION));
    if (constraints.HonorTaints()) signer.Add(pod.PartHash(BERTH_PART_TOLERATIONS));
    return signer;
  }

  const berth::Host host_;
  const berth_id hostname_;
  const berth_id empty_value_;
  berth::TopologyIndex index_;
  spread::Tallier tallier_;
  spread::ConstraintSource source_;
};

}  // namespace

BERTH_PLUGIN(PodTopologySpread)

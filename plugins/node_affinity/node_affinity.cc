// NodeAffinity: restricts pods to the nodes that the pod and the profile select, and scores nodes
// by the preferred terms of both.
// kube-scheduler: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <berth/node_terms.h>
#include <berth/plugin.h>

#include "args.h"
#include "parse_error.h"
#include "terms.h"

namespace {

using affinity::NodeTerms;
using affinity::ProfileTerms;
using berth::BoundTerms;
using Requirements = berth::Span<const berth_requirement>;

NodeTerms RequiredTerms(berth::Pod pod) { return NodeTerms(pod.affinity().required_node_terms); }
NodeTerms PreferredTerms(berth::Pod pod) { return NodeTerms(pod.affinity().preferred_node_terms); }
bool RequiresTerms(berth::Pod pod) { return pod.affinity().has_required_node_terms != 0; }

class NodeAffinity : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "NodeAffinity";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects nodes that nodeSelector or node affinity excludes, and scores preferred nodes.";
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS, BERTH_SERVICE_COLUMNS};
  static constexpr std::array kPodFields{"/spec/affinity/nodeAffinity", "/spec/nodeSelector"};
  static constexpr berth::Reasons kReasons{"node(s) didn't match scheduler-enforced node affinity",
                                           "node(s) didn't match Pod's node affinity/selector"};
  enum Reason : int { kEnforced, kPodSelection };
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNode,
                                                       .pod_parts = BERTH_PART(NODE_SELECTION)};
  static constexpr berth::Dependence kScoreDependence = kFilterDependence;
  static constexpr berth::Normalize kNormalize = berth::Normalize::kMax;
  using Node = berth::NodeRow<Columns>;
  using Args = affinity::Args;
  static constexpr auto kArgs = affinity::kArgRows;
  static void Validate(const Args& args, berth::ArgErrors& errors) {
    affinity::Check(args, errors);
  }

  struct State {
    berth::BoundNodeSelection selection;
    BoundTerms added_required;
  };
  struct ScoreState {
    BoundTerms preferred;
    BoundTerms added_preferred;
  };

  NodeAffinity(const berth::Host& host, const Args& args)
      : host_(host), name_field_(host.Intern("metadata.name")) {
    for (const affinity::Term& term : args.added_affinity.required.terms) {
      added_required_.Add(term, 0, host);
    }
    for (const affinity::PreferredTerm& term : args.added_affinity.preferred) {
      added_preferred_.Add(term.preference, term.weight, host);
    }
  }

  // Skips pods that may run on any node. If every required term selects nodes by name, limits the
  // attempt to these nodes.
  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& out) {
    const berth::Pod pod = cycle.pod();
    if (!RequiresTerms(pod) && pod.node_selector().empty() && added_required_.empty()) {
      return berth::Status::Skip();
    }
    State& state = cycle.Emplace<State>();
    state.selection.Bind(pod, cycle, host_);
    state.added_required.Bind(added_required_.terms(), cycle, host_);

    const std::optional<std::vector<berth_id>> names = NamedNodes(RequiredTerms(pod));
    if (!names.has_value()) return berth::Status::Success();
    if (names->empty()) return berth::Status::Unresolvable("pod affinity terms conflict");
    std::vector<std::string_view> texts;
    for (const berth_id name : *names) texts.push_back(host_.Text(name));
    out.OnlyNodes(texts);
    return berth::Status::Success();
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const State* const state = cycle.TryState<State>();
    if (state == nullptr) return FilterWithoutState(cycle.pod(), node.view());
    if (!added_required_.empty() && !state->added_required.MatchAny(node, host_)) {
      return berth::Unresolvable(kEnforced);
    }
    return berth::UnresolvableIf(!state->selection.Matches(node, host_), kPodSelection);
  }

  // Skips the pod when neither it nor the profile has preferred terms.
  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& /*all*/) {
    const NodeTerms preferred = PreferredTerms(cycle.pod());
    if (preferred.empty() && added_preferred_.empty()) return berth::Status::Skip();
    CheckPreferred(preferred);
    ScoreState& state = cycle.Emplace<ScoreState>();
    state.preferred.Bind(preferred, cycle, host_);
    state.added_preferred.Bind(added_preferred_.terms(), cycle, host_);
    return berth::Status::Success();
  }

  // Returns the sum of the weights of the preferred terms that match.
  int64_t Score(const berth::Cycle& cycle, const Node& node) const {
    const ScoreState* const state = cycle.TryState<ScoreState>();
    if (state == nullptr) {
      CheckPreferred(PreferredTerms(cycle.pod()));
      return SumWeights(PreferredTerms(cycle.pod()), node.view()) +
             SumWeights(added_preferred_.terms(), node.view());
    }
    return state->preferred.SumWeights(node, host_) +
           state->added_preferred.SumWeights(node, host_);
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{.resource = BERTH_RESOURCE_NODE,
             .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL,
             .pod_parts = BERTH_PART(NODE_SELECTION)}};
  }

  // Returns kQueue when the node is selected now and was not before. kube-scheduler ignores
  // addedAffinity when it evaluates the node before the change, and so misses a new label that only
  // addedAffinity requires.
  berth::QueueingHint Hint(const berth::Queued& queued, const berth::Event& event) {
    const berth_node* const now = berth::NodeIn(event.after);
    const berth_node* const before = berth::NodeIn(event.before);
    if (now == nullptr) return berth::QueueingHint::kQueue;
    const bool helps =
        IsSelected(*queued.pod, *now) && (before == nullptr || !IsSelected(*queued.pod, *before));
    return helps ? berth::QueueingHint::kQueue : berth::QueueingHint::kSkip;
  }

 private:
  // Returns the nodes that the terms select by metadata.name, sorted. Returns nullopt when there is
  // no term or a term names no node: then every node is a candidate. Terms that do not parse count
  // too, as in kube-scheduler.
  std::optional<std::vector<berth_id>> NamedNodes(NodeTerms terms) const {
    if (terms.empty()) return std::nullopt;
    std::vector<berth_id> names;
    for (const berth_node_term& term : terms) {
      std::optional<std::vector<berth_id>> of_term;
      for (const berth_requirement& field : Requirements(term.fields)) {
        if (field.op == BERTH_OP_IN && field.key == name_field_) Intersect(field, of_term);
      }
      if (!of_term.has_value()) return std::nullopt;
      names.insert(names.end(), of_term->begin(), of_term->end());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  // Reduces `names` (sorted) to those that `field` allows as well. Without a value, `names` becomes
  // all names that `field` allows.
  static void Intersect(const berth_requirement& field,
                        std::optional<std::vector<berth_id>>& names) {
    const berth::Span<const berth_id> values(field.values);
    std::vector<berth_id> allowed(values.begin(), values.end());
    std::sort(allowed.begin(), allowed.end());
    if (names.has_value()) {
      std::vector<berth_id> both;
      std::set_intersection(names->begin(), names->end(), allowed.begin(), allowed.end(),
                            std::back_inserter(both));
      allowed = std::move(both);
    }
    names = std::move(allowed);
  }

  void CheckPreferred(NodeTerms terms) const {
    const std::string error = affinity::PreferredParseError(terms, host_);
    if (!error.empty()) throw berth::Error(error);
  }

  bool IsEnforced(const berth_node& node) const {
    return added_required_.empty() || berth::MatchesAny(added_required_.terms(), node, host_);
  }
  bool IsSelected(berth::Pod pod, const berth_node& node) const {
    return IsEnforced(node) && berth::MatchesNodeSelection(pod, node, host_);
  }

  // Filters without the state of PreFilter: a profile may disable the plugin at PreFilter only.
  berth::Verdict FilterWithoutState(berth::Pod pod, const berth_node& node) const {
    if (!IsEnforced(node)) return berth::Unresolvable(kEnforced);
    return berth::UnresolvableIf(!berth::MatchesNodeSelection(pod, node, host_), kPodSelection);
  }

  int64_t SumWeights(NodeTerms terms, const berth_node& node) const {
    int64_t sum = 0;
    for (const berth_node_term& term : terms) {
      if (berth::Matches(term, node, host_)) sum += term.weight;
    }
    return sum;
  }

  const berth::Host host_;
  const berth_id name_field_;
  ProfileTerms added_required_;
  ProfileTerms added_preferred_;
};

}  // namespace

BERTH_PLUGIN(NodeAffinity)

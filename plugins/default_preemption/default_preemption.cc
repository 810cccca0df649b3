// DefaultPreemption: makes room for a pod that fits on no node, by evicting less important pods.
// kube-scheduler: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go,
// pkg/scheduler/framework/preemption/preemption.go
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/needed_kind.h>
#include <berth/plugin.h>

#include "args.h"
#include "budgets.h"
#include "choice.h"
#include "dry_run.h"
#include "eligibility.h"
#include "evictions.h"
#include "forecast.h"
#include "refusals.h"
#include "room.h"
#include "unit.h"

namespace {

constexpr std::string_view kWaiting = "waiting for the preemption for this pod to be finished";
constexpr std::string_view kNotHelpful = "Preemption is not helpful for scheduling";

class DefaultPreemption : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "DefaultPreemption";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Evicts pods of lower priority to make room for a pod that fits on no node.";
  static constexpr std::array kServices{
      BERTH_SERVICE_ACTIVATE,  BERTH_SERVICE_API,     BERTH_SERVICE_LOG,    BERTH_SERVICE_NODES,
      BERTH_SERVICE_NOMINATOR, BERTH_SERVICE_OBJECTS, BERTH_SERVICE_RANDOM, BERTH_SERVICE_REFS,
      BERTH_SERVICE_STRINGS,   BERTH_SERVICE_TIMER,   BERTH_SERVICE_WHATIF};
  static constexpr std::array kKinds{preemption::kBudgets};
  // A pod that is placed or deleted waits for no victims any more.
  static constexpr bool kPendingChanges = true;
  using Args = preemption::Args;
  static constexpr auto kArgs = preemption::kArgRows;
  static void Validate(const Args& args, berth::ArgErrors& errors) {
    preemption::Check(args, errors);
  }
  using Columns = berth::Columns<berth::AllocCpu, berth::AllocMemory, berth::AllocEphemeralStorage,
                                 berth::AllocPods, berth::ReqCpu, berth::ReqMemory,
                                 berth::ReqEphemeralStorage, berth::PodsCount>;
  using Node = berth::NodeRow<Columns>;

  DefaultPreemption(const berth::Host& host, const Args& args)
      : host_(host),
        args_(args),
        budgets_(host),
        needed_budgets_(host, preemption::kBudgets),
        eligibility_(host),
        evictions_(host) {}

  void OnChange(const berth::Change& change) { evictions_.OnChange(change); }

  berth::Status PreEnqueue(const berth::Pod& pod) {
    return evictions_.HoldBack(pod.uid()) ? berth::Status::Unresolvable(kWaiting)
                                          : berth::Status::Success();
  }
  // None: a pod that was held back is activated when its wait ends.
  std::vector<berth::EventInterest> EventsToRegister() const { return {}; }

  berth::Status PostFilter(berth::Cycle& cycle, const berth::Nodes& all,
                           const berth::Verdicts& verdicts, berth::PostFilterOut& out) {
    const berth::Status status = Preempt(cycle, all, verdicts, out);
    if (status.reasons().empty()) return status;
    return {status.code(), "preemption: " + status.reasons().front()};
  }

 private:
  berth::Status Preempt(const berth::Cycle& cycle, const berth::Nodes& all,
                        const berth::Verdicts& verdicts, berth::PostFilterOut& out) {
    const std::string_view why_not =
        eligibility_.WhyNot(*cycle.pod(), PodsOnNominatedNode(cycle.pod(), all, verdicts));
    if (!why_not.empty()) return berth::Status::Unschedulable(why_not);
    const int64_t now_ns = host_.timers().WallNow().count();
    std::vector<preemption::PotentialNode> nodes =
        PotentialNodes(cycle.pod(), all, verdicts, now_ns);
    Rotate(cycle, nodes);
    needed_budgets_.Note(!nodes.empty());
    if (const auto foreseen = Foresee(cycle, nodes, now_ns)) {
      return Act(cycle.pod(), *foreseen, all, out);
    }
    preemption::DryRun dry_run(host_, cycle, budgets_, OptionsFor(nodes.size()));
    dry_run.Run(nodes);
    if (dry_run.candidates().empty()) {
      if (!dry_run.errors().empty()) return berth::Status::Error(TextOf(dry_run.errors()));
      preemption::Refusals refusals = dry_run.refusals();
      refusals.Add(kNotHelpful, all.size() - nodes.size());
      evictions_.ForgetNode(cycle.pod().uid());
      out.Nominate("");
      return berth::Status::Unschedulable(refusals.Text(all.size()));
    }
    LogCandidates(cycle.pod(), dry_run.candidates(), all);
    const std::size_t best = preemption::SelectBest(dry_run.candidates(), WorkLostUntil(now_ns));
    return Act(cycle.pod(), dry_run.candidates()[best], all, out);
  }

  // Returns the pods on the node that the pod is nominated to; none if there is no such node, or if
  // preemption cannot help there.
  std::vector<const berth_pod*> PodsOnNominatedNode(const berth::Pod& pod, const berth::Nodes& all,
                                                    const berth::Verdicts& verdicts) const {
    std::string_view node = host_.Text(pod->nominated_node);
    if (node.empty()) node = evictions_.NodeOf(pod.uid());
    if (node.empty()) return {};
    const auto row = host_.nodes().Find(node);
    if (!row || verdicts.Code(*row) == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE) return {};
    const auto place = host_.nodes().Find(all, *row);
    if (!place) return {};
    const auto block = all.BlockAt<Columns>(place->block);
    const auto pods = block.Pods(place->index);
    return {pods.begin(), pods.end()};
  }

  // Returns the best candidate, if resources alone decide; no value if that is not so or not
  // certain. The forecast for each node is that of a dry run, or another Filter rejects the node.
  // So the node with the best forecast is the best one, if a dry run of this node confirms it. A
  // search that may end before the last node depends on every dry run before, and has no forecast.
  std::optional<preemption::Candidate> Foresee(const berth::Cycle& cycle,
                                               std::span<preemption::PotentialNode> nodes,
                                               int64_t now_ns) const {
    const preemption::DryRun::Options options = OptionsFor(nodes.size());
    const bool may_end_early = options.needed < nodes.size();
    if (may_end_early || options.strict_budgets || host_.log().Enabled(BERTH_LOG_DEBUG)) {
      return std::nullopt;
    }
    auto forecast = preemption::Forecast::TryMake(host_, cycle, budgets_, options.budget_rule);
    if (!forecast) return std::nullopt;
    std::vector<preemption::Candidate> candidates;
    std::vector<preemption::PotentialNode*> places;
    for (preemption::PotentialNode& node : nodes) {
      if (!node.free.IsSmall()) return std::nullopt;
      auto candidate = forecast->On(node.row, node.name, node.free, node.units);
      if (!candidate) continue;
      candidates.push_back(*std::move(candidate));
      places.push_back(&node);
    }
    for (int tries = 0; tries < kTriesMax && !candidates.empty(); ++tries) {
      const std::size_t best = preemption::SelectBest(candidates, WorkLostUntil(now_ns));
      preemption::DryRun proof(host_, cycle, budgets_, options);
      proof.Run({places[best], 1});
      if (!proof.errors().empty()) return std::nullopt;
      if (!proof.candidates().empty()) {
        const bool is_equal = proof.candidates().front() == candidates[best];
        return is_equal ? std::optional(candidates[best]) : std::nullopt;
      }
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(best));
      places.erase(places.begin() + static_cast<std::ptrdiff_t>(best));
    }
    return std::nullopt;
  }
  // If another Filter rejects more nodes than this, the search over all nodes costs less.
  static constexpr int kTriesMax = 8;

  std::optional<int64_t> WorkLostUntil(int64_t now_ns) const {
    return args_.least_work_lost ? std::optional(now_ns) : std::nullopt;
  }

  // Returns the nodes that a Filter rejected in such a way that preemption may help.
  static std::vector<preemption::PotentialNode> PotentialNodes(const berth::Pod& pod,
                                                               const berth::Nodes& all,
                                                               const berth::Verdicts& verdicts,
                                                               int64_t now_ns) {
    std::vector<preemption::PotentialNode> nodes;
    all.ForEach<Columns>([&](const Node& node) {
      if (verdicts.Code(node.row()) != BERTH_UNSCHEDULABLE) return;
      preemption::PotentialNode& potential = nodes.emplace_back();
      potential.row = node.row();
      potential.name = node.view().name();
      potential.free = FreeOn(node);
      for (const berth_pod* other : node.pods()) {
        if (preemption::MayPreempt(*pod, *other)) potential.units.emplace_back(*other, now_ns);
      }
    });
    return nodes;
  }

  static preemption::Room FreeOn(const Node& node) {
    return {.milli_cpu = node[berth::AllocCpu{}] - node[berth::ReqCpu{}],
            .memory = node[berth::AllocMemory{}] - node[berth::ReqMemory{}],
            .ephemeral_storage =
                node[berth::AllocEphemeralStorage{}] - node[berth::ReqEphemeralStorage{}],
            .pods = node[berth::AllocPods{}] - node[berth::PodsCount{}]};
  }

  // Begins the search at a random node, so that equal pods do not choose the same victims.
  void Rotate(const berth::Cycle& cycle, std::vector<preemption::PotentialNode>& nodes) const {
    if (nodes.empty()) return;
    const uint64_t offset = host_.random().Below(cycle, nodes.size());
    std::rotate(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(offset), nodes.end());
  }

  preemption::DryRun::Options OptionsFor(std::size_t nodes) const {
    return {.needed = preemption::CandidatesNeeded(args_, nodes),
            .strict_budgets = args_.strict_budgets,
            .budget_rule = IsAtLeast37() ? preemption::BudgetTally::Rule::kStopAtFirst
                                         : preemption::BudgetTally::Rule::kCountAll};
  }

  bool IsAtLeast37() const { return host_.emulated_version() >= berth::KubeVersion{1, 37}; }

  // Logs every node that may be chosen, for those who want to know what stands against the others.
  void LogCandidates(const berth::Pod& pod, const std::vector<preemption::Candidate>& candidates,
                     const berth::Nodes& all) const {
    if (!host_.log().Enabled(BERTH_LOG_DEBUG)) return;
    for (const preemption::Candidate& candidate : candidates) {
      std::string victims;
      for (const preemption::Unit& victim : candidate.victims) {
        victim.ForEachPod(
            [&](const berth_pod& each) { victims += (victims.empty() ? "" : ",") + NameOf(each); });
      }
      host_.log().Debug("candidate for preemption",
                        {{"pod", NameOf(pod)},
                         {"node", NodeNameOf(candidate.row, all)},
                         {"victims", victims},
                         {"violations", std::to_string(candidate.violations)}});
    }
  }
  std::string NameOf(const berth::Pod& pod) const {
    return std::string(host_.Text(pod.ns())).append("/").append(pod.name());
  }
  // REQUIRES: the row is one of the nodes.
  std::string NodeNameOf(uint32_t row, const berth::Nodes& all) const {
    const auto place = host_.nodes().Find(all, row);
    return std::string(all.BlockAt<Columns>(place->block).View(place->index).name());
  }

  // Evicts the victims and nominates the pod.
  berth::Status Act(const berth::Pod& pod, const preemption::Candidate& candidate,
                    const berth::Nodes& all, berth::PostFilterOut& out) {
    const std::string node = NodeNameOf(candidate.row, all);
    ClearLowerNominations(pod, node);
    evictions_.Begin(pod, node, candidate.victims);
    out.Nominate(node);
    if (!IsAtLeast37()) return berth::Status::Success();
    std::size_t victims = 0;
    for (const preemption::Unit& victim : candidate.victims) victims += victim.pod_count();
    return {BERTH_SUCCESS, "found a potential placement for pod on node " + node + ", preempting " +
                               std::to_string(victims) + " victims"};
  }

  // The room on the node is not for pods that are less important than this one.
  void ClearLowerNominations(const berth::Pod& pod, std::string_view node) {
    std::vector<std::string> lower;
    (void)host_.nominator().ForEach(node, [&](const berth_pod& nominated) {
      if (preemption::MayPreempt(*pod, nominated)) lower.emplace_back(berth::Pod(nominated).uid());
    });
    for (const std::string& uid : lower) {
      (void)host_.nominator().Clear(uid);
      evictions_.ForgetNode(uid);
    }
  }

  // Returns the error, or "[first, second]".
  static std::string TextOf(const std::vector<std::string>& errors) {
    if (errors.size() == 1) return errors.front();
    std::string text;
    for (const std::string& error : errors) text += (text.empty() ? "" : ", ") + error;
    return "[" + text + "]";
  }

  const berth::Host host_;
  const Args args_;
  preemption::Budgets budgets_;
  berth::NeededKind needed_budgets_;
  preemption::Eligibility eligibility_;
  preemption::Evictions evictions_;
};

}  // namespace

BERTH_PLUGIN(DefaultPreemption)

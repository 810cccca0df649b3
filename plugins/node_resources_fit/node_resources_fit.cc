// NodeResourcesFit: rejects nodes whose free resources are too small for the pod, and scores nodes
// by how full they would be with the pod.
// kube-scheduler: pkg/scheduler/framework/plugins/noderesources/fit.go, resource_allocation.go
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <berth/amounts.h>
#include <berth/plugin.h>

#include "args.h"
#include "hints.h"
#include "strategy.h"

namespace {

using Column = berth::ColumnRef<int64_t>;

// A resource other than cpu, memory and ephemeral storage that Filter checks.
struct Need {
  int64_t amount;
  Column allocatable;
  Column requested;
  int reason;
};

// A resource other than cpu and memory that Score uses.
struct Share {
  int64_t amount;
  int64_t weight;
  Column allocatable;
  Column requested;
};

// Stands for "no request". It is less than any free amount, which is negative on an overcommitted
// node.
constexpr int64_t kNothing = std::numeric_limits<int64_t>::min();

constexpr int64_t Wanted(int64_t request) { return request > 0 ? request : kNothing; }

class NodeResourcesFit : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesFit";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects nodes that lack what the pod requests, and scores nodes by how full they would be.";
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS, BERTH_SERVICE_COLUMNS};
  static constexpr std::array kPodFields{"/spec/containers/resources", "/spec/overhead",
                                         "/spec/resources"};
  static constexpr berth::Reasons kReasons{"Too many pods", "Insufficient cpu",
                                           "Insufficient memory", "Insufficient ephemeral-storage"};
  enum Reason : int { kPods, kCpu, kMemory, kEphemeralStorage };
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNodePods,
                                                       .pod_parts = BERTH_PART(REQUESTS)};
  static constexpr berth::Dependence kScoreDependence = kFilterDependence;
  using Columns = berth::Columns<berth::AllocPods, berth::AllocCpu, berth::AllocMemory,
                                 berth::AllocEphemeralStorage, berth::PodsCount, berth::ReqCpu,
                                 berth::ReqMemory, berth::ReqEphemeralStorage, berth::NonzeroCpu,
                                 berth::NonzeroMemory>;
  using Node = berth::NodeRow<Columns>;
  using Block = berth::Block<Columns>;
  using Args = fit::Args;
  static constexpr auto kArgs = fit::kArgRows;
  static void Validate(const Args& args, berth::ArgErrors& errors) { fit::Check(args, errors); }

  struct State {
    int64_t cpu = kNothing;
    int64_t memory = kNothing;
    int64_t ephemeral_storage = kNothing;
    std::vector<Need> needs;
  };
  struct ScoreState {
    std::vector<Share> shares;
  };

  NodeResourcesFit(const berth::Host& host, const Args& args);

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& all, berth::PreFilterOut& out);
  berth::Status Filter(const berth::Cycle& cycle, const Block& block, berth::FilterOut& out) const;
  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& feasible,
                         const berth::Nodes& all);
  berth::Status Score(const berth::Cycle& cycle, const Block& block, std::span<int64_t> out) const;
  std::vector<berth::EventInterest> EventsToRegister() const;
  berth::QueueingHint Hint(const berth::Queued& queued, const berth::Event& event);

 private:
  // A resource other than cpu and memory that the arguments name.
  struct OtherResource {
    std::string name;
    berth_id id;
    int64_t weight;
  };
  using Strategy =
      std::variant<fit::LeastAllocated, fit::MostAllocated, fit::RequestedToCapacityRatio>;

  static Strategy MakeStrategy(const fit::ScoringStrategy& args);

  template <class S>
  void ScoreBlock(std::span<const Share> shares, const berth_resources& request, const Block& block,
                  const S& strategy, int64_t* __restrict out) const;

  const berth::Host host_;
  const fit::Ignored ignored_;
  const Strategy strategy_;
  int64_t cpu_weight_ = 0;
  int64_t memory_weight_ = 0;
  std::vector<OtherResource> other_resources_;
};

NodeResourcesFit::NodeResourcesFit(const berth::Host& host, const Args& args)
    : host_(host), ignored_(args), strategy_(MakeStrategy(args.scoring_strategy)) {
  const std::vector<fit::Resource> defaults = fit::ScoringStrategy().resources;
  const std::vector<fit::Resource>& named = args.scoring_strategy.resources;
  for (const fit::Resource& resource : named.empty() ? defaults : named) {
    const int64_t weight = resource.weight == 0 ? 1 : resource.weight;
    if (resource.name == "cpu") {
      cpu_weight_ += weight;
    } else if (resource.name == "memory") {
      memory_weight_ += weight;
    } else {
      other_resources_.push_back({resource.name, host.Intern(resource.name), weight});
    }
  }
}

NodeResourcesFit::Strategy NodeResourcesFit::MakeStrategy(const fit::ScoringStrategy& args) {
  switch (args.type) {
    case fit::StrategyType::kMostAllocated: return fit::MostAllocated();
    case fit::StrategyType::kRequestedToCapacityRatio:
      return fit::RequestedToCapacityRatio(args.requested_to_capacity_ratio.shape);
    default: return fit::LeastAllocated();
  }
}

berth::Status NodeResourcesFit::PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                                          berth::PreFilterOut& out) {
  const berth_resources& request = cycle.pod().request();
  State& state = cycle.Emplace<State>();
  state.cpu = Wanted(request.milli_cpu);
  state.memory = Wanted(request.memory);
  state.ephemeral_storage = Wanted(request.ephemeral_storage);
  // Sorted by name: pods with equal requests may have them in different orders, but must have the
  // same reasons, because verdicts are reused.
  std::vector<std::pair<std::string, int64_t>> scalars;
  for (const berth_quantity& scalar : cycle.pod().scalar_requests()) {
    std::string name(host_.Text(scalar.name));
    if (scalar.value > 0 && !ignored_.Has(name))
      scalars.emplace_back(std::move(name), scalar.value);
  }
  std::sort(scalars.begin(), scalars.end());
  for (const auto& [name, value] : scalars) {
    state.needs.push_back({value, cycle.Bind<int64_t>("alloc:" + name),
                           cycle.Bind<int64_t>("req:" + name),
                           out.AddReason("Insufficient " + name)});
  }
  return berth::Status::Success();
}

berth::Status NodeResourcesFit::Filter(const berth::Cycle& cycle, const Block& block,
                                       berth::FilterOut& out) const {
  const State& state = cycle.State<State>();
  const int64_t cpu = state.cpu;
  const int64_t memory = state.memory;
  const int64_t storage = state.ephemeral_storage;
  const std::span<const Need> needs = state.needs;
  uint8_t* __restrict const codes = out.codes();
  uint64_t* __restrict const reasons = out.reasons();
  block.ForEach([=](const Node& node) {
    const int64_t cpu_all = node[berth::AllocCpu{}];
    const int64_t memory_all = node[berth::AllocMemory{}];
    const int64_t storage_all = node[berth::AllocEphemeralStorage{}];
    const bool no_slot = node[berth::PodsCount{}] + 1 > node[berth::AllocPods{}];
    const bool no_cpu = cpu > cpu_all - node[berth::ReqCpu{}];
    const bool no_memory = memory > memory_all - node[berth::ReqMemory{}];
    const bool no_storage = storage > storage_all - node[berth::ReqEphemeralStorage{}];
    // If the pod requests more than the whole node has, preemption cannot help. Preemption can help
    // against too many pods, so no_slot alone is never unresolvable.
    const bool unresolvable = (cpu > cpu_all) | (memory > memory_all) | (storage > storage_all);
    uint64_t why = uint64_t{no_slot} << kPods | uint64_t{no_cpu} << kCpu |
                   uint64_t{no_memory} << kMemory | uint64_t{no_storage} << kEphemeralStorage;
    unsigned code = why == 0 ? 0U : BERTH_UNSCHEDULABLE + unsigned{unresolvable};
    for (const Need& need : needs) {
      const int64_t all = node.Get(need.allocatable);
      if (need.amount <= all - node.Get(need.requested)) continue;
      why |= berth::Unschedulable(need.reason).reasons;
      const unsigned verdict = BERTH_UNSCHEDULABLE + unsigned{need.amount > all};
      code = code > verdict ? code : verdict;
    }
    codes[node.index()] = static_cast<uint8_t>(code);
    reasons[node.index()] = why;
  });
  return berth::Status::Success();
}

berth::Status NodeResourcesFit::PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                                         const berth::Nodes& /*all*/) {
  const berth_resources& request = *cycle.pod()->request_of_containers;
  ScoreState& state = cycle.Emplace<ScoreState>();
  for (const OtherResource& other : other_resources_) {
    const bool is_storage = other.name == "ephemeral-storage";
    const int64_t amount =
        is_storage ? request.ephemeral_storage : berth::FindAmount(request, other.id);
    // Ephemeral storage always counts, as every node has it. Other resources count only if the pod
    // requests them.
    if (amount == 0 && !is_storage) continue;
    state.shares.push_back({amount, other.weight, cycle.Bind<int64_t>("alloc:" + other.name),
                            cycle.Bind<int64_t>("req:" + other.name)});
  }
  return berth::Status::Success();
}

template <class S>
void NodeResourcesFit::ScoreBlock(std::span<const Share> shares, const berth_resources& request,
                                  const Block& block, const S& strategy,
                                  int64_t* __restrict out) const {
  const int64_t cpu = request.milli_cpu;
  const int64_t memory = request.memory;
  const int64_t cpu_weight = cpu_weight_;
  const int64_t memory_weight = memory_weight_;
  block.ForEach([=, &strategy](const Node& node) {
    fit::Sums sums;
    // A resource that the node does not have is left out.
    const auto add = [&](int64_t used, int64_t capacity, int64_t weight) {
      if (capacity != 0) strategy.Add(used, capacity, weight, sums);
    };
    add(berth::AddAmounts(node[berth::NonzeroCpu{}], cpu), node[berth::AllocCpu{}], cpu_weight);
    add(berth::AddAmounts(node[berth::NonzeroMemory{}], memory), node[berth::AllocMemory{}],
        memory_weight);
    for (const Share& share : shares) {
      add(berth::AddAmounts(node.Get(share.requested), share.amount), node.Get(share.allocatable),
          share.weight);
    }
    out[node.index()] = S::Combine(sums);
  });
}

berth::Status NodeResourcesFit::Score(const berth::Cycle& cycle, const Block& block,
                                      std::span<int64_t> out) const {
  const std::span<const Share> shares = cycle.State<ScoreState>().shares;
  const berth_resources& request = *cycle.pod()->request_of_containers;
  std::visit(
      [&](const auto& strategy) { ScoreBlock(shares, request, block, strategy, out.data()); },
      strategy_);
  return berth::Status::Success();
}

std::vector<berth::EventInterest> NodeResourcesFit::EventsToRegister() const {
  return {{.resource = BERTH_RESOURCE_POD_ANY,
           .actions = BERTH_ACTION_DELETE | BERTH_ACTION_UPDATE_POD_SCALE_DOWN,
           .pod_parts = BERTH_PART(REQUESTS)},
          {.resource = BERTH_RESOURCE_NODE,
           .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_ALLOCATABLE,
           .pod_parts = BERTH_PART(REQUESTS)}};
}

berth::QueueingHint NodeResourcesFit::Hint(const berth::Queued& queued, const berth::Event& event) {
  return fit::Helps(*queued.pod, event, ignored_, host_) ? berth::QueueingHint::kQueue
                                                         : berth::QueueingHint::kSkip;
}

}  // namespace

BERTH_PLUGIN(NodeResourcesFit)

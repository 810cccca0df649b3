// NodeResourcesBalancedAllocation: prefers nodes on which the pod makes the use of resources more
// even.
// kube-scheduler: pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/amounts.h>
#include <berth/plugin.h>

#include "args.h"

namespace {

using Column = berth::ColumnRef<int64_t>;

// One of the resources to balance.
struct Share {
  int64_t amount;  // What the pod adds to the node.
  Column allocatable;
  Column requested;
};

double Fraction(int64_t used, int64_t capacity) {
  const double fraction = static_cast<double>(used) / static_cast<double>(capacity);
  return fraction > 1 ? 1 : fraction;
}

// Returns 50 (of two resources, one is full and the other empty) to 100 (all used fractions are
// equal). The order of operations is that of kube-scheduler: the result is truncated to an integer,
// and another order could give another integer.
int64_t Balance(double deviation) {
  return static_cast<int64_t>((1 - deviation) * static_cast<double>(BERTH_SCORE_MAX));
}
double Deviation(double a, double b) { return std::fabs((a - b) / 2); }

// Returns the score: 50 if the pod makes the balance worse by the maximum, 75 if it changes
// nothing, 100 if it improves the balance by the maximum.
int64_t Improvement(int64_t with_pod, int64_t without_pod) {
  constexpr int64_t kHalf = BERTH_SCORE_MAX / 2;
  return kHalf + (kHalf + with_pod - without_pod) / 2;
}

class NodeResourcesBalancedAllocation : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesBalancedAllocation";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Prefers nodes on which the pod makes the use of resources more even.";
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS, BERTH_SERVICE_COLUMNS};
  static constexpr berth::Dependence kScoreDependence{.cluster = berth::kNodePods,
                                                      .pod_parts = BERTH_PART(REQUESTS)};
  using Columns =
      berth::Columns<berth::AllocCpu, berth::AllocMemory, berth::ReqCpu, berth::ReqMemory>;
  using Node = berth::NodeRow<Columns>;
  using Block = berth::Block<Columns>;
  using Args = balance::Args;
  static constexpr auto kArgs = balance::kArgRows;
  static void Validate(const Args& args, berth::ArgErrors& errors) { balance::Check(args, errors); }

  struct State {
    bool is_cpu_and_memory = true;  // `shares` is exactly cpu and memory.
    std::vector<Share> shares;      // One share per resource, in the order of the arguments.
  };

  NodeResourcesBalancedAllocation(const berth::Host& host, const Args& args) {
    const std::vector<balance::Resource> defaults = Args().resources;
    for (const balance::Resource& resource : args.resources.empty() ? defaults : args.resources) {
      resources_.push_back({resource.name, host.Intern(resource.name)});
    }
  }

  // Skips pods that request none of the resources: all nodes would get the same score.
  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& /*all*/) {
    const berth_resources& request = AddedBy(cycle.pod());
    State& state = cycle.Emplace<State>();
    bool is_best_effort = true;
    unsigned cpu_or_memory = 0;
    for (const Resource& resource : resources_) {
      const int64_t amount = AmountOf(request, resource);
      is_best_effort = is_best_effort && amount == 0;
      // Native resources always count, as every node has them. Other resources count only if the
      // pod requests them.
      if (amount == 0 && !IsNative(resource.name)) continue;
      cpu_or_memory += resource.name == "cpu" || resource.name == "memory" ? 1 : 0;
      state.shares.push_back({amount, cycle.Bind<int64_t>("alloc:" + resource.name),
                              cycle.Bind<int64_t>("req:" + resource.name)});
    }
    state.is_cpu_and_memory = cpu_or_memory == 2 && state.shares.size() == 2;
    return is_best_effort ? berth::Status::Skip() : berth::Status::Success();
  }

  berth::Status Score(const berth::Cycle& cycle, const Block& block, std::span<int64_t> out) const {
    const State& state = cycle.State<State>();
    if (state.is_cpu_and_memory) {
      ScoreTwo(AddedBy(cycle.pod()), block, out.data());
    } else {
      ScoreAll(state.shares, block, out.data());
    }
    return berth::Status::Success();
  }

 private:
  struct Resource {
    std::string name;
    berth_id id;
  };

  // Returns what the node counts once the pod is on it. A pod that was resized also counts with the
  // sizes in its status, as in kube-scheduler, where the scorer of this plugin sets
  // UseStatusResources: resource_allocation.go, calculatePodResourceRequest.
  static const berth_resources& AddedBy(berth::Pod pod) { return *pod->accounted; }

  static bool IsNative(std::string_view name) {
    return name == "cpu" || name == "memory" || name == "ephemeral-storage";
  }
  static int64_t AmountOf(const berth_resources& request, const Resource& resource) {
    if (resource.name == "cpu") return request.milli_cpu;
    if (resource.name == "memory") return request.memory;
    if (resource.name == "ephemeral-storage") return request.ephemeral_storage;
    return berth::FindAmount(request, resource.id);
  }

  static void ScoreTwo(const berth_resources& request, const Block& block,
                       int64_t* __restrict out) {
    const int64_t cpu = request.milli_cpu;
    const int64_t memory = request.memory;
    block.ForEach([=](const Node& node) {
      const int64_t cpu_all = node[berth::AllocCpu{}];
      const int64_t memory_all = node[berth::AllocMemory{}];
      const int64_t cpu_used = node[berth::ReqCpu{}];
      const int64_t memory_used = node[berth::ReqMemory{}];
      // A node with only one of the two resources counts as balanced.
      double with_pod = 0;
      double without_pod = 0;
      if (cpu_all != 0 && memory_all != 0) [[likely]] {
        with_pod = Deviation(Fraction(berth::AddAmounts(cpu_used, cpu), cpu_all),
                             Fraction(berth::AddAmounts(memory_used, memory), memory_all));
        without_pod = Deviation(Fraction(cpu_used, cpu_all), Fraction(memory_used, memory_all));
      }
      out[node.index()] = Improvement(Balance(with_pod), Balance(without_pod));
    });
  }

  static void ScoreAll(std::span<const Share> shares, const Block& block, int64_t* __restrict out) {
    block.ForEach([=](const Node& node) {
      out[node.index()] =
          Improvement(Balance(DeviationOf(shares, node, 1)), Balance(DeviationOf(shares, node, 0)));
    });
  }

  // Returns the deviation of the node's used fractions, with the pod (`pods` is 1) or without it
  // (`pods` is 0). Resources that the node does not have are left out.
  static double DeviationOf(std::span<const Share> shares, const Node& node, int64_t pods) {
    std::array<double, 2> first = {};
    std::size_t count = 0;
    double total = 0;
    const auto each = [&](auto&& take) {
      for (const Share& share : shares) {
        const int64_t all = node.Get(share.allocatable);
        if (all == 0) continue;
        take(Fraction(berth::AddAmounts(node.Get(share.requested), pods * share.amount), all));
      }
    };
    each([&](double fraction) {
      if (count < first.size()) first[count] = fraction;
      ++count;
      total += fraction;
    });
    if (count < 2) return 0;
    if (count == 2) return Deviation(first[0], first[1]);
    const double mean = total / static_cast<double>(count);
    double sum = 0;
    each([&](double fraction) { sum = sum + (fraction - mean) * (fraction - mean); });
    return std::sqrt(sum / static_cast<double>(count));
  }

  std::vector<Resource> resources_;
};

}  // namespace

BERTH_PLUGIN(NodeResourcesBalancedAllocation)

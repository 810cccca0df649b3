// Three implementations of one Filter policy (cpu, memory and zone): per node, per node with early
// return, and per block.
#include <cstdint>
#include <string_view>

#include <berth/plugin.h>

namespace {

using FitColumns = berth::Columns<berth::AllocCpu, berth::ReqCpu, berth::AllocMemory,
                                  berth::ReqMemory, berth::Label<"topology.kubernetes.io/zone">>;
enum Reason : int { kNoCpu, kNoMemory, kWrongZone };

class PerNode : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "bench.PerNode";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Filters node by node.";
  static constexpr berth::Reasons kReasons{"Insufficient cpu", "Insufficient memory", "Wrong zone"};
  using Columns = FitColumns;
  using Node = berth::NodeRow<Columns>;

  explicit PerNode(const berth::Host& host) : zone_(host.Intern("zone-1")) {}

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const berth_resources& wanted = cycle.pod().request();
    const int64_t cpu = node[berth::AllocCpu{}] - node[berth::ReqCpu{}];
    const int64_t memory = node[berth::AllocMemory{}] - node[berth::ReqMemory{}];
    const berth_id zone = node[berth::Label<"topology.kubernetes.io/zone">{}];
    return berth::UnschedulableIf(wanted.milli_cpu > cpu, kNoCpu) |
           berth::UnschedulableIf(wanted.memory > memory, kNoMemory) |
           berth::UnresolvableIf(zone != zone_, kWrongZone);
  }

 private:
  berth_id zone_;
};

// The most common form of a Filter: it returns at the first reason that rejects the node.
class PerNodeEarly : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "bench.PerNodeEarly";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Filters node by node and returns at the first reason.";
  static constexpr berth::Reasons kReasons{"Insufficient cpu", "Insufficient memory", "Wrong zone"};
  using Columns = FitColumns;
  using Node = berth::NodeRow<Columns>;
  struct State {
    int64_t cpu = 0;
    int64_t memory = 0;
  };

  explicit PerNodeEarly(const berth::Host& host) : zone_(host.Intern("zone-1")) {}

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) const {
    const berth_resources& wanted = cycle.pod().request();
    cycle.Emplace<State>(wanted.milli_cpu, wanted.memory);
    return berth::Status::Success();
  }
  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const State& wanted = cycle.State<State>();
    if (wanted.cpu > node[berth::AllocCpu{}] - node[berth::ReqCpu{}]) {
      return berth::Unschedulable(kNoCpu);
    }
    if (wanted.memory > node[berth::AllocMemory{}] - node[berth::ReqMemory{}]) {
      return berth::Unschedulable(kNoMemory);
    }
    if (node[berth::Label<"topology.kubernetes.io/zone">{}] != zone_) {
      return berth::Unresolvable(kWrongZone);
    }
    return berth::kPass;
  }

 private:
  berth_id zone_;
};

class PerBlock : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "bench.PerBlock";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Filters block by block.";
  static constexpr berth::Reasons kReasons{"Insufficient cpu", "Insufficient memory", "Wrong zone"};
  using Columns = FitColumns;

  explicit PerBlock(const berth::Host& host) : zone_(host.Intern("zone-1")) {}

  berth::Status Filter(const berth::Cycle& cycle, const berth::Block<Columns>& block,
                       berth::FilterOut& out) const {
    const berth_resources wanted = cycle.pod().request();
    block.ForEach([&, zone = zone_](const berth::NodeRow<Columns>& node) {
      const int64_t cpu = node[berth::AllocCpu{}] - node[berth::ReqCpu{}];
      const int64_t memory = node[berth::AllocMemory{}] - node[berth::ReqMemory{}];
      const bool elsewhere = node[berth::Label<"topology.kubernetes.io/zone">{}] != zone;
      out.Set(node.index(), berth::UnschedulableIf(wanted.milli_cpu > cpu, kNoCpu) |
                                berth::UnschedulableIf(wanted.memory > memory, kNoMemory) |
                                berth::UnresolvableIf(elsewhere, kWrongZone));
    });
    return berth::Status::Success();
  }

 private:
  berth_id zone_;
};

}  // namespace

BERTH_PLUGINS(PerNode, PerNodeEarly, PerBlock);

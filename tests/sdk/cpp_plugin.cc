// Keeps some cpu free on every node: Filter per node, Score per block. c_plugin.c does the same in
// C.
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string_view>

#include <berth/plugin.h>

namespace {

class Headroom : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "test.Headroom";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Keeps some cpu free on every node.";
  static constexpr berth::Reasons kReasons{"Insufficient cpu headroom"};
  enum Reason : int { kNoHeadroom };
  struct Args {
    int64_t cpu_milli = 500;
    static constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(berth::Arg(
      "cpuMilli", &Args::cpu_milli, berth::Range{int64_t{0}, Args::kMost}, "Cpu to keep free."));
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNodePods,
                                                       .pod_parts = BERTH_PART(REQUESTS)};
  static constexpr berth::Dependence kScoreDependence = kFilterDependence;
  static constexpr berth::Normalize kNormalize = berth::Normalize::kMinMax;
  using Columns = berth::Columns<berth::AllocCpu, berth::ReqCpu>;
  using Node = berth::NodeRow<Columns>;
  struct State {
    int64_t wanted = 0;
  };

  explicit Headroom(const Args& args) : args_(args) {}

  // The exception must not leave the library, whatever C++ runtime the library uses.
  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    if (cycle.pod().name() == "throws") throw std::runtime_error("as asked");
    cycle.Emplace<State>().wanted = cycle.pod().request().milli_cpu + args_.cpu_milli;
    return {};
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const int64_t free = node[berth::AllocCpu{}] - node[berth::ReqCpu{}];
    return berth::UnschedulableIf(free < cycle.State<State>().wanted, kNoHeadroom);
  }

  berth::Status Score(const berth::Cycle& cycle, const berth::Block<Columns>& block,
                      std::span<int64_t> out) const {
    const int64_t request = cycle.pod().request().milli_cpu;
    block.ForEach([&](const Node& node) {
      out[node.index()] = node[berth::AllocCpu{}] - node[berth::ReqCpu{}] - request;
    });
    return {};
  }

 private:
  const Args args_;
};

}  // namespace

BERTH_PLUGIN(Headroom)

// Plugins that use the different forms of the C++ SDK: Filter and Score per node and per block,
// QueueSort by key, by comparison and with lanes, Bind within the call and later. The library is
// built a second time with another compiler and standard library, with another prefix for the
// plugin names.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <berth/plugin.h>

#ifndef BERTH_SHAPES_PREFIX
#define BERTH_SHAPES_PREFIX "cpp"
#endif

namespace {

// The base class of the two filters. It counts cpu as NodeResourcesFit does; a node with more free
// cpu has a higher score.
class Cpu : public berth::Plugin {
 public:
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr berth::Reasons kReasons{"Insufficient cpu", "node(s) had no zone"};
  enum Reason : int { kNoCpu, kNoZone };
  using Columns = berth::Columns<berth::AllocCpu, berth::ReqCpu, berth::Label<"zone">>;
  using Node = berth::NodeRow<Columns>;
  static constexpr berth::Normalize kNormalize = berth::Normalize::kMax;

 protected:
  static berth::Verdict Judge(int64_t wanted, int64_t free, berth_id zone) {
    return berth::UnschedulableIf(wanted > free, kNoCpu) |
           berth::UnresolvableIf(zone == BERTH_ID_NONE, kNoZone);
  }
};

class PerNode : public Cpu {
 public:
  static constexpr std::string_view kName = BERTH_SHAPES_PREFIX ".PerNode";
  static constexpr std::string_view kAbout = "Filters and scores by cpu, per node.";

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    return Judge(cycle.pod()->request->milli_cpu, node[berth::AllocCpu{}] - node[berth::ReqCpu{}],
                 node[berth::Label<"zone">{}]);
  }
  int64_t Score(const berth::Cycle& /*cycle*/, const Node& node) const {
    return node[berth::AllocCpu{}] - node[berth::ReqCpu{}];
  }
};

class PerBlock : public Cpu {
 public:
  static constexpr std::string_view kName = BERTH_SHAPES_PREFIX ".PerBlock";
  static constexpr std::string_view kAbout = "Filters and scores by cpu, per block.";

  berth::Status Filter(const berth::Cycle& cycle, const berth::Block<Columns>& block,
                       berth::FilterOut& out) const {
    const auto alloc = block.Column<berth::AllocCpu>();
    const auto used = block.Column<berth::ReqCpu>();
    const auto zone = block.Column<berth::Label<"zone">>();
    const int64_t wanted = cycle.pod()->request->milli_cpu;
    block.ForEachIndex([&](uint32_t i) { out.Set(i, Judge(wanted, alloc[i] - used[i], zone[i])); });
    return berth::Status::Success();
  }
  berth::Status Score(const berth::Cycle& /*cycle*/, const berth::Block<Columns>& block,
                      std::span<int64_t> out) const {
    block.ForEach([&](const Node& node) {
      out[node.index()] = node[berth::AllocCpu{}] - node[berth::ReqCpu{}];
    });
    return berth::Status::Success();
  }
};

// Filters by a resource whose name is known only from the pod: PreFilter binds its columns and adds
// a reason that contains the name.
class Devices : public berth::Plugin {
 public:
  static constexpr std::string_view kName = BERTH_SHAPES_PREFIX ".Devices";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Counts the first extended resource of a pod.";
  using Node = berth::NodeRow<Columns>;

  struct State {
    int64_t wanted = 0;
    int reason = -1;
    berth::ColumnRef<int64_t> alloc;
    berth::ColumnRef<int64_t> used;
  };

  explicit Devices(const berth::Host& host) : host_(host) {}

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& out) {
    const berth_array scalars = cycle.pod()->request->scalars;
    if (scalars.count == 0) return berth::Status::Skip();
    const auto* first = BERTH_AT(berth_quantity, scalars, 0);
    const std::string name(host_.Text(first->name));
    State& state = cycle.Emplace<State>();
    state.wanted = first->value;
    state.alloc = cycle.Bind<int64_t>("alloc:" + name);
    state.used = cycle.Bind<int64_t>("req:" + name);
    state.reason = out.AddReason("Insufficient " + name);
    return berth::Status::Success();
  }
  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const State& state = cycle.State<State>();
    return berth::UnschedulableIf(node.Get(state.alloc) - node.Get(state.used) < state.wanted,
                                  state.reason);
  }

 private:
  berth::Host host_;
};

class ByKey : public berth::Plugin {
 public:
  static constexpr std::string_view kName = BERTH_SHAPES_PREFIX ".ByKey";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Higher priority first, by key.";

  berth::SortKey Key(const berth::Queued& queued) const {
    return berth::SortKey().Descending(queued.priority);
  }
};

class ByLess : public berth::Plugin {
 public:
  static constexpr std::string_view kName = BERTH_SHAPES_PREFIX ".ByLess";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "By name, from z to a, by comparison.";

  bool Less(const berth::Queued& a, const berth::Queued& b) const {
    return berth::Pod(*a.pod).name() > berth::Pod(*b.pod).name();
  }
};

// Dominant-resource fairness: the next pod is one of the namespace whose pods on nodes have the
// smallest share of the cluster's cpu or memory, whichever of the two shares is larger.
class ByJob : public berth::Plugin {
 public:
  static constexpr std::string_view kName = BERTH_SHAPES_PREFIX ".ByJob";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Keeps the pods of a job together in the queue.";

  std::string_view Entity(const berth::Pod& pod) const {
    return pod.Annotation("example.com/job").value_or("");
  }
};

class ByTeam : public berth::Plugin {
 public:
  static constexpr std::string_view kName = BERTH_SHAPES_PREFIX ".ByTeam";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Keeps the pods of a team together in the queue.";

  explicit ByTeam(berth::Host host) : host_(host) {}
  std::string Entity(const berth::Pod& pod) const {
    return "team " + std::string(pod.Label("team", host_).value_or("of nobody"));
  }

 private:
  berth::Host host_;
};

class FairShare : public berth::Plugin {
 public:
  static constexpr std::string_view kName = BERTH_SHAPES_PREFIX ".FairShare";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Fair shares of cpu and memory for namespaces.";

  berth::SortKey Key(const berth::Queued& queued) const {
    return berth::SortKey().Descending(queued.priority).Ascending(queued.queued_ns);
  }
  uint64_t Lane(const berth::Queued& queued) const { return queued.pod->meta->ns; }
  std::size_t NextLane(const berth::Lanes& lanes) {
    std::size_t next = 0;
    for (std::size_t i = 1; i < lanes.size(); ++i) {
      if (ShareOf(lanes[i].lane) < ShareOf(lanes[next].lane)) next = i;
    }
    return next;
  }
  void OnChange(const berth::Change& change) {
    switch (change.kind) {
      case BERTH_CHANGE_NODE_CHANGED:
        total_.Add(*change.old_node->allocatable, -1);
        total_.Add(*change.node->allocatable, 1);
        break;
      case BERTH_CHANGE_NODE_ADDED: total_.Add(*change.node->allocatable, 1); break;
      case BERTH_CHANGE_NODE_REMOVED: total_.Add(*change.node->allocatable, -1); break;
      case BERTH_CHANGE_POD_CHANGED:
        AddToUse(*change.pod, 1);
        AddToUse(*change.old_pod, -1);
        break;
      case BERTH_CHANGE_POD_ADDED: AddToUse(*change.pod, 1); break;
      case BERTH_CHANGE_POD_REMOVED: AddToUse(*change.pod, -1); break;
      default: break;
    }
  }

 private:
  struct Amounts {
    int64_t objects = 0;
    int64_t cpu = 0;
    int64_t memory = 0;

    void Add(const berth_resources& resources, int64_t sign) {
      objects += sign;
      cpu += sign * resources.milli_cpu;
      memory += sign * resources.memory;
    }
  };

  // The id of a namespace is not reused while a pod has it.
  void AddToUse(const berth_pod& pod, int64_t sign) {
    Amounts& used = used_[pod.meta->ns];
    used.Add(*pod.request, sign);
    if (used.objects == 0) used_.erase(pod.meta->ns);
  }
  double ShareOf(uint64_t lane) const {
    const auto found = used_.find(lane);
    if (found == used_.end()) return 0;
    const auto share = [](int64_t used, int64_t total) {
      return total == 0 ? 0.0 : static_cast<double>(used) / static_cast<double>(total);
    };
    return std::max(share(found->second.cpu, total_.cpu),
                    share(found->second.memory, total_.memory));
  }

  Amounts total_;
  std::map<uint64_t, Amounts> used_;
};

class ApiBinder : public berth::Plugin {
 public:
  static constexpr std::string_view kName = BERTH_SHAPES_PREFIX ".ApiBinder";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Binds through the host.";
  static constexpr std::array kServices{BERTH_SERVICE_API, BERTH_SERVICE_COMPLETION};

  explicit ApiBinder(const berth::Host& host) : host_(host) {}
  berth::Status Bind(const berth::Binding& binding, berth::Done& done) {
    return host_.api().Bind(binding, done);
  }

 private:
  berth::Host host_;
};

// Fails every binding from its own thread, shortly before or after the call has returned.
class LateBinder : public berth::Plugin {
 public:
  static constexpr std::string_view kName = BERTH_SHAPES_PREFIX ".LateBinder";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Fails every binding from another thread.";
  static constexpr std::array kServices{BERTH_SERVICE_COMPLETION};

  ~LateBinder() { Join(); }
  berth::Status Bind(const berth::Binding& /*binding*/, berth::Done& done) {
    Join();
    thread_ = std::thread([promise = std::move(done)]() mutable {
      promise.Complete(berth::Status::Error("the network is unreachable"));
    });
    return berth::Status::Pending();
  }

 private:
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  std::thread thread_;
};

}  // namespace

BERTH_PLUGINS(PerNode, PerBlock, Devices, ByKey, ByLess, FairShare, ByJob, ByTeam, ApiBinder,
              LateBinder);

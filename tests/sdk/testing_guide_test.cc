// The samples of sdk/testing.md. The lint `readme` checks that this file contains each of them.
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/gtest.h>

namespace {

// Rejects nodes without the resource that the arguments name, and nodes that run as many pods of
// the pod's priority as the arguments allow.
class DeviceGuard : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.DeviceGuard";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Limits the pods of one priority on device nodes.";
  static constexpr berth::Reasons kReasons{"Node has no device", "Too many pods of this priority"};
  enum Reason : int { kNoDevice, kTooMany };
  using Node = berth::NodeRow<Columns>;

  struct Args {
    std::string resource = "example.com/gpu";
    int64_t max_pods = 1;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("resource", &Args::resource, "The resource that a device node has."),
      berth::Arg("maxPods", &Args::max_pods, berth::Range{1, 1000}, "Pods of one priority."));

  struct State {
    berth::ColumnRef<int64_t> devices;
  };

  explicit DeviceGuard(const Args& args)
      : column_("alloc:" + args.resource), max_pods_(args.max_pods) {}

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    cycle.Emplace<State>().devices = cycle.Bind<int64_t>(column_);
    return berth::Status::Success();
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    if (node.Get(cycle.State<State>().devices) == 0) return berth::Unschedulable(kNoDevice);
    int64_t of_priority = 0;
    for (const berth_pod* pod : node.pods()) {
      of_priority += pod->priority == cycle.pod()->priority;
    }
    return berth::UnschedulableIf(of_priority >= max_pods_, kTooMany);
  }

 private:
  const std::string column_;
  const int64_t max_pods_;
};

// Makes a pod wait until its node runs another pod, and counts the pods in an index of its own.
class Pairs : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Pairs";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Makes pods wait for a second pod on their node.";

  explicit Pairs(const berth::Host& host)
      : host_(host), released_(host.metrics().Counter("pairs_released_total", "Released pods.")) {}

  void OnChange(const berth::Change& change) {
    if (change.kind == BERTH_CHANGE_POD_ADDED) ++pods_[change.row];
    if (change.kind == BERTH_CHANGE_POD_REMOVED) --pods_[change.row];
    if (change.kind == BERTH_CHANGE_POD_CHANGED) last_changed_ = Text(change.pod->meta->name);
  }

  berth::Status Reserve(berth::Cycle& /*cycle*/, const berth::Target& /*target*/) {
    return berth::Status::Success();
  }
  void Unreserve(const berth::Binding& binding) {
    released_.Observe(1);
    host_.log().Info("released", {{"pod", binding.pod().name()}});
    const berth::Activate activate = host_.activate();
    if (activate) static_cast<void>(activate.Pod(binding.pod().uid()));
  }

  berth::Status Permit(berth::Cycle& /*cycle*/, const berth::Target& target,
                       std::chrono::nanoseconds& timeout) {
    if (pods_[target.row()] >= 2) return berth::Status::Success();
    timeout = std::chrono::seconds(30);
    return berth::Status::Wait("waiting for another pod on the node");
  }

  // Rejects pods after a pod called "poison" has changed.
  berth::Status PreEnqueue(const berth::Pod& /*pod*/) {
    return last_changed_ == "poison" ? berth::Status::Unresolvable("poisoned")
                                     : berth::Status::Success();
  }

  // A node that is added may help.
  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_NODE, BERTH_ACTION_ADD}};
  }
  berth::QueueingHint Hint(const berth::Queued& /*queued*/, const berth::Event& event) {
    const berth_node* node = berth::NodeIn(event.after);
    return node != nullptr && node->unschedulable == 0 ? berth::QueueingHint::kQueue
                                                       : berth::QueueingHint::kSkip;
  }

 private:
  static std::string_view Text(berth_str text) { return berth::Str(text); }

  berth::Host host_;
  berth::Metric released_;
  std::map<uint32_t, int64_t> pods_;  // by row
  std::string last_changed_;
};

// Lets each pod wait for an answer, which arrives a second later.
class Inventory : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Inventory";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Asks an inventory about each pod.";

  explicit Inventory(berth::Host host)
      : host_(std::move(host)), answer_(host_.timers(), [this] { Answer(); }) {}

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    if (Knows(cycle.pod())) return berth::Status::Success();
    return berth::Status::Pending("the inventory was asked");
  }
  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& /*all*/) {
    const berth::Status ready =
        Knows(cycle.pod(), "prices of ") ? berth::Status::Success() : berth::Status::Pending();
    return ready;
  }
  int64_t Score(const berth::Cycle& /*cycle*/, const berth::NodeRow<Columns>& /*node*/) const {
    return 1;
  }

 private:
  // Asks for the answer if it is not known.
  bool Knows(const berth::Pod& pod, const std::string& what = "") {
    if (known_.contains(what + std::string(pod.uid()))) return true;
    asked_[what + std::string(pod.uid())] = pod.uid();
    static_cast<void>(answer_.Start(std::chrono::seconds(1)));
    return false;
  }
  void Answer() {
    for (const auto& [question, uid] : asked_) {
      known_.insert(question);
      static_cast<void>(host_.activate().Pod(uid));
    }
    asked_.clear();
  }

  berth::Host host_;
  std::map<std::string, std::string> asked_;
  std::set<std::string> known_;
  berth::Timer answer_;
};

}  // namespace

BERTH_PLUGINS(DeviceGuard, Pairs, Inventory);

namespace berth::testing {
namespace {

NodeSpec DeviceNode(const std::string& name) {
  return MakeNode(name).Allocatable("example.com/gpu", 4);
}

TEST(TestingGuide, Specs) {
  const PodSpec pod = MakePod("db")
                          .Namespace("web")
                          .Label("app", "db")
                          .Priority(100)
                          .Container("db")
                          .Request("cpu", "2")
                          .Memory("4Gi")
                          .Sidecar("proxy")
                          .CpuMilli(100)
                          .Tolerate("dedicated", "db")
                          .NodeAffinity({In("zone", {"a", "b"}), Exists("ssd")});
  const NodeSpec node = MakeNode("a")
                            .CpuMilli(4000)
                            .Memory("8Gi")
                            .Allocatable("example.com/gpu", 4)
                            .Label("zone", "a")
                            .Taint("dedicated", "db")
                            .Pod(MakePod("old").CpuMilli(500))
                            .UsedMemory(1 << 30);
  EXPECT_EQ(pod.init_containers.size(), 1U);
  EXPECT_EQ(node.pods.size(), 2U);

  Ids ids;
  const PodHandle view(pod, ids);
  EXPECT_EQ(view->request->milli_cpu, 2100);
}

TEST(TestingGuide, RunTimeColumns) {
  PluginUnderTest plugin(
      {.nodes = {MakeNode("plain"), MakeNode("gpu").Allocatable("example.com/gpu", 4)},
       .plugin = "acme.DeviceGuard"});
  const FilterResult result = plugin.Filter(MakePod("p"));
  EXPECT_EQ(result.On("gpu"), Success());
  EXPECT_EQ(result.On("plain"), Unschedulable("Node has no device"));
}

TEST(TestingGuide, PodsOnNodes) {
  const NodeSpec node = DeviceNode("a").Pod(MakePod("old").Priority(100));
  PluginUnderTest plugin({.nodes = {node}, .args = {{"maxPods", 2}}, .plugin = "acme.DeviceGuard"});
  EXPECT_EQ(plugin.Filter(MakePod("p").Priority(100)).On("a"), Success());

  plugin.AddPod(MakePod("second").Priority(100), "a");
  EXPECT_EQ(plugin.Filter(MakePod("p").Priority(100)).On("a"),
            Unschedulable("Too many pods of this priority"));
  EXPECT_EQ(plugin.Filter(MakePod("p").Priority(99)).On("a"), Success());
}

TEST(TestingGuide, Arguments) {
  const Answer answer =
      PluginUnderTest::Create({.args = {{"maxPods", 0}}, .plugin = "acme.DeviceGuard"});
  EXPECT_EQ(answer.code, BERTH_BAD_ARGUMENT);
  EXPECT_EQ(answer.reasons.size(), 1U);
}

TEST(TestingGuide, Violations) {
  std::vector<std::string> found;
  PluginUnderTest plugin({.nodes = {DeviceNode("a")},
                          .plugin = "acme.DeviceGuard",
                          .without = {Check::kLeaks},
                          .on_failure = [&](const std::string& text) { found.push_back(text); }});
  plugin.Filter(MakePod("p"));
  EXPECT_TRUE(found.empty());
}

TEST(TestingGuide, Placement) {
  PluginUnderTest plugin({.nodes = {MakeNode("a").Pod(MakePod("first"))}, .plugin = "acme.Pairs"});
  const PodSpec pod = MakePod("second");

  Placement placement = plugin.Place(pod);
  plugin.AddPod(pod, "a", BERTH_CHANGE_FLAG_ASSUMED);
  EXPECT_EQ(placement.Reserve("a"), Success());
  EXPECT_EQ(placement.Permit("a").answer, Success());

  placement.Unreserve("a");
  plugin.RemovePod("second", "a", BERTH_CHANGE_FLAG_FORGOTTEN);
  const PermitResult later = placement.Permit("a");
  EXPECT_EQ(later.answer.code, BERTH_WAIT);
  EXPECT_EQ(later.timeout_ns, 30'000'000'000);
}

TEST(TestingGuide, AConfirmedPod) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")}, .plugin = "acme.Pairs"});
  plugin.AddPod(MakePod("poison"), "a", BERTH_CHANGE_FLAG_ASSUMED);
  EXPECT_EQ(plugin.PreEnqueue(MakePod("p")), Success());

  plugin.ConfirmPod("poison", "a");
  EXPECT_EQ(plugin.PreEnqueue(MakePod("p")), Unresolvable("poisoned"));
}

TEST(TestingGuide, Hints) {
  PluginUnderTest plugin({.plugin = "acme.Pairs"});
  const auto hint = [&](const NodeSpec& node) {
    return plugin.Hint(
        MakePod("parked"),
        {.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_ADD, .new_node = {node}});
  };
  EXPECT_EQ(hint(MakeNode("n")), uint32_t{BERTH_HINT_QUEUE});
  EXPECT_EQ(hint(MakeNode("n").Unschedulable()), uint32_t{BERTH_HINT_SKIP});
}

TEST(TestingGuide, LogAndMetrics) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")}, .plugin = "acme.Pairs"});
  plugin.Place(MakePod("p")).Unreserve("a");
  ASSERT_EQ(plugin.log().size(), 1U);
  EXPECT_EQ(plugin.log()[0].message, "released");
  EXPECT_EQ(plugin.log()[0].pairs.at("pod"), "p");
  EXPECT_EQ(plugin.metrics().at("pairs_released_total").observations.size(), 1U);
}

TEST(TestingGuide, RequestsToTheScheduler) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")}, .plugin = "acme.Pairs"});
  plugin.Place(MakePod("p")).Unreserve("a");
  EXPECT_EQ(plugin.scheduling().activated(), (std::vector<std::string>{"uid-p"}));
}

TEST(TestingGuide, APluginThatWaits) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")}, .plugin = "acme.Inventory"});
  EXPECT_EQ(plugin.Filter(MakePod("p")).pre_filter, Pending("the inventory was asked"));
  plugin.Advance(1'000'000'000);
  EXPECT_EQ(plugin.scheduling().activated(), (std::vector<std::string>{"uid-p"}));
  EXPECT_EQ(plugin.Filter(MakePod("p")).On("a"), Success());

  const ScoreResult waits = plugin.Score(MakePod("p"));
  EXPECT_EQ(waits.pre_filter, Success());
  EXPECT_EQ(waits.pre_score, Pending()) << "no reason is needed";
  EXPECT_TRUE(waits.raw.empty());
  plugin.Advance(1'000'000'000);
  EXPECT_EQ(plugin.Score(MakePod("p")).raw.at("a"), 1);
}

TEST(TestingGuide, AFakeService) {
  static std::vector<std::string> activated;
  static constexpr berth_activate kActivate{
      sizeof(berth_activate), 0,
      [](const berth_host*, const berth_str* uids, uint64_t count) noexcept {
        for (uint64_t i = 0; i < count; ++i) activated.emplace_back(FromAbi(uids[i]));
        return berth_code{BERTH_SUCCESS};
      }};
  PluginUnderTest plugin({.nodes = {MakeNode("a")},
                          .plugin = "acme.Pairs",
                          .services = {{BERTH_SERVICE_ACTIVATE, &kActivate}}});
  plugin.Place(MakePod("p")).Unreserve("a");
  EXPECT_EQ(activated, (std::vector<std::string>{"uid-p"}));
}

}  // namespace
}  // namespace berth::testing

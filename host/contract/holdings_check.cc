#include "host/contract/holdings_check.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include <berth/abi.h>
#include <berth/testing/attempt.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

using testing::Answer;
using testing::Holdings;
using testing::Placement;
using testing::PodSpec;
using testing::Step;

constexpr uint64_t kFirstRounds = 2;
constexpr size_t kMaxObjectsOfAKind = 2;

constexpr struct {
  size_t Holdings::*member;
  const char* name;
} kHoldings[] = {{&Holdings::ids, "ids"},
                 {&Holdings::references, "references"},
                 {&Holdings::values, "values"},
                 {&Holdings::selectors, "selectors"}};

// Lets the pods, nodes and objects of a cluster come and go, with a new name each time.
class Traffic {
 public:
  Traffic(testing::PluginUnderTest& plugin, const ContractCluster& cluster)
      : plugin_(plugin), cluster_(cluster), node_(cluster.nodes.front().name) {
    std::map<std::string, size_t> of_kind;
    for (const testing::ObjectSpec& object : cluster.objects) {
      if (of_kind[object.kind]++ < kMaxObjectsOfAKind) objects_.push_back(object);
    }
  }

  size_t pods() const { return cluster_.pods.size(); }
  size_t nodes() const { return cluster_.nodes.size(); }
  size_t objects() const { return objects_.size(); }

  void PassPods() {
    const std::string suffix = NextSuffix();
    for (PodSpec pod : cluster_.pods) {
      pod.name += suffix;
      pod.uid += suffix;
      PassPod(pod);
    }
    Settle();
  }

  void PassNodes() {
    const std::string suffix = NextSuffix();
    for (testing::NodeSpec node : cluster_.nodes) {
      node.name += suffix;
      node.uid += suffix;
      node.pods.clear();
      plugin_.AddNode(node);
      plugin_.RemoveNode(node.name);
    }
    Settle();
  }

  void PassObjects() {
    const std::string suffix = NextSuffix();
    for (testing::ObjectSpec object : objects_) {
      object.name += suffix;
      object.uid += suffix;
      plugin_.PutObject(object);
      plugin_.RemoveObject(object);
    }
    Settle();
  }

 private:
  testing::Instance& instance() { return plugin_.instance(); }

  std::string NextSuffix() { return "-" + std::to_string(++rounds_); }

  void Settle() {
    plugin_.Advance(kMinute);
    instance().services().ForgetRecords();
  }

  void PassPod(const PodSpec& pod) {
    plugin_.AddPendingPod(pod);
    Queue(pod);
    TryNodes(pod);
    plugin_.AssumePod(pod.name, node_);
    // Every second pod is bound, and then deleted. The others return to the queue first.
    const bool is_bound = passed_++ % 2 == 0;
    {
      Placement placement = plugin_.Place(pod);
      Bind(placement, pod);
      if (is_bound && instance().post_bind) placement.PostBind(node_);
      if (!is_bound && instance().reserve && instance().reserve->unreserve != nullptr) {
        placement.Unreserve(node_);
      }
    }
    if (is_bound) {
      plugin_.RemovePod(pod.name, node_);
    } else {
      plugin_.ForgetPod(pod.name, node_);
      if (instance().attempt_failed) plugin_.FailAttempt(pod);
      plugin_.RemovePendingPod(pod.name);
    }
    plugin_.Advance(0);
  }

  void Queue(const PodSpec& pod) {
    if (instance().pre_enqueue) plugin_.PreEnqueue(pod);
    if (instance().entity) plugin_.Entity(pod);
    if (instance().queue_sort) plugin_.Next({{.pod = pod, .queued_ns = 1}});
    if (!instance().enqueue_extensions) return;
    plugin_.Hint(pod, {.resource = BERTH_RESOURCE_NODE,
                       .action = BERTH_ACTION_ADD,
                       .new_node = {cluster_.nodes.front()}});
  }

  void TryNodes(const PodSpec& pod) {
    const bool filters = instance().filter.has_value();
    if (!filters && !instance().score) return;
    testing::Cycle cycle(&instance(), &plugin_.table(), testing::PodHandle(pod, plugin_.ids()));
    Answer answer = cycle.PreFilter();
    if (filters && answer.ok()) testing::EvaluateTable(cycle, Step::kFilter);
    if (!instance().score || (!answer.ok() && answer.code != BERTH_SKIP)) return;
    answer = cycle.PreScore();
    if (answer.ok()) testing::EvaluateTable(cycle, Step::kScore);
  }

  void Bind(Placement& placement, const PodSpec& pod) {
    if (instance().post_filter) placement.PostFilter();
    if (instance().reserve) placement.Reserve(node_);
    if (instance().permit && placement.Permit(node_).answer.code == BERTH_WAIT) {
      plugin_.AddWaiting(pod);
      plugin_.Advance(0);
      instance().services().scheduling().Preempt(pod.uid, "the pod waited too long");
    }
    if (instance().pre_bind) {
      placement.PreFlight(node_);
      placement.PreBind(node_);
      plugin_.Advance(0);
    }
    if (instance().bind) {
      placement.Bind(node_);
      plugin_.Advance(0);
    }
  }

  testing::PluginUnderTest& plugin_;
  const ContractCluster& cluster_;
  const std::string node_;
  std::vector<testing::ObjectSpec> objects_;
  uint64_t rounds_ = 0;
  uint64_t passed_ = 0;
};

void AddTo(HoldingsReport& report, const HoldingsSearch& search, size_t of_round,
           const char* what) {
  const std::string passed = std::to_string(search.rounds * of_round) + " " + what;
  for (const auto& kind : kHoldings) {
    if (search.more.*kind.member == 0) continue;
    report.leaks.push_back("holds " + std::to_string(search.more.*kind.member) + " " + kind.name +
                           " more after " + passed + " came and went");
  }
  if (search.is_decided) return;
  report.gaps.push_back("The time of the check was enough for " + passed +
                        " to come and go; what is never released is distinguished from a cache "
                        "by " +
                        std::to_string(kMinHoldingRounds * of_round) + ".");
}

}  // namespace

HoldingsSearch FindGrowth(const std::function<void()>& round, const std::function<Holdings()>& held,
                          const MemoryBudget& budget) {
  const int64_t begin_ns = budget.steady_ns();
  std::map<const char*, Growth> growth;
  for (uint64_t i = 0; i < kFirstRounds; ++i) round();  // Things that are held once.
  uint64_t total = 0;
  int windows = 0;
  for (uint64_t size = kFirstRounds;; size *= 2) {
    const Holdings before = held();
    for (uint64_t i = 0; i < size; ++i) round();
    const Holdings after = held();
    total += size;
    ++windows;
    bool grew = false;
    for (const auto& kind : kHoldings) {
      Growth& of = growth[kind.name];
      of.Add(before.*kind.member, after.*kind.member, size);
      grew = grew || of.windows > 0;
    }
    if (windows < kMinHoldingWindows) continue;
    if (!grew) return {.rounds = total};
    const bool is_late = budget.steady_ns() - begin_ns >= budget.ns;
    if (is_late && total < kMinHoldingRounds) return {.rounds = total, .is_decided = false};
    if (!is_late && total < kMaxHoldingRounds) continue;
    HoldingsSearch search{.rounds = total};
    for (const auto& kind : kHoldings) {
      const Growth& of = growth[kind.name];
      if (of.windows >= kMinHoldingWindows) search.more.*kind.member = of.amount;
    }
    return search;
  }
}

HoldingsReport CheckHoldings(
    const std::function<std::unique_ptr<testing::PluginUnderTest>()>& create,
    const ContractCluster& cluster, const MemoryBudget& budget) {
  const std::unique_ptr<testing::PluginUnderTest> plugin = create();
  Traffic traffic(*plugin, cluster);
  const auto held = [&plugin] { return plugin->holdings(); };
  HoldingsReport report;
  const auto search = [&](const std::function<void()>& round, size_t of_round, const char* what) {
    if (of_round != 0) AddTo(report, FindGrowth(round, held, budget), of_round, what);
  };
  search([&traffic] { traffic.PassPods(); }, traffic.pods(), "pods");
  search([&traffic] { traffic.PassNodes(); }, traffic.nodes(), "nodes");
  search([&traffic] { traffic.PassObjects(); }, traffic.objects(), "objects");
  return report;
}

}  // namespace berth::host

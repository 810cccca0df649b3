// Counts the steps of a plugin for a small pod beside large pods on nodes. Large pods that do not
// concern the small one must not make it more expensive.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/abi.h>
#include <berth/testing/builders.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/fake_host.h>
#include <berth/testing/gtest.h>

#include "tests/work/steps.h"

namespace berth::testing {
namespace {

// Returns a pod with `size` terms of each kind that mean every pod, about keys that no node has.
PodSpec Hostile(int size) {
  PodSpec pod = MakePod("hostile").Label("app", "x");
  for (int i = 0; i < size; ++i) {
    const PodTermSpec term{.topology_key = "example.com/k" + std::to_string(i),
                           .selector = SelectorSpec(),
                           .namespace_selector = SelectorSpec(),
                           .weight = 1};
    pod.required_pod_anti_terms.push_back(term);
    pod.preferred_pod_terms.push_back(term);
    pod.preferred_pod_anti_terms.push_back(term);
  }
  return pod;
}

// Returns the steps that `call` needs after a pod of this size was placed.
template <class F>
uint64_t StepsBeside(const std::string& plugin, const PodSpec& hostile, F&& call) {
  CountedPlugin counted(plugin, {.nodes = {MakeNode("a").Label("zone", "1").Pod(hostile),
                                           MakeNode("b").Label("zone", "2")}});
  return counted.Count([&](PluginUnderTest&) { call(counted); });
}

// Expects the same work, apart from the lengths of the chains in hash tables.
void ExpectEqualWork(uint64_t few, uint64_t many, const char* what) {
  EXPECT_LE(many, 2 * few) << what;
}

PodSpec Innocent() { return MakePod("innocent").Label("app", "web"); }

TEST(OtherPodsWork, TermsWithoutNodesCostOthersNothing) {
  for (const Step step : {Step::kFilter, Step::kScore}) {
    const auto steps = [step](int size) {
      return StepsBeside("inter_pod_affinity", Hostile(size),
                         [step](CountedPlugin& counted) { counted.Try(Innocent(), step); });
    };
    ExpectEqualWork(steps(10), steps(3000), StepName(step));
  }
}

TEST(OtherPodsWork, ANodeCostsItsLabelsOnly) {
  const auto steps = [](int size) {
    return StepsBeside("inter_pod_affinity", Hostile(size), [](CountedPlugin& counted) {
      counted.Count([](PluginUnderTest& plugin) {
        plugin.AddNode(MakeNode("c").Label("zone", "3"));
        plugin.ChangeNode(MakeNode("c").Label("zone", "4"));
        plugin.RemoveNode("c");
      });
    });
  };
  ExpectEqualWork(steps(10), steps(3000), "a node");
}

// The counters that a pod asked for once count the pods that come after it. A query with many keys
// has one counter, and keys without nodes are not counted.
TEST(OtherPodsWork, KeysThatWereAskedForCostOthersNothing) {
  for (const char* const plugin : {"inter_pod_affinity", "pod_topology_spread"}) {
    const auto steps = [plugin](int size) {
      PodSpec asks = MakePod("asks").Label("app", "web");
      for (int i = 0; i < size; ++i) {
        const std::string key = "example.com/k" + std::to_string(i);
        asks.PodAntiAffinity(key, {In("app", {"web"})}).Spread(1, key, {In("app", {"web"})});
      }
      CountedPlugin counted(plugin, {.nodes = {MakeNode("a").Label("zone", "1")}});
      counted.Try(asks, Step::kFilter);
      return counted.Count([](PluginUnderTest& each) { each.AddPod(Innocent(), "a"); });
    };
    ExpectEqualWork(steps(10), steps(3000), plugin);
  }
}

TEST(OtherPodsWork, AKeyCountsWithItsFirstNode) {
  PluginUnderTest plugin = PluginUnderTest::FromLibrary(
      COUNTED_PLUGIN_DIR "/libcounted_inter_pod_affinity.so", {.nodes = {MakeNode("a")}});
  const PodSpec asks = Innocent().PodAntiAffinity("zone", {In("app", {"web"})});
  EXPECT_EQ(plugin.Filter(asks).On("a"), Success());
  plugin.AddPod(Innocent(), "a");
  EXPECT_EQ(plugin.Filter(asks).On("a"), Success());
  plugin.ChangeNode(MakeNode("a").Label("zone", "1"));
  EXPECT_EQ(plugin.Filter(asks).On("a"),
            Unschedulable("node(s) didn't match pod anti-affinity rules"));
  plugin.RemovePod("innocent", "a");
  EXPECT_EQ(plugin.Filter(asks).On("a"), Success());
}

// A pod that was placed before has the term.
TEST(OtherPodsWork, ATermCountsWithItsFirstNode) {
  PluginUnderTest plugin =
      PluginUnderTest::FromLibrary(COUNTED_PLUGIN_DIR "/libcounted_inter_pod_affinity.so",
                                   {.nodes = {MakeNode("a").Pod(Hostile(3)), MakeNode("b")}});
  EXPECT_EQ(plugin.Filter(Innocent()).On("b"), Success());
  plugin.ChangeNode(MakeNode("a").Label("example.com/k1", "1"));
  plugin.ChangeNode(MakeNode("b").Label("example.com/k1", "1"));
  EXPECT_EQ(plugin.Filter(Innocent()).On("b"),
            Unschedulable("node(s) didn't satisfy existing pods anti-affinity rules"));
  plugin.ChangeNode(MakeNode("a"));
  EXPECT_EQ(plugin.Filter(Innocent()).On("b"), Success());
}

}  // namespace
}  // namespace berth::testing

// The effects of the answers of PreEnqueue, EnqueueExtensions, QueueSort and PostFilter, and the
// node of a pod as plugins see it at each extension point.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/harness.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QueuePluginAnswersTest : public ::testing::Test {
 protected:
  // Adds puppet.A at these points. It is interested in new nodes.
  Puppet& Plugin(std::initializer_list<Point> points) {
    Puppet& puppet = stage_.Add("puppet.A", points);
    puppet.interests = {{.resource = BERTH_RESOURCE_NODE,
                         .actions = BERTH_ACTION_ADD,
                         .kind = nullptr,
                         .has_hint = 1,
                         .reserved = 0,
                         .pod_parts = 0}};
    return puppet;
  }
  void Start() {
    harness_.AddNode({.name = "n1"});
    stage_.CompleteProfile();
    const Status status = harness_.Start(stage_.spec(), Stage::catalog());
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void AddPod(const std::string& name) {
    harness_.AddPod(
        {.name = name, .spec = "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"'});
    harness_.Run();
  }
  std::string Outcome() const {
    return harness_.results().empty() ? "none" : Harness::Outcome(harness_.results().back());
  }
  std::vector<std::string> Faults() {
    std::vector<std::string> faults;
    for (const PluginFaults::Count& count : harness_.loop().faults().Counts()) {
      faults.push_back(std::string(NameOf(count.point)) + " " + std::string(FaultName(count.kind)));
    }
    return faults;
  }
  static auto Refuse() {
    return [](const berth_cycle&, const berth_block& block, berth_filter_out& out, berth_status*) {
      for (uint32_t i = 0; i < block.count; ++i) {
        out.codes[i] = BERTH_UNSCHEDULABLE;
        out.reasons[i] = 0;
      }
      return BERTH_SUCCESS;
    };
  }

  Stage stage_;
  Harness harness_;  // Destroyed before the plugins, because it calls them.
};

TEST(QueuePluginAnswers, PreEnqueueGatesAPodUntilAnEvent) {
  struct Gate {
    berth_code code;
    const char* fault;
  };
  for (const Gate gate :
       {Gate{BERTH_UNSCHEDULABLE, nullptr}, Gate{BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, nullptr},
        Gate{BERTH_PENDING, nullptr}, Gate{BERTH_ERROR, nullptr},
        Gate{BERTH_SKIP, "PreEnqueue bad code"}, Gate{BERTH_BUG, "PreEnqueue exception"}}) {
    SCOPED_TRACE(gate.code);
    Stage stage;
    Harness harness;
    berth_code answer = gate.code;
    Puppet& a = stage.Add("puppet.A", {Point::kPreEnqueue, Point::kEnqueueExtensions});
    a.interests = {{.resource = BERTH_RESOURCE_NODE,
                    .actions = BERTH_ACTION_ADD,
                    .kind = nullptr,
                    .has_hint = 0,
                    .reserved = 0,
                    .pod_parts = 0}};
    a.pre_enqueue = [&](const berth_queued&, berth_status* status) {
      return Report({answer, {"not yet"}}, status);
    };
    harness.AddNode({.name = "n1"});
    stage.CompleteProfile();
    ASSERT_TRUE(harness.Start(stage.spec(), Stage::catalog()).ok());
    harness.AddPod(
        {.name = "p", .spec = "\"schedulerName\":\"" + stage.spec().scheduler_name + '"'});
    harness.Run();
    EXPECT_EQ(harness.PlaceOf("p"), QueuePlace::kGated);
    EXPECT_THAT(harness.results(), IsEmpty());
    answer = BERTH_SUCCESS;
    harness.Run();
    EXPECT_EQ(harness.PlaceOf("p"), QueuePlace::kGated);  // There was no event.
    harness.AddNode({.name = "n2"});
    harness.Run();
    ASSERT_FALSE(harness.results().empty());
    EXPECT_EQ(Harness::Outcome(harness.results().back()), "Success");
    const auto counts = harness.loop().faults().Counts();
    ASSERT_EQ(counts.empty(), gate.fault == nullptr);
    if (gate.fault != nullptr) {
      EXPECT_EQ(std::string(NameOf(counts[0].point)) + " " + std::string(FaultName(counts[0].kind)),
                gate.fault);
    }
  }
}

TEST_F(QueuePluginAnswersTest, HintsDecideWhetherAPodIsRequeued) {
  uint32_t hint = BERTH_HINT_SKIP;
  bool fits = false;
  Puppet& a = Plugin({Point::kFilter, Point::kEnqueueExtensions});
  a.filter = [&](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                 berth_status* status) {
    if (!fits) return static_cast<berth_code>(Refuse()(cycle, block, out, status));
    std::fill_n(out.codes, block.count, uint8_t{BERTH_SUCCESS});
    return static_cast<berth_code>(BERTH_SUCCESS);
  };
  a.hint = [&](const berth_queued&, const berth_event&) { return hint; };
  Start();
  AddPod("p");
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kUnschedulable);
  harness_.AddNode({.name = "n2"});
  harness_.Run();
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kUnschedulable);
  EXPECT_THAT(Faults(), IsEmpty());
  // An unknown hint, which a later version may have, requeues the pod and is no fault.
  hint = 99;
  harness_.AddNode({.name = "n3"});
  harness_.Run();
  harness_.Advance(60 * kSecond);
  // The pod was rejected again.
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kUnschedulable);
  EXPECT_EQ(harness_.loop().queue().Find("uid-p")->attempts, 2U);
  EXPECT_THAT(Faults(), IsEmpty());
  hint = BERTH_HINT_QUEUE;
  fits = true;
  harness_.AddNode({.name = "n4"});
  harness_.Advance(60 * kSecond);
  EXPECT_EQ(Outcome(), "Success");
}

// No event wakes a pod that waits only because its plugin was not called.
TEST_F(QueuePluginAnswersTest, GatedPodIsTriedWhenTheQuarantineEnds) {
  int calls = 0;
  Puppet& a = Plugin({Point::kPreEnqueue});
  a.pre_enqueue = [&calls](const berth_queued&, berth_status*) {
    ++calls;
    return BERTH_SUCCESS;
  };
  Start();
  for (int i = 0; i < 10; ++i) a.host->fault(a.host, AsStr("bad"));
  ASSERT_EQ(harness_.loop().faults().InQuarantine().size(), 1U);
  AddPod("p");
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kGated);
  EXPECT_EQ(calls, 0);
  harness_.Advance(30 * kSecond - 1);
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kGated);
  harness_.Advance(1);
  EXPECT_THAT(harness_.loop().faults().InQuarantine(), IsEmpty());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(Outcome(), "Success");
}

// The queue needs an order, so QueueSort is called even in quarantine.
TEST_F(QueuePluginAnswersTest, QueueSortIsCalledInQuarantine) {
  std::vector<std::string> tried;
  Puppet& a = Plugin({Point::kQueueSort, Point::kPreFilter});
  a.less = [](const berth_queued& x, const berth_queued& y) {
    return Text(x.pod->meta->name) > Text(y.pod->meta->name);
  };
  Start();
  for (int i = 0; i < 10; ++i) a.host->fault(a.host, AsStr("bad"));
  ASSERT_EQ(harness_.loop().faults().InQuarantine().size(), 1U);
  const std::string spec = "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"';
  for (const char* name : {"b", "c", "a"}) harness_.AddPod({.name = name, .spec = spec});
  harness_.Run();
  for (const AttemptResult& result : harness_.results()) {
    tried.emplace_back(result.pod->name());
    EXPECT_THAT(Harness::Outcome(result),
                HasSubstr("Error: running PreFilter plugin \"puppet.A\": in quarantine"));
  }
  EXPECT_THAT(tried, ElementsAre("c", "b", "a"));
}

// puppet.Lanes offers both revisions of QueueSort, of which the host uses the second.
TEST_F(QueuePluginAnswersTest, NextSelectsTheLaneOfTheNextPod) {
  Puppet& lanes = stage_.Add("puppet.Lanes", {Point::kQueueSort});
  std::vector<std::string> offered;
  lanes.lane = [](const berth_queued& queued) { return static_cast<uint64_t>(queued.priority); };
  lanes.less = [](const berth_queued& x, const berth_queued& y) {
    return Text(x.pod->meta->name) > Text(y.pod->meta->name);
  };
  lanes.next = [&](std::span<const berth_lane> given) {
    std::string text;
    for (const berth_lane& lane : given) {
      text += std::to_string(lane.lane) + ":" + std::to_string(lane.count) + ":" +
              std::string(Text(lane.first->pod->meta->name)) + " ";
    }
    offered.push_back(text);
    return static_cast<uint32_t>(given.size() - 1);
  };
  Start();
  const std::string spec = "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"';
  const auto add = [&](const std::string& name, int priority) {
    harness_.AddPod({.name = name, .spec = spec + ",\"priority\":" + std::to_string(priority)});
  };
  add("a", 1), add("b", 1), add("c", 3);
  harness_.Run();
  EXPECT_THAT(offered, ElementsAre("1:2:b 3:1:c ", "1:2:b ", "1:1:a "));
  std::vector<std::string> tried;
  for (const AttemptResult& result : harness_.results()) tried.emplace_back(result.pod->name());
  EXPECT_THAT(tried, ElementsAre("c", "b", "a"));
  EXPECT_THAT(Faults(), IsEmpty());
}

// The host then takes the first lane. In quarantine too, because the queue needs an order.
TEST_F(QueuePluginAnswersTest, InvalidLaneIsAFaultMeaningTheFirst) {
  for (const uint32_t beyond : {uint32_t{0}, uint32_t{1}, UINT32_MAX}) {
    SCOPED_TRACE(beyond);
    Stage stage;
    Harness harness;
    size_t calls = 0;
    Puppet& lanes = stage.Add("puppet.Lanes", {Point::kQueueSort});
    lanes.lane = [](const berth_queued& queued) { return static_cast<uint64_t>(queued.priority); };
    lanes.next = [&](std::span<const berth_lane> given) {
      ++calls;
      return beyond == UINT32_MAX ? beyond : static_cast<uint32_t>(given.size()) + beyond;
    };
    harness.AddNode({.name = "n1"});
    stage.CompleteProfile();
    ASSERT_TRUE(harness.Start(stage.spec(), Stage::catalog()).ok());
    const std::string spec = "\"schedulerName\":\"" + stage.spec().scheduler_name + '"';
    std::vector<std::string> expected;
    for (int i = 0; i < 12; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      harness.AddPod({.name = name, .spec = spec + ",\"priority\":" + std::to_string(20 - i)});
      expected.insert(expected.begin(), name);
    }
    harness.Run();
    std::vector<std::string> tried;
    for (const AttemptResult& result : harness.results()) tried.emplace_back(result.pod->name());
    EXPECT_EQ(tried, expected);
    EXPECT_EQ(calls, 12U);
    const auto counts = harness.loop().faults().Counts();
    ASSERT_EQ(counts.size(), 1U);
    EXPECT_EQ(counts[0].point, Point::kQueueSort);
    EXPECT_EQ(counts[0].kind, FaultKind::kBadCode);
    EXPECT_EQ(counts[0].count, 12U);
    EXPECT_EQ(harness.loop().faults().InQuarantine().size(), 1U);
  }
}

struct PostFilterCase {
  ScriptedAnswer answer;
  const char* node;  // The node that the plugin nominates; null: none.
  const char* outcome;
  const char* nominated;  // The nomination in the pod's status afterwards.
  const char* fault;
};

TEST(QueuePluginAnswers, PostFilterSetsTheMessageAndTheNomination) {
  const std::string fit = "Unschedulable: 0/1 nodes are available: 1 node(s) were rejected.";
  const PostFilterCase kTable[] = {
      {{BERTH_SUCCESS, {}}, "n1", "", "n1", nullptr},
      {{BERTH_SUCCESS, {"made room"}}, "n1", " made room", "n1", nullptr},
      {{BERTH_UNSCHEDULABLE, {"no way"}}, nullptr, " no way", "", nullptr},
      {{BERTH_UNSCHEDULABLE, {"no way"}}, "", " no way", "", nullptr},
      {{BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {"never"}}, nullptr, " never", "", nullptr},
      {{BERTH_PENDING, {"later"}}, nullptr, " later", "", nullptr},
      {{BERTH_ERROR, {"boom"}}, "n1", " boom", "", nullptr},
      {{BERTH_BUG, {"a bug"}}, "n1", " a bug", "", "PostFilter exception"},
      {{BERTH_WAIT, {"wait"}}, nullptr, " wait", "", "PostFilter bad code"},
  };
  for (const PostFilterCase& row : kTable) {
    SCOPED_TRACE(row.outcome);
    Stage stage;
    Harness harness;
    Puppet& a = stage.Add("puppet.A", {Point::kFilter, Point::kPostFilter});
    a.reasons = {AsStr("node(s) were rejected")};
    a.filter = [](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                  berth_status*) {
      for (uint32_t i = 0; i < block.count; ++i) {
        out.codes[i] = BERTH_UNSCHEDULABLE;
        out.reasons[i] = 1;
      }
      return BERTH_SUCCESS;
    };
    a.post_filter = [&row](const berth_cycle&, const berth_nodes&, const berth_verdicts&,
                           berth_post_filter_out& out, berth_status* status) {
      if (row.node != nullptr) out.nominate(&out, AsStr(row.node));
      return Report(row.answer, status);
    };
    harness.AddNode({.name = "n1"});
    stage.CompleteProfile();
    ASSERT_TRUE(harness.Start(stage.spec(), Stage::catalog()).ok());
    harness.AddPod(
        {.name = "p", .spec = "\"schedulerName\":\"" + stage.spec().scheduler_name + '"'});
    harness.Run();
    ASSERT_EQ(harness.results().size(), 1U);
    EXPECT_EQ(Harness::Outcome(harness.results()[0]), fit + row.outcome);
    EXPECT_EQ(harness.cluster().FindPod("default", "p")->nominated_node(), row.nominated);
    EXPECT_EQ(harness.loop().queue().nominator().NodeOf("uid-p"), row.nominated);
    EXPECT_EQ(harness.PlaceOf("p"), QueuePlace::kUnschedulable);
    const auto counts = harness.loop().faults().Counts();
    ASSERT_EQ(counts.empty(), row.fault == nullptr);
  }
}

// A pod has no node in its scheduling cycle; from "assume" on it has.
TEST_F(QueuePluginAnswersTest, PluginsSeeTheNodeOfAnAssumedPod) {
  std::vector<std::string> calls;
  Puppet& a = Plugin({Point::kPreFilter, Point::kReserve, Point::kPreBind, Point::kBind,
                      Point::kChanges, Point::kPostBind, Point::kFilter});
  const auto say = [&](const std::string& where, const berth_pod& pod) {
    if (Text(pod.meta->name) == "p") {
      calls.push_back(where + (pod.node_name != BERTH_ID_NONE ? " node" : " none"));
    }
  };
  a.pre_filter = [&](const berth_cycle& cycle, auto&&...) {
    say("PreFilter", *cycle.pod);
    return BERTH_SUCCESS;
  };
  a.filter = [&](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                 berth_status*) {
    for (uint64_t i = 0; i < block.pods[0].count; ++i) say("block", *block.pods[0].data[i]);
    std::fill_n(out.codes, block.count, uint8_t{BERTH_SUCCESS});
    return BERTH_SUCCESS;
  };
  a.reserve = [&](const berth_cycle& cycle, auto&&...) {
    say("Reserve", *cycle.pod);
    return BERTH_SUCCESS;
  };
  a.pre_bind = [&](const berth_binding& binding, auto&&...) {
    say("PreBind", *binding.pod);
    return BERTH_SUCCESS;
  };
  a.bind = [&](const berth_binding& binding, berth_done, berth_status*) {
    say("Bind", *binding.pod);
    return BERTH_PENDING;  // The pod stays assumed.
  };
  a.change = [&](const berth_change& change) {
    if (change.kind == BERTH_CHANGE_POD_ADDED) {
      say((change.flags & BERTH_CHANGE_FLAG_ASSUMED) != 0 ? "assumed" : "added", *change.pod);
    }
  };
  Start();
  AddPod("p");
  EXPECT_THAT(calls, ElementsAre("PreFilter none", "assumed node", "Reserve none", "PreBind none",
                                 "Bind none"));
  calls.clear();
  AddPod("q");
  EXPECT_THAT(calls, ElementsAre("block node"));
}

}  // namespace
}  // namespace berth::host

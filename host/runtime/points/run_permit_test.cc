#include "host/runtime/points/run_permit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMaxWaitNs = 15 * 60 * kSecond;

// One or more Permit plugins with scripted answers.
class RunPermitTest : public ::testing::Test {
 protected:
  static void Play(Puppet& puppet, const ScriptedAnswer& given, int64_t timeout_ns = 0) {
    puppet.permit = [given, timeout_ns](const berth_cycle&, const berth_target&, int64_t* timeout,
                                        berth_status* status) {
      EXPECT_EQ(*timeout, 0);
      *timeout = timeout_ns;
      return Report(given, status);
    };
  }

  Stage stage_;
};

TEST_F(RunPermitTest, TheTargetLeadsToColumnsAndPods) {
  Puppet& a = stage_.Add("puppet.A", {Point::kPermit});
  a.columns = {"pods.count"};
  bool called = false;
  a.permit = [&called](const berth_cycle&, const berth_target& target, int64_t*, berth_status*) {
    called = true;
    EXPECT_EQ(Text(target.block->nodes[target.index]->meta->name), "n1");
    EXPECT_EQ(target.block->pods[target.index].count, 1U);
    EXPECT_EQ(static_cast<const int64_t*>(target.block->columns[0].data)[target.index], 1);
    return BERTH_SUCCESS;
  };
  stage_.Build();
  ASSERT_TRUE(stage_.cache().AddPod(stage_.objects().Pod({.name = "x", .node = "n1"})).ok());
  EXPECT_TRUE(RunPermit(stage_.Begin(), stage_.table().FindNode("n1")).status.ok());
  EXPECT_TRUE(called);
}

struct PermitCase {
  const char* description;
  ScriptedAnswer given;
  const char* status;
  const char* fault;  // Empty: no fault.
};

TEST_F(RunPermitTest, EveryAnswer) {
  const PermitCase kTable[] = {
      {"success", {BERTH_SUCCESS}, "Success", ""},
      {"unschedulable", {BERTH_UNSCHEDULABLE, {"no", "never"}}, "Unschedulable: no, never", ""},
      {"unresolvable",
       {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {"no"}},
       "UnschedulableAndUnresolvable: no",
       ""},
      {"rejected until an event", {BERTH_PENDING, {"later"}}, "Pending: later", ""},
      {"held",
       {BERTH_WAIT},
       "Wait: one or more plugins asked to wait and no plugin rejected pod",
       ""},
      {"wait with reasons",
       {BERTH_WAIT, {"2 of 3", "members"}},
       "Wait: 2 of 3, members, one or more plugins asked to wait and no plugin rejected pod",
       ""},
      {"failed", {BERTH_ERROR, {"boom"}}, "Error: running Permit plugin \"puppet.A\": boom", ""},
      {"cancelled",
       {BERTH_CANCELLED},
       "Error: running Permit plugin \"puppet.A\": plugin returned Cancelled",
       ""},
      {"threw",
       {BERTH_BUG, {"a bug"}},
       "Error: running Permit plugin \"puppet.A\": a bug",
       "puppet.A Permit exception"},
      {"code of Bind",
       {BERTH_SKIP},
       "Error: running Permit plugin \"puppet.A\": plugin returned Skip",
       "puppet.A Permit bad code"},
      {"a service's code",
       {BERTH_NOT_FOUND},
       "Error: running Permit plugin \"puppet.A\": plugin returned NotFound",
       "puppet.A Permit bad code"},
      {"unknown code",
       {7},
       "Error: running Permit plugin \"puppet.A\": plugin returned Unknown",
       "puppet.A Permit bad code"},
  };
  for (const PermitCase& row : kTable) {
    SCOPED_TRACE(row.description);
    Stage stage;
    Play(stage.Add("puppet.A", {Point::kPermit}), row.given, kSecond);
    bool next_was_asked = false;
    stage.Add("puppet.B", {Point::kPermit}).permit = [&](const berth_cycle&, const berth_target&,
                                                         int64_t*, berth_status*) {
      next_was_asked = true;
      return BERTH_SUCCESS;
    };
    stage.Build();
    const PermitResult result = RunPermit(stage.Begin(), 1);
    EXPECT_EQ(TextOf(result.status), row.status);
    const bool waits = row.given.code == BERTH_WAIT;
    EXPECT_EQ(result.waits.size(), waits ? 1U : 0U);
    EXPECT_EQ(next_was_asked, waits || row.given.code == BERTH_SUCCESS);
    EXPECT_EQ(Join(stage.Faults(), ", "), row.fault);
  }
}

TEST_F(RunPermitTest, ClampsTimeoutsToFifteenMinutes) {
  constexpr std::pair<int64_t, int64_t> kTable[] = {
      {0, 0},
      {1, 1},
      {kSecond, kSecond},
      {kMaxWaitNs - 1, kMaxWaitNs - 1},
      {kMaxWaitNs, kMaxWaitNs},
      {kMaxWaitNs + 1, kMaxWaitNs},
      {INT64_MAX, kMaxWaitNs},
      {-1, 0},
      {INT64_MIN, 0},
  };
  for (const auto& [asked, got] : kTable) {
    SCOPED_TRACE(asked);
    Stage stage;
    Play(stage.Add("puppet.A", {Point::kPermit}), {BERTH_WAIT}, asked);
    stage.Build();
    const PermitResult result = RunPermit(stage.Begin(), 1);
    ASSERT_EQ(result.waits.size(), 1U);
    EXPECT_EQ(result.waits[0].timeout_ns, got);
  }
}

TEST_F(RunPermitTest, ListsThePluginsThatWaitInOrder) {
  Play(stage_.Add("puppet.A", {Point::kPermit}), {BERTH_WAIT, {"a"}}, 1);
  Play(stage_.Add("puppet.B", {Point::kPermit}), {BERTH_SUCCESS, {"b"}}, 2);
  Play(stage_.Add("puppet.C", {Point::kPermit}), {BERTH_WAIT, {"c"}}, 3);
  stage_.Build();
  const PermitResult result = RunPermit(stage_.Begin(), 1);
  EXPECT_EQ(TextOf(result.status),
            "Wait: a, c, one or more plugins asked to wait and no plugin rejected pod");
  ASSERT_EQ(result.waits.size(), 2U);
  EXPECT_EQ(stage_.plan().plugins()[result.waits[0].plugin].name, "puppet.A");
  EXPECT_EQ(result.waits[0].timeout_ns, 1);
  EXPECT_EQ(stage_.plan().plugins()[result.waits[1].plugin].name, "puppet.C");
  EXPECT_EQ(result.waits[1].timeout_ns, 3);
}

TEST_F(RunPermitTest, ARejectionAfterAWaitRejects) {
  Play(stage_.Add("puppet.A", {Point::kPermit}), {BERTH_WAIT, {"a"}}, 1);
  Play(stage_.Add("puppet.B", {Point::kPermit}), {BERTH_UNSCHEDULABLE, {"no"}});
  stage_.Build();
  const PermitResult result = RunPermit(stage_.Begin(), 1);
  EXPECT_EQ(TextOf(result.status), "Unschedulable: no");
  EXPECT_EQ(stage_.PluginName(result.status.plugin), "puppet.B");
  EXPECT_THAT(result.waits, IsEmpty());
}

TEST_F(RunPermitTest, AQuarantinedPluginFailsThePod) {
  Play(stage_.Add("puppet.A", {Point::kPermit}), {BERTH_WAIT}, 1);
  Play(stage_.Add("puppet.B", {Point::kPermit}), {BERTH_SUCCESS});
  stage_.Build();
  stage_.Quarantine("puppet.B");
  const PermitResult result = RunPermit(stage_.Begin(), 1);
  EXPECT_THAT(TextOf(result.status),
              HasSubstr("Error: running Permit plugin \"puppet.B\": in quarantine"));
  EXPECT_THAT(result.waits, IsEmpty());
}

TEST_F(RunPermitTest, WithoutPluginsItSucceeds) {
  stage_.Build();
  EXPECT_TRUE(RunPermit(stage_.Begin(), 1).status.ok());
}

}  // namespace
}  // namespace berth::host

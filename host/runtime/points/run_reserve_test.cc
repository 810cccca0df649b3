#include "host/runtime/points/run_reserve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunReserveTest : public ::testing::Test {
 protected:
  // Three plugins that record their calls.
  void AddAll() {
    for (const char* name : {"puppet.A", "puppet.B", "puppet.C"}) {
      Puppet& puppet = stage_.Add(name, {Point::kReserve});
      puppet.reserve = [this, name](const berth_cycle&, const berth_target& target, berth_status*) {
        stage_.log.push_back(std::string("reserve ") + name + " " + std::string(NameOf(target)));
        return BERTH_SUCCESS;
      };
      puppet.unreserve = [this, name](const berth_binding& binding) {
        stage_.log.push_back(std::string("unreserve ") + name + " " + Whither(binding));
      };
    }
  }
  static std::string_view NameOf(const berth_target& target) {
    return Text(target.node->meta->name);
  }
  static std::string Whither(const berth_binding& binding) {
    return std::string(Text(binding.pod->meta->name)) + ">" + std::string(Text(binding.node_name));
  }

  Stage stage_;
};

// The columns and pods of the target are those of the table at the time of the call.
TEST_F(RunReserveTest, TheTargetLeadsToColumnsAndPods) {
  Puppet& a = stage_.Add("puppet.A", {Point::kReserve});
  a.columns = {"pods.count", "alloc.cpu"};
  std::string seen;
  a.reserve = [&seen](const berth_cycle&, const berth_target& target, berth_status*) {
    const berth_block& block = *target.block;
    const auto value = [&](uint32_t column) {
      const berth_column& values = block.columns[column];
      const auto* at = static_cast<const std::byte*>(values.data) + target.index * values.stride;
      return std::to_string(*reinterpret_cast<const int64_t*>(at));
    };
    EXPECT_EQ(block.rows[target.index], target.row);
    EXPECT_EQ(block.nodes[target.index], target.node);
    EXPECT_EQ(block.n_columns, 2U);
    seen = value(0) + " pods, " + value(1) + " cpu:";
    const berth_pod_list& pods = block.pods[target.index];
    for (uint64_t i = 0; i < pods.count; ++i)
      seen += " " + std::string(Text(pods.data[i]->meta->name));
    return BERTH_SUCCESS;
  };
  stage_.Build();
  ASSERT_TRUE(stage_.cache().AddPod(stage_.objects().Pod({.name = "x", .node = "n2"})).ok());
  Attempt& attempt = stage_.Begin();
  const Row row = stage_.table().FindNode("n2");
  EXPECT_TRUE(RunReserve(attempt, row).ok());
  EXPECT_EQ(seen, "1 pods, 4000 cpu: x");
  ASSERT_TRUE(stage_.cache().AddPod(stage_.objects().Pod({.name = "y", .node = "n2"})).ok());
  EXPECT_TRUE(RunReserve(attempt, row).ok());
  EXPECT_EQ(seen, "2 pods, 4000 cpu: x y");
}

struct ReserveCase {
  const char* description;
  ScriptedAnswer given;
  const char* status;
  const char* fault;  // Empty: no fault.
};

TEST_F(RunReserveTest, EveryAnswer) {
  const ReserveCase kTable[] = {
      {"success", {BERTH_SUCCESS}, "Success", ""},
      {"the reasons of a success are dropped", {BERTH_SUCCESS, {"fine"}}, "Success", ""},
      {"unschedulable", {BERTH_UNSCHEDULABLE, {"no", "never"}}, "Unschedulable: no, never", ""},
      {"without a reason", {BERTH_UNSCHEDULABLE}, "Unschedulable: puppet.A gave no reason", ""},
      {"empty reason", {BERTH_UNSCHEDULABLE, {""}}, "Unschedulable: puppet.A gave no reason", ""},
      {"unresolvable",
       {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {"no"}},
       "UnschedulableAndUnresolvable: no",
       ""},
      {"rejected until an event", {BERTH_PENDING, {"later"}}, "Pending: later", ""},
      {"failed",
       {BERTH_ERROR, {"boom", "bang"}},
       "Error: running Reserve plugin \"puppet.A\": boom, bang",
       ""},
      {"error without a reason",
       {BERTH_ERROR},
       "Error: running Reserve plugin \"puppet.A\": plugin returned Error",
       ""},
      {"cancelled",
       {BERTH_CANCELLED},
       "Error: running Reserve plugin \"puppet.A\": plugin returned Cancelled",
       ""},
      {"threw",
       {BERTH_BUG, {"std::bad_alloc"}},
       "Error: running Reserve plugin \"puppet.A\": std::bad_alloc",
       "puppet.A Reserve exception"},
      {"code of Permit",
       {BERTH_WAIT},
       "Error: running Reserve plugin \"puppet.A\": plugin returned Wait",
       "puppet.A Reserve bad code"},
      {"code of Bind",
       {BERTH_SKIP, {"not mine"}},
       "Error: running Reserve plugin \"puppet.A\": not mine",
       "puppet.A Reserve bad code"},
      {"a service's code",
       {BERTH_CONFLICT},
       "Error: running Reserve plugin \"puppet.A\": plugin returned Conflict",
       "puppet.A Reserve bad code"},
      {"unknown code",
       {77},
       "Error: running Reserve plugin \"puppet.A\": plugin returned Unknown",
       "puppet.A Reserve bad code"},
      {"a negative code",
       {-1},
       "Error: running Reserve plugin \"puppet.A\": plugin returned Unknown",
       "puppet.A Reserve bad code"},
  };
  for (const ReserveCase& row : kTable) {
    SCOPED_TRACE(row.description);
    Stage stage;
    stage.Add("puppet.A", {Point::kReserve}).reserve =
        [&row](const berth_cycle&, const berth_target&, berth_status* status) {
          return Report(row.given, status);
        };
    bool next_was_asked = false;
    stage.Add("puppet.B", {Point::kReserve}).reserve = [&](const berth_cycle&, const berth_target&,
                                                           berth_status*) {
      next_was_asked = true;
      return BERTH_SUCCESS;
    };
    stage.Build();
    const PluginStatus status = RunReserve(stage.Begin(), 1);
    EXPECT_EQ(TextOf(status), row.status);
    EXPECT_EQ(stage.PluginName(status.plugin), status.ok() ? "" : "puppet.A");
    EXPECT_EQ(next_was_asked, status.ok());
    EXPECT_EQ(Join(stage.Faults(), ", "), row.fault);
  }
}

TEST_F(RunReserveTest, ReasonThatIsNullIsBugOfPlugin) {
  for (const berth_code code : {BERTH_UNSCHEDULABLE, BERTH_ERROR, BERTH_SUCCESS}) {
    SCOPED_TRACE(code);
    Stage stage;
    stage.Add("puppet.A", {Point::kReserve}).reserve =
        [code](const berth_cycle&, const berth_target&, berth_status* status) {
          status->add_reason(status, {nullptr, 7});
          return code;
        };
    stage.Build();
    const bool is_bug = code != BERTH_SUCCESS;
    EXPECT_EQ(TextOf(RunReserve(stage.Begin(), 1)),
              is_bug ? "Error: running Reserve plugin \"puppet.A\": gave a reason that is NULL"
                     : "Success");
    EXPECT_EQ(Join(stage.Faults(), ", "), is_bug ? "puppet.A Reserve exception" : "");
  }
}

TEST_F(RunReserveTest, CallsPluginsInOrderWithNodeOfRow) {
  AddAll();
  stage_.Build();
  EXPECT_TRUE(RunReserve(stage_.Begin(), 2).ok());
  EXPECT_THAT(stage_.log,
              ElementsAre("reserve puppet.A n2", "reserve puppet.B n2", "reserve puppet.C n2"));
}

TEST_F(RunReserveTest, UsesCycleStateThatWasTaken) {
  AddAll();
  Puppet& puppet = stage_.Add("puppet.A", {});
  puppet.has_slot = true;
  puppet.reserve = [](const berth_cycle& cycle, const berth_target& target, berth_status*) {
    *static_cast<int64_t*>(cycle.slots[0]) += target.row;
    return BERTH_SUCCESS;
  };
  stage_.Build();
  Attempt& attempt = stage_.Begin();
  const auto state = attempt.TakeState();
  EXPECT_TRUE(RunReserve(attempt, 1).ok());
  EXPECT_EQ(*static_cast<int64_t*>(state->of(0).data()[0]), 8);
}

TEST_F(RunReserveTest, UnreserveCallsAllPluginsInReverseOrder) {
  AddAll();
  stage_.Build();
  const auto binding = stage_.MakeBinding();
  RunUnreserve(*binding);
  EXPECT_THAT(stage_.log, ElementsAre("unreserve puppet.C p>n1", "unreserve puppet.B p>n1",
                                      "unreserve puppet.A p>n1"));
}

TEST_F(RunReserveTest, AQuarantinedPluginSkipsReserveButNotUnreserve) {
  AddAll();
  stage_.Build();
  stage_.Quarantine("puppet.B");
  const PluginStatus status = RunReserve(stage_.Begin(), 0);
  EXPECT_EQ(status.code, BERTH_ERROR);
  EXPECT_EQ(stage_.PluginName(status.plugin), "puppet.B");
  EXPECT_THAT(status.Message(), HasSubstr("running Reserve plugin \"puppet.B\": in quarantine"));
  EXPECT_THAT(stage_.log, ElementsAre("reserve puppet.A n0"));
  stage_.log.clear();
  RunUnreserve(*stage_.MakeBinding());
  EXPECT_EQ(stage_.log.size(), 3U);
}

TEST_F(RunReserveTest, WithoutPluginsItSucceeds) {
  stage_.Build();
  EXPECT_TRUE(RunReserve(stage_.Begin(), 0).ok());
  RunUnreserve(*stage_.MakeBinding());
  EXPECT_THAT(stage_.log, IsEmpty());
}

}  // namespace
}  // namespace berth::host

// PluginQueuePolicy: PreEnqueue and EnqueueExtensions of all profiles.
#include "host/runtime/points/run_pre_enqueue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/queued_entity.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr berth_event_interest MakeInterest(uint32_t resource, uint32_t actions,
                                            uint32_t has_hint = 0) {
  return {resource, actions, nullptr, has_hint, 0, BERTH_PART(LABELS)};
}

class PluginQueuePolicyTest : public ::testing::Test {
 protected:
  // Adds a plugin that records the pods for which it is called, and gives this answer.
  void AddGatekeeper(const std::string& name, const ScriptedAnswer& given = {}) {
    Puppet& puppet = stage_.Add(name, {Point::kPreEnqueue});
    puppet.pre_enqueue = [this, name, given](const berth_queued& queued, berth_status* status) {
      stage_.log.push_back(name + " " + std::string(Text(queued.pod->meta->name)));
      return Report(given, status);
    };
  }
  void Build() {
    stage_.Build();
    policy_.SetPlans({&stage_.plan()}, {});
  }
  static PodRef PodOf(Stage& stage) {
    return stage.objects().Pod(
        {.name = "p", .spec = R"("schedulerName":")" + stage.plan().scheduler_name() + '"'});
  }
  PluginId IdOf(std::string_view name) { return ids_.IdOf(stage_.plan().scheduler_name(), name); }

  static std::optional<Gate> PreEnqueue(PluginQueuePolicy& policy, const PodRef& pod,
                                        std::optional<PluginId> first = std::nullopt) {
    return policy.PreEnqueue(pod, QueuedEntity{.attempts = 3}.ViewOf(pod), first);
  }
  // Returns the gate as "puppet.A Unschedulable: why", or "enters".
  std::string PreEnqueue(std::optional<PluginId> first = std::nullopt) {
    return Describe(PreEnqueue(policy_, PodOf(stage_), first));
  }
  std::string Describe(const std::optional<Gate>& gate) const {
    if (!gate.has_value()) return "enters";
    return ids_.NameOf(gate->plugin) + " " + TextOf({gate->code, {}, gate->reasons});
  }

  // Returns the interests, each as "puppet.A 0: resource 2, actions 1, hint".
  std::vector<std::string> Interests() {
    std::vector<std::string> lines;
    for (const Interest& each : policy_.interests()) {
      lines.push_back(ids_.NameOf(each.plugin) + " " + std::to_string(each.index) + ": " +
                      std::to_string(each.resource) + " " + std::to_string(each.actions) +
                      (each.kind.empty() ? "" : " " + each.kind) + (each.has_hint ? " hint" : "") +
                      (each.pod_parts != 0 ? " parts" : ""));
    }
    return lines;
  }

  Stage stage_;
  PluginIds& ids_ = stage_.services().plugin_ids;
  PluginQueuePolicy policy_;
};

// --- PreEnqueue ----------------------------------------------------------------------------------

struct PreEnqueueCase {
  const char* description;
  ScriptedAnswer given;
  const char* outcome;
  const char* fault;  // Empty: no fault.
};

TEST_F(PluginQueuePolicyTest, EveryAnswer) {
  const PreEnqueueCase kTable[] = {
      {"success", {BERTH_SUCCESS}, "enters", ""},
      {"unschedulable",
       {BERTH_UNSCHEDULABLE, {"no", "never"}},
       "puppet.A Unschedulable: no, never",
       ""},
      {"unschedulable without a reason",
       {BERTH_UNSCHEDULABLE},
       "puppet.A Unschedulable: puppet.A gave no reason",
       ""},
      {"unresolvable",
       {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {"no"}},
       "puppet.A UnschedulableAndUnresolvable: no",
       ""},
      {"pending", {BERTH_PENDING, {"later"}}, "puppet.A Pending: later", ""},
      {"fails",
       {BERTH_ERROR, {"boom"}},
       "puppet.A Error: running PreEnqueue plugin \"puppet.A\": boom",
       ""},
      {"error without a reason",
       {BERTH_ERROR},
       "puppet.A Error: running PreEnqueue plugin \"puppet.A\": plugin returned Error",
       ""},
      {"throws",
       {BERTH_BUG, {"thrown"}},
       "puppet.A Error: running PreEnqueue plugin \"puppet.A\": thrown",
       "puppet.A PreEnqueue exception"},
      {"skip is not allowed",
       {BERTH_SKIP},
       "puppet.A Error: running PreEnqueue plugin \"puppet.A\": plugin returned Skip",
       "puppet.A PreEnqueue bad code"},
  };
  for (const PreEnqueueCase& c : kTable) {
    SCOPED_TRACE(c.description);
    Stage stage;
    stage.Add("puppet.A", {Point::kPreEnqueue}).pre_enqueue =
        [&c](const berth_queued&, berth_status* status) { return Report(c.given, status); };
    stage.Build();
    ids_ = stage.services().plugin_ids;
    PluginQueuePolicy policy;
    policy.SetPlans({&stage.plan()}, {});
    const std::optional<Gate> gate = PreEnqueue(policy, PodOf(stage));
    EXPECT_EQ(Describe(gate), c.outcome);
    std::vector<std::string> lines;
    if (gate.has_value() && gate->code == BERTH_ERROR) {
      lines.push_back("puppet.A: " + gate->reasons.front());
    }
    EXPECT_EQ(stage.lines(), lines) << "only errors are logged";
    std::vector<std::string> faults;
    if (*c.fault != '\0') faults.emplace_back(c.fault);
    EXPECT_EQ(stage.Faults(), faults);
  }
}

TEST_F(PluginQueuePolicyTest, CallsPluginsInProfileOrderUntilOneRejects) {
  AddGatekeeper("puppet.B");
  AddGatekeeper("puppet.A", {BERTH_UNSCHEDULABLE, {"no"}});
  AddGatekeeper("puppet.C", {BERTH_UNSCHEDULABLE, {"not asked"}});
  Build();
  EXPECT_EQ(PreEnqueue(), "puppet.A Unschedulable: no");
  EXPECT_THAT(stage_.log, ElementsAre("puppet.B p", "puppet.A p"));
}

TEST_F(PluginQueuePolicyTest, CallsTheGatingPluginFirst) {
  AddGatekeeper("puppet.A", {BERTH_UNSCHEDULABLE, {"no"}});
  AddGatekeeper("puppet.B", {BERTH_UNSCHEDULABLE, {"still not"}});
  Build();
  EXPECT_EQ(PreEnqueue(IdOf("puppet.B")), "puppet.B Unschedulable: still not");
  EXPECT_THAT(stage_.log, ElementsAre("puppet.B p"));
}

TEST_F(PluginQueuePolicyTest, CallsTheGatingPluginOnce) {
  AddGatekeeper("puppet.A");
  AddGatekeeper("puppet.B");
  AddGatekeeper("puppet.C");
  Build();
  EXPECT_EQ(PreEnqueue(IdOf("puppet.B")), "enters");
  EXPECT_THAT(stage_.log, ElementsAre("puppet.B p", "puppet.A p", "puppet.C p"));
}

TEST_F(PluginQueuePolicyTest, DoesNotCallGatingPluginThatLeftProfile) {
  AddGatekeeper("puppet.A");
  Build();
  EXPECT_EQ(PreEnqueue(IdOf("puppet.Gone")), "enters");
  EXPECT_EQ(PreEnqueue(ids_.IdOf("another-profile", "puppet.A")), "enters");
  EXPECT_EQ(PreEnqueue(PluginId{1000}), "enters");
  EXPECT_THAT(stage_.log, ElementsAre("puppet.A p", "puppet.A p", "puppet.A p"));
}

TEST_F(PluginQueuePolicyTest, APodOfNoProfileEnters) {
  AddGatekeeper("puppet.A", {BERTH_UNSCHEDULABLE});
  Build();
  const PodRef pod = stage_.objects().Pod({.name = "p", .spec = R"("schedulerName":"theirs")"});
  EXPECT_FALSE(PreEnqueue(policy_, pod).has_value());
  EXPECT_FALSE(PreEnqueue(policy_, pod, IdOf("puppet.A")).has_value());
  EXPECT_THAT(stage_.log, IsEmpty());
}

TEST_F(PluginQueuePolicyTest, PluginsGetTheQueuedEntity) {
  berth_queued seen{};
  stage_.Add("puppet.A", {Point::kPreEnqueue}).pre_enqueue = [&](const berth_queued& queued,
                                                                 berth_status*) {
    seen = queued;
    return BERTH_SUCCESS;
  };
  Build();
  const PodRef pod = PodOf(stage_);
  QueuedEntity entity{.attempts = 3, .queued_ns = 20, .first_attempt_ns = 10};
  EXPECT_FALSE(policy_.PreEnqueue(pod, entity.ViewOf(pod), std::nullopt).has_value());
  EXPECT_EQ(seen.struct_size, sizeof(berth_queued));
  EXPECT_EQ(seen.kind, uint32_t{BERTH_QUEUED_POD});
  EXPECT_EQ(seen.pod, &pod->view());
  EXPECT_EQ(seen.attempts, 3U);
  EXPECT_EQ(seen.queued_ns, 20);
  EXPECT_EQ(seen.first_attempt_ns, 10);
}

TEST_F(PluginQueuePolicyTest, QuarantinedPluginGatesThePodWithoutACall) {
  AddGatekeeper("puppet.A");
  Build();
  stage_.Quarantine("puppet.A");
  EXPECT_THAT(PreEnqueue(), ::testing::StartsWith("puppet.A UnschedulableAndUnresolvable: "));
  EXPECT_THAT(stage_.log, IsEmpty());
}

TEST_F(PluginQueuePolicyTest, EveryProfileHasItsOwnPlugins) {
  AddGatekeeper("puppet.A", {BERTH_UNSCHEDULABLE, {"no"}});
  Build();
  Stage other;
  other.services().plugin_ids = ids_;
  other.Add("puppet.A", {Point::kPreEnqueue});
  other.Build();
  policy_.SetPlans({&other.plan(), &stage_.plan()}, {});
  EXPECT_EQ(PreEnqueue(), "puppet.A Unschedulable: no");
  EXPECT_FALSE(PreEnqueue(policy_, PodOf(other)).has_value());
  policy_.SetPlans({&other.plan()}, {});
  EXPECT_EQ(PreEnqueue(), "enters");
}

// --- interests -----------------------------------------------------------------------------------

TEST_F(PluginQueuePolicyTest, OnlyPluginsThatMayRejectHaveInterests) {
  const struct {
    Point point;
    bool may_reject;
  } kTable[] = {
      {Point::kPreEnqueue, true}, {Point::kEnqueueExtensions, false}, {Point::kPreFilter, true},
      {Point::kFilter, true},     {Point::kPostFilter, false},        {Point::kReserve, true},
      {Point::kPermit, true},     {Point::kPreBind, false},           {Point::kBind, false},
      {Point::kPostBind, false},  {Point::kChanges, false},           {Point::kHandOver, false},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(InfoOf(row.point).name);
    Stage stage;
    stage.Add("puppet.A", {row.point});
    stage.Build();
    PluginQueuePolicy policy;
    policy.SetPlans({&stage.plan()}, {});
    EXPECT_EQ(policy.interests().size(), row.may_reject ? 1U : 0U);
  }
}

TEST_F(PluginQueuePolicyTest, InterestsComeFromEnqueueExtensions) {
  Puppet& a = stage_.Add("puppet.A", {Point::kFilter, Point::kEnqueueExtensions});
  a.interests = {MakeInterest(BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, 1),
                 MakeInterest(BERTH_RESOURCE_CUSTOM, BERTH_ACTION_ALL)};
  a.interests[1].kind = "v1/Pod";
  a.interests[1].pod_parts = 0;
  stage_.Add("puppet.B", {Point::kReserve, Point::kPermit, Point::kEnqueueExtensions});
  stage_.Add("puppet.C", {Point::kPreFilter});
  Build();
  const std::string all = std::to_string(BERTH_ACTION_ALL);
  EXPECT_THAT(
      Interests(),
      ElementsAre("puppet.A 0: " + std::to_string(BERTH_RESOURCE_NODE) + " 1 hint parts",
                  "puppet.A 1: " + std::to_string(BERTH_RESOURCE_CUSTOM) + " " + all + " v1/Pod",
                  "puppet.C 0: " + std::to_string(BERTH_RESOURCE_WILDCARD) + " " + all))
      << "puppet.B registers no event; puppet.C has no EnqueueExtensions, so all events apply";
}

// The host watches only kinds that plugins name: otherwise the event would never occur.
TEST_F(PluginQueuePolicyTest, RejectsAnInterestInAnUndeclaredKind) {
  const struct {
    uint32_t resource;
    const char* kind;
    const char* missing;  // Null: the plugin is loaded.
  } kTable[] = {
      {BERTH_RESOURCE_POD_ANY, nullptr, nullptr},
      {BERTH_RESOURCE_NODE, nullptr, nullptr},
      {BERTH_RESOURCE_PV, nullptr, "PersistentVolume"},
      {BERTH_RESOURCE_POD_GROUP, nullptr, "scheduling.k8s.io/PodGroup"},
      {BERTH_RESOURCE_CUSTOM, "acme.com/v1/Rack", "acme.com/v1/Rack"},
      {BERTH_RESOURCE_CUSTOM, "v1/Pod", nullptr},
      {BERTH_RESOURCE_CUSTOM, "v1/Node", nullptr},
      {BERTH_RESOURCE_WILDCARD, nullptr, nullptr},
      {BERTH_RESOURCE_ASSIGNED_POD, nullptr, nullptr},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.resource);
    Stage stage;
    Puppet& a = stage.Add("puppet.A", {Point::kFilter, Point::kEnqueueExtensions});
    a.interests = {MakeInterest(BERTH_RESOURCE_NODE, BERTH_ACTION_ADD),
                   MakeInterest(row.resource, BERTH_ACTION_ADD)};
    a.interests[1].kind = row.kind;
    stage.CompleteProfile();
    const auto plan = Plan::Build(stage.spec(), Stage::catalog(), stage.services(), stage.table());
    EXPECT_EQ(plan.ok(), row.missing == nullptr) << plan.status().ToString();
    if (row.missing == nullptr || plan.ok()) continue;
    EXPECT_THAT(
        plan.status().message(),
        ::testing::HasSubstr("interest 1 in a kind that berth_plugin_info.kinds names, found \"" +
                             std::string(row.missing) + "\""));
  }
}

TEST_F(PluginQueuePolicyTest, WarnsAboutAResourceThatNoEventHas) {
  Puppet& a = stage_.Add("puppet.A", {Point::kFilter, Point::kEnqueueExtensions});
  a.interests = {MakeInterest(BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_ADD),
                 MakeInterest(BERTH_RESOURCE_TARGET_POD + 1, BERTH_ACTION_ADD)};
  Build();
  EXPECT_THAT(stage_.lines(), ElementsAre("puppet.A: no event occurs for interest 1, because this "
                                          "host does not have resource 19"));
  EXPECT_EQ(Interests().size(), 2U);
}

TEST_F(PluginQueuePolicyTest, KeepsTheInterestsOfTheHost) {
  stage_.Add("puppet.A", {Point::kFilter});
  stage_.Build();
  const Interest own{
      .plugin = ids_.IdOf("", "own"), .resource = BERTH_RESOURCE_NODE, .actions = BERTH_ACTION_ADD};
  policy_.SetPlans({&stage_.plan()}, {own});
  ASSERT_EQ(policy_.interests().size(), 2U);
  EXPECT_EQ(policy_.interests()[0].plugin, own.plugin);
  EXPECT_EQ(policy_.interests()[1].plugin, IdOf("puppet.A"));
}

TEST_F(PluginQueuePolicyTest, PluginIdsSurviveAReload) {
  stage_.Add("puppet.A", {Point::kFilter});
  Build();
  const PluginId before = policy_.interests().front().plugin;
  policy_.SetPlans({}, {});
  EXPECT_THAT(Interests(), IsEmpty());
  ids_.IdOf("another", "puppet.A");
  policy_.SetPlans({&stage_.plan()}, {});
  EXPECT_EQ(policy_.interests().front().plugin, before);
}

// --- hints ---------------------------------------------------------------------------------------

TEST_F(PluginQueuePolicyTest, PassesTheEventToTheHint) {
  Puppet& a = stage_.Add("puppet.A", {Point::kFilter, Point::kEnqueueExtensions});
  a.interests = {MakeInterest(BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, 1)};
  uint32_t answer = BERTH_HINT_SKIP;
  berth_queued seen_queued{};
  berth_event seen{};
  a.hint = [&](const berth_queued& queued, const berth_event& event) {
    seen_queued = queued;
    seen = event;
    return answer;
  };
  Build();
  const PodRef pod = PodOf(stage_);
  berth_queued queued{};
  queued.pod = &pod->view();
  queued.attempts = 3;
  berth_event event{};
  event.resource = BERTH_RESOURCE_NODE;
  event.interest = 5;
  const Interest interest = policy_.interests().front();
  EXPECT_FALSE(policy_.Hint(interest, queued, event));
  EXPECT_EQ(seen_queued.pod, &pod->view());
  EXPECT_EQ(seen_queued.attempts, 3U);
  EXPECT_EQ(seen.resource, uint32_t{BERTH_RESOURCE_NODE});
  EXPECT_EQ(seen.interest, 5U);
  answer = BERTH_HINT_QUEUE;
  EXPECT_TRUE(policy_.Hint(interest, queued, event));
  for (const uint32_t unknown : {uint32_t{2}, UINT32_MAX}) {
    answer = unknown;
    EXPECT_TRUE(policy_.Hint(interest, queued, event)) << "an unknown hint counts as Queue";
  }
  EXPECT_THAT(stage_.Faults(), IsEmpty()) << "it may be a value of a later version";
}

TEST_F(PluginQueuePolicyTest, QuarantinedHintCountsAsQueueWithoutACall) {
  Puppet& a = stage_.Add("puppet.A", {Point::kFilter, Point::kEnqueueExtensions});
  a.interests = {MakeInterest(BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, 1)};
  a.hint = [this](const berth_queued&, const berth_event&) {
    stage_.log.emplace_back("asked");
    return uint32_t{BERTH_HINT_SKIP};
  };
  Build();
  stage_.Quarantine("puppet.A");
  EXPECT_TRUE(policy_.Hint(policy_.interests().front(), berth_queued{}, berth_event{}));
  EXPECT_THAT(stage_.log, IsEmpty());
}

}  // namespace
}  // namespace berth::host

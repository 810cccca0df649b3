// Class Profiles: which instances and profiles a reload keeps, and what it hands over.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/cycle/profiles.h"
#include "host/plan/plan.h"
#include "tests/harness/harness.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::shared_ptr<const nlohmann::json> Args(const char* text) {
  return std::make_shared<const nlohmann::json>(nlohmann::json::parse(text));
}

class ReloadTest : public ::testing::Test {
 protected:
  ReloadTest() {
    AddPuppets(stage_, "");
    AddPuppets(other_, "other ");
    spec_ = stage_.spec();
    spec_.plugins[0].args = Args(R"({"a":1,"b":[true,"x"]})");
    harness_.AddNodes({"n1"});
  }
  ~ReloadTest() override { harness_.Stop(); }

  void Start(const std::vector<PlanSpec>& specs) {
    const Status status = harness_.Start(specs, Stage::catalog(), 1);
    ASSERT_TRUE(status.ok()) << status.ToString();
    harness_.Run();
    log_.clear();
  }
  // Every line in the log begins with `who`.
  void AddPuppets(Stage& stage, const std::string& who) {
    for (const std::string name : {"puppet.A", "puppet.B"}) {
      Puppet& puppet = stage.Add(name, {Point::kChanges, Point::kReserve, Point::kPermit,
                                        Point::kPostBind, Point::kScore});
      puppet.create = [this, line = who + "create " + name] { Note(line); };
      puppet.destroy = [this, line = who + "destroy " + name] { Note(line); };
      puppet.post_bind = [this, line = who + "bound by " + name](const berth_binding&) {
        Note(line);
      };
    }
    stage.CompleteProfile();
  }
  void Reload(const std::vector<PlanSpec>& specs) {
    const Status status = harness_.loop().Reload(Stage::catalog(), specs);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void Note(std::string what) { log_.push_back(std::move(what)); }
  std::vector<std::string> Take() { return std::exchange(log_, {}); }
  const Plan& plan() { return harness_.loop().cycle().plan(); }
  void AddPod(const std::string& name) {
    harness_.AddPod({.name = name, .spec = "\"schedulerName\":\"" + spec_.scheduler_name + '"'});
    harness_.Run();
  }
  Puppet& a() { return stage_.Add("puppet.A", {}); }
  Puppet& b() { return stage_.Add("puppet.B", {}); }
  // Makes puppet.B another instance, and with it the profile another one.
  static PlanSpec WithNewB(PlanSpec spec) {
    spec.plugins[1].deadline_ns += kSecond;
    return spec;
  }

  Stage stage_;
  Stage other_;  // Another profile.
  PlanSpec spec_;
  std::vector<std::string> log_;
  Harness harness_;  // Destroyed before what its plugins call.
};

TEST_F(ReloadTest, InstanceStaysIfCreateWouldGetTheSame) {
  const struct {
    const char* name;
    std::function<void(PlanSpec&)> change;
    bool stays;
    bool is_same_profile = false;
  } cases[] = {
      {"nothing", [](PlanSpec&) {}, true, true},
      {"equal arguments in other objects",
       [](PlanSpec& spec) { spec.plugins[0].args = Args(R"({"b":[true,"x"],"a":1})"); }, true,
       true},
      {"the place in the file", [](PlanSpec& spec) { spec.plugins[0].where = "p.toml:7"; }, true,
       true},
      {"the weight 0 means 1",
       [](PlanSpec& spec) { spec.points[static_cast<size_t>(Point::kScore)][0].weight = 0; }, true,
       true},
      {"a weight",
       [](PlanSpec& spec) { spec.points[static_cast<size_t>(Point::kScore)][0].weight = 2; }, true},
      {"the order of plugins", [](PlanSpec& spec) { std::swap(spec.plugins[0], spec.plugins[1]); },
       true},
      {"the order at a point",
       [](PlanSpec& spec) {
         auto& uses = spec.points[static_cast<size_t>(Point::kReserve)];
         std::swap(uses[0], uses[1]);
       },
       true},
      {"another plugin", [](PlanSpec& spec) { spec.plugins[1].deadline_ns = 5; }, true},
      {"an argument", [](PlanSpec& spec) { spec.plugins[0].args = Args(R"({"a":2})"); }, false},
      {"the type of an argument",
       [](PlanSpec& spec) { spec.plugins[0].args = Args(R"({"a":1.0,"b":[true,"x"]})"); }, false},
      {"no arguments", [](PlanSpec& spec) { spec.plugins[0].args = nullptr; }, false},
      {"the deadline", [](PlanSpec& spec) { spec.plugins[0].deadline_ns = 5; }, false},
      {"a point less",
       [](PlanSpec& spec) {
         auto& uses = spec.points[static_cast<size_t>(Point::kReserve)];
         uses.erase(uses.begin());
       },
       false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Start({spec_});
    const Plan* const before = &plan();
    const PlannedPlugin* const instance = &plan().plugins()[0];
    PlanSpec next = spec_;
    c.change(next);
    Reload({next});
    const auto planned = std::ranges::find(plan().plugins(), "puppet.A", &PlannedPlugin::name);
    EXPECT_EQ(&*planned == instance, c.stays);
    EXPECT_EQ(&plan() == before, c.is_same_profile);
    std::erase_if(log_, [](const std::string& line) { return line.ends_with("puppet.B"); });
    if (c.stays) {
      EXPECT_THAT(Take(), IsEmpty());
    } else {
      EXPECT_THAT(Take(), ElementsAre("create puppet.A", "destroy puppet.A"));
    }
    EXPECT_EQ(harness_.loop().draining(), 0U);
    harness_.Stop();
    EXPECT_EQ(std::ranges::count(Take(), "destroy puppet.A"), 1);
  }
}

TEST_F(ReloadTest, KeptInstanceGetsEveryChangeOnce) {
  a().change = [this](const berth_change& change) { Note("A " + std::to_string(change.kind)); };
  Start({spec_});
  Reload({WithNewB(spec_)});
  EXPECT_THAT(Take(), ElementsAre("create puppet.B", "destroy puppet.B")) << "no replay";
  harness_.AddNodes({"n2"});
  harness_.Run();
  EXPECT_THAT(Take(), ElementsAre("A " + std::to_string(BERTH_CHANGE_NODE_ADDED)));
}

TEST_F(ReloadTest, KeptInstanceKeepsItsTimers) {
  a().create = [this] {
    const void* timer = nullptr;
    ASSERT_EQ(a().host->get_service(a().host, BERTH_SERVICE_TIMER, &timer), BERTH_SUCCESS);
    const auto fire = [](void* log) noexcept {
      static_cast<std::vector<std::string>*>(log)->emplace_back("fired");
    };
    uint64_t id = 0;
    static_cast<const berth_timer*>(timer)->start(a().host, kSecond, fire, &log_, &id);
  };
  Start({spec_});
  Reload({spec_});
  Reload({WithNewB(spec_)});
  Take();
  harness_.Advance(2 * kSecond);
  EXPECT_THAT(Take(), ElementsAre("fired"));
}

// The pod waits in the retired profile, whose instance of puppet.A the new profile has too.
TEST_F(ReloadTest, KeptInstanceAllowsItsWaitingPods) {
  a().permit = [](const berth_cycle&, const berth_target&, int64_t* timeout_ns, berth_status*) {
    *timeout_ns = 60 * kSecond;
    return BERTH_WAIT;
  };
  std::string waiting;  // The uid of the pod that the next change allows.
  a().change = [&](const berth_change&) {
    if (waiting.empty()) return;
    EXPECT_EQ(a().waiting->allow(a().host, berth_str{waiting.data(), waiting.size()}),
              BERTH_SUCCESS);
    waiting.clear();
  };
  for (const bool is_same : {true, false}) {
    SCOPED_TRACE(is_same ? "the profile stays" : "another plugin is replaced");
    Start({spec_});
    AddPod("p");
    ASSERT_EQ(harness_.loop().binding_count(), 1U);
    Reload({is_same ? spec_ : WithNewB(spec_)});
    EXPECT_EQ(harness_.loop().draining(), is_same ? 0U : 1U);
    harness_.Run();
    Take();
    waiting = std::string(harness_.cluster().FindPod("default", "p")->uid());
    harness_.AddNodes({is_same ? "n2" : "n3"});
    harness_.Run();
    EXPECT_EQ(harness_.loop().draining(), 0U);
    std::vector<std::string> expected = {"bound by puppet.A", "bound by puppet.B"};
    if (!is_same) expected.emplace_back("destroy puppet.B");
    EXPECT_EQ(Take(), expected);
    harness_.Stop();
    EXPECT_THAT(Take(), SizeIs(2)) << "both instances end, once each";
    harness_.cluster().DeletePod({"default", "p", ""}, 0, nullptr);
  }
}

TEST_F(ReloadTest, AProfileStaysWhenAnotherChanges) {
  const PlanSpec other = other_.spec();
  Start({spec_, other});
  const Plan* const before = &plan();
  Reload({spec_, WithNewB(other)});
  EXPECT_EQ(&plan(), before);
  EXPECT_THAT(Take(), ElementsAre("other create puppet.B", "other destroy puppet.B"));
  Reload({WithNewB(other), spec_});
  EXPECT_NE(&plan(), before) << "the order of the profiles is that of the configuration";
  EXPECT_THAT(Take(), IsEmpty());
  Reload({spec_});
  EXPECT_EQ(&plan(), before);
  EXPECT_THAT(Take(), ElementsAre("other destroy puppet.A", "other destroy puppet.B"));
}

TEST_F(ReloadTest, AFailedReloadEndsOnlyTheNewInstances) {
  Start({spec_});
  const Plan* const before = &plan();
  PlanSpec bad = WithNewB(spec_);
  bad.plugins.push_back({"test.Nobody", nullptr, ""});
  EXPECT_FALSE(harness_.loop().Reload(Stage::catalog(), std::vector{bad}).ok());
  EXPECT_EQ(&plan(), before);
  EXPECT_THAT(Take(), ElementsAre("create puppet.B", "destroy puppet.B"));
  AddPod("p");
  EXPECT_THAT(Take(), ElementsAre("bound by puppet.A", "bound by puppet.B"));
}

// The rest of a failed reload that found the instances usable must not end them either.
TEST_F(ReloadTest, TwoProfilesOfOneNameAreStillRefused) {
  Start({spec_});
  EXPECT_FALSE(harness_.loop().Reload(Stage::catalog(), std::vector{spec_, spec_}).ok());
  EXPECT_THAT(Take(), IsEmpty());
  AddPod("p");
  EXPECT_THAT(Take(), ElementsAre("bound by puppet.A", "bound by puppet.B"));
}

TEST_F(ReloadTest, OnlyAPluginInQuarantineLosesItsFaults) {
  for (const bool is_quarantined : {false, true}) {
    SCOPED_TRACE(is_quarantined ? "in quarantine" : "one fault less");
    Start({spec_});
    PluginFaults& faults = harness_.loop().faults();
    const auto note = [&] {
      faults.Note(*plan().plugins()[0].host->faults(), Point::kReserve, FaultKind::kException, "x");
    };
    for (uint32_t i = 0; i + 1 < QuarantinePolicy().faults; ++i) note();
    if (is_quarantined) note();
    EXPECT_THAT(faults.InQuarantine(), SizeIs(is_quarantined ? 1 : 0));
    Reload({spec_});
    EXPECT_THAT(faults.InQuarantine(), IsEmpty());
    EXPECT_THAT(Take(), SizeIs(is_quarantined ? 2 : 0)) << "a plugin in quarantine is replaced";
    note();
    EXPECT_THAT(faults.InQuarantine(), SizeIs(is_quarantined ? 0 : 1)) << "faults count on";
    harness_.Stop();
    Take();
  }
}

// --- hand-over -----------------------------------------------------------------------------------

// A puppet that notes its calls, of its present and its replaced instances, and saves "state".
class HandOverStage {
 public:
  explicit HandOverStage(std::string name) : puppet_(stage_.Add("puppet.A", {Point::kReserve})) {
    puppet_.create = [this, name] { calls_.push_back(name + "create"); };
    puppet_.save = [this](berth_hand_over_out& out, berth_status*) {
      calls_.emplace_back("save");
      out.version = 4;
      out.write(&out, AsStr("state"));
      return BERTH_SUCCESS;
    };
    puppet_.restore = [this](uint32_t version, std::string_view bytes, berth_status*) {
      calls_.push_back("restore " + std::to_string(version) + " " + std::string(bytes));
      return BERTH_SUCCESS;
    };
    puppet_.change = [this](const berth_change& change) { NoteChange(change); };
    puppet_.unreserve = [this](const berth_binding&) { calls_.emplace_back("unreserve"); };
    puppet_.destroy = [this] { calls_.emplace_back("destroy"); };
  }

  Stage& stage() { return stage_; }
  Puppet& puppet() { return puppet_; }
  std::vector<std::string> Take() { return std::exchange(calls_, {}); }

 private:
  void NoteChange(const berth_change& change) {
    if (change.kind == BERTH_CHANGE_SYNCED) calls_.emplace_back("synced");
    if (change.kind == BERTH_CHANGE_POD_ADDED) {
      calls_.push_back("pod added " + std::to_string(change.flags));
    }
    if (change.kind == BERTH_CHANGE_POD_REMOVED) {
      calls_.push_back("pod removed " + std::to_string(change.flags));
    }
  }

  std::vector<std::string> calls_;
  Stage stage_;
  Puppet& puppet_;
};

class HandOverTest : public ::testing::Test {
 protected:
  // Changes the deadlines of all plugins, so that none of their instances stays.
  static PlanSpec Renewed(PlanSpec spec) {
    for (PlanSpec::Plugin& plugin : spec.plugins) plugin.deadline_ns = kSecond;
    return spec;
  }

  Harness harness_;
};

TEST_F(HandOverTest, SuccessorGetsStateBeforeItGetsChanges) {
  HandOverStage plugin("");
  plugin.stage().CompleteProfile();
  const std::vector specs{plugin.stage().spec()};
  ASSERT_TRUE(harness_.Start(specs.front(), Stage::catalog()).ok());
  EXPECT_THAT(plugin.Take(), ElementsAre("create", "synced")) << "no hand-over at the start";
  ASSERT_TRUE(harness_.loop().Reload(Stage::catalog(), std::vector{Renewed(specs.front())}).ok());
  EXPECT_THAT(plugin.Take(), ElementsAre("create", "save", "restore 4 state", "synced", "destroy"));
  harness_.Stop();
  EXPECT_THAT(plugin.Take(), ElementsAre("destroy")) << "no hand-over at the end";
}

TEST_F(HandOverTest, ReloadThatFailsSavesNothing) {
  HandOverStage plugin("");
  plugin.stage().CompleteProfile();
  ASSERT_TRUE(harness_.Start(plugin.stage().spec(), Stage::catalog()).ok());
  plugin.Take();
  PlanSpec broken = Renewed(plugin.stage().spec());
  broken.plugins.push_back({.name = "puppet.None", .args = nullptr, .where = ""});
  EXPECT_FALSE(harness_.loop().Reload(Stage::catalog(), std::vector{broken}).ok());
  EXPECT_THAT(plugin.Take(), ElementsAre("create", "destroy"));
  harness_.Stop();
}

TEST_F(HandOverTest, ProfileOfAnotherNameGetsNoState) {
  HandOverStage old("old ");
  old.stage().CompleteProfile();
  HandOverStage other("other ");
  other.stage().CompleteProfile();
  ASSERT_TRUE(harness_.Start(old.stage().spec(), Stage::catalog()).ok());
  old.Take();
  ASSERT_TRUE(harness_.loop().Reload(Stage::catalog(), std::vector{other.stage().spec()}).ok());
  EXPECT_THAT(old.Take(), ElementsAre("destroy"));
  EXPECT_THAT(other.Take(), ElementsAre("other create", "synced"));
  harness_.Stop();
}

// The old instance gets Unreserve, and the successor learns from Changes that the attempt failed.
TEST_F(HandOverTest, EarlierAttemptEndsWithOldInstance) {
  HandOverStage plugin("");
  Puppet& binder = plugin.stage().Add("puppet.A", {Point::kBind});
  berth_done done{};
  binder.bind = [&done](const berth_binding&, berth_done given, berth_status*) {
    done = given;
    return BERTH_PENDING;
  };
  plugin.stage().CompleteProfile();
  const std::vector specs{plugin.stage().spec()};
  harness_.AddNodes({"n1"});
  ASSERT_TRUE(harness_.Start(specs.front(), Stage::catalog()).ok());
  harness_.AddPod(
      {.name = "p", .spec = "\"schedulerName\":\"" + specs.front().scheduler_name + '"'});
  harness_.Run();
  ASSERT_EQ(harness_.loop().binding_count(), 1U);
  plugin.Take();
  ASSERT_TRUE(harness_.loop().Reload(Stage::catalog(), std::vector{Renewed(specs.front())}).ok());
  EXPECT_THAT(plugin.Take(),
              ElementsAre("create", "save", "restore 4 state", "pod added 5", "synced"))
      << "the replay has the assumed pod";
  binder.bind = nullptr;
  Stage::Complete(done, {BERTH_ERROR, {"no"}});
  harness_.Run();
  EXPECT_THAT(plugin.Take(), ElementsAre("unreserve", "pod removed 2", "pod removed 2", "destroy"));
  harness_.Stop();
}

// --- cycle state that outlives a plan -----------------------------------------------------------

// A promise that is never completed keeps the cycle state of an attempt alive.
TEST(ReloadedPlanTest, SlotsOfAKeptInstanceOutliveThePlan) {
  for (const bool promise_ends_first : {true, false}) {
    SCOPED_TRACE(promise_ends_first ? "the promise ends first" : "the instance ends first");
    Stage stage;
    for (const char* name : {"puppet.A", "puppet.B"}) {
      stage.Add(name, {Point::kReserve}).has_slot = true;
    }
    stage.Build();
    std::unique_ptr<Binding> binding = stage.MakeBinding();
    std::shared_ptr<const void> promise = binding->Keep();
    ASSERT_EQ(Stage::slots(), 2);
    PlanSpec next = stage.spec();
    next.plugins[1].deadline_ns = 5;
    auto plan = Plan::Build(next, Stage::catalog(), stage.services(), stage.table(), &stage.plan());
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    binding.reset();
    stage.DestroyPlan();
    EXPECT_EQ(Stage::slots(), 1) << "the replaced instance has ended";
    if (promise_ends_first) {
      promise.reset();
    } else {
      *plan = nullptr;
    }
    EXPECT_EQ(Stage::slots(), 0);
  }
}

}  // namespace
}  // namespace berth::host

// Every way in which a pod that was given a node may lose it again: whatever happens, everything is
// given back, once, in the same order.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/harness.h"
#include "tests/runtime/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kSecond = TestClock::kSecond;

// Pod "p" on its way to node "n1"; "other", which was refused before, waits for a place.
class Way {
 public:
  Way()
      : a_(stage_.Add("puppet.A", {Point::kEnqueueExtensions, Point::kFilter, Point::kReserve,
                                   Point::kPermit, Point::kPreBind})),
        b_(stage_.Add("puppet.B", {Point::kReserve, Point::kPreBind, Point::kPostBind})),
        c_(stage_.Add("puppet.C", {Point::kBind})) {
    a_.has_slot = true;
    a_.interests = {{.resource = BERTH_RESOURCE_ASSIGNED_POD,
                     .actions = BERTH_ACTION_DELETE,
                     .kind = nullptr,
                     .has_hint = 0,
                     .reserved = 0,
                     .pod_parts = 0}};
    a_.filter = [](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                   berth_status*) {
      const bool refuses = Text(cycle.pod->meta->name) == "other";
      for (uint32_t i = 0; i < block.count; ++i) {
        out.codes[i] = refuses ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
        out.reasons[i] = 0;
      }
      return BERTH_SUCCESS;
    };
    NoteReservations("A", a_);
    NoteReservations("B", b_);
    b_.post_bind = [this](const berth_binding&) { calls_.emplace_back("post_bind B"); };
  }

  Puppet& a() { return a_; }
  Puppet& b() { return b_; }
  Puppet& c() { return c_; }
  Harness& harness() { return harness_; }
  std::vector<std::string>& calls() { return calls_; }
  berth_done* done() const { return done_; }
  // An answer that is kept back, for done().
  auto Later() {
    return [this](const berth_binding&, berth_done* done, berth_status*) {
      done_ = done;
      return BERTH_PENDING;
    };
  }

  void Run() {
    harness_.AddNode({.name = "n1"});
    stage_.Write();
    const Status status = harness_.Start(stage_.spec(), Stage::catalog());
    ASSERT_TRUE(status.ok()) << status.ToString();
    harness_.AddPod({.name = "other", .spec = SchedulerName()});
    harness_.Run();
    ASSERT_EQ(harness_.PlaceOf("other"), QueuePlace::kUnschedulable);
    harness_.AddPod({.name = "p", .requests = "\"cpu\":\"1\"", .spec = SchedulerName()});
    harness_.Run();
  }
  std::string Outcome() const {
    for (const AttemptResult& result : harness_.results()) {
      if (result.pod->name() == "p") return Harness::Outcome(result);
    }
    return "";
  }

 private:
  std::string SchedulerName() const {
    return "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"';
  }
  void NoteReservations(const std::string& name, Puppet& puppet) {
    if (!puppet.reserve) {
      puppet.reserve = [this, name](const berth_cycle&, const berth_target&, berth_status*) {
        calls_.push_back("reserve " + name);
        return BERTH_SUCCESS;
      };
    }
    puppet.unreserve = [this, name](const berth_binding&) {
      calls_.push_back("unreserve " + name);
    };
  }

  Stage stage_;
  Harness harness_;  // Goes before the plugins that it calls.
  Puppet& a_;
  Puppet& b_;
  Puppet& c_;
  std::vector<std::string> calls_;
  berth_done* done_ = nullptr;
};

auto Answers(Said said) {
  return [said](const berth_cycle&, const berth_target&, berth_status* status) {
    return Give(said, status);
  };
}
auto BindAnswers(Said said) {
  return [said](const berth_binding&, berth_done*, berth_status* status) {
    return Give(said, status);
  };
}
auto PermitAnswers(Said said, int64_t timeout_ns = 0) {
  return [said, timeout_ns](const berth_cycle&, const berth_target&, int64_t* timeout,
                            berth_status* status) {
    *timeout = timeout_ns;
    return Give(said, status);
  };
}

struct Exit {
  const char* name;
  std::function<void(Way&)> arrange;
  std::function<void(Way&)> happens;  // After the attempt; may be empty.
  const char* outcome;
  std::optional<QueuePlace> place;
  bool tells_others;  // Others may have been refused while the pod was on its way.
  bool is_reported;   // By an event and the pod's condition.
};

// Before the pod may go on.
std::vector<Exit> ExitsOfReserveAndPermit() {
  const Said no{BERTH_UNSCHEDULABLE, {"no claim"}};
  const Said never{BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {"no claim"}};
  const Said error{BERTH_ERROR, {"boom"}};
  const Said bug{BERTH_BUG, {"it threw"}};
  const auto parked = QueuePlace::kUnschedulable;
  const auto backs_off = QueuePlace::kErrorBackoff;
  return {
      {"Reserve rejects", [=](Way& w) { w.b().reserve = Answers(no); }, nullptr,
       "Unschedulable: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"Reserve rejects for good", [=](Way& w) { w.b().reserve = Answers(never); }, nullptr,
       "UnschedulableAndUnresolvable: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"Reserve errs", [=](Way& w) { w.b().reserve = Answers(error); }, nullptr,
       "Error: running Reserve plugin \"puppet.B\": boom", backs_off, false, true},
      {"Reserve throws", [=](Way& w) { w.b().reserve = Answers(bug); }, nullptr,
       "Error: running Reserve plugin \"puppet.B\": it threw", backs_off, false, true},
      {"Permit rejects", [=](Way& w) { w.a().permit = PermitAnswers(no); }, nullptr,
       "Unschedulable: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"Permit errs", [=](Way& w) { w.a().permit = PermitAnswers(error); }, nullptr,
       "Error: running Permit plugin \"puppet.A\": boom", backs_off, false, true},
      {"Permit's time runs out",
       [=](Way& w) {
         w.a().permit = PermitAnswers({BERTH_WAIT, {}}, kSecond);
       },
       [](Way& w) {
         w.harness().clock().Advance(kSecond);
         w.harness().Settle();
       },
       "Unschedulable: 0/1 nodes are available: 1 rejected due to timeout after waiting 1s at "
       "plugin "
       "puppet.A.",
       parked, true, true},
      {"deleted while it waits",
       [=](Way& w) {
         w.a().permit = PermitAnswers({BERTH_WAIT, {}}, kSecond);
       },
       [](Way& w) {
         w.harness().cluster().DeletePod({"default", "p", ""}, 0, nullptr);
         w.harness().Settle();
       },
       "Unschedulable: 0/1 nodes are available: 1 removed.", std::nullopt, true, false},
      {"the scheduler stops while it waits",
       [=](Way& w) {
         w.a().permit = PermitAnswers({BERTH_WAIT, {}}, kSecond);
       },
       [](Way& w) {
         w.harness().loop().Stop();
         w.harness().Settle();
       },
       "Wait", backs_off, true, false},
  };
}

// On its way.
std::vector<Exit> ExitsOfTheBinding() {
  const Said no{BERTH_UNSCHEDULABLE, {"no claim"}};
  const Said error{BERTH_ERROR, {"boom"}};
  const auto backs_off = QueuePlace::kErrorBackoff;
  return {
      {"pre-flight errs",
       [=](Way& w) {
         w.b().pre_flight = [=](const berth_binding&, berth_status* s) { return Give(error, s); };
       },
       nullptr, "Error: running PreBindPreFlight \"puppet.B\": boom", backs_off, true, true},
      {"PreBind errs", [=](Way& w) { w.b().pre_bind = BindAnswers(error); }, nullptr,
       "Error: running PreBind plugin \"puppet.B\": boom", backs_off, true, true},
      {"PreBind rejects", [=](Way& w) { w.b().pre_bind = BindAnswers(no); }, nullptr,
       "Unschedulable: no claim", backs_off, true, true},
      {"PreBind errs later", [=](Way& w) { w.b().pre_bind = w.Later(); },
       [=](Way& w) {
         Stage::Complete(w.done(), error);
         w.harness().Settle();
       },
       "Error: running PreBind plugin \"puppet.B\": boom", backs_off, true, true},
      {"Bind errs", [=](Way& w) { w.c().bind = BindAnswers(error); }, nullptr,
       "Error: running Bind plugin \"puppet.C\": boom", backs_off, true, true},
      {"Bind errs later", [=](Way& w) { w.c().bind = w.Later(); },
       [=](Way& w) {
         Stage::Complete(w.done(), error);
         w.harness().Settle();
       },
       "Error: running Bind plugin \"puppet.C\": boom", backs_off, true, true},
      {"deleted while it is bound", [=](Way& w) { w.c().bind = w.Later(); },
       [=](Way& w) {
         w.harness().cluster().DeletePod({"default", "p", ""}, 0, nullptr);
         w.harness().Settle();
         EXPECT_EQ(w.harness().Column("req.cpu", "n1"), 0);  // At once.
         Stage::Complete(w.done(), {BERTH_ERROR, {"not found"}});
         w.harness().Settle();
       },
       "Error: running Bind plugin \"puppet.C\": not found", std::nullopt, true, false},
  };
}

TEST(RollbackTest, EveryExitGivesEverythingBack) {
  std::vector<Exit> exits = ExitsOfReserveAndPermit();
  std::ranges::copy(ExitsOfTheBinding(), std::back_inserter(exits));
  for (const Exit& row : exits) {
    SCOPED_TRACE(row.name);
    {
      Way way;
      row.arrange(way);
      way.Run();
      if (row.happens) row.happens(way);
      Harness& harness = way.harness();
      EXPECT_EQ(way.Outcome(), row.outcome);
      EXPECT_EQ(harness.PlaceOf("p"), row.place);
      // Every Unreserve, once, in reverse order, whatever was reserved.
      std::vector<std::string> undone;
      for (const std::string& call : way.calls()) {
        if (!call.starts_with("reserve")) undone.push_back(call);
      }
      EXPECT_THAT(undone, ElementsAre("unreserve B", "unreserve A"));
      EXPECT_EQ(harness.loop().in_flight(), 0U);
      EXPECT_EQ(harness.loop().cache().pod_count(), 0U);
      EXPECT_EQ(harness.Column("req.cpu", "n1"), 0);
      EXPECT_EQ(Stage::slots(), 0);
      const QueuedEntity& other = *harness.loop().queue().Find("uid-other");
      EXPECT_EQ(other.attempts > 1 || other.place != QueuePlace::kUnschedulable, row.tells_others);
      const std::string outcome = row.outcome;
      const std::string message = outcome.substr(outcome.find(": ") + 2);
      EXPECT_EQ(harness.cluster().PodScheduledMessage("default", "p"),
                row.is_reported ? message : "");
      const bool is_event = std::ranges::any_of(harness.cluster().events(), [&](const Event& e) {
        return e.regarding.name == "p" && e.note == message && e.reason == "FailedScheduling";
      });
      EXPECT_EQ(is_event, row.is_reported);
      harness.loop().queue().CheckInvariants();
    }
    EXPECT_EQ(Stage::slots(), 0);
  }
}

TEST(RollbackTest, NothingIsGivenBackWhenThePodIsBound) {
  Way way;
  way.a().pre_bind = way.Later();
  way.Run();
  EXPECT_EQ(way.Outcome(), "Wait");
  EXPECT_EQ(Stage::slots(), 1);
  Stage::Complete(way.done(), {});
  way.harness().Settle();
  EXPECT_EQ(way.Outcome(), "Success");
  EXPECT_THAT(way.calls(), ElementsAre("reserve A", "reserve B", "post_bind B"));
  EXPECT_EQ(way.harness().PlaceOf("p"), std::nullopt);
  EXPECT_EQ(way.harness().Column("req.cpu", "n1"), 1000);
  EXPECT_EQ(Stage::slots(), 0);
  EXPECT_EQ(way.harness().cluster().events().back().note, "Successfully assigned default/p to n1");
}

// A plugin that never answers does not keep the loop from being dropped.
TEST(RollbackTest, ALoopThatIsDroppedGivesBackWhatIsOnItsWay) {
  Way way;
  way.c().bind = way.Later();
  way.Run();
  way.harness().Stop();
  EXPECT_THAT(way.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
  EXPECT_EQ(Stage::slots(), 0);
}

}  // namespace
}  // namespace berth::host

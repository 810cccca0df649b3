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

#include "tests/integration/way.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kSecond = TestClock::kSecond;

struct Exit {
  const char* name;
  std::function<void(Way&)> arrange;
  std::function<void(Way&)> happens;  // After the attempt; may be empty.
  std::string outcome;
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

// What else a plugin may say before the pod may go on.
std::vector<Exit> MoreAnswersOfReserveAndPermit() {
  const Said no{BERTH_UNSCHEDULABLE, {"no claim"}};
  const Said wait{BERTH_WAIT, {}};
  const auto parked = QueuePlace::kUnschedulable;
  const auto backs_off = QueuePlace::kErrorBackoff;
  const auto reserve = [](berth_code code, const char* why) {
    return [=](Way& w) { w.b().reserve = Answers({code, {why}}); };
  };
  const auto permit = [](berth_code code, const char* why) {
    return [=](Way& w) { w.a().permit = PermitAnswers({code, {why}}); };
  };
  return {
      {"Reserve is not sure yet", reserve(BERTH_PENDING, "no claim"), nullptr,
       "Pending: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"Permit rejects for good", permit(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, "no claim"), nullptr,
       "UnschedulableAndUnresolvable: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"Permit is not sure yet", permit(BERTH_PENDING, "no claim"), nullptr,
       "Pending: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"Permit throws", permit(BERTH_BUG, "it threw"), nullptr,
       "Error: running Permit plugin \"puppet.A\": it threw", backs_off, false, true},
      {"one waits and the next rejects",
       [=](Way& w) {
         w.a().permit = PermitAnswers(wait, kSecond);
         w.b().permit = PermitAnswers(no);
       },
       [](Way& w) { w.harness().Settle(); }, "Unschedulable: 0/1 nodes are available: 1 no claim.",
       parked, false, true},
      {"its deletion begins while it waits",
       [=](Way& w) { w.a().permit = PermitAnswers(wait, kSecond); },
       [](Way& w) { w.BeginDeletion(); }, "Unschedulable: 0/1 nodes are available: 1 removed.",
       backs_off, true, true},
  };
}

void RunOutOfTime(Way& w) {
  w.harness().clock().Advance(kSecond);  // It is told, and given as long again.
  w.harness().Settle();
  w.harness().clock().Advance(kSecond);
  w.harness().Settle();
  EXPECT_EQ(w.harness().loop().in_flight(), 0U);
  EXPECT_EQ(Stage::slots(), 1);  // What it was shown stays until it speaks; then it is too late.
  Stage::Complete(w.done(), {});
  w.harness().Settle();
}

// What else a plugin may say, or not say, on the way.
std::vector<Exit> MoreAnswersOfPreBind() {
  const auto backs_off = QueuePlace::kErrorBackoff;
  const auto pre_flight = [](berth_code code) {
    return [=](Way& w) {
      w.b().pre_flight = [=](const berth_binding&, berth_status* status) {
        return Give({code, {"no claim"}}, status);
      };
    };
  };
  const auto pre_bind = [](berth_code code, const char* why) {
    return [=](Way& w) { w.b().pre_bind = BindAnswers({code, {why}}); };
  };
  const std::string unsupported =
      ", which is unsupported. It is supposed to return Success, Skip, or Error status";
  return {
      {"pre-flight rejects", pre_flight(BERTH_UNSCHEDULABLE), nullptr,
       "Error: PreBindPreFlight puppet.B returned \"Unschedulable\"" + unsupported, backs_off, true,
       true},
      {"pre-flight is not sure yet", pre_flight(BERTH_PENDING), nullptr,
       "Error: PreBindPreFlight puppet.B returned \"Pending\"" + unsupported, backs_off, true,
       true},
      {"pre-flight throws", pre_flight(BERTH_BUG), nullptr,
       "Error: running PreBindPreFlight \"puppet.B\": no claim", backs_off, true, true},
      {"PreBind rejects for good", pre_bind(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, "no claim"),
       nullptr, "UnschedulableAndUnresolvable: no claim", backs_off, true, true},
      {"PreBind throws", pre_bind(BERTH_BUG, "it threw"), nullptr,
       "Error: running PreBind plugin \"puppet.B\": it threw", backs_off, true, true},
      {"PreBind says what there is no word for", pre_bind(BERTH_WAIT, "hm"), nullptr,
       "Error: running PreBind plugin \"puppet.B\": hm", backs_off, true, true},
      {"PreBind never answers",
       [](Way& w) {
         w.harness().options().bind_deadline_ns = kSecond;
         w.b().pre_bind = w.Later();
       },
       RunOutOfTime, "Error: running PreBind plugin \"puppet.B\": no answer within 2s", backs_off,
       true, true},
      {"its deletion begins while it is prepared", [](Way& w) { w.b().pre_bind = w.Later(); },
       [](Way& w) {
         w.BeginDeletion();
         EXPECT_EQ(w.harness().Column("req.cpu", "n1"), 0);  // At once.
         Stage::Complete(w.done(), {BERTH_ERROR, {"boom"}});
         w.harness().Settle();
       },
       "Error: running PreBind plugin \"puppet.B\": boom", backs_off, true, true},
      {"the scheduler stops while it is prepared", [](Way& w) { w.b().pre_bind = w.Later(); },
       [](Way& w) {
         w.harness().loop().Stop();
         w.harness().Settle();
         EXPECT_EQ(w.harness().loop().in_flight(), 1U);  // It ends by itself.
         Stage::Complete(w.done(), {BERTH_ERROR, {"boom"}});
         w.harness().Settle();
       },
       "Error: running PreBind plugin \"puppet.B\": boom", backs_off, true, true},
  };
}

std::vector<Exit> MoreAnswersOfBind() {
  const auto backs_off = QueuePlace::kErrorBackoff;
  const auto bind = [](berth_code code, std::vector<std::string> why) {
    return [=](Way& w) { w.c().bind = BindAnswers({code, why}); };
  };
  return {
      {"Bind rejects", bind(BERTH_UNSCHEDULABLE, {"no claim"}), nullptr, "Unschedulable: no claim",
       backs_off, true, true},
      {"Bind rejects for good", bind(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {"no claim"}), nullptr,
       "UnschedulableAndUnresolvable: no claim", backs_off, true, true},
      {"Bind throws", bind(BERTH_BUG, {"it threw"}), nullptr,
       "Error: running Bind plugin \"puppet.C\": it threw", backs_off, true, true},
      {"every Bind skips", bind(BERTH_SKIP, {}), nullptr, "Error: all Bind plugins skipped the pod",
       backs_off, true, true},
      {"Bind never answers",
       [](Way& w) {
         w.harness().options().bind_deadline_ns = kSecond;
         w.c().bind = w.Later();
       },
       RunOutOfTime, "Error: running Bind plugin \"puppet.C\": no answer within 2s", backs_off,
       true, true},
  };
}

TEST(RollbackTest, EveryExitGivesEverythingBack) {
  std::vector<Exit> exits = ExitsOfReserveAndPermit();
  std::ranges::copy(MoreAnswersOfReserveAndPermit(), std::back_inserter(exits));
  std::ranges::copy(ExitsOfTheBinding(), std::back_inserter(exits));
  std::ranges::copy(MoreAnswersOfPreBind(), std::back_inserter(exits));
  std::ranges::copy(MoreAnswersOfBind(), std::back_inserter(exits));
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
      const std::string message = row.outcome.substr(row.outcome.find(": ") + 2);
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

// Class Reservation, through the whole loop: for every reason for which a pod may lose its node
// after "assume", the reservation is undone once, in the documented order.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/cycle/binding_cycle.h"
#include "tests/harness/pod_lifecycle.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One reason to lose the node.
struct Exit {
  const char* name;
  std::function<void(PodLifecycle&)> arrange;
  // Called after the scheduling cycle. May be empty.
  std::function<void(PodLifecycle&)> act;
  std::string outcome;
  std::optional<QueuePlace> place;
  bool requeues_others;  // Pods that were rejected because of the place are requeued.
  bool is_reported;      // An event and the pod's condition report the failure.
};

// In the scheduling cycle, and while the pod waits on Permit.
std::vector<Exit> ExitsOfReserveAndPermit() {
  const ScriptedAnswer no{BERTH_UNSCHEDULABLE, {"no claim"}};
  const ScriptedAnswer never{BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {"no claim"}};
  const ScriptedAnswer error{BERTH_ERROR, {"boom"}};
  const ScriptedAnswer bug{BERTH_BUG, {"it threw"}};
  const auto parked = QueuePlace::kUnschedulable;
  const auto backs_off = QueuePlace::kErrorBackoff;
  return {
      {"Reserve rejects", [=](PodLifecycle& pod) { pod.b().reserve = Answers(no); }, nullptr,
       "Unschedulable: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"Reserve rejects as unresolvable",
       [=](PodLifecycle& pod) { pod.b().reserve = Answers(never); }, nullptr,
       "UnschedulableAndUnresolvable: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"Reserve fails", [=](PodLifecycle& pod) { pod.b().reserve = Answers(error); }, nullptr,
       "Error: running Reserve plugin \"puppet.B\": boom", backs_off, false, true},
      {"Reserve throws", [=](PodLifecycle& pod) { pod.b().reserve = Answers(bug); }, nullptr,
       "Error: running Reserve plugin \"puppet.B\": it threw", backs_off, false, true},
      {"Permit rejects", [=](PodLifecycle& pod) { pod.a().permit = PermitAnswers(no); }, nullptr,
       "Unschedulable: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"Permit fails", [=](PodLifecycle& pod) { pod.a().permit = PermitAnswers(error); }, nullptr,
       "Error: running Permit plugin \"puppet.A\": boom", backs_off, false, true},
      {"Permit times out",
       [=](PodLifecycle& pod) {
         pod.a().permit = PermitAnswers({BERTH_WAIT, {}}, kSecond);
       },
       [](PodLifecycle& pod) {
         pod.harness().clock().Advance(kSecond);
         pod.harness().Settle();
       },
       "Unschedulable: 0/1 nodes are available: 1 rejected due to timeout after waiting 1s at "
       "plugin "
       "puppet.A.",
       parked, true, true},
      {"deleted while it waits",
       [=](PodLifecycle& pod) {
         pod.a().permit = PermitAnswers({BERTH_WAIT, {}}, kSecond);
       },
       [](PodLifecycle& pod) {
         pod.harness().cluster().DeletePod({"default", "p", ""}, 0, nullptr);
         pod.harness().Settle();
       },
       "Unschedulable: 0/1 nodes are available: 1 removed.", std::nullopt, true, false},
      {"the scheduler stops while it waits",
       [=](PodLifecycle& pod) {
         pod.a().permit = PermitAnswers({BERTH_WAIT, {}}, kSecond);
       },
       [](PodLifecycle& pod) {
         pod.harness().loop().Stop();
         pod.harness().Settle();
       },
       "Wait", backs_off, true, false},
  };
}

// In the binding cycle.
std::vector<Exit> ExitsOfTheBindingCycle() {
  const ScriptedAnswer no{BERTH_UNSCHEDULABLE, {"no claim"}};
  const ScriptedAnswer error{BERTH_ERROR, {"boom"}};
  const auto backs_off = QueuePlace::kErrorBackoff;
  return {
      {"pre-flight fails",
       [=](PodLifecycle& pod) {
         pod.b().pre_flight = [=](const berth_binding&, berth_status* s) {
           return Report(error, s);
         };
       },
       nullptr, "Error: running PreBindPreFlight \"puppet.B\": boom", backs_off, true, true},
      {"PreBind fails", [=](PodLifecycle& pod) { pod.b().pre_bind = BindAnswers(error); }, nullptr,
       "Error: running PreBind plugin \"puppet.B\": boom", backs_off, true, true},
      {"PreBind rejects", [=](PodLifecycle& pod) { pod.b().pre_bind = BindAnswers(no); }, nullptr,
       "Unschedulable: no claim", backs_off, true, true},
      {"PreBind fails asynchronously",
       [=](PodLifecycle& pod) { pod.b().pre_bind = pod.AnswersLater(); },
       [=](PodLifecycle& pod) {
         Stage::Complete(pod.done(), error);
         pod.harness().Settle();
       },
       "Error: running PreBind plugin \"puppet.B\": boom", backs_off, true, true},
      {"Bind fails", [=](PodLifecycle& pod) { pod.c().bind = BindAnswers(error); }, nullptr,
       "Error: running Bind plugin \"puppet.C\": boom", backs_off, true, true},
      {"Bind fails asynchronously", [=](PodLifecycle& pod) { pod.c().bind = pod.AnswersLater(); },
       [=](PodLifecycle& pod) {
         Stage::Complete(pod.done(), error);
         pod.harness().Settle();
       },
       "Error: running Bind plugin \"puppet.C\": boom", backs_off, true, true},
      {"deleted while it is bound", [=](PodLifecycle& pod) { pod.c().bind = pod.AnswersLater(); },
       [=](PodLifecycle& pod) {
         pod.harness().cluster().DeletePod({"default", "p", ""}, 0, nullptr);
         pod.harness().Settle();
         EXPECT_EQ(pod.harness().Column("req.cpu", "n1"), 0);  // The place is free at once.
         Stage::Complete(pod.done(), {BERTH_ERROR, {"not found"}});
         pod.harness().Settle();
       },
       "Error: running Bind plugin \"puppet.C\": not found", std::nullopt, true, false},
  };
}

// Further answers of Reserve and Permit.
std::vector<Exit> FurtherExitsOfReserveAndPermit() {
  const ScriptedAnswer no{BERTH_UNSCHEDULABLE, {"no claim"}};
  const ScriptedAnswer wait{BERTH_WAIT, {}};
  const auto parked = QueuePlace::kUnschedulable;
  const auto backs_off = QueuePlace::kErrorBackoff;
  const auto reserve = [](berth_code code, const char* why) {
    return [=](PodLifecycle& pod) { pod.b().reserve = Answers({code, {why}}); };
  };
  const auto permit = [](berth_code code, const char* why) {
    return [=](PodLifecycle& pod) { pod.a().permit = PermitAnswers({code, {why}}); };
  };
  return {
      {"Reserve answers Pending", reserve(BERTH_PENDING, "no claim"), nullptr,
       "Pending: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"Permit rejects as unresolvable", permit(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, "no claim"),
       nullptr, "UnschedulableAndUnresolvable: 0/1 nodes are available: 1 no claim.", parked, false,
       true},
      {"Permit answers Pending", permit(BERTH_PENDING, "no claim"), nullptr,
       "Pending: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"Permit throws", permit(BERTH_BUG, "it threw"), nullptr,
       "Error: running Permit plugin \"puppet.A\": it threw", backs_off, false, true},
      {"one plugin makes the pod wait and the next rejects it",
       [=](PodLifecycle& pod) {
         pod.a().permit = PermitAnswers(wait, kSecond);
         pod.b().permit = PermitAnswers(no);
       },
       [](PodLifecycle& pod) { pod.harness().Settle(); },
       "Unschedulable: 0/1 nodes are available: 1 no claim.", parked, false, true},
      {"its deletion begins while it waits",
       [=](PodLifecycle& pod) { pod.a().permit = PermitAnswers(wait, kSecond); },
       [](PodLifecycle& pod) { pod.BeginDeletion(); },
       "Unschedulable: 0/1 nodes are available: 1 removed.", backs_off, true, true},
  };
}

void MissDeadline(PodLifecycle& pod) {
  pod.harness().clock().Advance(kSecond);  // The call is cancelled, and gets the same time again.
  pod.harness().Settle();
  pod.harness().clock().Advance(kSecond);
  pod.harness().Settle();
  EXPECT_EQ(pod.harness().loop().binding_count(), 0U);
  EXPECT_EQ(Stage::slots(),
            1);  // The plugin's data is kept until it answers; the answer is ignored.
  Stage::Complete(pod.done(), {});
  pod.harness().Settle();
}

// Further answers of PreBindPreFlight and PreBind, and missing ones.
std::vector<Exit> ExitsOfPreBind() {
  const auto backs_off = QueuePlace::kErrorBackoff;
  const auto pre_flight = [](berth_code code) {
    return [=](PodLifecycle& pod) {
      pod.b().pre_flight = [=](const berth_binding&, berth_status* status) {
        return Report({code, {"no claim"}}, status);
      };
    };
  };
  const auto pre_bind = [](berth_code code, const char* why) {
    return [=](PodLifecycle& pod) { pod.b().pre_bind = BindAnswers({code, {why}}); };
  };
  const std::string unsupported =
      ", which is unsupported. It is supposed to return Success, Skip, or Error status";
  return {
      {"pre-flight rejects", pre_flight(BERTH_UNSCHEDULABLE), nullptr,
       "Error: PreBindPreFlight puppet.B returned \"Unschedulable\"" + unsupported, backs_off, true,
       true},
      {"pre-flight answers Pending", pre_flight(BERTH_PENDING), nullptr,
       "Error: PreBindPreFlight puppet.B returned \"Pending\"" + unsupported, backs_off, true,
       true},
      {"pre-flight throws", pre_flight(BERTH_BUG), nullptr,
       "Error: running PreBindPreFlight \"puppet.B\": no claim", backs_off, true, true},
      {"PreBind rejects as unresolvable",
       pre_bind(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, "no claim"), nullptr,
       "UnschedulableAndUnresolvable: no claim", backs_off, true, true},
      {"PreBind throws", pre_bind(BERTH_BUG, "it threw"), nullptr,
       "Error: running PreBind plugin \"puppet.B\": it threw", backs_off, true, true},
      {"PreBind answers a code that it does not have", pre_bind(BERTH_WAIT, "hm"), nullptr,
       "Error: running PreBind plugin \"puppet.B\": hm", backs_off, true, true},
      {"PreBind never answers",
       [](PodLifecycle& pod) {
         pod.harness().options().bind_deadline_ns = kSecond;
         pod.b().pre_bind = pod.AnswersLater();
       },
       MissDeadline, "Error: running PreBind plugin \"puppet.B\": no answer within 2s", backs_off,
       true, true},
      {"its deletion begins during PreBind",
       [](PodLifecycle& pod) { pod.b().pre_bind = pod.AnswersLater(); },
       [](PodLifecycle& pod) {
         pod.BeginDeletion();
         EXPECT_EQ(pod.harness().Column("req.cpu", "n1"), 0);  // The place is free at once.
         Stage::Complete(pod.done(), {BERTH_ERROR, {"boom"}});
         pod.harness().Settle();
       },
       "Error: running PreBind plugin \"puppet.B\": boom", backs_off, true, true},
      {"the scheduler stops during PreBind",
       [](PodLifecycle& pod) { pod.b().pre_bind = pod.AnswersLater(); },
       [](PodLifecycle& pod) {
         pod.harness().loop().Stop();
         pod.harness().Settle();
         EXPECT_EQ(pod.harness().loop().binding_count(), 1U);  // The binding cycle continues.
         Stage::Complete(pod.done(), {BERTH_ERROR, {"boom"}});
         pod.harness().Settle();
       },
       "Error: running PreBind plugin \"puppet.B\": boom", backs_off, true, true},
  };
}

std::vector<Exit> ExitsOfBind() {
  const auto backs_off = QueuePlace::kErrorBackoff;
  const auto bind = [](berth_code code, std::vector<std::string> why) {
    return [=](PodLifecycle& pod) { pod.c().bind = BindAnswers({code, why}); };
  };
  return {
      {"Bind rejects", bind(BERTH_UNSCHEDULABLE, {"no claim"}), nullptr, "Unschedulable: no claim",
       backs_off, true, true},
      {"Bind rejects as unresolvable", bind(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {"no claim"}),
       nullptr, "UnschedulableAndUnresolvable: no claim", backs_off, true, true},
      {"Bind throws", bind(BERTH_BUG, {"it threw"}), nullptr,
       "Error: running Bind plugin \"puppet.C\": it threw", backs_off, true, true},
      {"every Bind plugin skips", bind(BERTH_SKIP, {}), nullptr,
       "Error: all Bind plugins skipped the pod", backs_off, true, true},
      {"Bind never answers",
       [](PodLifecycle& pod) {
         pod.harness().options().bind_deadline_ns = kSecond;
         pod.c().bind = pod.AnswersLater();
       },
       MissDeadline, "Error: running Bind plugin \"puppet.C\": no answer within 2s", backs_off,
       true, true},
  };
}

TEST(ReservationTest, IsUndoneForEveryReason) {
  std::vector<Exit> exits = ExitsOfReserveAndPermit();
  std::ranges::copy(FurtherExitsOfReserveAndPermit(), std::back_inserter(exits));
  std::ranges::copy(ExitsOfTheBindingCycle(), std::back_inserter(exits));
  std::ranges::copy(ExitsOfPreBind(), std::back_inserter(exits));
  std::ranges::copy(ExitsOfBind(), std::back_inserter(exits));
  for (const Exit& row : exits) {
    SCOPED_TRACE(row.name);
    {
      PodLifecycle pod;
      row.arrange(pod);
      pod.Run();
      if (row.act) row.act(pod);
      Harness& harness = pod.harness();
      EXPECT_EQ(pod.Outcome(), row.outcome);
      EXPECT_EQ(harness.PlaceOf("p"), row.place);
      // Unreserve of every plugin, once, in reverse order, whether or not its Reserve was called.
      std::vector<std::string> undone;
      for (const std::string& call : pod.calls()) {
        if (!call.starts_with("reserve")) undone.push_back(call);
      }
      const std::string message = row.outcome.substr(row.outcome.find(": ") + 2);
      EXPECT_THAT(undone, ElementsAre("unreserve B", "unreserve A"));
      if (row.outcome == "Wait") {
        EXPECT_THAT(pod.failures(), IsEmpty()) << "the scheduler has stopped";
      } else {
        EXPECT_THAT(pod.failures(), ElementsAre("unreserve A, then: " + message));
      }
      EXPECT_EQ(harness.loop().binding_count(), 0U);
      EXPECT_EQ(harness.loop().cache().pod_count(), 0U);
      EXPECT_EQ(harness.Column("req.cpu", "n1"), 0);
      EXPECT_EQ(Stage::slots(), 0);
      const QueuedEntity& other = *harness.loop().queue().Find("uid-other");
      EXPECT_EQ(other.attempts > 1 || other.place != QueuePlace::kUnschedulable,
                row.requeues_others);
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

TEST(ReservationTest, IsNotUndoneWhenThePodIsBound) {
  PodLifecycle pod;
  pod.a().pre_bind = pod.AnswersLater();
  pod.Run();
  EXPECT_EQ(pod.Outcome(), "Wait");
  EXPECT_EQ(Stage::slots(), 1);
  Stage::Complete(pod.done(), {});
  pod.harness().Settle();
  EXPECT_EQ(pod.Outcome(), "Success");
  EXPECT_THAT(pod.calls(), ElementsAre("reserve A", "reserve B", "post_bind B"));
  EXPECT_EQ(pod.harness().PlaceOf("p"), std::nullopt);
  EXPECT_EQ(pod.harness().Column("req.cpu", "n1"), 1000);
  EXPECT_EQ(Stage::slots(), 0);
  EXPECT_EQ(pod.harness().cluster().events().back().note, "Successfully assigned default/p to n1");
}

// A plugin that never answers does not delay the destruction of the loop.
TEST(ReservationTest, IsUndoneWhenTheLoopIsDestroyed) {
  PodLifecycle pod;
  pod.c().bind = pod.AnswersLater();
  pod.Run();
  pod.harness().Stop();
  EXPECT_THAT(pod.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
  EXPECT_EQ(Stage::slots(), 0);
}

// Returns pod "p" as it is in the cluster.
// --- other pods that wait for the room ----------------------------------------------------------

// How pod "p" loses its place on the node.
struct PlaceLoss {
  const char* name;
  std::function<void(PodLifecycle&)> arrange;
  std::function<void(PodLifecycle&)> lose_place;
  std::function<void(PodLifecycle&)> end_binding;  // Empty: the binding cycle ends at once.
};

void FailsToBind(PodLifecycle& pod) {
  Stage::Complete(pod.done(), {BERTH_ERROR, {"not there"}});
  pod.harness().Settle();
}

std::vector<PlaceLoss> PlaceLosses() {
  const auto binds_later = [](PodLifecycle& pod) { pod.c().bind = pod.AnswersLater(); };
  return {
      {"deleted while it is bound", binds_later,
       [](PodLifecycle& pod) {
         pod.harness().cluster().DeletePod({"default", "p", ""}, 0, nullptr);
       },
       FailsToBind},
      {"deleted without a deletionTimestamp while it is bound", binds_later,
       [](PodLifecycle& pod) {
         pod.harness().client().SendPodEvent(
             {WatchType::kDeleted, FindInCluster(pod), FindInCluster(pod), true});
       },
       FailsToBind},
      {"another client binds it to another node", binds_later,
       [](PodLifecycle& pod) {
         pod.harness().AddNode({.name = "n2"});
         pod.harness().cluster().Bind({"default", "p", ""}, "n2", nullptr);
       },
       FailsToBind},
      {"deleted without a deletionTimestamp while it waits",
       [](PodLifecycle& pod) {
         pod.a().permit = PermitAnswers({BERTH_WAIT, {}}, kSecond);
       },
       [](PodLifecycle& pod) {
         pod.harness().client().SendPodEvent(
             {WatchType::kDeleted, FindInCluster(pod), FindInCluster(pod), true});
       },
       nullptr},
  };
}

// The claims of plugins are free only after Unreserve. So other pods are requeued after Unreserve,
// even if they were requeued already when the place on the node became free.
TEST(ReservationTest, RequeuesOtherPodsAfterUnreserve) {
  for (const PlaceLoss& row : PlaceLosses()) {
    SCOPED_TRACE(row.name);
    PodLifecycle pod;
    row.arrange(pod);
    pod.OtherFitsAfterUnreserve();
    pod.Run();
    row.lose_place(pod);
    pod.harness().Run();
    if (row.end_binding) {
      EXPECT_EQ(pod.harness().PlaceOf("other"), QueuePlace::kUnschedulable);
      row.end_binding(pod);
    }
    pod.a().permit = nullptr;
    pod.harness().Run();
    EXPECT_TRUE(pod.IsOtherPlaced());
  }
}

// Bind answers with an error, but the pod is bound: its place on the node is not free.
TEST(ReservationTest, KeepsThePlaceOfAPodAlreadyThere) {
  PodLifecycle pod;
  pod.c().bind = pod.AnswersLater();
  pod.Run();
  pod.harness().cluster().Bind({"default", "p", ""}, "n1", nullptr);
  pod.harness().Settle();
  const uint32_t attempts = pod.harness().loop().queue().Find("uid-other")->attempts;
  FailsToBind(pod);
  pod.harness().Run();
  EXPECT_EQ(pod.harness().loop().queue().Find("uid-other")->attempts, attempts);
  EXPECT_EQ(pod.harness().Column("req.cpu", "n1"), 1000);
  EXPECT_THAT(pod.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
}

}  // namespace
}  // namespace berth::host

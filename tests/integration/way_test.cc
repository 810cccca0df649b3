// What else may happen to a pod between its attempt and its node, and what plugins see of it.
#include "tests/integration/way.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kSecond = TestClock::kSecond;

PodRef Find(Way& way, const char* pod = "p") {
  return way.harness().cluster().FindPod("default", pod);
}

// --- who is told that a place is free -----------------------------------------------------------

struct Loss {
  const char* name;
  std::function<void(Way&)> arrange;
  std::function<void(Way&)> place_goes;
  std::function<void(Way&)> ends;  // Empty: at once.
};

void FailsToBind(Way& way) {
  Stage::Complete(way.done(), {BERTH_ERROR, {"not there"}});
  way.harness().Settle();
}

std::vector<Loss> Losses() {
  const auto binds = [](Way& way) { way.c().bind = way.Later(); };
  return {
      {"deleted while it is bound", binds,
       [](Way& way) {
         way.harness().cluster().DeletePod({"default", "p", ""}, 0, nullptr);
       },
       FailsToBind},
      {"gone unseen while it is bound", binds,
       [](Way& way) {
         way.harness().line().Tell({WatchType::kDeleted, Find(way), Find(way), true});
       },
       FailsToBind},
      {"somebody binds it to another node", binds,
       [](Way& way) {
         way.harness().AddNode({.name = "n2"});
         way.harness().cluster().Bind({"default", "p", ""}, "n2", nullptr);
       },
       FailsToBind},
      {"gone unseen while it waits",
       [](Way& way) {
         way.a().permit = PermitAnswers({BERTH_WAIT, {}}, kSecond);
       },
       [](Way& way) {
         way.harness().line().Tell({WatchType::kDeleted, Find(way), Find(way), true});
       },
       nullptr},
  };
}

// What a plugin has claimed is free after Unreserve and not before: who was refused for it is told
// then, whether or not it was told of the place earlier.
TEST(WayTest, OthersAreToldWhenTheClaimsAreGivenBack) {
  for (const Loss& row : Losses()) {
    SCOPED_TRACE(row.name);
    Way way;
    row.arrange(way);
    way.OtherFitsWithoutClaim();
    way.Run();
    row.place_goes(way);
    way.harness().Run();
    if (row.ends) {
      EXPECT_EQ(way.harness().PlaceOf("other"), QueuePlace::kUnschedulable);
      row.ends(way);
    }
    way.a().permit = nullptr;
    way.harness().Run();
    EXPECT_TRUE(way.IsOtherPlaced());
  }
}

// It was bound, whatever we were told: its place is taken.
TEST(WayTest, NobodyIsToldOfAPodThatTheClusterHasWhereWePutIt) {
  Way way;
  way.c().bind = way.Later();
  way.Run();
  way.harness().cluster().Bind({"default", "p", ""}, "n1", nullptr);
  way.harness().Settle();
  const uint32_t attempts = way.harness().loop().queue().Find("uid-other")->attempts;
  FailsToBind(way);
  way.harness().Run();
  EXPECT_EQ(way.harness().loop().queue().Find("uid-other")->attempts, attempts);
  EXPECT_EQ(way.harness().Column("req.cpu", "n1"), 1000);
  EXPECT_THAT(way.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
}

// --- what plugins see of pods that wait ---------------------------------------------------------

std::vector<std::string> NamesOfWaiting(const Puppet& puppet) {
  std::vector<std::string> names;
  puppet.waiting->each(
      puppet.host,
      [](void* to, const berth_pod* pod) -> int32_t {
        static_cast<std::vector<std::string>*>(to)->emplace_back(Text(pod->meta->name));
        return 1;
      },
      &names);
  return names;
}

TEST(WayTest, ALoopThatIsDroppedShowsThePodsThatStillWait) {
  Way way;
  way.a().permit = PermitAnswers({BERTH_WAIT, {}}, 60 * kSecond);
  std::vector<std::vector<std::string>> seen;
  way.a().unreserve = [&](const berth_binding&) { seen.push_back(NamesOfWaiting(way.a())); };
  way.Run();
  way.AddPod("q");
  way.AddPod("r");
  way.harness().Run();
  ASSERT_EQ(way.harness().loop().in_flight(), 3U);
  way.harness().Stop();
  EXPECT_THAT(seen, ElementsAre(ElementsAre("q", "r"), ElementsAre("r"), IsEmpty()));
}

// What an attempt decides about a pod that waits is carried out after it, and yet counts at once:
// who asks then must not count with a pod that is lost.
TEST(WayTest, APodThatIsRejectedOrAllowedWaitsNoLonger) {
  Way way;
  const Puppet& a = way.a();
  std::vector<std::vector<std::string>> seen;
  std::vector<berth_code> codes;
  const auto allow = [&](const char* uid) {
    codes.push_back(a.waiting->allow(a.host, AsStr(std::string_view(uid))));
    seen.push_back(NamesOfWaiting(a));
  };
  const auto reject = [&](const char* uid) {
    codes.push_back(
        a.waiting->reject(a.host, AsStr(std::string_view(uid)), AsStr(std::string_view("no"))));
    seen.push_back(NamesOfWaiting(a));
  };
  way.a().permit = [&](const berth_cycle& cycle, const berth_target&, int64_t* timeout,
                       berth_status*) -> berth_code {
    *timeout = 60 * kSecond;
    if (Text(cycle.pod->meta->name) != "last") return BERTH_WAIT;
    reject("uid-p");
    allow("uid-q");
    // What was said first counts.
    allow("uid-p");
    reject("uid-q");
    // The time that a plugin has given does not run out while what it said is carried out.
    way.harness().clock().Advance(60 * kSecond);
    return BERTH_SUCCESS;
  };
  way.Run();
  way.AddPod("q");
  way.harness().Run();
  way.AddPod("last");
  way.harness().Run();
  EXPECT_THAT(seen, ElementsAre(ElementsAre("q"), IsEmpty(), IsEmpty(), IsEmpty()));
  EXPECT_THAT(codes, ElementsAre(BERTH_SUCCESS, BERTH_SUCCESS, BERTH_NOT_FOUND, BERTH_NOT_FOUND));
  EXPECT_EQ(way.Outcome("q"), "Success");
  EXPECT_NE(way.harness().cluster().PodScheduledMessage("default", "p"), "");
}

TEST(WayTest, APodThatNobodyHoldsBackDoesNotWait) {
  Way way;
  std::vector<berth_code> codes;
  std::vector<std::string> seen{"not asked"};
  way.b().pre_flight = [&](const berth_binding&, berth_status*) -> berth_code {
    Puppet& b = way.b();
    seen = NamesOfWaiting(b);
    codes.push_back(
        b.waiting->reject(b.host, AsStr(std::string_view("uid-p")), AsStr(std::string_view("no"))));
    codes.push_back(b.waiting->allow(b.host, AsStr(std::string_view("uid-p"))));
    return BERTH_SUCCESS;
  };
  way.Run();
  EXPECT_THAT(seen, IsEmpty());
  EXPECT_THAT(codes, ElementsAre(BERTH_NOT_FOUND, BERTH_NOT_FOUND));
  EXPECT_EQ(way.Outcome(), "Success");
}

TEST(WayTest, APodThatTwoHoldBackWaitsUntilBothLetItGo) {
  Way way;
  std::vector<berth_code> codes;
  std::vector<std::string> seen;
  const auto permit = [&](Puppet& puppet, const char* lets_go) {
    puppet.permit = [&, lets_go](const berth_cycle& cycle, const berth_target&, int64_t* timeout,
                                 berth_status*) -> berth_code {
      *timeout = kSecond;
      if (Text(cycle.pod->meta->name) == "p") return BERTH_WAIT;
      if (Text(cycle.pod->meta->name) != lets_go) return BERTH_SUCCESS;
      const berth_str uid = AsStr(std::string_view("uid-p"));
      codes.push_back(puppet.waiting->allow(puppet.host, uid));
      seen = NamesOfWaiting(puppet);
      codes.push_back(puppet.waiting->allow(puppet.host, uid));
      return BERTH_SUCCESS;
    };
  };
  permit(way.a(), "first");
  permit(way.b(), "second");
  way.Run();
  way.AddPod("first");
  way.harness().Run();
  EXPECT_THAT(codes, ElementsAre(BERTH_SUCCESS, BERTH_SUCCESS));
  EXPECT_THAT(seen, ElementsAre("p"));
  EXPECT_EQ(way.Outcome(), "Wait");
  codes.clear();
  way.AddPod("second");
  way.harness().Run();
  EXPECT_THAT(codes, ElementsAre(BERTH_SUCCESS, BERTH_NOT_FOUND));
  EXPECT_THAT(seen, IsEmpty());
  EXPECT_EQ(way.Outcome(), "Success");
}

// --- bound by somebody else ---------------------------------------------------------------------

TEST(WayTest, APodThatSomebodyElseBindsWaitsForNothingAnyMore) {
  for (const char* node : {"n1", "n2"}) {
    SCOPED_TRACE(node);
    Way way;
    way.a().permit = PermitAnswers({BERTH_WAIT, {}}, 60 * kSecond);
    way.Run();
    way.harness().AddNode({.name = "n2"});
    way.harness().cluster().Bind({"default", "p", ""}, node, nullptr);
    way.harness().Settle();
    EXPECT_EQ(way.harness().loop().in_flight(), 0U);
    EXPECT_THAT(way.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
    EXPECT_EQ(way.harness().PlaceOf("p"), std::nullopt);
    EXPECT_EQ(way.harness().Column("req.cpu", node), 1000);
    EXPECT_EQ(way.harness().loop().cache().pod_count(), 1U);
    EXPECT_EQ(Stage::slots(), 0);
    // What was kept for it elsewhere is free.
    const QueuedEntity& other = *way.harness().loop().queue().Find("uid-other");
    EXPECT_EQ(other.place != QueuePlace::kUnschedulable, std::string_view(node) != "n1");
  }
}

// The cache has the pod although the queue has it too: nothing was given to it, and nothing is
// given back.
TEST(WayTest, APodThatIsSomewhereAlreadyIsNotPlaced) {
  Way way;
  way.harness().AddNode({.name = "n0"});
  way.BeforeRun([&] {
    const PodRef twin = way.harness().objects().PodFrom(
        R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"twin","namespace":"default",)"
        R"("uid":"uid-p"},"spec":{"nodeName":"n0","containers":[{"name":"c"}]}})");
    way.harness().line().Tell({WatchType::kAdded, twin, PodRef(), false});
  });
  way.Run();
  EXPECT_EQ(way.Outcome(), "Error: pod default/p is in the cache, so it can't be assumed");
  EXPECT_EQ(way.harness().PlaceOf("p"), QueuePlace::kErrorBackoff);
  EXPECT_THAT(way.calls(), IsEmpty());
  EXPECT_EQ(way.harness().Column("req.cpu", "n1"), 0);
  EXPECT_EQ(way.harness().loop().cache().pod_count(), 1U);
  EXPECT_EQ(Stage::slots(), 0);
}

TEST(WayTest, ABindingUnderWayEndsAfterTheSchedulerWasStopped) {
  Way way;
  way.a().pre_bind = way.Later();
  way.Run();
  way.harness().loop().Stop();
  way.harness().Settle();
  EXPECT_EQ(way.harness().loop().in_flight(), 1U);
  Stage::Complete(way.done(), {});
  way.harness().Settle();
  EXPECT_EQ(way.Outcome(), "Success");
  EXPECT_EQ(way.harness().loop().in_flight(), 0U);
  EXPECT_THAT(way.calls(), ElementsAre("reserve A", "reserve B", "post_bind B"));
}

// --- what the pod's condition is told -----------------------------------------------------------

struct Refusal {
  Status status;
  int said;  // How often within two equal failures.
};

TEST(WayTest, WhatTheClusterDidNotHearIsSaidAgain) {
  const Refusal kTable[] = {{Status(), 1},
                            {Status::Unavailable("busy"), 2},
                            {Status::Conflict("no"), 2},
                            {Status::NotFound("gone"), 1}};
  for (const Refusal& row : kTable) {
    SCOPED_TRACE(row.status.ToString());
    Way way;
    int said = 0;
    way.harness().line().on_patch = [&](const PodName& pod, const PodStatusPatch& patch) {
      if (pod.name != "other" || !patch.pod_scheduled.has_value()) return Status();
      return ++said == 1 ? row.status : Status();
    };
    way.Run();
    EXPECT_EQ(said, 1);
    way.harness().Advance(400 * kSecond);  // It is tried again for having waited so long.
    EXPECT_EQ(way.harness().loop().queue().Find("uid-other")->attempts, 2U);
    EXPECT_EQ(said, row.said);
  }
}

// --- evicted ------------------------------------------------------------------------------------

// The answer that the one who evicted got; none: not yet.
struct Evicted {
  std::optional<berth_code> code;
};

void EvictP(Way& way, const char* message, Evicted& evicted) {
  const PodRef pod = Find(way);
  const berth_code begun = way.a().api->evict(
      way.a().host, &pod->view(), AsStr(std::string_view(message)),
      [](void* to, berth_code code, berth_str) { static_cast<Evicted*>(to)->code = code; },
      &evicted);
  ASSERT_EQ(begun, BERTH_SUCCESS);
}

TEST(WayTest, APodThatWasEvictedWithoutAWordIsNotBound) {
  Way way;
  Evicted evicted;
  way.b().pre_bind = way.Later();
  way.Run();
  EvictP(way, "", evicted);
  way.harness().Settle();
  EXPECT_EQ(evicted.code, BERTH_SUCCESS);
  Stage::Complete(way.done(), {});
  way.harness().Settle();
  EXPECT_EQ(way.Outcome(), "Error");
  EXPECT_EQ(way.harness().PlaceOf("p"), QueuePlace::kErrorBackoff);
  EXPECT_THAT(way.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
}

TEST(WayTest, APodOnItsWayBackToTheQueueIsNotDeletedToMakeRoom) {
  Way way;
  Evicted evicted;
  way.a().pre_bind = way.Later();
  way.Run();
  EvictP(way, "make room", evicted);
  Stage::Complete(way.done(), {BERTH_ERROR, {"boom"}});
  way.harness().Settle();
  EXPECT_EQ(evicted.code, BERTH_SUCCESS);
  ASSERT_NE(Find(way), nullptr);
  EXPECT_FALSE(Find(way)->terminating());
  EXPECT_EQ(way.harness().PlaceOf("p"), QueuePlace::kErrorBackoff);
  EXPECT_EQ(way.Outcome(), "Error: running PreBind plugin \"puppet.A\": boom");
}

// One that was bound in the same round is on its node: it is deleted like any other.
TEST(WayTest, APodThatHasJustBeenBoundIsDeletedToMakeRoom) {
  Way way;
  Evicted evicted;
  way.c().bind = way.Later();
  way.Run();
  EvictP(way, "make room", evicted);
  Stage::Complete(way.done(), {});
  way.harness().Settle();
  EXPECT_EQ(way.Outcome(), "Success");
  EXPECT_EQ(evicted.code, BERTH_SUCCESS);
  EXPECT_EQ(Find(way), nullptr);
}

// The answers are no longer wanted: the plugin is told, and whatever it says, the pod is not bound.
TEST(WayTest, APodThatIsPreparedIsEvictedToTheQueue) {
  for (const Said& said : {Said{}, Said{BERTH_ERROR, {"boom"}}}) {
    Way way;
    Evicted evicted;
    way.b().pre_bind = way.Later();
    way.Run();
    EvictP(way, "make room", evicted);
    way.harness().Settle();
    EXPECT_EQ(evicted.code, BERTH_SUCCESS);
    Stage::Complete(way.done(), said);
    way.harness().Settle();
    EXPECT_EQ(way.Outcome(), "Error: make room");
    EXPECT_EQ(way.harness().PlaceOf("p"), QueuePlace::kErrorBackoff);
    EXPECT_THAT(way.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
    EXPECT_EQ(way.harness().Column("req.cpu", "n1"), 0);
    EXPECT_EQ(Stage::slots(), 0);
  }
}

}  // namespace
}  // namespace berth::host

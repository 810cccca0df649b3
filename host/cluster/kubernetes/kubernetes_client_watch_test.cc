// Tests of the watches of KubernetesClient. reflector_list_test.cc and reflector_watch_test.cc test
// the requests of one watch.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/objects.h"
#include "tests/harness/kubernetes_client_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class KubernetesWatchTest : public KubernetesClientTest {
 protected:
  // Asks for the state of nodes; the server's current resourceVersion is 12.
  void StartRefresh(bool& is_done) {
    client().Refresh(std::array{kNodeKind}, [&] { is_done = true; });
    Run();
    ASSERT_THAT(Open(), ElementsAre(kFirst, "GET /api/v1/nodes?limit=1"));
    transport_.Answer(1, 200, ListText(12, ""));
    Run();
  }
};

constexpr std::string_view kRack = "example.com/v1/Rack";

// ---- What a sink sees ---------------------------------------------------------------------------

TEST_F(KubernetesWatchTest, DeliversExistingObjectsThenSyncedThenChanges) {
  ClientSink sink;
  const auto watch = client().StartWatch(kNodeKind, sink);
  Run();
  EXPECT_THAT(Open(), ElementsAre("GET /api/v1"));
  transport_.Answer(0, 200, ResourcesText());
  EXPECT_THAT(Open(), ElementsAre(kFirst));
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", "n2", 6) + Line("ADDED", "n1", 5) + Bookmark(10, true));
  EXPECT_THAT(sink.seen, IsEmpty());
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(client().waiting_events(), 3u);
  EXPECT_EQ(client().Deliver(), 3u);
  EXPECT_THAT(sink.Take(), ElementsAre("+n1@5", "+n2@6", "synced", "|"));
  transport_.Bytes(0, Line("MODIFIED", "n1", 11) + Line("DELETED", "n2", 12));
  transport_.Bytes(0, Line("ADDED", "n2", 13));
  EXPECT_EQ(wakes_, 2);
  EXPECT_EQ(client().Deliver(), 3u);
  EXPECT_THAT(sink.Take(), ElementsAre("~n1@11(5)", "-n2@12(6)", "|", "+n2@13", "|"));
  EXPECT_EQ(client().Deliver(), 0u);
}

TEST_F(KubernetesWatchTest, DeliversSyncedForAKindWithoutObjects) {
  ClientSink sink;
  const auto watch = client().StartWatch(kNodeKind, sink);
  Run();
  transport_.Answer(0, 200, ResourcesText());
  transport_.Head(0);
  transport_.Bytes(0, Bookmark(10, true));
  Run();
  EXPECT_THAT(sink.seen, ElementsAre("synced", "|"));
  EXPECT_FALSE(sink.received[0].has_object());
}

TEST_F(KubernetesWatchTest, DeliversDifferencesAfterGapWithUnknownFinalStates) {
  ClientSink sink;
  const auto watch = WatchNodes(sink);
  transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
  EXPECT_THAT(Open(), ElementsAre(AgainFrom("10")));
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", "n1", 21) + Line("ADDED", "n3", 22) + Bookmark(30, true));
  EXPECT_EQ(client().Deliver(), 3u);
  EXPECT_THAT(sink.Take(), ElementsAre("-n2@6(6)?", "~n1@21(5)", "+n3@22", "|"));
  EXPECT_FALSE(sink.received.back().final_state_unknown);
}

TEST_F(KubernetesWatchTest, RecreationDuringGapIsModifiedWithBothUids) {
  ClientSink sink;
  const auto watch = WatchNodes(sink);
  transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
  transport_.Head(0);
  transport_.Bytes(
      0,
      Line("ADDED", "n1", 5) +
          Line("ADDED", R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n2","uid":"other")"
                        R"(,"resourceVersion":"22"}})") +
          Bookmark(30, true));
  client().Deliver();
  EXPECT_THAT(sink.Take(), ElementsAre("~n2@22(6)", "|"));
  EXPECT_EQ(Base(sink.received.back().object).uid(), "other");
  EXPECT_EQ(Base(sink.received.back().previous).uid(), "u-n2");
}

TEST_F(KubernetesWatchTest, DeliversAFinalPhaseAsADeletion) {
  ClientSink sink;
  const auto watch = client().StartWatch(kPodKind, sink);
  Run();
  transport_.Answer(0, 200, CoreResourcesText());
  EXPECT_THAT(Open(), ElementsAre(kFirstPods));
  transport_.Head(0);
  const std::string running = R"(,"spec":{"nodeName":"n1"},"status":{"phase":"Running"})";
  const std::string ended = R"(,"spec":{"nodeName":"n1"},"status":{"phase":"Succeeded"})";
  transport_.Bytes(0, Line("ADDED", PodText("a", 5, running)) +
                          Line("ADDED", PodText("b", 6, running)) + Bookmark(10, true));
  // The server sends the last state that the selector matches; a server that does not know the
  // selector sends the change.
  transport_.Bytes(0, Line("DELETED", PodText("a", 11, running)) +
                          Line("MODIFIED", PodText("b", 12, ended)) +
                          Line("MODIFIED", PodText("b", 13, ended)));
  Run();
  EXPECT_THAT(sink.seen, ElementsAre("+default/a@5", "+default/b@6", "synced", "|",
                                     "-default/a@11(5)", "-default/b@12(6)", "|"));
  const auto& deleted = std::get<PodRef>(sink.received[3].object);
  EXPECT_EQ(deleted->view().phase, uint32_t{BERTH_PHASE_RUNNING});
  EXPECT_EQ(deleted->node_name(), "n1");
}

TEST_F(KubernetesWatchTest, ServesSeveralWatchesOfAKind) {
  ClientSink first, second;
  const auto first_watch = WatchNodes(first);
  transport_.Bytes(0, Line("ADDED", "n3", 11));
  const auto second_watch = client().StartWatch(kNodeKind, second);
  Run();
  EXPECT_THAT(Open(), ElementsAre(kFirst, kFirst));
  transport_.Head(1);
  transport_.Bytes(1, Line("ADDED", "n3", 11) + Bookmark(12, true));
  Run();
  EXPECT_THAT(first.Take(), ElementsAre("+n3@11", "|"));
  EXPECT_THAT(second.Take(), ElementsAre("+n3@11", "synced", "|"));
}

TEST_F(KubernetesWatchTest, ReportsAndFollowsAKindNotServed) {
  ClientSink sink;
  const auto watch = client().StartWatch(kRack, sink);
  Run();
  EXPECT_THAT(Open(), ElementsAre("GET /apis/example.com/v1"));
  transport_.Answer(0, 404, StatusText(404, "NotFound"));
  Run();
  EXPECT_THAT(sink.Take(), ElementsAre("not served", "|"));
  // The kind is served now.
  RunFor(30 * kSecond);
  EXPECT_THAT(Open(), ElementsAre("GET /apis/example.com/v1"));
  transport_.Answer(0, 200, RacksText(true));
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", RackText("r", 5)) + Bookmark(10, true));
  Run();
  EXPECT_THAT(sink.Take(), ElementsAre("+r@5", "synced", "|"));
  // The kind is not served any more.
  RunFor(300 * kSecond);
  ASSERT_THAT(Open(), SizeIs(2));
  transport_.Answer(1, 200, RacksText(false));
  Run();
  EXPECT_THAT(sink.Take(), ElementsAre("-r@5(5)?", "not served", "|"));
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_EQ(client().Watches()[0].state, Reflector::State::kNotServed);
}

// ---- Errors -------------------------------------------------------------------------------------

TEST_F(KubernetesWatchTest, ReportsAMissingRuleWithWhoNeedsIt) {
  ClientSink sink;
  const auto watch = client().StartWatch(kNodeKind, sink);
  Run();
  transport_.Answer(0, 200, ResourcesText());
  transport_.Answer(0, 403,
                    StatusText(403, "Forbidden", R"(nodes is forbidden: User \"u\" cannot list)"));
  Run();
  ASSERT_THAT(sink.seen, SizeIs(1));
  EXPECT_THAT(sink.seen[0], HasSubstr("cannot list nodes (needed by the host)"));
  RunFor(kSecond);
  ASSERT_THAT(client().Watches(), SizeIs(1));
  EXPECT_EQ(client().Watches()[0].error.code(), ErrorCode::kPermissionDenied);
}

TEST_F(KubernetesWatchTest, ReportsThatDiscoveryFails) {
  ClientSink sink;
  const auto watch = client().StartWatch(kNodeKind, sink);
  Run();
  transport_.Lose(0, Delivery::kNotSent, Status::Unavailable("connection refused"));
  RunFor(kSecond);
  EXPECT_THAT(sink.Take(), ElementsAre("error: Unavailable: connection refused"));
  EXPECT_EQ(client().Watches()[0].error, Status::Unavailable("connection refused"));
  // The same error is reported once.
  RunFor(2 * kSecond);
  ASSERT_THAT(Open(), ElementsAre("GET /api/v1"));
  transport_.Lose(0, Delivery::kNotSent, Status::Unavailable("connection refused"));
  RunFor(5 * kSecond);
  EXPECT_THAT(sink.Take(), IsEmpty());
  ASSERT_THAT(Open(), ElementsAre("GET /api/v1"));
  transport_.Answer(0, 200, ResourcesText());
  transport_.Head(0);
  transport_.Bytes(0, Bookmark(10, true));
  Run();
  EXPECT_THAT(sink.Take(), ElementsAre("ok", "synced", "|"));
  EXPECT_TRUE(client().Watches()[0].error.ok());
  RunFor(2 * kSecond);
  EXPECT_THAT(sink.Take(), IsEmpty());
}

TEST_F(KubernetesWatchTest, ReportsErrorOfListAfterOneOfDiscovery) {
  ClientSink sink;
  const auto watch = client().StartWatch(kNodeKind, sink);
  Run();
  transport_.Lose(0, Delivery::kNotSent, Status::Unavailable("connection refused"));
  RunFor(3 * kSecond);
  transport_.Answer(0, 200, ResourcesText());
  transport_.Answer(0, 500, StatusText(500, "InternalError", "first"));
  RunFor(2 * kSecond);
  EXPECT_THAT(sink.Take(),
              ElementsAre("error: Unavailable: connection refused", "error: Internal: first"));
  ASSERT_THAT(Open(), SizeIs(1));
  transport_.Head(0);
  transport_.Bytes(0, Bookmark(10, true));
  Run();
  EXPECT_THAT(sink.Take(), ElementsAre("synced", "|", "ok"));
}

// ---- The end of a watch -------------------------------------------------------------------------

TEST_F(KubernetesWatchTest, DeliversNothingAfterItsEndAndCloses) {
  ClientSink ended, other;
  auto watch = WatchNodes(ended);
  const auto other_watch = client().StartWatch(kNodeKind, other);
  Run();
  transport_.Head(1);
  transport_.Bytes(1, Bookmark(10, true));
  transport_.Bytes(0, Line("ADDED", "n3", 11));
  watch.reset();
  Run();
  EXPECT_THAT(ended.seen, IsEmpty());
  EXPECT_THAT(other.seen, ElementsAre("synced", "|"));
  EXPECT_THAT(Open(), SizeIs(1));
  EXPECT_THAT(client().Watches(), SizeIs(1));
  transport_.Bytes(0, Line("ADDED", "n3", 11));
  Run();
  EXPECT_THAT(other.seen, ElementsAre("synced", "|", "+n3@11", "|"));
}

TEST_F(KubernetesWatchTest, MayBeDestroyedBeforeItsFirstRequest) {
  ClientSink a, b;
  auto first = client().StartWatch(kNodeKind, a);
  auto second = client().StartWatch(kRack, b);
  first.reset();
  EXPECT_THAT(client().Watches(), SizeIs(1));
  Run();
  // The question about the kind was sent before the watch ended.
  EXPECT_THAT(Open(), ElementsAre("GET /api/v1", "GET /apis/example.com/v1"));
  second.reset();
  Run();
  transport_.Answer(0, 200, ResourcesText());
  transport_.Answer(0, 200, RacksText(true));
  RunFor(kHour);
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_THAT(a.seen, IsEmpty());
  EXPECT_THAT(b.seen, IsEmpty());
}

TEST_F(KubernetesWatchTest, RestartsAfterDestructionInAnyOrder) {
  const std::array<std::array<size_t, 3>, 6> orders = {
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  std::vector<std::string> expected;
  for (const auto& order : orders) {
    std::array<ClientSink, 3> sinks;
    std::array<std::unique_ptr<Watch>, 3> watches;
    for (size_t i = 0; i < 3; ++i) watches[i] = client().StartWatch(kNodeKind, sinks[i]);
    executor_.RunAll();
    if (Open().front() == "GET /api/v1") transport_.Answer(0, 200, ResourcesText());
    executor_.RunAll();
    for (size_t i = 0; i < 3; ++i) {
      transport_.Head(i);
      transport_.Bytes(i, Line("ADDED", "n1", 5) + Bookmark(10, true));
    }
    for (const size_t index : order) {
      Run();
      EXPECT_THAT(sinks[index].Take(), ElementsAre("+n1@5", "synced", "|"));
      watches[index].reset();
    }
    Run();
    EXPECT_THAT(Open(), IsEmpty());
    EXPECT_THAT(client().Watches(), IsEmpty());
  }
}

TEST_F(KubernetesWatchTest, MayBeDestroyedByItsOwnSink) {
  ClientSink sink;
  auto watch = WatchNodes(sink);
  sink.on_events = [&] { watch.reset(); };
  transport_.Bytes(0, Line("ADDED", "n3", 11));
  transport_.Bytes(0, Line("ADDED", "n4", 12));
  Run();
  EXPECT_THAT(sink.seen, ElementsAre("+n3@11", "|"));
  Run();
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(KubernetesWatchTest, OwnErrorOrAnotherWatchMayDestroyIt) {
  ClientSink first, second;
  auto first_watch = WatchNodes(first);
  auto second_watch = client().StartWatch(kNodeKind, second);
  Run();
  transport_.Head(1);
  transport_.Bytes(1, Bookmark(10, true));
  Run();
  second.Take();
  transport_.Bytes(0, Line("ERROR", StatusText(500, "InternalError", "first")));
  transport_.Bytes(0, Line("ADDED", "n3", 11));
  first.on_error = [&] {
    first_watch.reset();
    second_watch.reset();
  };
  Run();
  EXPECT_THAT(first.seen, ElementsAre("error: Unavailable: first"));
  EXPECT_THAT(second.seen, IsEmpty());
  RunFor(kMinute);
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(KubernetesWatchTest, ASinkMayStartAWatch) {
  ClientSink first, second;
  const auto first_watch = WatchNodes(first);
  std::unique_ptr<Watch> second_watch;
  first.on_events = [&] { second_watch = client().StartWatch(kNodeKind, second); };
  transport_.Bytes(0, Line("ADDED", "n3", 11));
  Run();
  Run();
  ASSERT_THAT(Open(), SizeIs(2));
  transport_.Head(1);
  transport_.Bytes(1, Bookmark(12, true));
  Run();
  EXPECT_THAT(second.seen, ElementsAre("synced", "|"));
}

TEST_F(KubernetesWatchTest, SinkMaySendRequestsWhoseAnswersComeLater) {
  ClientSink sink;
  const auto watch = WatchNodes(sink);
  sink.on_events = [&] {
    client().Bind({"default", "p", "u"}, "n3", Note("bind"));
    EXPECT_THAT(answers_, IsEmpty());
  };
  transport_.Bytes(0, Line("ADDED", "n3", 11));
  Run();
  Run();
  writes_.Answer(0, 201, "{}");
  Run();
  EXPECT_THAT(Answers(), ElementsAre("bind: Ok"));
}

// ---- A slow receiver ----------------------------------------------------------------------------

TEST_F(KubernetesWatchTest, WatchesPauseWhileTooManyEventsWait) {
  options_.max_waiting_events = 2;
  ClientSink sink;
  const auto watch = WatchNodes(sink);
  executor_.RunAll();
  transport_.Bytes(0, Line("ADDED", "n3", 11));
  EXPECT_FALSE(transport_.IsPaused(0));
  transport_.Bytes(0, Line("ADDED", "n4", 12) + Line("ADDED", "n5", 13));
  EXPECT_TRUE(transport_.IsPaused(0));
  EXPECT_EQ(client().Deliver(), 3u);
  executor_.RunAll();
  EXPECT_FALSE(transport_.IsPaused(0));
  EXPECT_THAT(sink.Take(), ElementsAre("+n3@11", "|", "+n4@12", "+n5@13", "|"));
}

// ---- Refresh ------------------------------------------------------------------------------------

TEST_F(KubernetesWatchTest, RefreshEndsPastTheServersCurrentVersion) {
  ClientSink sink;
  const auto watch = WatchNodes(sink);
  bool is_done = false;
  StartRefresh(is_done);
  EXPECT_FALSE(is_done);
  // The other leader's last write.
  transport_.Bytes(0, Line("ADDED", "n3", 12));
  executor_.RunAll();
  EXPECT_FALSE(is_done);
  sink.on_events = [&] { EXPECT_FALSE(is_done); };
  client().Deliver();
  EXPECT_TRUE(is_done);
  EXPECT_THAT(sink.Take(), ElementsAre("+n3@12", "|"));
}

TEST_F(KubernetesWatchTest, RefreshListsAgainIfTheWatchIsQuiet) {
  ClientSink sink;
  const auto watch = WatchNodes(sink);
  bool is_done = false;
  StartRefresh(is_done);
  RunFor(options_.refresh_patience_ns - 1);
  EXPECT_THAT(Open(), ElementsAre(kFirst));
  RunFor(1);
  EXPECT_THAT(Open(), ElementsAre(AgainFrom("12")));
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", "n1", 5) + Bookmark(12, true));
  EXPECT_FALSE(is_done);
  client().Deliver();
  EXPECT_TRUE(is_done);
  EXPECT_THAT(sink.Take(), ElementsAre("-n2@6(6)?", "|"));
}

TEST_F(KubernetesWatchTest, RefreshWaitsForAllKindsExceptDestroyedWatches) {
  ClientSink nodes, racks, pods;
  const auto node_watch = WatchNodes(nodes);
  auto rack_watch = client().StartWatch(kRack, racks);
  const auto pod_watch = client().StartWatch(kPodKind, pods);
  Run();
  ASSERT_THAT(Open(), ElementsAre(kFirst, "GET /apis/example.com/v1"));
  int done = 0;
  const std::array kinds = {kNodeKind, kRack, kPodKind};
  client().Refresh(kinds, [&] { ++done; });
  Run();
  ASSERT_THAT(Open(), SizeIs(3));
  // The watch of nodes has this version already.
  transport_.Answer(2, 200, ListText(10, ""));
  Run();
  EXPECT_EQ(done, 0);
  // The server does not serve pods, which is their current state.
  RunFor(kHour);
  EXPECT_EQ(done, 0);
  rack_watch.reset();
  Run();
  EXPECT_EQ(done, 1);
  EXPECT_THAT(pods.seen, ElementsAre("not served", "|"));
}

TEST_F(KubernetesWatchTest, RefreshWithoutKindsEndsInTheNextDelivery) {
  bool is_done = false;
  client().Refresh({}, [&] { is_done = true; });
  EXPECT_FALSE(is_done);
  Run();
  EXPECT_TRUE(is_done);
}

TEST_F(KubernetesWatchTest, RefreshDuringTheFirstListEndsAfterIt) {
  ClientSink sink;
  const auto watch = client().StartWatch(kNodeKind, sink);
  std::vector<std::string> at_the_end;
  const std::array kinds = {kNodeKind};
  client().Refresh(kinds, [&] { at_the_end = sink.seen; });
  Run();
  transport_.Answer(0, 200, ResourcesText());
  ASSERT_THAT(Open(), ElementsAre(kFirst, "GET /api/v1/nodes?limit=1"));
  transport_.Answer(1, 200, ListText(12, ""));
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", "n1", 5) + Bookmark(12, true));
  Run();
  EXPECT_THAT(at_the_end, ElementsAre("+n1@5", "synced", "|"));
}

// ---- States and memory --------------------------------------------------------------------------

TEST_F(KubernetesWatchTest, ReportsTheStateOfEachWatch) {
  ClientSink nodes, racks;
  const auto node_watch = client().StartWatch(kNodeKind, nodes);
  const auto rack_watch = client().StartWatch(kRack, racks);
  std::vector<WatchState> states = client().Watches();
  ASSERT_THAT(states, SizeIs(2));
  EXPECT_EQ(states[0].kind, kNodeKind);
  EXPECT_EQ(states[1].kind, kRack);
  EXPECT_EQ(states[0].state, Reflector::State::kDiscovering);
  EXPECT_FALSE(states[0].is_synced);
  Run();
  transport_.Answer(0, 200, ResourcesText());
  transport_.Head(1);
  transport_.Bytes(1, Line("ADDED", "n1", 5) + Line("ADDED", "n2", 6) + Bookmark(10, true));
  EXPECT_TRUE(client().Watches()[0].is_synced);
  RunFor(5 * kSecond);
  states = client().Watches();
  EXPECT_EQ(states[0].state, Reflector::State::kWatching);
  EXPECT_EQ(states[0].objects, 2u);
  EXPECT_EQ(states[0].counts.lists, 1u);
  EXPECT_EQ(states[0].silence_ns, 5 * kSecond);
  EXPECT_EQ(states[1].state, Reflector::State::kDiscovering);
  EXPECT_EQ(states[1].silence_ns, 0);
  EXPECT_FALSE(states[1].is_synced);
}

TEST_F(KubernetesWatchTest, QuietWatchReleasesDeletedTextsWithinAMinute) {
  ClientSink sink;
  const auto watch = WatchNodes(sink);
  transport_.Bytes(0, Line("ADDED", "rare-name", 11) + Line("DELETED", "rare-name", 12));
  Run();
  sink.received.clear();
  interner_.Sweep();
  EXPECT_NE(interner_.Find("rare-name"), kNoId);
  RunFor(kMinute);
  interner_.Sweep();
  EXPECT_EQ(interner_.Find("rare-name"), kNoId);
}

}  // namespace
}  // namespace berth::host

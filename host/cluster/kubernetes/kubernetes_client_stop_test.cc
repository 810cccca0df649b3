// Tests of KubernetesClient::Stop().
#include <array>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/kubernetes_client_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* kGetPod = "GET /api/v1/namespaces/default/pods/p";

class KubernetesStopTest : public KubernetesClientTest {
 protected:
  // Sends a binding whose answer is lost, so that the client reads the pod.
  void LoseABinding() {
    client().Bind({"default", "p", "u-p"}, "n1", Note("bind"));
    Run();
    writes_.Lose(0, Delivery::kUnknown);
    Run();
    ASSERT_THAT(writes_.open(), ElementsAre(kGetPod));
  }
  // Stops, and returns how long that took.
  int64_t TimeToStop() {
    const int64_t before_ns = clock_.NowNs();
    Stop();
    return clock_.NowNs() - before_ns;
  }
  int64_t TimeToStop(int64_t limit_ns) {
    const int64_t before_ns = clock_.NowNs();
    is_stopped_ = true;
    client().Stop(limit_ns);
    return clock_.NowNs() - before_ns;
  }
};

TEST_F(KubernetesStopTest, EndsAtOnceIfNothingIsOpen) {
  client();
  EXPECT_EQ(TimeToStop(), 0);
  client().Stop();  // Has no effect.
}

TEST_F(KubernetesStopTest, EndsTheWatchesAndDeliversNothingAfterwards) {
  ClientSink sink;
  const auto watch = WatchNodes(sink);
  transport_.Bytes(0, Line("ADDED", "n3", 11));
  bool is_refreshed = false;
  const std::array kinds = {kNodeKind};
  client().Refresh(kinds, [&] { is_refreshed = true; });
  Stop();
  EXPECT_THAT(Open(), ElementsAre("GET /api/v1/nodes?limit=1"));
  transport_.Answer(0, 200, ListText(10, ""));
  EXPECT_EQ(client().Deliver(), 0u);
  RunFor(kHour);
  EXPECT_THAT(sink.seen, IsEmpty());
  EXPECT_FALSE(is_refreshed);
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(KubernetesStopTest, AWatchThatIsStartedLaterReceivesNothing) {
  client();
  Stop();
  ClientSink sink;
  auto watch = client().StartWatch(kNodeKind, sink);
  RunFor(kMinute);
  EXPECT_THAT(sink.seen, IsEmpty());
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_THAT(client().Watches(), IsEmpty());
  bool is_refreshed = false;
  const std::array kinds = {kNodeKind};
  client().Refresh(kinds, [&] { is_refreshed = true; });
  RunFor(kMinute);
  EXPECT_FALSE(is_refreshed);
}

TEST_F(KubernetesStopTest, FindsOutWhetherAnUnknownBindingWasExecuted) {
  struct Case {
    const char* name;
    uint32_t http_status;
    std::string body;
    const char* outcome;
  };
  const Case cases[] = {
      {"bound to this node", 200, PodText("p", 9, R"(,"spec":{"nodeName":"n1"})"), "bind: Ok"},
      {"bound to another node", 200, PodText("p", 9, R"(,"spec":{"nodeName":"n2"})"),
       "bind: Conflict"},
      {"deleted", 404, StatusText(404, "NotFound"), "bind: NotFound"},
  };
  for (const Case& c : cases) {
    client_.reset();
    is_stopped_ = false;
    LoseABinding();
    during_stop_ = [&] {
      if (!writes_.open().empty()) writes_.Answer(0, c.http_status, c.body);
    };
    EXPECT_EQ(TimeToStop(), 0) << c.name;
    ASSERT_THAT(answers_, SizeIs(1)) << c.name;
    EXPECT_THAT(Answers()[0], HasSubstr(c.outcome)) << c.name;
  }
}

TEST_F(KubernetesStopTest, UnknownBindingIsUnavailableAfterTheLimit) {
  LoseABinding();
  during_stop_ = [&] {
    if (!writes_.open().empty()) writes_.Lose(0, Delivery::kUnknown);
  };
  EXPECT_EQ(TimeToStop(), options_.stop_limit_ns);
  EXPECT_THAT(Answers(), ElementsAre("bind: Unavailable: the client was stopped; it is unknown "
                                     "whether the request was executed"));
  RunFor(kHour);
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(KubernetesStopTest, WaitsNoLongerThanTheGivenLimit) {
  LoseABinding();
  during_stop_ = [&] {
    if (!writes_.open().empty()) writes_.Lose(0, Delivery::kUnknown);
  };
  EXPECT_EQ(TimeToStop(kSecond), kSecond);
  EXPECT_THAT(Answers(), ElementsAre(HasSubstr("it is unknown whether the request was executed")));
}

TEST_F(KubernetesStopTest, WithoutALimitItLeavesBindingsUndecided) {
  LoseABinding();
  EXPECT_EQ(TimeToStop(0), 0);
  EXPECT_THAT(Answers(), ElementsAre(HasSubstr("it is unknown whether the request was executed")));
}

TEST_F(KubernetesStopTest, WaitsForRequestsThatWereSent) {
  client().Bind({"default", "p", "u-p"}, "n1", Note("bind"));
  client().Request(MakeRequest("PUT"), NoteResponse("request"));
  Run();
  int round = 0;
  during_stop_ = [&] {
    if (++round == 1) writes_.Answer(1, 200, "{}");
    if (round != 2) return;
    writes_.Answer(0, 201, "{}");
  };
  Stop();
  EXPECT_THAT(Answers(), UnorderedElementsAre("request: 200 {}", "bind: Ok"));
}

TEST_F(KubernetesStopTest, UnansweredRequestsAreUnavailableOnceAfterTheLimit) {
  client().Bind({"default", "p", "u-p"}, "n1", Note("bind"));
  client().Request(MakeRequest("GET"), NoteResponse("request"));
  Run();
  EXPECT_EQ(TimeToStop(), options_.stop_limit_ns);
  const std::string unknown =
      "Unavailable: the client was stopped; it is unknown whether the request was executed";
  EXPECT_THAT(Answers(), UnorderedElementsAre("bind: " + unknown, "request: 0 " + unknown));
  client_.reset();
  // The answers arrive after the client was destroyed.
  while (!writes_.open().empty()) writes_.Answer(0, 200, "{}");
  executor_.RunAll();
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(KubernetesStopTest, SendsNoWriteThatHasNotLeft) {
  client().Bind({"default", "p", "u-p"}, "n1", Note("bind"));
  client().Request(MakeRequest("POST"), NoteResponse("request"));
  Run();
  ASSERT_THAT(writes_.open(), SizeIs(2));
  during_stop_ = [&] {
    // As a transport that has a free connection now.
    while (!writes_.open().empty()) {
      const Status status = writes_.RequestAt(0).may_send();
      EXPECT_EQ(status, Status::Unavailable("the client was stopped"));
      writes_.Lose(0, Delivery::kNotSent, status);
    }
  };
  EXPECT_EQ(TimeToStop(), 0);
  EXPECT_THAT(Answers(), ElementsAre("request: 0 Unavailable: the client was stopped",
                                     "bind: Unavailable: the client was stopped"));
}

TEST_F(KubernetesStopTest, SendsTheEventsThatWait) {
  for (int i = 0; i < 10; ++i) {
    client().CreateEvent(MakeEvent("p" + std::to_string(i)), nullptr);
  }
  Run();
  ASSERT_THAT(events_.open(), SizeIs(8));
  during_stop_ = [&] {
    while (!events_.open().empty()) events_.Answer(0, 201, "{}");
  };
  EXPECT_EQ(TimeToStop(), 0);
  EXPECT_EQ(client().event_counts().sent, 10u);
}

TEST_F(KubernetesStopTest, DropsEventsThatCannotBeSentInTime) {
  for (int i = 0; i < 10; ++i) {
    client().CreateEvent(MakeEvent("p" + std::to_string(i)), nullptr);
  }
  Run();
  ASSERT_THAT(events_.open(), SizeIs(8));
  ASSERT_LT(options_.events_stop_limit_ns, options_.stop_limit_ns);
  EXPECT_EQ(TimeToStop(), options_.events_stop_limit_ns);
  EXPECT_EQ(client().event_counts().ended, 2u);
  // Late answers start no other request, and are not counted.
  events_.Answer(0, 201, "{}");
  events_.Answer(0, 500, StatusText(500, "InternalError"));
  EXPECT_THAT(events_.open(), SizeIs(6));
  RunFor(kMinute);
  EXPECT_THAT(events_.open(), SizeIs(6));
  EXPECT_EQ(client().event_counts().sent, 0u);
  EXPECT_EQ(client().event_counts().ended, 2u);
  EXPECT_EQ(client().event_counts().refused, 0u);
}

TEST_F(KubernetesStopTest, LaterRequestsAreUnavailable) {
  client();
  Stop();
  client().Bind({"default", "p", "u-p"}, "n1", Note("bind"));
  client().PatchPodStatus({"default", "p", "u-p"}, {}, Note("patch"));
  client().DeletePod({"default", "p", "u-p"}, {}, Note("delete"));
  client().CreateEvent(MakeEvent(), Note("event"));
  client().Request(MakeRequest("GET"), NoteResponse("request"));
  EXPECT_THAT(answers_, IsEmpty());
  Run();
  EXPECT_THAT(answers_, SizeIs(5));
  for (const std::string& answer : Answers()) {
    EXPECT_THAT(answer, HasSubstr("Unavailable: the client was stopped"));
  }
  EXPECT_THAT(writes_.open(), IsEmpty());
  EXPECT_THAT(events_.open(), IsEmpty());
}

TEST_F(KubernetesStopTest, RequestOfCallbackDuringTheStopIsUnavailable) {
  client().Bind({"default", "p", "u-p"}, "n1", [this](const Status& status) {
    answers_.push_back("first: " + status.ToString());
    client().Bind({"default", "q", "u-q"}, "n1", Note("second"));
    client().Request(MakeRequest("GET"), NoteResponse("request"));
  });
  Run();
  during_stop_ = [&] {
    if (!writes_.open().empty()) writes_.Answer(0, 201, "{}");
  };
  Stop();
  Run();
  EXPECT_THAT(Answers(), ElementsAre("first: Ok", "second: Unavailable: the client was stopped",
                                     "request: 0 Unavailable: the client was stopped"));
}

TEST_F(KubernetesStopTest, StateAndCountsCanBeReadAfterwards) {
  ClientSink sink;
  const auto watch = WatchNodes(sink);
  client().Bind({"default", "p", "u-p"}, "n1", nullptr);
  Run();
  writes_.Answer(0, 201, "{}");
  Stop();
  EXPECT_EQ(client().pod_counts().bound, 1u);
  EXPECT_THAT(client().Watches(), SizeIs(1));
}

using KubernetesStopDeathTest = KubernetesStopTest;

TEST_F(KubernetesStopDeathTest, DestroyingClientThatWasNotStoppedFailsAssertion) {
  client();
  EXPECT_DEATH(client_.reset(), "Stop\\(\\) was not called");
}

TEST_F(KubernetesStopDeathTest, StoppingWithinADeliveryFailsAnAssertion) {
  client().Refresh({}, [this] { client().Stop(); });
  executor_.RunAll();
  EXPECT_DEATH(client().Deliver(), "is_delivering_");
}

TEST_F(KubernetesStopDeathTest, RefreshingKindThatIsNotWatchedFailsAssertion) {
  const std::array kinds = {kNodeKind};
  EXPECT_DEATH(client().Refresh(kinds, [] {}), "v1/Node is not watched");
}

}  // namespace
}  // namespace berth::host

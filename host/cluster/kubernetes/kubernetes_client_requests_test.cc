// Tests of the requests of KubernetesClient. pod_writer_test.cc and event_sender_test.cc
// test each type of request.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "tests/harness/kubernetes_client_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using KubernetesRequestsTest = KubernetesClientTest;

// ---- Each method --------------------------------------------------------------------------------

TEST_F(KubernetesRequestsTest, BindsAPod) {
  client().Bind({"default", "p", "u1"}, "n1", Note("bind"));
  EXPECT_THAT(writes_.open(), IsEmpty());
  Run();
  ASSERT_THAT(writes_.open(), ElementsAre("POST /api/v1/namespaces/default/pods/p/binding"));
  const nlohmann::json body = ParseJson(writes_.BodyOf(0));
  EXPECT_EQ(body["metadata"]["uid"], "u1");
  EXPECT_EQ(body["target"]["name"], "n1");
  writes_.Answer(0, 201, "{}");
  Run();
  EXPECT_THAT(Answers(), ElementsAre("bind: Ok"));
}

TEST_F(KubernetesRequestsTest, TellsForHowLongBindingsAreForbidden) {
  const auto bind = [this](uint32_t status) {
    client().Bind({"default", "p", "u1"}, "n1", nullptr);
    Run();
    writes_.Answer(0, status, R"({"kind":"Status","message":"User \"b\" cannot bind","code":403})");
    RunFor(kSecond);
  };
  bind(403);
  EXPECT_EQ(client().bindings_forbidden_ns(), kSecond);
  RunFor(50 * kSecond);
  bind(403);
  EXPECT_EQ(client().bindings_forbidden_ns(), 52 * kSecond);
  RunFor(59 * kSecond);
  EXPECT_EQ(client().bindings_forbidden_ns(), 111 * kSecond);
  RunFor(1);
  EXPECT_EQ(client().bindings_forbidden_ns(), 0) << "it is not known any more";
  bind(403);
  EXPECT_EQ(client().bindings_forbidden_ns(), kSecond);
  bind(201);
  EXPECT_EQ(client().bindings_forbidden_ns(), 0);
}

TEST_F(KubernetesRequestsTest, CountsTheBindingsThatHaveNotEnded) {
  size_t open_in_callback = 99;
  client().Bind({"default", "p", "u1"}, "n1",
                [&](const Status&) { open_in_callback = client().open_bindings(); });
  client().Bind({"default", "q", "u2"}, "n1", nullptr);
  EXPECT_EQ(client().open_bindings(), 2U) << "also before they are sent";
  Run();
  writes_.Answer(0, 201, "{}");
  Run();
  EXPECT_EQ(open_in_callback, 1U);
  writes_.Answer(0, 404, R"({"kind":"Status","code":404,"reason":"NotFound"})");
  Run();
  EXPECT_EQ(client().open_bindings(), 0U) << "refused bindings have ended too";
}

TEST_F(KubernetesRequestsTest, PatchesPodStatusWithCopiesOfItsTexts) {
  {
    std::string reason = "Unschedulable", message = "no node fits", target = "preempted";
    std::string node = "n-nominated";
    PodStatusPatch patch;
    patch.nominated_node = node;
    patch.pod_scheduled = PodStatusPatch::Condition{.reason = reason, .message = message};
    patch.disruption_target = PodStatusPatch::Condition{.reason = target, .message = target};
    std::string name = "a-name-that-is-longer-than-a-short-text";
    client().PatchPodStatus({"default", name, "u1"}, patch, Note("patch"));
    for (std::string* text : {&reason, &message, &target, &node, &name}) text->assign(99, 'x');
  }
  Run();
  ASSERT_THAT(writes_.open(), ElementsAre("PATCH /api/v1/namespaces/default/pods/"
                                          "a-name-that-is-longer-than-a-short-text/status"));
  const nlohmann::json status = ParseJson(writes_.BodyOf(0))["status"];
  EXPECT_EQ(status["nominatedNodeName"], "n-nominated");
  ASSERT_EQ(status["conditions"].size(), 2u);
  EXPECT_EQ(status["conditions"][0]["reason"], "Unschedulable");
  EXPECT_EQ(status["conditions"][0]["message"], "no node fits");
  EXPECT_EQ(status["conditions"][1]["reason"], "preempted");
  writes_.Answer(0, 200, "{}");
  Run();
  EXPECT_THAT(Answers(), ElementsAre("patch: Ok"));
}

TEST_F(KubernetesRequestsTest, APatchKeepsWhatItDoesNotChange) {
  PodStatusPatch patch;
  patch.nominated_node = "";
  client().PatchPodStatus({"default", "p", "u1"}, patch, nullptr);
  Run();
  ASSERT_THAT(writes_.open(), SizeIs(1));
  const nlohmann::json status = ParseJson(writes_.BodyOf(0))["status"];
  EXPECT_TRUE(status.contains("nominatedNodeName"));
  EXPECT_FALSE(status.contains("conditions"));
}

TEST_F(KubernetesRequestsTest, DeletesAPod) {
  client().DeletePod({"default", "p", "u1"}, 5, Note("delete"));
  Run();
  ASSERT_THAT(writes_.open(), ElementsAre("DELETE /api/v1/namespaces/default/pods/p"));
  EXPECT_EQ(ParseJson(writes_.BodyOf(0))["gracePeriodSeconds"], 5);
  writes_.Answer(0, 404, StatusText(404, "NotFound"));
  Run();
  EXPECT_THAT(Answers(), ElementsAre("delete: NotFound: text"));
}

TEST_F(KubernetesRequestsTest, RequestsForOnePodKeepTheirOrder) {
  client().Bind({"default", "p", "u1"}, "n1", Note("bind"));
  client().DeletePod({"default", "p", "u1"}, {}, Note("delete"));
  client().Bind({"default", "q", "u2"}, "n1", Note("other bind"));
  Run();
  ASSERT_THAT(writes_.open(), ElementsAre("POST /api/v1/namespaces/default/pods/p/binding",
                                          "POST /api/v1/namespaces/default/pods/q/binding"));
  writes_.Answer(0, 201, "{}");
  Run();
  ASSERT_THAT(writes_.open(), ElementsAre("POST /api/v1/namespaces/default/pods/q/binding",
                                          "DELETE /api/v1/namespaces/default/pods/p"));
  writes_.Answer(1, 200, "{}");
  writes_.Answer(0, 201, "{}");
  Run();
  EXPECT_THAT(Answers(), ElementsAre("bind: Ok", "delete: Ok", "other bind: Ok"));
}

TEST_F(KubernetesRequestsTest, AcceptsAnEventBeforeItIsStored) {
  client().CreateEvent(MakeEvent(), Note("event"));
  EXPECT_THAT(answers_, IsEmpty());
  Run();
  EXPECT_THAT(Answers(), ElementsAre("event: Ok"));
  EXPECT_THAT(events_.open(), ElementsAre("POST /apis/events.k8s.io/v1/namespaces/default/events"));
  EXPECT_THAT(writes_.open(), IsEmpty());
}

TEST_F(KubernetesRequestsTest, RequestReturnsTheAnswerAsReceived) {
  ApiResponse response;
  ApiRequest request = MakeRequest("GET", "/api/v1/nodes?limit=1");
  request.timeout_ns = 3 * kSecond;
  client().Request(request, [&](ApiResponse answer) { response = std::move(answer); });
  Run();
  ASSERT_THAT(writes_.open(), ElementsAre("GET /api/v1/nodes?limit=1"));
  EXPECT_EQ(writes_.RequestAt(0).timeout_ns, 3 * kSecond);
  EXPECT_EQ(writes_.RequestAt(0).content_type, "");
  const std::string body = StatusText(429, "TooManyRequests");
  writes_.Answer(0, 429, body, 2 * kSecond);
  EXPECT_EQ(response.status, Status::Unavailable("text"));
  EXPECT_EQ(response.http_status, 429u);
  EXPECT_EQ(response.retry_after_ns, 2 * kSecond);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, body);
}

TEST_F(KubernetesRequestsTest, RequestKeepsTheMediaTypeUntilTheAnswer) {
  struct Case {
    const char* name;
    const char* verb;
    const char* content_type;
    const char* expected;
  };
  const Case cases[] = {
      {"its own", "PATCH", "application/apply-patch+yaml", "application/apply-patch+yaml"},
      {"the default of a patch", "PATCH", "", "application/merge-patch+json"},
      {"the default", "POST", "", "application/json"},
  };
  for (const Case& c : cases) {
    client().Request({.verb = c.verb, .path = "/x", .body = "{}", .content_type = c.content_type},
                     NoteResponse(c.name));
    Run();
    ASSERT_THAT(writes_.open(), SizeIs(1)) << c.name;
    EXPECT_EQ(writes_.RequestAt(0).content_type, c.expected) << c.name;
    writes_.Answer(0, 200, "{}");
    EXPECT_THAT(Answers(), ElementsAre(std::string(c.name) + ": 200 {}"));
  }
}

TEST_F(KubernetesRequestsTest, RequestWithoutAServerHasNoHttpStatus) {
  client().Request(MakeRequest("POST"), NoteResponse("request"));
  Run();
  writes_.Lose(0, Delivery::kUnknown, Status::Unavailable("connection lost"));
  // A request of a plugin is not repeated.
  RunFor(kMinute);
  EXPECT_THAT(Answers(), ElementsAre("request: 0 Unavailable: connection lost"));
  EXPECT_THAT(writes_.open(), IsEmpty());
}

TEST_F(KubernetesRequestsTest, EveryCallbackMayBeEmpty) {
  client().Bind({"default", "p", ""}, "n1", nullptr);
  client().PatchPodStatus({"default", "q", ""}, {}, nullptr);
  client().DeletePod({"default", "r", ""}, {}, nullptr);
  client().CreateEvent(MakeEvent(), nullptr);
  client().Request(MakeRequest("GET"), nullptr);
  Run();
  ASSERT_THAT(writes_.open(), SizeIs(4));
  while (!writes_.open().empty()) writes_.Answer(0, 200, "{}");
  Run();
  Stop();
  client().Request(MakeRequest("GET"), nullptr);
  client().CreateEvent(MakeEvent(), nullptr);
  Run();
}

// ---- The fence ----------------------------------------------------------------------------------

TEST_F(KubernetesRequestsTest, EveryWriteNeedsAnOpenFence) {
  client().Bind({"default", "p", ""}, "n1", nullptr);
  client().PatchPodStatus({"default", "q", ""}, {}, nullptr);
  client().DeletePod({"default", "r", ""}, {}, nullptr);
  for (const char* verb : {"POST", "PUT", "PATCH", "DELETE"}) {
    client().Request(MakeRequest(verb), nullptr);
  }
  client().CreateEvent(MakeEvent(), nullptr);
  client().Request(MakeRequest("GET"), nullptr);
  Run();
  ASSERT_THAT(writes_.open(), SizeIs(8));
  for (size_t i = 0; i < 7; ++i) {
    const auto& may_send = writes_.RequestAt(i).may_send;
    ASSERT_TRUE(may_send != nullptr) << writes_.open()[i];
    EXPECT_TRUE(may_send().ok()) << writes_.open()[i];
  }
  const auto& event_may_send = events_.RequestAt(0).may_send;
  ASSERT_TRUE(event_may_send != nullptr);
  EXPECT_TRUE(event_may_send().ok());
  EXPECT_TRUE(writes_.RequestAt(7).may_send == nullptr) << writes_.open()[7];
  fence_.Close();
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(writes_.RequestAt(i).may_send().code(), ErrorCode::kUnavailable) << i;
  }
  EXPECT_EQ(event_may_send().code(), ErrorCode::kUnavailable);
}

TEST_F(KubernetesRequestsTest, ARequestThatTheFenceRefusesIsUnavailable) {
  fence_.Close();
  client().Request(MakeRequest("POST"), NoteResponse("request"));
  client().Bind({"default", "p", "u"}, "n1", Note("bind"));
  Run();
  ASSERT_THAT(writes_.open(), SizeIs(2));
  for (int i = 0; i < 2; ++i) {
    writes_.Lose(0, Delivery::kNotSent, writes_.RequestAt(0).may_send());
  }
  Run();
  EXPECT_THAT(Answers(), ElementsAre("request: 0 Unavailable: this process does not lead any more",
                                     "bind: Unavailable: this process does not lead any more"));
}

// ---- Limits and counts --------------------------------------------------------------------------

TEST_F(KubernetesRequestsTest, MoreRequestsOfPluginsThanTheLimitFail) {
  options_.max_plugin_requests = 2;
  for (const char* name : {"a", "b", "c"}) {
    client().Request(MakeRequest("GET", "/" + std::string(name)), NoteResponse(name));
  }
  EXPECT_THAT(answers_, IsEmpty());
  Run();
  EXPECT_THAT(writes_.open(), ElementsAre("GET /a", "GET /b"));
  EXPECT_THAT(Answers(),
              ElementsAre("c: 0 Unavailable: too many requests of plugins wait for an answer"));
  // Other requests have no such limit.
  client().Bind({"default", "p", "u"}, "n1", nullptr);
  writes_.Answer(0, 200, "1");
  client().Request(MakeRequest("GET", "/d"), NoteResponse("d"));
  Run();
  EXPECT_THAT(writes_.open(),
              ElementsAre("GET /b", "POST /api/v1/namespaces/default/pods/p/binding", "GET /d"));
  EXPECT_THAT(Answers(), ElementsAre("a: 200 1"));
}

TEST_F(KubernetesRequestsTest, CountsAreAtMostASecondOld) {
  client().Bind({"default", "p", "u"}, "n1", nullptr);
  client().CreateEvent(MakeEvent(), nullptr);
  Run();
  writes_.Answer(0, 201, "{}");
  events_.Answer(0, 201, "{}");
  RunFor(kSecond);
  EXPECT_EQ(client().pod_counts().binds, 1u);
  EXPECT_EQ(client().pod_counts().bound, 1u);
  EXPECT_EQ(client().event_counts().sent, 1u);
  // A long quiet time later.
  RunFor(kHour);
  client().Bind({"default", "q", "u"}, "n1", nullptr);
  Run();
  RunFor(kMinute);
  EXPECT_EQ(client().pod_counts().binds, 2u);
  writes_.Answer(0, 409, StatusText(409, "Conflict"));
  RunFor(kSecond);
  EXPECT_EQ(client().pod_counts().conflicts, 1u);
}

// ---- Re-entrance --------------------------------------------------------------------------------

TEST_F(KubernetesRequestsTest, EveryCallbackMaySendAnyOtherRequest) {
  const auto send_all = [this](const std::string& from) {
    client().Bind({"default", from, "u"}, "n1", nullptr);
    client().CreateEvent(MakeEvent(), nullptr);
    client().Request(MakeRequest("GET", "/" + from), nullptr);
    answers_.push_back(from);
  };
  client().Bind({"default", "p", "u"}, "n1", [&](const Status&) { send_all("bind"); });
  client().DeletePod({"default", "q", "u"}, {}, [&](const Status&) { send_all("delete"); });
  client().CreateEvent(MakeEvent(), [&](const Status&) { send_all("event"); });
  client().Request(MakeRequest("GET"), [&](const ApiResponse&) { send_all("request"); });
  for (int i = 0; i < 20; ++i) {
    Run();
    while (!writes_.open().empty()) writes_.Answer(0, 200, "{}");
  }
  EXPECT_THAT(answers_, ::testing::UnorderedElementsAre("bind", "delete", "event", "request"));
}

}  // namespace
}  // namespace berth::host

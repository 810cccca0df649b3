#include "host/process/shadow/shadow_event.h"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {
namespace {

class ShadowEventTest : public ::testing::Test {
 protected:
  static WatchEvent Added(AnyObject object) { return {WatchType::kAdded, std::move(object), {}}; }
  static WatchEvent Deleted(const AnyObject& object) {
    return {WatchType::kDeleted, object, object};
  }
  static WatchEvent Modified(AnyObject before, AnyObject after) {
    return {WatchType::kModified, std::move(after), std::move(before)};
  }
  // The n-th version of the pod "p".
  PodRef Pod(int version, TestPod pod = {.name = "p"}) {
    pod.meta += (pod.meta.empty() ? "" : ",") + std::string(R"("resourceVersion":")") +
                std::to_string(version) + '"';
    return objects_.Pod(pod);
  }
  NodeRef Node(const std::string& labels, const std::string& spec = "") {
    return objects_.Node({.name = "n1", .labels = labels, .spec = spec});
  }

  TestObjects objects_;
};

TEST_F(ShadowEventTest, KindsAndDescriptions) {
  const TestPod bound{.name = "p", .node = "n1"};
  const ObjectRef claim =
      objects_.ObjectFrom(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim",)"
                          R"("metadata":{"namespace":"d","name":"c"}})");
  using enum ShadowEventKind;
  struct Case {
    const char* name;
    WatchEvent event;
    ShadowEventKind kind;
    const char* description;
  };
  const std::vector<Case> table = {
      {"new pod", Added(Pod(1)), kNeutral, "pod default/p was added"},
      {"new pod with a node", Added(Pod(1, bound)), kEnvironment, "pod default/p was added"},
      {"binding", Modified(Pod(1), Pod(2, bound)), kPlacement, "pod default/p was bound"},
      {"nomination",
       Modified(Pod(1), Pod(2, {.name = "p", .status = R"("nominatedNodeName":"n1")"})),
       kNomination, "pod default/p was nominated"},
      {"same nomination",
       Modified(Pod(1, {.name = "p", .status = R"("nominatedNodeName":"n1")"}),
                Pod(2, {.name = "p", .status = R"("nominatedNodeName":"n1","phase":"Pending")"})),
       kNeutral, "pod default/p was changed"},
      {"end of a nomination",
       Modified(Pod(1, {.name = "p", .status = R"("nominatedNodeName":"n1")"}), Pod(2)), kNeutral,
       "pod default/p was changed"},
      {"status of a bound pod",
       Modified(Pod(1, bound),
                Pod(2, {.name = "p", .node = "n1", .status = R"("phase":"Running")"})),
       kNeutral, "pod default/p was changed"},
      {"labels of a bound pod",
       Modified(Pod(1, bound),
                Pod(2, {.name = "p", .node = "n1", .meta = R"("labels":{"a":"b"})"})),
       kEnvironment, "pod default/p was changed"},
      {"deletion of a bound pod begins",
       Modified(Pod(1, bound), Pod(2, {.name = "p",
                                       .node = "n1",
                                       .meta = R"("deletionTimestamp":"2026-01-10T08:00:00Z")"})),
       kEnvironment, "pod default/p was changed"},
      {"deleted pod", Deleted(Pod(1)), kNeutral, "pod default/p was deleted"},
      {"deleted pod with a node", Deleted(Pod(1, bound)), kEnvironment,
       "pod default/p was deleted"},
      {"new node", Added(Node("")), kEnvironment, "node n1 was added"},
      {"heartbeat", Modified(Node(""), Node("")), kNeutral, "node n1 was changed"},
      {"labels of a node", Modified(Node(""), Node(R"("a":"b")")), kEnvironment,
       "node n1 was changed"},
      {"cordoned node", Modified(Node(""), Node("", R"("unschedulable":true)")), kEnvironment,
       "node n1 was changed"},
      {"deleted node", Deleted(Node("")), kEnvironment, "node n1 was deleted"},
      {"other object", Modified(claim, claim), kEnvironment,
       "PersistentVolumeClaim d/c was changed"},
  };
  for (const Case& each : table) {
    EXPECT_EQ(ClassifyShadowEvent(each.event), each.kind) << each.name;
    EXPECT_EQ(DescribeChange(each.event), each.description) << each.name;
  }
  EXPECT_EQ(ClassifyShadowEvent({}), kMark);
  EXPECT_EQ(ClassifyShadowEvent({.type = WatchType::kNotServed, .object = {}, .previous = {}}),
            kMark);
}

TEST_F(ShadowEventTest, TheInverseOfTheInverseIsTheEvent) {
  const PodRef before = Pod(1);
  const PodRef after = Pod(2, {.name = "p", .node = "n1"});
  const std::vector<WatchEvent> table = {Added(before), Modified(before, after), Deleted(after)};
  const std::vector<WatchType> inverse_types = {WatchType::kDeleted, WatchType::kModified,
                                                WatchType::kAdded};
  for (size_t i = 0; i < table.size(); ++i) {
    const WatchEvent inverse = InverseOf(table[i]);
    EXPECT_EQ(inverse.type, inverse_types[i]);
    const WatchEvent again = InverseOf(inverse);
    EXPECT_EQ(again.type, table[i].type);
    EXPECT_EQ(again.object, table[i].object);
  }
  EXPECT_EQ(InverseOf(table[1]).object, AnyObject(before));
  EXPECT_EQ(InverseOf(table[1]).previous, AnyObject(after));
}

TEST_F(ShadowEventTest, ChangesOfPlacedPods) {
  const TestPod bound{.name = "p", .node = "n1"};
  struct Case {
    const char* name;
    WatchEvent event;
    bool expected;
  };
  const std::vector<Case> table = {
      {"new pod", Added(Pod(1)), false},
      {"new pod with a node", Added(Pod(1, bound)), true},
      {"pending pod", Modified(Pod(1), Pod(2)), false},
      {"binding", Modified(Pod(1), Pod(2, bound)), false},
      {"status", Modified(Pod(1, bound), Pod(2, bound)), true},
      {"deletion of a pending pod", Deleted(Pod(1)), false},
      {"deletion", Deleted(Pod(1, bound)), true},
      {"node", Added(Node("")), false},
  };
  for (const Case& each : table) {
    const ShadowEvent event(std::make_shared<ShadowRoute>(), each.event, 0);
    EXPECT_EQ(event.ChangesPlacedPod(), each.expected) << each.name;
  }
}

TEST_F(ShadowEventTest, EventsOfAnEndedWatchAreDropped) {
  const ShadowEvent event(std::make_shared<ShadowRoute>(), Added(Pod(1)), 0);
  event.Apply();
  event.Undo();
  EXPECT_TRUE(event.IsAboutPod("uid-p"));
  EXPECT_FALSE(event.IsAboutPod("uid-q"));
  EXPECT_FALSE(event.IsAboutPod(""));
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Records the events that it receives, and errors of the watch.
class RecordingShadowSink final : public WatchSink {
 public:
  void OnEvents(std::span<WatchEvent> events) override {
    for (const WatchEvent& event : events) {
      seen.push_back(event.has_object() ? Base(event.object).Key() : "synced");
    }
  }
  void OnWatchError(const Status& status) override { seen.push_back(status.ToString()); }

  std::vector<std::string> seen;
};

// A source whose watches report an error.
class FailingSource final : public ObjectSource {
 public:
  std::unique_ptr<Watch> StartWatch(std::string_view, WatchSink& sink) override {
    sink.OnWatchError(Status::PermissionDenied("no rule"));
    return std::make_unique<Watch>();
  }
};

class ShadowClientTest : public ::testing::Test {
 protected:
  ShadowClientTest() {
    EXPECT_TRUE(cluster_.Create(objects_.Pod({.name = "p"})).ok());
    EXPECT_TRUE(cluster_.Create(objects_.Node({.name = "n1"})).ok());
    cluster_.Deliver();
  }

  PodName Pod() { return {"default", "p", ""}; }
  StatusCallback Note() {
    return [this](const Status& status) { answers_.push_back(status.ToString()); };
  }
  ResponseCallback NoteResponse() {
    return [this](const ApiResponse& response) {
      answers_.push_back(response.status.ok() ? response.body : response.status.ToString());
    };
  }
  ApiRequest To(const std::string& verb) {
    return {.verb = verb, .path = "/api/v1/nodes/n1", .body = ""};
  }

  TestClock clock_;
  TestObjects objects_;
  std::vector<std::string> served_;  // The requests that reached the cluster.
  EmbeddedCluster cluster_{{.clock = clock_, .serve = [this](const ApiRequest& request) {
                              served_.push_back(request.verb);
                              return ApiResponse{.http_status = 200, .body = "served"};
                            }}};
  std::vector<std::string> answers_;
  int wakes_ = 0;
  ShadowClient client_{cluster_,
                       [](const std::shared_ptr<ShadowRoute>& route, std::span<WatchEvent> events) {
                         route->sink->OnEvents(events);
                       },
                       [this] { ++wakes_; }};
};

TEST_F(ShadowClientTest, EveryWriteIsRefused) {
  struct Case {
    const char* name;
    std::function<void()> send;
    std::string expected;
  };
  const std::string refusal = "Unsupported: shadow mode writes nothing to the cluster: ";
  const std::vector<Case> table = {
      {"binding", [&] { client_.Bind(Pod(), "n1", Note()); }, "a binding was refused"},
      {"status",
       [&] {
         client_.PatchPodStatus(Pod(), {.nominated_node = "n1", .pod_scheduled = {}}, Note());
       },
       "a change of the status of a pod was refused"},
      {"deletion", [&] { client_.DeletePod(Pod(), 0, Note()); },
       "the deletion of a pod was refused"},
      {"event", [&] { client_.CreateEvent(Event(), Note()); }, "an event was refused"},
      {"POST", [&] { client_.Request(To("POST"), NoteResponse()); },
       "POST /api/v1/nodes/n1 was refused"},
      {"PUT", [&] { client_.Request(To("PUT"), NoteResponse()); },
       "PUT /api/v1/nodes/n1 was refused"},
      {"PATCH", [&] { client_.Request(To("PATCH"), NoteResponse()); },
       "PATCH /api/v1/nodes/n1 was refused"},
      {"DELETE", [&] { client_.Request(To("DELETE"), NoteResponse()); },
       "DELETE /api/v1/nodes/n1 was refused"},
      {"unknown verb", [&] { client_.Request(To("get"), NoteResponse()); },
       "get /api/v1/nodes/n1 was refused"},
  };
  const uint64_t version = cluster_.resource_version();
  size_t count = 0;
  for (const Case& each : table) {
    answers_.clear();
    each.send();
    EXPECT_THAT(answers_, IsEmpty()) << each.name << ": the answer came within the call";
    cluster_.Deliver();
    EXPECT_EQ(client_.Deliver(), 1U) << each.name;
    EXPECT_THAT(answers_, ElementsAre(refusal + each.expected)) << each.name;
    EXPECT_EQ(client_.refused(), ++count) << each.name;
    EXPECT_EQ(wakes_, static_cast<int>(count)) << each.name;
  }
  EXPECT_EQ(cluster_.resource_version(), version);
  EXPECT_THAT(cluster_.events(), IsEmpty());
  EXPECT_THAT(served_, IsEmpty());
}

TEST_F(ShadowClientTest, ReadsArePassedOn) {
  client_.Request(To("GET"), NoteResponse());
  cluster_.Deliver();
  EXPECT_THAT(served_, ElementsAre("GET"));
  EXPECT_THAT(answers_, ElementsAre("served"));
  EXPECT_EQ(client_.refused(), 0U);
}

TEST_F(ShadowClientTest, RefusalsNeedNoCallback) {
  client_.Bind(Pod(), "n1", {});
  client_.Request(To("POST"), {});
  EXPECT_EQ(client_.Deliver(), 0U);
  EXPECT_EQ(client_.refused(), 2U);
}

TEST_F(ShadowClientTest, ACallbackMaySendTheNextRequest) {
  client_.Bind(Pod(), "n1", [this](const Status&) { client_.Bind(Pod(), "n1", Note()); });
  EXPECT_EQ(client_.Deliver(), 1U);
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_EQ(client_.Deliver(), 1U);
  EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(ShadowClientTest, EventsGoToTheReceiver) {
  RecordingShadowSink sink;
  std::shared_ptr<ShadowRoute> kept;
  std::vector<WatchEvent> events;
  ShadowClient client(
      cluster_, [&](const std::shared_ptr<ShadowRoute>& route, std::span<WatchEvent> received) {
        kept = route;
        for (WatchEvent& event : received) events.push_back(std::move(event));
      });
  auto watch = client.StartWatch(kPodKind, sink);
  cluster_.Deliver();
  EXPECT_THAT(sink.seen, IsEmpty());
  ASSERT_EQ(events.size(), 2U);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->sink, &sink);
  watch.reset();
  EXPECT_EQ(kept->sink, nullptr);  // Events that wait must not reach a watch that has ended.
}

TEST_F(ShadowClientTest, ErrorsOfWatchesArePassedOn) {
  FailingSource failing;
  ShadowClient client(Client(failing, cluster_), [](const auto&, std::span<WatchEvent>) {});
  RecordingShadowSink sink;
  const auto watch = client.StartWatch(kPodKind, sink);
  EXPECT_THAT(sink.seen, ElementsAre("PermissionDenied: no rule"));
}

}  // namespace
}  // namespace berth::host

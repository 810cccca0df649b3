#include "host/process/shadow/shadow_client.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {
namespace {

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

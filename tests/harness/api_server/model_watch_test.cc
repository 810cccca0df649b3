#include <memory>
#include <string>

#include "tests/harness/api_server/api_model.h"
#include "tests/harness/api_server/api_model_fixture.h"
#include "tests/harness/api_server/model_transport.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

class ModelWatchTest : public ApiModelTest {
 protected:
  static std::string WatchOf(const std::string& version) {
    return "/api/v1/nodes?watch=true&resourceVersion=" + version;
  }
  static constexpr const char* kInitial =
      "/api/v1/nodes?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
      "&resourceVersionMatch=NotOlderThan";

  std::unique_ptr<ApiModel::OpenWatch> Open(const std::string& target,
                                            uint64_t view = ApiModel::kCurrent) {
    return model_->StartWatch(Get(target), view, refusal_);
  }
  HttpResponse refusal_;
};

TEST_F(ModelWatchTest, SendsChangesInOrder) {
  Start();
  CreateNode("a");
  const auto watch = Open(WatchOf("1"));
  ASSERT_NE(watch, nullptr);
  EXPECT_EQ(model_->TakeLines(*watch), "");
  EXPECT_FALSE(model_->NextNs(*watch, 0).has_value());
  CreateNode("b");
  EXPECT_EQ(model_->NextNs(*watch, 0), clock_.NowNs());
  ASSERT_EQ(Outcome("DELETE", "/api/v1/nodes/a"), "200");
  EXPECT_EQ(Lines(model_->TakeLines(*watch)), "ADDED b@2 DELETED a@3 ");
  EXPECT_EQ(model_->TakeLines(*watch), "");
}

TEST_F(ModelWatchTest, SendsInitialEventsAndTheirEnd) {
  Start();
  CreateNode("a");
  CreateNode("b");
  const auto watch = Open(kInitial);
  ASSERT_NE(watch, nullptr);
  EXPECT_EQ(Lines(model_->TakeLines(*watch)), "ADDED b@2 ADDED a@1 BOOKMARK @2(end) ");
  CreateNode("c");
  EXPECT_EQ(Lines(model_->TakeLines(*watch)), "ADDED c@3 ");
}

TEST_F(ModelWatchTest, RefusesInitialEventsThatItDoesNotSupport) {
  Start({.serves_initial_events = false});
  EXPECT_EQ(Open(kInitial), nullptr);
  EXPECT_EQ(refusal_.head.http_status, 422u);
}

TEST_F(ModelWatchTest, RefusesInitialEventsOfALaterRevision) {
  Start();
  CreateNode("a");
  CreateNode("b");
  EXPECT_EQ(Open(std::string(kInitial) + "&resourceVersion=2", /*view=*/1), nullptr);
  EXPECT_EQ(refusal_.head.http_status, 504u);
  const auto older = Open(std::string(kInitial) + "&resourceVersion=1", /*view=*/1);
  ASSERT_NE(older, nullptr);
  EXPECT_EQ(Lines(model_->TakeLines(*older, 1)), "ADDED a@1 BOOKMARK @1(end) ");
  EXPECT_EQ(Lines(model_->TakeLines(*older, 2)), "ADDED b@2 ");
}

TEST_F(ModelWatchTest, SendsBookmarksAndEnds) {
  Start({.bookmark_ns = 10 * kSecond});
  CreateNode("a");
  const auto watch = Open(WatchOf("1") + "&allowWatchBookmarks=true&timeoutSeconds=15");
  ASSERT_NE(watch, nullptr);
  CreatePod("p");  // Another kind moves the revision.
  EXPECT_EQ(model_->NextNs(*watch, 0), clock_.NowNs() + 10 * kSecond);
  clock_.Advance(10 * kSecond - 1);
  EXPECT_EQ(model_->TakeLines(*watch), "");
  clock_.Advance(1);
  EXPECT_EQ(Lines(model_->TakeLines(*watch)), "BOOKMARK @2 ");
  EXPECT_EQ(model_->NextNs(*watch, 0), clock_.NowNs() + 5 * kSecond);
  clock_.Advance(5 * kSecond - 1);
  EXPECT_EQ(model_->TakeLines(*watch), "");
  EXPECT_FALSE(watch->has_ended());
  clock_.Advance(1);
  EXPECT_EQ(model_->TakeLines(*watch), "");
  EXPECT_TRUE(watch->has_ended());
}

TEST_F(ModelWatchTest, ExpiresAfterACompaction) {
  Start();
  CreateNode("a");
  const auto up_to_date = Open(WatchOf("1"));
  const auto behind = Open(WatchOf("1"));
  CreateNode("b");
  EXPECT_EQ(Lines(model_->TakeLines(*up_to_date)), "ADDED b@2 ");
  model_->Compact();
  EXPECT_EQ(Lines(model_->TakeLines(*behind)), "ERROR 410 ");
  EXPECT_TRUE(behind->has_ended());
  CreateNode("c");
  EXPECT_EQ(Lines(model_->TakeLines(*up_to_date)), "ADDED c@3 ");
  const auto too_old = Open(WatchOf("1"));
  EXPECT_EQ(Lines(model_->TakeLines(*too_old)), "ERROR 410 ");
  const auto new_one = Open(WatchOf("2"));
  EXPECT_EQ(Lines(model_->TakeLines(*new_one)), "ADDED c@3 ");
}

TEST_F(ModelWatchTest, KeepsOnlyTheWindow) {
  Start({.watch_window = 2});
  for (const char* name : {"a", "b", "c", "d"}) CreateNode(name);
  EXPECT_EQ(Lines(model_->TakeLines(*Open(WatchOf("1")))), "ERROR 410 ");
  EXPECT_EQ(Lines(model_->TakeLines(*Open(WatchOf("2")))), "ADDED c@3 ADDED d@4 ");
}

TEST_F(ModelWatchTest, DeliversPodInAFinalPhaseAsDeleted) {
  Start();
  CreatePod("a");
  const auto watch = Open(std::string(kActive) + "&watch=true&resourceVersion=1");
  ASSERT_NE(watch, nullptr);
  const std::string done = PodText("a", R"(,"status":{"phase":"Failed"})");
  model_->Note(ParseOrderedJson(done));
  ASSERT_TRUE(cluster_.Update(*decoder_.Decode(done)).ok());
  EXPECT_EQ(Lines(model_->TakeLines(*watch)), "DELETED a@2 ");
  EXPECT_EQ(Open("/api/v1/pods?watch=true&resourceVersion=1&labelSelector=a"), nullptr);
  EXPECT_EQ(refusal_.head.http_status, 400u);
}

TEST_F(ModelWatchTest, EndsWhenTheKindIsNoLongerServed) {
  Start();
  const auto watch = Open("/apis/storage.k8s.io/v1/csinodes?watch=true&resourceVersion=1");
  cluster_.SetServed("storage.k8s.io/v1/CSINode", false);
  EXPECT_EQ(model_->TakeLines(*watch), "");
  EXPECT_TRUE(watch->has_ended());
}

// ---- Through the transport ----------------------------------------------------------------------

TEST_F(ModelWatchTest, TransportPushesChangesWhenTheyHappen) {
  Start();
  ModelTransport transport(*model_, executor_);
  RecordingStreamSink sink;
  const auto stream = transport.Open(Get(kInitial), sink);
  EXPECT_EQ(sink.heads, 0);
  executor_.RunAll();
  EXPECT_EQ(Lines(std::exchange(sink.bytes, {})), "BOOKMARK @0(end) ");
  CreateNode("a");
  executor_.RunAll();
  EXPECT_EQ(Lines(std::exchange(sink.bytes, {})), "ADDED a@1 ");
  EXPECT_EQ(sink.end, "");
  transport.Close();
  EXPECT_THAT(sink.end, HasSubstr("closed"));
}

TEST_F(ModelWatchTest, TransportLagsBehindByATime) {
  Start();
  ModelTransport transport(*model_, executor_);
  transport.SetLag(5 * kSecond);
  RecordingStreamSink sink;
  const auto stream = transport.Open(Get(kInitial), sink);
  executor_.RunAll();
  sink.bytes.clear();
  clock_.Advance(kSecond);
  CreateNode("a");
  executor_.RunAll();
  Advance(executor_, clock_, 5 * kSecond - 1);
  EXPECT_EQ(sink.bytes, "");
  Advance(executor_, clock_, 1);
  EXPECT_EQ(Lines(sink.bytes), "ADDED a@1 ");
}

TEST_F(ModelWatchTest, TransportAnswersEachRequestOnce) {
  Start();
  ModelTransport transport(*model_, executor_);
  int answers = 0;
  const auto count = [&](const HttpResponse& response) {
    ++answers;
    EXPECT_EQ(response.head.http_status, 200u);
  };
  transport.Send(Get("/version"), count);
  EXPECT_EQ(answers, 0);
  executor_.RunAll();
  EXPECT_EQ(answers, 1);
  HttpRequest refused = Get("/version");
  refused.may_send = [] { return Status::Unavailable("fence"); };
  const auto expect = [&](const char* message, Delivery delivery) {
    return [&answers, message, delivery](const HttpResponse& response) {
      ++answers;
      EXPECT_EQ(response.status.message(), message);
      EXPECT_EQ(response.delivery, delivery);
    };
  };
  transport.Send(refused, expect("fence", Delivery::kNotSent));
  executor_.RunAll();
  transport.Send(Get("/version"), expect("the transport was closed", Delivery::kNotSent));
  transport.Close();
  EXPECT_EQ(answers, 3);
  executor_.RunAll();
  EXPECT_EQ(answers, 3);
  EXPECT_EQ(model_->served().size(), 1u);
}

}  // namespace
}  // namespace berth::host

#include "host/process/replay/stream_cluster.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/decode.h"
#include "host/base/assert.h"
#include "host/base/test_clock.h"

namespace berth::host {
namespace {

// A pod with the metadata that the tests need. The tests give each version another priority, to
// recognize the version.
struct PodText {
  const char* version = "";
  const char* uid = "";
  int priority = 0;
  const char* name = "a";
};

class StreamClusterTest : public ::testing::Test {
 protected:
  AnyObject Decode(const std::string& json) {
    Result<AnyObject> object = decoder_.Decode(json);
    BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
    return *object;
  }
  AnyObject PodOf(const PodText& pod) {
    std::string meta = R"("name":")" + std::string(pod.name) + '"';
    if (*pod.version != '\0') meta += R"(,"resourceVersion":")" + std::string(pod.version) + '"';
    if (*pod.uid != '\0') meta += R"(,"uid":")" + std::string(pod.uid) + '"';
    return Decode(R"({"apiVersion":"v1","kind":"Pod","metadata":{)" + meta +
                  R"(},"spec":{"priority":)" + std::to_string(pod.priority) + "}}");
  }
  bool Apply(StreamType type, const PodText& pod) {
    const Result<bool> changed = cluster_stream_->Apply({type, 0, PodOf(pod), ""});
    BERTH_ASSERT_MSG(changed.ok(), "%s", changed.status().ToString().c_str());
    return *changed;
  }
  bool Add(const PodText& pod) { return Apply(StreamType::kAdded, pod); }
  bool Modify(const PodText& pod) { return Apply(StreamType::kModified, pod); }
  bool Delete(const PodText& pod) { return Apply(StreamType::kDeleted, pod); }
  // Returns the priority of pod "a", or -1 if it does not exist.
  int Priority() const {
    const PodRef pod = cluster_.FindPod("default", "a");
    return pod != nullptr ? pod->view().priority : -1;
  }
  void UseNewStream(size_t max_deleted) {
    cluster_stream_ = std::make_unique<StreamCluster>(cluster_, max_deleted);
  }

  Interner interner_;
  Decoder decoder_{interner_};
  TestClock clock_;
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 0, .serve = nullptr}};
  std::unique_ptr<StreamCluster> cluster_stream_ = std::make_unique<StreamCluster>(cluster_);
};

TEST_F(StreamClusterTest, AppliesTheEventsOfAWatch) {
  EXPECT_TRUE(Add({"1", "u1", 1}));
  EXPECT_TRUE(Modify({"2", "u1", 2}));
  EXPECT_EQ(Priority(), 2);
  EXPECT_TRUE(Delete({"3", "u1", 2}));
  EXPECT_EQ(Priority(), -1);
}

TEST_F(StreamClusterTest, ModifiedMayAddAndAddedMayReplace) {
  EXPECT_TRUE(Modify({.priority = 1}));
  EXPECT_EQ(Priority(), 1);
  EXPECT_TRUE(Add({.priority = 2}));
  EXPECT_EQ(Priority(), 2);
  EXPECT_TRUE(Delete({}));
  EXPECT_FALSE(Delete({}));
  EXPECT_TRUE(Add({.priority = 3}));
  EXPECT_EQ(Priority(), 3);
}

TEST_F(StreamClusterTest, ARepetitionChangesNothing) {
  EXPECT_TRUE(Add({"10", "u1", 1}));
  const std::string before(cluster_.FindPod("default", "a")->resource_version());
  EXPECT_FALSE(Add({"10", "u1", 7}));
  EXPECT_FALSE(Modify({"10", "u1", 7}));
  EXPECT_FALSE(Modify({"9", "u1", 7})) << "older";
  EXPECT_FALSE(Modify({"010", "u1", 7}));
  EXPECT_EQ(cluster_.FindPod("default", "a")->resource_version(), before);
  EXPECT_TRUE(Modify({"11", "u1", 2}));
  EXPECT_TRUE(Modify({"", "u1", 3})) << "an object without a version is new";
  EXPECT_FALSE(Modify({"11", "u1", 4}));
  EXPECT_EQ(Priority(), 3);
}

TEST_F(StreamClusterTest, ComparesNonNumericVersionsForEqualityOnly) {
  EXPECT_TRUE(Add({"v10", "u1", 1}));
  EXPECT_FALSE(Add({"v10", "u1", 2}));
  EXPECT_TRUE(Modify({"v9", "u1", 3}));
  EXPECT_TRUE(Modify({"8", "u1", 4}));
  EXPECT_EQ(Priority(), 4);
}

TEST_F(StreamClusterTest, RepetitionDoesNotCreateADeletedObjectAgain) {
  EXPECT_TRUE(Add({"5", "u1", 1}));
  EXPECT_TRUE(Delete({"7", "u1"}));
  EXPECT_FALSE(Add({"5", "u1", 1}));
  EXPECT_FALSE(Modify({"6", "u1", 1}));
  EXPECT_FALSE(Delete({"7", "u1"}));
  EXPECT_EQ(Priority(), -1);
  EXPECT_TRUE(Add({"8", "u2", 2})) << "another object of the same name";
  EXPECT_EQ(Priority(), 2);
}

TEST_F(StreamClusterTest, ADeletionMayHaveTheLastVersionSeen) {
  EXPECT_TRUE(Add({"5", "u1", 1}));
  EXPECT_TRUE(Delete({"5", "u1"}));
  EXPECT_EQ(Priority(), -1);
}

TEST_F(StreamClusterTest, LateDeletionDoesNotDeleteALaterObject) {
  EXPECT_TRUE(Add({"8", "u2", 2}));
  EXPECT_FALSE(Delete({"7", "u1"}));
  EXPECT_FALSE(Delete({"", "u1"}));
  EXPECT_EQ(Priority(), 2);
  EXPECT_TRUE(Delete({"9", "u3"})) << "the events in between were missed";
  EXPECT_EQ(Priority(), -1);
}

TEST_F(StreamClusterTest, AnObjectWithAnotherUidReplacesTheFirst) {
  EXPECT_TRUE(Add({"1", "u1", 1}));
  EXPECT_TRUE(Add({"4", "u2", 2}));
  EXPECT_EQ(cluster_.FindPod("default", "a")->uid(), "u2");
  EXPECT_FALSE(Modify({"2", "u1", 1}));
  EXPECT_FALSE(Delete({"3", "u1"}));
  EXPECT_EQ(Priority(), 2);
}

TEST_F(StreamClusterTest, ComparesWithTheVersionsOfLoadedObjects) {
  const AnyObject pod = PodOf({"5", "u1", 1});
  ASSERT_TRUE(cluster_.Load(pod).ok());
  cluster_stream_->NoteLoaded(pod);
  EXPECT_FALSE(Add({"5", "u1", 2}));
  EXPECT_TRUE(Modify({"6", "u1", 3}));
  EXPECT_EQ(Priority(), 3);
}

TEST_F(StreamClusterTest, ForgetsTheOldestDeletionFirst) {
  UseNewStream(2);
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_TRUE(Add({"1", "", 1, name}));
    EXPECT_TRUE(Delete({"2", "", 1, name}));
  }
  EXPECT_TRUE(Add({"1", "", 1, "a"})) << "forgotten";
  EXPECT_FALSE(Add({"1", "", 1, "b"}));
  EXPECT_FALSE(Add({"1", "", 1, "c"}));
}

TEST_F(StreamClusterTest, ObjectsOfDifferentKindsMayHaveSameName) {
  const AnyObject node =
      Decode(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"x","resourceVersion":"5"}})");
  const AnyObject volume = Decode(R"({"apiVersion":"v1","kind":"PersistentVolume",)"
                                  R"("metadata":{"name":"x","resourceVersion":"4"}})");
  EXPECT_TRUE(*cluster_stream_->Apply({StreamType::kAdded, 0, node, ""}));
  EXPECT_TRUE(*cluster_stream_->Apply({StreamType::kAdded, 0, volume, ""}));
  EXPECT_TRUE(*cluster_stream_->Apply({StreamType::kDeleted, 0, node, ""}));
  EXPECT_EQ(cluster_.FindNode("x"), nullptr);
  EXPECT_TRUE(cluster_.Find("v1/PersistentVolume", "", "x").has_value());
}

TEST_F(StreamClusterTest, ReturnsErrorIfTheClusterRefusesAnObject) {
  EXPECT_TRUE(Add({"1", "u1", 1, "b"}));
  const Result<bool> refused =
      cluster_stream_->Apply({StreamType::kAdded, 0, PodOf({"2", "u1", 1}), ""});
  EXPECT_EQ(refused.status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Priority(), -1);
  EXPECT_TRUE(Add({"2", "u2", 1})) << "the refused version does not count as seen";
}

TEST_F(StreamClusterTest, BookmarksAndDecisionsChangeNothing) {
  EXPECT_FALSE(*cluster_stream_->Apply({StreamType::kBookmark, 0, {}, ""}));
  EXPECT_FALSE(*cluster_stream_->Apply({StreamType::kDecision, 0, {}, ""}));
}

TEST_F(StreamClusterTest, APodDeletedHereIsNotCreatedAgain) {
  struct Case {
    StreamType type;
    const char* uid_before;
    const char* uid;
    bool is_created;
  };
  const std::vector<Case> cases = {
      {StreamType::kModified, "u1", "u1", false}, {StreamType::kAdded, "u1", "u1", false},
      {StreamType::kModified, "u1", "u2", true},  {StreamType::kAdded, "u1", "u2", true},
      {StreamType::kModified, "", "", false},     {StreamType::kAdded, "", "", true},
      {StreamType::kModified, "u1", "", false},   {StreamType::kAdded, "u1", "", true},
  };
  for (const Case& c : cases) {
    UseNewStream(StreamCluster::kMaxDeleted);
    EXPECT_TRUE(Add({"1", c.uid_before, 1}));
    ASSERT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok()) << "deleted in this cluster";
    EXPECT_EQ(Apply(c.type, {"2", c.uid, 2}), c.is_created);
    EXPECT_EQ(Priority(), c.is_created ? 2 : -1) << c.uid_before << ' ' << c.uid;
    if (!c.is_created) {
      EXPECT_FALSE(Apply(c.type, {"3", c.uid, 3})) << "later events do not create it either";
      EXPECT_FALSE(Delete({"4", c.uid, 3}));
      EXPECT_TRUE(Add({"5", "u9", 5})) << "another pod of the same name";
    }
    ASSERT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok());
  }
}

}  // namespace
}  // namespace berth::host

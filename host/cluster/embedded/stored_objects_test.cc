#include "host/cluster/embedded/stored_objects.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StoredObjectsTest : public ::testing::Test {
 protected:
  // Adds pod default/<name>, whose uid is that of TestObjects.
  StoredObject& AddPod(const std::string& name) {
    objects_.Add({.object = test_objects_.Pod({.name = name})});
    return *objects_.Find(kPodKind, "default/" + name);
  }

  TestObjects test_objects_;
  DeliveryQueue deliveries_;
  ResourceVersions versions_;
  StoredObjects objects_{deliveries_, versions_};
};

TEST_F(StoredObjectsTest, FindsObjectsByKindAndKey) {
  AddPod("a");
  EXPECT_EQ(ObjectKey("default", "a"), "default/a");
  EXPECT_EQ(ObjectKey("", "n1"), "n1");
  EXPECT_NE(objects_.Find(kPodKind, "default/a"), nullptr);
  EXPECT_EQ(objects_.Find(kPodKind, "a"), nullptr);
  EXPECT_EQ(objects_.Find(kNodeKind, "default/a"), nullptr);
  EXPECT_EQ(objects_.OfKind(kPodKind)->size(), 1u);
  EXPECT_EQ(objects_.OfKind(kNodeKind), nullptr);
}

TEST_F(StoredObjectsTest, FindsAPodByUidUntilErased) {
  StoredObject& pod = AddPod("a");
  const std::string uid(Base(pod.object).uid());
  ASSERT_NE(objects_.FindPodWithUid(uid), nullptr);
  EXPECT_EQ(*objects_.FindPodWithUid(uid), "default/a");
  objects_.Erase(pod);
  EXPECT_EQ(objects_.FindPodWithUid(uid), nullptr);
  EXPECT_EQ(objects_.Find(kPodKind, "default/a"), nullptr);
  EXPECT_EQ(versions_.last(), 1u) << "the deletion has a resourceVersion";
}

TEST_F(StoredObjectsTest, OrdersDueDeletions) {
  EXPECT_EQ(objects_.FirstDue(), nullptr);
  StoredObject& a = AddPod("a");
  StoredObject& b = AddPod("b");
  objects_.SetDeletionDue(a, 20);
  objects_.SetDeletionDue(b, 30);
  EXPECT_EQ(objects_.FirstDue(), &a);
  objects_.SetDeletionDue(b, 10);
  EXPECT_EQ(objects_.FirstDue(), &b);
  objects_.Erase(b);
  EXPECT_EQ(objects_.FirstDue(), &a);
  objects_.SetDeletionDue(a, 0);
  EXPECT_EQ(objects_.FirstDue(), nullptr);
}

TEST_F(StoredObjectsTest, DoesNotShowFinishedPodsToWatches) {
  AddPod("a");
  StoredObject& b = AddPod("b");
  EXPECT_EQ(objects_.Watched(kPodKind).size(), 2u);
  objects_.Replace(b, test_objects_.Pod({.name = "b", .status = R"("phase":"Failed")"}));
  const std::vector<AnyObject> watched = objects_.Watched(kPodKind);
  ASSERT_EQ(watched.size(), 1u);
  EXPECT_EQ(Base(watched[0]).name(), "a");
  EXPECT_EQ(objects_.OfKind(kPodKind)->size(), 2u);
}

TEST_F(StoredObjectsTest, KeepsKindsWithoutObjects) {
  EXPECT_THAT(objects_.Kinds(), IsEmpty());
  objects_.AddKind("v1/Namespace");
  objects_.Erase(AddPod("a"));
  EXPECT_THAT(objects_.Kinds(), ElementsAre("v1/Namespace", "v1/Pod"));
  EXPECT_THAT(objects_.Watched("v1/Pod"), IsEmpty());
}

}  // namespace
}  // namespace berth::host

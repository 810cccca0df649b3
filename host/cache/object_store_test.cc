#include "host/cache/object_store.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kClaim = "v1/PersistentVolumeClaim";

class ObjectStoreTest : public ::testing::Test {
 protected:
  ObjectRef Claim(const std::string& ns, const std::string& name, const std::string& uid = "u") {
    return objects_.ObjectFrom(R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{)"
                               R"("namespace":")" +
                               ns + R"(","name":")" + name + R"(","uid":")" + uid + "\"}}");
  }
  ObjectRef Driver(const std::string& name) {
    return objects_.ObjectFrom(
        R"({"kind":"CSIDriver","apiVersion":"storage.k8s.io/v1","metadata":{"name":")" + name +
        "\"}}");
  }
  std::vector<std::string> List(std::string_view kind, std::string_view ns, size_t at_most = 100) {
    std::vector<std::string> keys;
    store_.List(kind, ns, [&](const ObjectRef& object) {
      keys.push_back(object->Key());
      return keys.size() < at_most;
    });
    return keys;
  }

  TestObjects objects_;
  ObjectStore store_;
};

TEST_F(ObjectStoreTest, GetReturnsTheObjectThatWasSet) {
  const ObjectRef claim = Claim("a", "x");
  store_.Set(claim);
  EXPECT_EQ(store_.Get(kClaim, "a", "x"), claim);
  EXPECT_EQ(store_.Get(kClaim, "b", "x"), nullptr);
  EXPECT_EQ(store_.Get(kClaim, "a", "y"), nullptr);
  EXPECT_EQ(store_.Get("v1/Namespace", "a", "x"), nullptr);
}

TEST_F(ObjectStoreTest, SetReplacesTheObjectOfTheSameName) {
  store_.Set(Claim("a", "x"));
  const ObjectRef second = Claim("a", "x");
  store_.Set(second);
  EXPECT_EQ(store_.Get(kClaim, "a", "x"), second);
  EXPECT_EQ(store_.size(), 1U);
}

TEST_F(ObjectStoreTest, RemoveIgnoresAnUnknownObject) {
  store_.Set(Claim("a", "x"));
  store_.Remove(kClaim, "a", "y");
  store_.Remove("v1/Namespace", "", "x");
  EXPECT_EQ(store_.size(), 1U);
  store_.Remove(kClaim, "a", "x");
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_EQ(store_.Get(kClaim, "a", "x"), nullptr);
}

TEST_F(ObjectStoreTest, ListsByNamespaceAndName) {
  store_.Set(Claim("b", "y"));
  store_.Set(Claim("a", "z"));
  store_.Set(Claim("a", "x"));
  store_.Set(Claim("a-1", "w"));
  store_.Set(Driver("d"));
  EXPECT_THAT(List(kClaim, ""), ElementsAre("a/x", "a/z", "a-1/w", "b/y"));
  EXPECT_THAT(List(kClaim, "a"), ElementsAre("a/x", "a/z"));
  EXPECT_THAT(List(kClaim, "c"), IsEmpty());
  EXPECT_THAT(List(kClaim, "", 2), ElementsAre("a/x", "a/z"));
  EXPECT_THAT(List(kClaim, "a", 1), ElementsAre("a/x"));
  EXPECT_THAT(List("storage.k8s.io/v1/CSIDriver", ""), ElementsAre("d"));
  EXPECT_THAT(List("v1/Namespace", ""), IsEmpty());
}

// ---- Watchers -----------------------------------------------------------------------------------

class WatchTest : public ObjectStoreTest {
 protected:
  // Records the calls of a watcher: "w: +a/x", "w: ~a/x", "w: -a/x".
  ObjectStore::WatcherId Watch(std::string_view kind, const std::string& name) {
    return store_.Watch(kind, [this, name](const ObjectRef& old, const ObjectRef& now) {
      const char* what = old == nullptr ? "+" : now == nullptr ? "-" : "~";
      calls_.push_back(name + ": " + what + (now != nullptr ? now : old)->Key());
      last_old_ = old;
      last_now_ = now;
      seen_ = store_.Get(kClaim, "a", "x");
    });
  }

  std::vector<std::string> calls_;
  ObjectRef last_old_;
  ObjectRef last_now_;
  ObjectRef seen_;  // The claim a/x in the store during the last call.
};

TEST_F(WatchTest, GetsExistingObjectsThenEveryChangeInOrder) {
  store_.Set(Claim("b", "y"));
  store_.Set(Claim("a", "x"));
  const auto watcher = Watch(kClaim, "w");
  store_.Set(Claim("a", "z"));
  EXPECT_THAT(calls_, IsEmpty());
  store_.Replay(watcher);
  EXPECT_THAT(calls_, ElementsAre("w: +a/x", "w: +a/z", "w: +b/y"));
  calls_.clear();
  store_.Set(Claim("c", "n"));
  store_.Set(Claim("a", "x"));
  store_.Remove(kClaim, "a", "x");
  store_.Remove(kClaim, "a", "x");
  EXPECT_THAT(calls_, ElementsAre("w: +c/n", "w: ~a/x", "w: -a/x"));
}

TEST_F(WatchTest, IsCalledAfterTheChange) {
  store_.Replay(Watch(kClaim, "w"));
  const ObjectRef first = Claim("a", "x");
  const ObjectRef second = Claim("a", "x");
  store_.Set(first);
  EXPECT_EQ(seen_, first);
  EXPECT_EQ(last_old_, nullptr);
  EXPECT_EQ(last_now_, first);
  store_.Set(second);
  EXPECT_EQ(seen_, second);
  EXPECT_EQ(last_old_, first);
  EXPECT_EQ(last_now_, second);
  store_.Remove(kClaim, "a", "x");
  EXPECT_EQ(seen_, nullptr);
  EXPECT_EQ(last_old_, second);
  EXPECT_EQ(last_now_, nullptr);
}

TEST_F(WatchTest, AReplacedObjectIsADeletionAndAnAddition) {
  store_.Replay(Watch(kClaim, "w"));
  store_.Set(Claim("a", "x", "first"));
  store_.Set(Claim("a", "x", "second"));
  EXPECT_THAT(calls_, ElementsAre("w: +a/x", "w: -a/x", "w: +a/x"));
}

TEST_F(WatchTest, GetsChangesOfOneKindOnly) {
  store_.Replay(Watch(kClaim, "w"));
  store_.Set(Driver("d"));
  store_.Remove("storage.k8s.io/v1/CSIDriver", "", "d");
  EXPECT_THAT(calls_, IsEmpty());
}

TEST_F(WatchTest, CallsWatchersInTheOrderOfWatchUntilUnwatch) {
  const auto a = Watch(kClaim, "a");
  const auto b = Watch(kClaim, "b");
  EXPECT_NE(a, b);
  EXPECT_NE(a, 0U);
  store_.Replay(b);
  store_.Replay(a);
  store_.Set(Claim("a", "x"));
  store_.Unwatch(a);
  store_.Set(Claim("a", "x"));
  store_.Unwatch(b);
  store_.Unwatch(b);
  store_.Set(Claim("a", "x"));
  EXPECT_THAT(calls_, ElementsAre("a: +a/x", "b: +a/x", "b: ~a/x"));
}

}  // namespace
}  // namespace berth::host

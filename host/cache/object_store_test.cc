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
  // Records the calls of a watcher: "w: +a/x", "w: ~a/x", "w: -a/x", "w: =a/x" for an object that
  // existed.
  ObjectStore::WatcherId Watch(std::string_view kind, const std::string& name) {
    return store_.Watch(kind, [this, name](const ObjectChange& change) {
      const ObjectRef& old = change.old;
      const ObjectRef& now = change.now;
      const char* what = change.existed ? "=" : old == nullptr ? "+" : now == nullptr ? "-" : "~";
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
  EXPECT_THAT(calls_, ElementsAre("w: =a/x", "w: =a/z", "w: =b/y"));
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

TEST_F(WatchTest, ReplacedObjectIsADeletionAndAnAddition) {
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

TEST_F(WatchTest, CallsWatchersInOrderOfWatchUntilUnwatch) {
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

TEST_F(WatchTest, MarksExistingObjectsUnlessTheyReplaceAnother) {
  store_.Replay(Watch(kClaim, "w"));
  store_.Set(Claim("a", "x", "first"), true);
  store_.Set(Claim("a", "x", "first"), true);
  store_.Set(Claim("a", "x", "second"), true);
  EXPECT_THAT(calls_, ElementsAre("w: =a/x", "w: ~a/x", "w: -a/x", "w: =a/x"));
}

// ---- Kinds that are not served, and kinds with several versions ---------------------------------

constexpr std::string_view kNew = "example.com/v2/Rack";
constexpr std::string_view kOld = "example.com/v1/Rack";
constexpr std::string_view kBoth = "example.com/v2|v1/Rack";

class VersionsTest : public WatchTest {
 protected:
  ObjectRef Rack(const std::string& version, const std::string& name) {
    return objects_.ObjectFrom(R"({"kind":"Rack","apiVersion":"example.com/)" + version +
                               R"(","metadata":{"name":")" + name + "\"}}");
  }
};

TEST_F(VersionsTest, EveryKindIsServedUntilRecordedOtherwise) {
  EXPECT_TRUE(store_.IsServed(kNew));
  EXPECT_EQ(store_.UsedKind(kNew), kNew);
  EXPECT_EQ(store_.UsedKind(kBoth), kNew);
  store_.SetServed(kNew, false);
  EXPECT_FALSE(store_.IsServed(kNew));
  EXPECT_EQ(store_.UsedKind(kNew), "");
  EXPECT_EQ(store_.UsedKind(kBoth), kOld);
  store_.SetServed(kOld, false);
  EXPECT_FALSE(store_.IsServed(kBoth));
  EXPECT_EQ(store_.UsedKind(kBoth), "");
  store_.SetServed(kNew, true);
  EXPECT_EQ(store_.UsedKind(kBoth), kNew);
}

TEST_F(VersionsTest, ReadsTheVersionThatIsServed) {
  store_.Set(Rack("v1", "old"));
  EXPECT_THAT(List(kBoth, ""), IsEmpty());
  EXPECT_EQ(store_.Get(kBoth, "", "old"), nullptr);
  store_.SetServed(kNew, false);
  EXPECT_THAT(List(kBoth, ""), ElementsAre("old"));
  EXPECT_NE(store_.Get(kBoth, "", "old"), nullptr);
  EXPECT_THAT(List(kNew, ""), IsEmpty());
}

TEST_F(VersionsTest, WatcherGetsObjectsOfOneVersionAtTime) {
  store_.Replay(Watch(kBoth, "both"));
  store_.Replay(Watch(kOld, "old"));
  store_.SetServed(kNew, false);
  store_.Set(Rack("v1", "a"), true);
  store_.Set(Rack("v1", "b"));
  EXPECT_THAT(calls_, ElementsAre("both: =a", "old: =a", "both: +b", "old: +b"));
  calls_.clear();
  store_.Set(Rack("v2", "a"), true);
  EXPECT_THAT(calls_, IsEmpty()) << "v2 is not used yet";
  store_.SetServed(kNew, true);
  EXPECT_THAT(calls_, ElementsAre("both: -a", "both: -b", "both: =a"));
  EXPECT_EQ(last_now_->kind(), kNew);
  calls_.clear();
  store_.Remove(kOld, "", "a");
  EXPECT_THAT(calls_, ElementsAre("old: -a"));
}

// When the server begins to serve a kind, its first objects arrive before that is recorded.
TEST_F(VersionsTest, ReadsAKindOfOneVersionBeforeServed) {
  store_.SetServed(kNew, false);
  store_.SetServed(kOld, false);
  store_.Set(Rack("v2", "a"), true);
  EXPECT_FALSE(store_.IsServed(kNew));
  EXPECT_TRUE(store_.IsAvailable(kNew));
  EXPECT_FALSE(store_.IsAvailable(kBoth));
  EXPECT_NE(store_.Get(kNew, "", "a"), nullptr);
  EXPECT_THAT(List(kNew, ""), ElementsAre("a"));
  EXPECT_THAT(List(kBoth, ""), IsEmpty());
  // The watchers of a reload come in between.
  store_.Replay(Watch(kNew, "new"));
  store_.Replay(Watch(kBoth, "both"));
  EXPECT_THAT(calls_, ElementsAre("new: =a"));
  store_.Set(Rack("v2", "b"), true);
  store_.SetServed(kNew, true);
  EXPECT_THAT(calls_, ElementsAre("new: =a", "new: =b", "both: =a", "both: =b"));
  EXPECT_TRUE(store_.IsAvailable(kBoth));
}

// A kind that is served and has no objects is available, too.
TEST_F(VersionsTest, ServedKindsAndThoseWithObjectsAreAvailable) {
  EXPECT_TRUE(store_.IsAvailable(kNew));
  EXPECT_TRUE(store_.IsAvailable(kBoth));
  store_.SetServed(kNew, false);
  EXPECT_FALSE(store_.IsAvailable(kNew));
  EXPECT_TRUE(store_.IsAvailable(kBoth)) << "the other version is served";
  store_.SetServed(kOld, false);
  EXPECT_FALSE(store_.IsAvailable(kBoth));
  store_.Set(Rack("v2", "a"), true);
  EXPECT_TRUE(store_.IsAvailable(kNew));
  store_.Remove(kNew, "", "a");
  EXPECT_FALSE(store_.IsAvailable(kNew));
}

TEST_F(VersionsTest, ObjectsOfReturnsAllObjectsOfTheVersion) {
  const auto names = [&](std::string_view kind) {
    std::vector<std::string> keys;
    for (const ObjectRef& object : store_.ObjectsOf(kind)) keys.push_back(object->Key());
    return keys;
  };
  store_.Set(Rack("v1", "b"));
  store_.Set(Rack("v1", "a"));
  store_.Set(Rack("v2", "c"));
  EXPECT_THAT(names(kOld), ElementsAre("a", "b"));
  store_.SetServed(kOld, false);
  EXPECT_THAT(names(kOld), ElementsAre("a", "b"));
  EXPECT_THAT(names(""), IsEmpty());
}

TEST_F(VersionsTest, WatcherThatWasNotReplayedIsNotCalled) {
  store_.Set(Rack("v1", "a"));
  const auto watcher = Watch(kBoth, "both");
  store_.SetServed(kNew, false);
  EXPECT_THAT(calls_, IsEmpty());
  store_.Replay(watcher);
  EXPECT_THAT(calls_, ElementsAre("both: =a"));
}

}  // namespace
}  // namespace berth::host

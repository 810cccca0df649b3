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
  ObjectRef Claim(const std::string& ns, const std::string& name) {
    return objects_.ObjectFrom(R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{)"
                               R"("namespace":")" +
                               ns + R"(","name":")" + name + "\"}}");
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

TEST_F(ObjectStoreTest, GetsWhatWasSet) {
  const ObjectRef claim = Claim("a", "x");
  store_.Set(claim);
  EXPECT_EQ(store_.Get(kClaim, "a", "x"), claim);
  EXPECT_EQ(store_.Get(kClaim, "b", "x"), nullptr);
  EXPECT_EQ(store_.Get(kClaim, "a", "y"), nullptr);
  EXPECT_EQ(store_.Get("v1/Namespace", "a", "x"), nullptr);
}

TEST_F(ObjectStoreTest, ReplacesTheObjectOfThatName) {
  store_.Set(Claim("a", "x"));
  const ObjectRef second = Claim("a", "x");
  store_.Set(second);
  EXPECT_EQ(store_.Get(kClaim, "a", "x"), second);
  EXPECT_EQ(store_.size(), 1U);
}

TEST_F(ObjectStoreTest, RemovesAndForgivesWhatIsNotThere) {
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

}  // namespace
}  // namespace berth::host

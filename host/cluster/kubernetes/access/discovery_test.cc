#include "host/cluster/kubernetes/access/discovery.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "tests/harness/scripted_transport.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kSliceKind = "resource.k8s.io/v1/ResourceSlice";
constexpr std::string_view kClaimKind = "resource.k8s.io/v1/ResourceClaim";

// Returns the list of resource.k8s.io/v1 with these entries.
std::string ListOf(const std::string& resources) {
  return R"({"kind":"APIResourceList","groupVersion":"resource.k8s.io/v1","resources":[)" +
         resources + "]}";
}

constexpr const char* kSliceEntry =
    R"({"name":"resourceslices","namespaced":false,"kind":"ResourceSlice",)"
    R"("verbs":["get","list","watch"]})";
constexpr const char* kClaimEntry =
    R"({"name":"resourceclaims","namespaced":true,"kind":"ResourceClaim",)"
    R"("verbs":["get","list","watch"]},)"
    R"({"name":"resourceclaims/status","namespaced":true,"kind":"ResourceClaim","verbs":["get"]})";

class DiscoveryTest : public ::testing::Test {
 protected:
  Discovery::ListenerId Follow(std::string_view kind, const std::string& name) {
    return discovery_->Follow(kind, [this, name](const Resource* resource) {
      seen_.push_back(name + ": " + (resource == nullptr ? "none" : resource->CollectionPath()));
    });
  }
  void Advance(int64_t ns) { host::Advance(executor_, clock_, ns); }
  std::vector<std::string> Seen() { return std::exchange(seen_, {}); }

  TestClock clock_;
  VirtualExecutor executor_{clock_};
  ScriptedTransport transport_{executor_};
  std::unique_ptr<Discovery> discovery_ =
      std::make_unique<Discovery>(transport_, executor_, /*seed=*/1, Log());
  std::vector<std::string> seen_;
};

TEST_F(DiscoveryTest, AsksOncePerGroupAndVersion) {
  Follow(kSliceKind, "slice");
  Follow(kClaimKind, "claim");
  Follow("v1/Pod", "pod");
  EXPECT_THAT(transport_.open(), ElementsAre("GET /apis/resource.k8s.io/v1", "GET /api/v1"));
  EXPECT_THAT(seen_, IsEmpty());
  transport_.Answer(0, 200, ListOf(std::string(kSliceEntry) + "," + kClaimEntry));
  EXPECT_THAT(Seen(), ElementsAre("slice: /apis/resource.k8s.io/v1/resourceslices",
                                  "claim: /apis/resource.k8s.io/v1/resourceclaims"));
  transport_.Answer(0, 200,
                    R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods",
                    "namespaced":true,"kind":"Pod","verbs":["list","watch"]}]})");
  EXPECT_THAT(Seen(), ElementsAre("pod: /api/v1/pods"));
}

TEST_F(DiscoveryTest, TellsLaterFollowersAsynchronouslyWithoutARequest) {
  Follow(kSliceKind, "first");
  transport_.Answer(0, 200, ListOf(kSliceEntry));
  Seen();
  Follow(kSliceKind, "second");
  EXPECT_THAT(Seen(), IsEmpty());
  EXPECT_THAT(transport_.open(), IsEmpty());
  executor_.RunAll();
  EXPECT_THAT(Seen(), ElementsAre("second: /apis/resource.k8s.io/v1/resourceslices"));
}

TEST_F(DiscoveryTest, OnlyServerDecidesThatKindIsNotServed) {
  struct Case {
    const char* name;
    uint32_t http_status;
    std::string body;
    std::vector<std::string> seen;
  };
  const std::vector<Case> cases = {
      {"404 for the group", 404, "{}", {"slice: none"}},
      {"a list without the kind", 200, ListOf(kClaimEntry), {"slice: none"}},
      {"an empty list", 200, ListOf(""), {"slice: none"}},
      {"503", 503, "{}", {}},
      {"403", 403, "{}", {}},
      {"200 with another object", 200, R"({"kind":"Status"})", {}},
      {"200 with other text", 200, "<html>", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    discovery_ = std::make_unique<Discovery>(transport_, executor_, 1, Log());
    const Discovery::ListenerId id = Follow(kSliceKind, "slice");
    transport_.Answer(0, c.http_status, c.body);
    EXPECT_EQ(Seen(), c.seen);
    EXPECT_EQ(discovery_->LastError(kSliceKind).ok(), !c.seen.empty());
    discovery_->Unfollow(id);
  }
}

TEST_F(DiscoveryTest, RepeatsQuestionWithoutAnAnswerAfterADelay) {
  Follow(kSliceKind, "slice");
  transport_.Lose(0, Delivery::kNotSent);
  EXPECT_EQ(discovery_->LastError(kSliceKind), Status::Unavailable("connection refused"));
  EXPECT_THAT(transport_.open(), IsEmpty());
  Advance(2 * kSecond);
  transport_.Answer(0, 200, ListOf(kSliceEntry));
  EXPECT_EQ(Seen().size(), 1u);
  EXPECT_TRUE(discovery_->LastError(kSliceKind).ok());
}

TEST_F(DiscoveryTest, AsksAgainPeriodicallyAndTellsOnlyChanges) {
  Follow(kSliceKind, "slice");
  transport_.Answer(0, 404, "{}");
  EXPECT_THAT(Seen(), ElementsAre("slice: none"));
  // A kind that is missing is asked for more often.
  Advance(Discovery::kRefreshMissingNs - 1);
  EXPECT_THAT(transport_.open(), IsEmpty());
  Advance(1);
  transport_.Answer(0, 404, "{}");
  EXPECT_THAT(Seen(), IsEmpty());
  Advance(Discovery::kRefreshMissingNs);
  transport_.Answer(0, 200, ListOf(kSliceEntry));
  EXPECT_THAT(Seen(), ElementsAre("slice: /apis/resource.k8s.io/v1/resourceslices"));
  Advance(Discovery::kRefreshNs - 1);
  EXPECT_THAT(transport_.open(), IsEmpty());
  Advance(1);
  transport_.Answer(0, 200, ListOf(kSliceEntry));
  EXPECT_THAT(Seen(), IsEmpty());
  Advance(Discovery::kRefreshNs);
  transport_.Answer(0, 200, ListOf(kClaimEntry));
  EXPECT_THAT(Seen(), ElementsAre("slice: none"));
}

TEST_F(DiscoveryTest, AsksAtOnceWhenResourceWasNotFound) {
  Follow(kSliceKind, "slice");
  transport_.Answer(0, 200, ListOf(kSliceEntry));
  Seen();
  discovery_->OnNotFound(kSliceKind);
  discovery_->OnNotFound(kSliceKind);
  EXPECT_THAT(transport_.open(), ElementsAre("GET /apis/resource.k8s.io/v1"));
  transport_.Answer(0, 404, "{}");
  EXPECT_THAT(Seen(), ElementsAre("slice: none"));
}

TEST_F(DiscoveryTest, AsksOnlyWhileThereAreFollowers) {
  const Discovery::ListenerId id = Follow(kSliceKind, "slice");
  transport_.Answer(0, 200, ListOf(kSliceEntry));
  discovery_->Unfollow(id);
  Advance(10 * Discovery::kRefreshNs);
  EXPECT_THAT(transport_.open(), IsEmpty());
  Seen();
  Follow(kSliceKind, "again");
  EXPECT_EQ(transport_.open().size(), 1u);
  transport_.Answer(0, 404, "{}");
  EXPECT_THAT(Seen(), ElementsAre("again: none"));
}

TEST_F(DiscoveryTest, AListenerMayRemoveItselfAndAnother) {
  Discovery::ListenerId second = 0;
  Discovery::ListenerId first = 0;
  first = discovery_->Follow(kSliceKind, [&](const Resource*) {
    seen_.emplace_back("first");
    discovery_->Unfollow(first);
    discovery_->Unfollow(second);
  });
  second = Follow(kClaimKind, "second");
  transport_.Answer(0, 404, "{}");
  EXPECT_THAT(Seen(), ElementsAre("first"));
}

TEST_F(DiscoveryTest, DropsTheAnswerAfterItsDestruction) {
  Follow(kSliceKind, "slice");
  discovery_.reset();
  transport_.Answer(0, 200, ListOf(kSliceEntry));
  executor_.RunAll();
  EXPECT_THAT(Seen(), IsEmpty());
}

TEST(Resource, HasThePathOfItsCollection) {
  const Resource pods = {"v1/Pod", "", "v1", "pods", true, {"list", "watch"}};
  EXPECT_EQ(pods.CollectionPath(), "/api/v1/pods");
  EXPECT_TRUE(pods.CanWatch());
  const Resource nodes = {"storage.k8s.io/v1/CSINode",
                          "storage.k8s.io",
                          "storage.k8s.io/v1",
                          "csinodes",
                          false,
                          {"list"}};
  EXPECT_EQ(nodes.CollectionPath(), "/apis/storage.k8s.io/v1/csinodes");
  EXPECT_FALSE(nodes.CanWatch());
}

}  // namespace
}  // namespace berth::host

#include "host/base/time_units.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/harness/embedded_fixture.h"

namespace berth::host {
namespace {

class EmbeddedDeletionTest : public EmbeddedTest {
 protected:
  void AddOnNode(const std::string& name, const std::string& meta = "") {
    AddPod(name, R"(,"spec":{"nodeName":"n1"})", meta);
    cluster_.Deliver();
  }
  void Delete(const std::string& name, int64_t grace_seconds) {
    cluster_.DeletePod({"default", name, {}}, grace_seconds, nullptr);
    cluster_.Deliver();
  }
  size_t RunDue() {
    const size_t count = cluster_.FinishDueDeletions();
    cluster_.Deliver();
    return count;
  }
};

TEST_F(EmbeddedDeletionTest, FinishesADeletionAfterItsGracePeriod) {
  AddOnNode("a");
  EXPECT_EQ(cluster_.NextDeletionNs(), std::nullopt);
  Delete("a", 30);
  EXPECT_EQ(cluster_.NextDeletionNs(), NowNs() + 30 * kSecond);
  Advance(30 * kSecond - 1);
  EXPECT_EQ(RunDue(), 0u);
  EXPECT_NE(cluster_.FindPod("default", "a"), nullptr);
  Advance(1);
  EXPECT_EQ(RunDue(), 1u);
  EXPECT_EQ(cluster_.FindPod("default", "a"), nullptr);
  EXPECT_EQ(cluster_.NextDeletionNs(), std::nullopt);
}

TEST_F(EmbeddedDeletionTest, UsesAShortenedGracePeriod) {
  AddOnNode("a");
  AddOnNode("b");
  Delete("a", 30);
  Delete("b", 20);
  Delete("a", 10);
  EXPECT_EQ(cluster_.NextDeletionNs(), NowNs() + 10 * kSecond);
  Advance(10 * kSecond);
  EXPECT_EQ(RunDue(), 1u);
  EXPECT_EQ(cluster_.NextDeletionNs(), NowNs() + 10 * kSecond);
}

TEST_F(EmbeddedDeletionTest, IgnoresADeletedPodRemovedAndReplaced) {
  AddOnNode("a", R"(,"uid":"u1")");
  Delete("a", 10);
  ASSERT_TRUE(cluster_.Remove(kPodKind, "default", "a").ok());
  AddPod("a", R"(,"spec":{"nodeName":"n1"})", R"(,"uid":"u2")");
  Advance(10 * kSecond);
  EXPECT_EQ(RunDue(), 0u) << "the pod with the new uid was not deleted";
  EXPECT_NE(cluster_.FindPod("default", "a"), nullptr);
  EXPECT_EQ(cluster_.NextDeletionNs(), std::nullopt);
}

TEST_F(EmbeddedDeletionTest, IgnoresPodsThatWereDeletedElsewhere) {
  AddOnNode("past", R"(,"deletionTimestamp":"2025-12-31T23:59:59Z")");
  AddOnNode("now", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")");
  AddOnNode("future", R"(,"deletionTimestamp":"2026-01-01T00:00:10Z")");
  AddOnNode("put");
  ASSERT_TRUE(
      cluster_.Put(MakePod("put", "", R"(,"deletionTimestamp":"2026-01-01T00:00:10Z")")).ok());
  EXPECT_EQ(cluster_.NextDeletionNs(), std::nullopt);
  Advance(100 * kSecond);
  EXPECT_EQ(RunDue(), 0u);
}

TEST_F(EmbeddedDeletionTest, FinishesADeletionThatWasAlsoRequestedHere) {
  struct Case {
    const char* deleted;  // The deletionTimestamp from elsewhere.
    int64_t grace_seconds;
  };
  for (const auto& [deleted, grace_seconds] :
       {Case{"2025-12-31T23:59:59Z", 30}, Case{"2026-06-01T00:00:00Z", 30},
        Case{"2026-06-01T00:00:00Z", 10}}) {
    AddOnNode("a", std::string(R"(,"deletionTimestamp":")") + deleted + '"');
    Delete("a", grace_seconds);
    EXPECT_EQ(cluster_.NextDeletionNs(), NowNs() + grace_seconds * kSecond);
    Delete("a", grace_seconds);
    EXPECT_EQ(cluster_.NextDeletionNs(), NowNs() + grace_seconds * kSecond)
        << "a second request changes nothing";
    Advance(grace_seconds * kSecond);
    EXPECT_EQ(RunDue(), 1u);
  }
}

TEST_F(EmbeddedDeletionTest, KeepsDueTimeWhenPutChangesTheDeletion) {
  AddOnNode("a");
  Delete("a", 30);
  ASSERT_TRUE(
      cluster_.Put(MakePod("a", "", R"(,"deletionTimestamp":"2026-01-01T00:00:10Z")")).ok());
  cluster_.Deliver();
  EXPECT_EQ(cluster_.NextDeletionNs(), NowNs() + 30 * kSecond);
}

}  // namespace
}  // namespace berth::host

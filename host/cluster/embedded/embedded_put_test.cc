// Tests of the embedded cluster as the copy of a remote cluster.
#include "host/base/time_units.h"
#include "tests/harness/embedded_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class EmbeddedPutTest : public EmbeddedTest {
 protected:
  EmbeddedPutTest() : watch_(cluster_.StartWatch(kPodKind, sink_)) { Seen(); }
  ~EmbeddedPutTest() override { cluster_.Deliver(); }

  PodRef Put(const std::string& rest = "", const std::string& meta = "") {
    Result<AnyObject> stored = cluster_.Put(MakePod("a", rest, meta));
    BERTH_ASSERT_MSG(stored.ok(), "%s", stored.status().ToString().c_str());
    return std::get<PodRef>(*stored);
  }
  void BindToN1() {
    cluster_.Bind({"default", "a", {}}, "n1", Note());
    EXPECT_THAT(Answers(), ElementsAre("Ok"));
  }
  // Returns the events that the watch delivered since the last call.
  std::vector<std::string> Seen() {
    cluster_.Deliver();
    return std::exchange(sink_.seen, {});
  }

  RecordingSink sink_;
  std::unique_ptr<Watch> watch_;
};

constexpr const char* kOnN2 = R"(,"spec":{"nodeName":"n2"})";

TEST_F(EmbeddedPutTest, CreatesAnObjectThatDoesNotExist) {
  const PodRef pod = Put("", R"(,"uid":"u1","resourceVersion":"77")");
  EXPECT_EQ(pod->uid(), "u1");
  EXPECT_EQ(pod->resource_version(), "1") << "this cluster assigns its own versions";
  EXPECT_THAT(Seen(), ElementsAre("+default/a@1"));
}

TEST_F(EmbeddedPutTest, ReplacesAnExistingObject) {
  Put("", R"(,"uid":"u1")");
  Advance(kSecond);
  const PodRef same = Put(R"(,"spec":{"priority":7})", R"(,"resourceVersion":"5")");
  EXPECT_EQ(same->uid(), "u1");
  EXPECT_EQ(same->view().priority, 7);
  EXPECT_EQ(same->meta().created_ns, NowNs() - kSecond);
  EXPECT_THAT(Seen(), ElementsAre("+default/a@1", "~default/a@2(1)"));

  const PodRef older = Put("", R"(,"creationTimestamp":"2025-01-01T00:00:00Z")");
  EXPECT_EQ(older->meta().created_ns, 1'735'689'600 * kSecond);
}

TEST_F(EmbeddedPutTest, AcceptsABindingFromElsewhere) {
  Put();
  EXPECT_EQ(Put(kOnN2)->node_name(), "n2");
}

TEST_F(EmbeddedPutTest, KeepsABindingOfThisCluster) {
  Put();
  BindToN1();
  EXPECT_EQ(Put(R"(,"metadata":{"name":"a","labels":{"k":"v"}})")->node_name(), "n1");
  const PodRef moved = Put(R"(,"spec":{"nodeName":"n2"},"status":{"nominatedNodeName":"n2"})");
  EXPECT_EQ(moved->node_name(), "n1");
  EXPECT_EQ(moved->nominated_node(), "");
  EXPECT_EQ(Put(R"(,"spec":{"nodeName":"n1"})")->node_name(), "n1");
}

TEST_F(EmbeddedPutTest, NewNominationOrNodeReplacesTheNomination) {
  Put();
  PodStatusPatch patch;
  patch.nominated_node = "n1";
  cluster_.PatchPodStatus({"default", "a", {}}, patch, nullptr);
  EXPECT_EQ(Put()->nominated_node(), "n1");
  EXPECT_EQ(Put(R"(,"status":{"nominatedNodeName":"n2"})")->nominated_node(), "n2");
  EXPECT_EQ(Put(kOnN2)->nominated_node(), "");
}

TEST_F(EmbeddedPutTest, NominationFromElsewhereEndsThere) {
  Put(R"(,"status":{"nominatedNodeName":"n2"})");
  EXPECT_EQ(Put()->nominated_node(), "");
  PodStatusPatch patch;
  patch.nominated_node = "n1";
  cluster_.PatchPodStatus({"default", "a", {}}, patch, nullptr);
  Put(R"(,"status":{"nominatedNodeName":"n2"})");
  EXPECT_EQ(Put()->nominated_node(), "") << "the nomination of this cluster was replaced";
}

TEST_F(EmbeddedPutTest, AcceptsDeletionFromElsewhereAndKeepsItsOwn) {
  Put();
  const PodRef going = Put("", R"(,"deletionTimestamp":"2026-02-01T00:00:00Z")");
  EXPECT_TRUE(going->terminating()) << "the pod stays although it has no node";
  EXPECT_EQ(Put()->meta().deleted_ns, going->meta().deleted_ns);

  ASSERT_TRUE(cluster_.Remove(kPodKind, "default", "a").ok());
  Put();
  BindToN1();
  ASSERT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok());
  EXPECT_EQ(Put(kOnN2)->meta().deleted_ns, NowNs() + 30 * kSecond);
}

TEST_F(EmbeddedPutTest, PodWithAnotherUidReplacesTheStoredPod) {
  Put("", R"(,"uid":"u1")");
  BindToN1();
  Seen();
  const PodRef other = Put("", R"(,"uid":"u2")");
  EXPECT_EQ(other->uid(), "u2");
  EXPECT_EQ(other->node_name(), "") << "the binding belongs to the former pod";
  EXPECT_THAT(Seen(), ElementsAre("-default/a@3(2)", "+default/a@4"));
}

TEST_F(EmbeddedPutTest, RejectsUidOfAnotherPodAndChangesNothing) {
  AddPod("b", "", R"(,"uid":"u1")");
  const PodRef before = Put();
  Seen();
  const auto refused = cluster_.Put(MakePod("a", "", R"(,"uid":"u1")"));
  EXPECT_EQ(refused.status().ToString(),
            R"(InvalidArgument: Pod "a" is invalid: metadata.uid: Duplicate value: "u1": )"
            "pod default/b has this uid");
  EXPECT_EQ(cluster_.FindPod("default", "a"), before);
  EXPECT_THAT(Seen(), IsEmpty());
}

TEST_F(EmbeddedPutTest, APodThatFinishesIsDeletedForWatches) {
  Put();
  Seen();
  Put(R"(,"status":{"phase":"Succeeded"})");
  EXPECT_THAT(Seen(), ElementsAre("-default/a@2(1)"));
}

TEST_F(EmbeddedPutTest, RemoveDeletesImmediately) {
  Put();
  BindToN1();
  Seen();
  EXPECT_TRUE(cluster_.Remove(kPodKind, "default", "a").ok());
  EXPECT_THAT(Seen(), ElementsAre("-default/a@3(2)"));
  EXPECT_EQ(cluster_.Remove(kPodKind, "default", "a").code(), ErrorCode::kNotFound);
  EXPECT_EQ(cluster_.Remove("v1/Service", "default", "a").code(), ErrorCode::kNotFound);
}

TEST_F(EmbeddedPutTest, ReplacesNodesAndOtherKinds) {
  ASSERT_TRUE(cluster_.Put(MakeNode("n1")).ok());
  ASSERT_TRUE(cluster_.Put(MakeNode("n1", R"(,"labels":{"k":"v"})")).ok());
  EXPECT_EQ(cluster_.FindNode("n1")->meta().labels.count, 1u);
  const std::string ns = R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"x"}})";
  ASSERT_TRUE(cluster_.Put(Decode(ns)).ok());
  ASSERT_TRUE(cluster_.Put(Decode(ns)).ok());
  EXPECT_EQ(cluster_.List("v1/Namespace").size(), 1u);
  EXPECT_TRUE(cluster_.Remove("v1/Namespace", "", "x").ok());
}

}  // namespace
}  // namespace berth::host

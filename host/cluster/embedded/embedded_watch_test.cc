// Tests of the events that watches of the embedded cluster deliver, and of their order.
#include "tests/harness/embedded_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using EmbeddedWatchTest = EmbeddedTest;

TEST_F(EmbeddedWatchTest, DeliversExistingObjectsThenSyncedThenChanges) {
  AddPod("b");
  AddPod("a");
  RecordingSink sink;
  const auto watch = cluster_.StartWatch(kPodKind, sink);
  AddPod("c");
  EXPECT_THAT(sink.seen, IsEmpty());
  cluster_.Deliver();
  EXPECT_THAT(sink.seen, ElementsAre("+default/a@2", "+default/b@1", "synced", "+default/c@3"));
}

TEST_F(EmbeddedWatchTest, DeliversSyncedForAKindWithoutObjects) {
  RecordingSink sink;
  const auto watch = cluster_.StartWatch("example.com/v1/Rack", sink);
  cluster_.Deliver();
  EXPECT_THAT(sink.seen, ElementsAre("synced"));
}

TEST_F(EmbeddedWatchTest, DeliversChangesOnceInOrderWithBothObjects) {
  RecordingSink pods, nodes;
  const auto pod_watch = cluster_.StartWatch(kPodKind, pods);
  const auto node_watch = cluster_.StartWatch(kNodeKind, nodes);
  AddPod("a");
  ASSERT_TRUE(cluster_.Create(MakeNode("n1")).ok());
  cluster_.Bind({"default", "a", {}}, "n1", nullptr);
  ASSERT_TRUE(cluster_.Update(MakeNode("n1")).ok());
  cluster_.DeletePod({"default", "a", {}}, 1, nullptr);
  ASSERT_TRUE(cluster_.FinishDeletion({"default", "a", {}}).ok());
  ASSERT_TRUE(cluster_.Delete(kNodeKind, "", "n1").ok());
  cluster_.Deliver();
  EXPECT_THAT(pods.seen, ElementsAre("synced", "+default/a@1", "~default/a@3(1)", "~default/a@5(3)",
                                     "-default/a@6(5)"));
  EXPECT_THAT(nodes.seen, ElementsAre("synced", "+n1@2", "~n1@4(2)", "-n1@7(4)"));
  EXPECT_EQ(std::get<PodRef>(pods.events[2].previous)->node_name(), "");
  EXPECT_EQ(std::get<PodRef>(pods.events[2].object)->node_name(), "n1");
}

TEST_F(EmbeddedWatchTest, DeliversRecreationAsADeletionAndAnAddition) {
  RecordingSink sink;
  const auto watch = cluster_.StartWatch(kPodKind, sink);
  AddPod("a");
  ASSERT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok());
  AddPod("a");
  cluster_.Deliver();
  EXPECT_THAT(sink.seen, ElementsAre("synced", "+default/a@1", "-default/a@2(1)", "+default/a@3"));
  EXPECT_EQ(Base(sink.events[1].object).uid(), Base(sink.events[2].object).uid());
  EXPECT_NE(Base(sink.events[1].object).uid(), Base(sink.events[3].object).uid());
}

TEST_F(EmbeddedWatchTest, DeliversPodsInAFinalPhaseAsDeleted) {
  AddPod("done", R"(,"status":{"phase":"Failed"})");
  RecordingSink sink;
  const auto watch = cluster_.StartWatch(kPodKind, sink);
  AddPod("born-done", R"(,"status":{"phase":"Succeeded"})");
  AddPod("a", R"(,"spec":{"nodeName":"n1"},"status":{"phase":"Running"})");
  const std::string finished = R"(,"spec":{"nodeName":"n1"},"status":{"phase":"Succeeded"})";
  ASSERT_TRUE(cluster_.Update(MakePod("a", finished)).ok());
  // Later changes of the finished pod are not delivered.
  ASSERT_TRUE(cluster_.Update(MakePod("a", finished)).ok());
  ASSERT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok());
  cluster_.Deliver();
  EXPECT_THAT(sink.seen, ElementsAre("synced", "+default/a@3", "-default/a@4(3)"));
  // The deleted object is the last state that matched the selector of the watch.
  EXPECT_EQ(std::get<PodRef>(sink.events[2].object)->view().phase, uint32_t{BERTH_PHASE_RUNNING});
  EXPECT_EQ(cluster_.FindPod("default", "a"), nullptr);
  EXPECT_NE(cluster_.FindPod("default", "done"), nullptr);
}

TEST_F(EmbeddedWatchTest, ServesSeveralWatchesOfAKind) {
  RecordingSink first, second;
  const auto first_watch = cluster_.StartWatch(kPodKind, first);
  AddPod("a");
  const auto second_watch = cluster_.StartWatch(kPodKind, second);
  AddPod("b");
  cluster_.Deliver();
  EXPECT_THAT(first.seen, ElementsAre("synced", "+default/a@1", "+default/b@2"));
  EXPECT_THAT(second.seen, ElementsAre("+default/a@1", "synced", "+default/b@2"));
}

TEST_F(EmbeddedWatchTest, DeliversNothingAfterItsEnd) {
  RecordingSink ended, other;
  const auto other_watch = cluster_.StartWatch(kPodKind, other);
  auto watch = cluster_.StartWatch(kPodKind, ended);
  AddPod("a");
  cluster_.DeliverOne();
  watch.reset();
  AddPod("b");
  cluster_.Deliver();
  EXPECT_THAT(ended.seen, IsEmpty());
  EXPECT_THAT(other.seen, ElementsAre("synced", "+default/a@1", "+default/b@2"));
}

TEST_F(EmbeddedWatchTest, MayBeDestroyedByItsOwnSink) {
  class OnceSink final : public WatchSink {
   public:
    void OnEvents(std::span<WatchEvent>) override {
      ++calls;
      watch.reset();
    }
    std::unique_ptr<Watch> watch;
    int calls = 0;
  };
  AddPod("a");
  OnceSink sink;
  sink.watch = cluster_.StartWatch(kPodKind, sink);
  EXPECT_EQ(cluster_.Deliver(), 1u);
  EXPECT_EQ(sink.calls, 1);
  EXPECT_EQ(cluster_.waiting(), 0u);
}

TEST_F(EmbeddedWatchTest, DeliversOneByOneInOrderOfRequests) {
  RecordingSink sink;
  const auto watch = cluster_.StartWatch(kPodKind, sink);
  AddPod("a");
  cluster_.Bind({"default", "a", {}}, "n1", Note());
  EXPECT_EQ(cluster_.waiting(), 4u);
  EXPECT_TRUE(cluster_.DeliverOne());
  EXPECT_THAT(sink.seen, ElementsAre("synced"));
  EXPECT_TRUE(cluster_.DeliverOne());
  EXPECT_TRUE(cluster_.DeliverOne());
  EXPECT_THAT(sink.seen, ElementsAre("synced", "+default/a@1", "~default/a@2(1)"));
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_TRUE(cluster_.DeliverOne());
  EXPECT_THAT(answers_, ElementsAre("Ok"));
  EXPECT_FALSE(cluster_.DeliverOne());
}

TEST_F(EmbeddedWatchTest, DeliversEventsThatADeliveryCauses) {
  class BindingSink final : public WatchSink {
   public:
    explicit BindingSink(DecisionWriter& writer) : writer_(writer) {}
    void OnEvents(std::span<WatchEvent> batch) override {
      for (const WatchEvent& event : batch) {
        seen.push_back(WatchEventText(event));
        if (event.type != WatchType::kAdded) continue;
        const Pod& pod = *std::get<PodRef>(event.object);
        writer_.Bind(NameOf(pod), "n1", [this](Status s) { seen.push_back(s.ToString()); });
        seen.push_back("requested");
      }
    }
    std::vector<std::string> seen;

   private:
    DecisionWriter& writer_;
  };
  BindingSink sink(cluster_);
  const auto watch = cluster_.StartWatch(kPodKind, sink);
  AddPod("a");
  EXPECT_EQ(cluster_.Deliver(), 4u);
  EXPECT_THAT(sink.seen,
              ElementsAre("synced", "+default/a@1", "requested", "~default/a@2(1)", "Ok"));
}

TEST_F(EmbeddedWatchTest, EndsWhenTheClientStops) {
  RecordingSink sink;
  const auto watch = cluster_.StartWatch(kPodKind, sink);
  AddPod("a");
  cluster_.Bind({"default", "a", {}}, "n1", Note());
  cluster_.Stop();
  EXPECT_THAT(sink.seen, IsEmpty());
  EXPECT_THAT(answers_, ElementsAre("Ok"));

  cluster_.Bind({"default", "a", {}}, "n1", Note());
  RecordingSink late;
  const auto late_watch = cluster_.StartWatch(kPodKind, late);
  AddPod("b");
  answers_.clear();
  EXPECT_THAT(Answers(), ElementsAre("Unavailable: the embedded cluster was stopped"));
  EXPECT_THAT(late.seen, IsEmpty());
}

using EmbeddedWatchDeathTest = EmbeddedTest;

TEST_F(EmbeddedWatchDeathTest, DeliveringWithinADeliveryFailsAnAssertion) {
  AddPod("a");
  cluster_.Bind({"default", "a", {}}, "n1", [this](Status) { cluster_.Deliver(); });
  EXPECT_DEATH(cluster_.Deliver(), "was called from within a callback or watch event");
}

TEST_F(EmbeddedWatchTest, ReportsAKindNotServedInsteadOfSynced) {
  constexpr std::string_view kRack = "example.com/v1/Rack";
  const AnyObject rack =
      Decode(R"({"kind":"Rack","apiVersion":"example.com/v1","metadata":{"name":"r"}})");
  cluster_.SetServed(kRack, false);
  RecordingSink sink;
  const auto watch = cluster_.StartWatch(kRack, sink);
  EXPECT_EQ(cluster_.Create(rack).status().code(), ErrorCode::kNotFound);
  cluster_.Deliver();
  EXPECT_THAT(sink.seen, ElementsAre("not served"));
  EXPECT_FALSE(sink.events[0].has_object());
  sink.seen.clear();
  cluster_.SetServed(kRack, true);
  cluster_.SetServed(kRack, true);
  EXPECT_TRUE(cluster_.Create(rack).ok());
  cluster_.Deliver();
  EXPECT_THAT(sink.seen, ElementsAre("synced", "+r@1"));
  sink.seen.clear();
  cluster_.SetServed(kRack, false);
  cluster_.Deliver();
  EXPECT_THAT(sink.seen, ElementsAre("-r@2(1)", "not served"));
  EXPECT_THAT(cluster_.Kinds(), ::testing::Not(::testing::Contains(kRack)));
  EXPECT_FALSE(cluster_.Find(kRack, "", "r").has_value());
}

}  // namespace
}  // namespace berth::host

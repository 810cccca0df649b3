#include "host/api/objects.h"

#include <string>

#include "host/api/decode_testing.h"

namespace berth::host {
namespace {

class DerivedPodTest : public DecodeTest {
 protected:
  // Returns the parts of `after` that differ from those of `before`.
  static uint64_t Changed(const PodRef& before, const PodRef& after) {
    uint64_t changed = 0;
    for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) {
      if (before->part_hash(part) != after->part_hash(part)) changed |= uint64_t{1} << part;
    }
    return changed;
  }

  std::string Conditions(const PodRef& pod) {
    std::string text;
    for (const berth_condition& c : Elements<berth_condition>(pod->view().conditions)) {
      text.append(Show(c.type)).append(std::to_string(c.status)).append(Show(c.reason));
      text.append("@").append(std::to_string(c.transition_ns)).append(" ");
    }
    return text;
  }
};

TEST_F(DerivedPodTest, WithNodeSharesTheRest) {
  const PodRef pod = DecodePod("'containers':[{'name':'a'}]", "", "'resourceVersion':'1'");
  const Id node = interner_.Intern("node-1");
  const PodRef bound = WithNode(pod, node, "2");
  interner_.Release(node);
  EXPECT_EQ(bound->node_name(), "node-1");
  EXPECT_EQ(bound->resource_version(), "2");
  EXPECT_EQ(bound->name(), "p");
  EXPECT_EQ(bound->view().meta, &bound->meta());
  EXPECT_EQ(bound->view().containers.data, pod->view().containers.data);
  EXPECT_EQ(Changed(pod, bound), BERTH_PART(IDENTITY) | BERTH_PART(NODE_NAME));
  EXPECT_EQ(pod->view().node_name, kNoId);
  EXPECT_EQ(pod->resource_version(), "1");
  EXPECT_EQ(Changed(pod, WithNode(bound, kNoId, "1")), 0u)
      << "the derived pod equals the original again";
}

TEST_F(DerivedPodTest, HoldsItsOwnIds) {
  PodRef pod = DecodePod("");
  const Id node = interner_.Intern("only-here");
  PodRef bound = WithNode(pod, node, "2");
  interner_.Release(node);
  PodRef later = WithResourceVersion(bound, "3");
  bound.reset();
  interner_.Sweep();
  EXPECT_EQ(later->node_name(), "only-here");
  later.reset();
  interner_.Sweep();
  EXPECT_EQ(interner_.Find("only-here"), kNoId);
}

TEST_F(DerivedPodTest, KeepsOnlyTheDecodedPodAlive) {
  PodRef pod = DecodePod("'containers':[{'name':'main'}]");
  const std::weak_ptr<const Pod> root = pod;
  std::weak_ptr<const Pod> middle;
  PodRef last = pod;
  pod.reset();
  for (int32_t i = 0; i < 100; ++i) {
    middle = last;
    last = WithStatus(last, {.nominated_node = "n" + std::to_string(i % 2), .pod_scheduled = {}},
                      std::to_string(i));
    EXPECT_TRUE(i == 0 || middle.expired()) << i;
  }
  EXPECT_FALSE(root.expired());
  EXPECT_EQ(Text(Elements<berth_container>(last->view().containers)[0].name), "main");
  last.reset();
  EXPECT_TRUE(root.expired());
}

TEST_F(DerivedPodTest, WithStatusChangesOnlyFieldsOfThePatch) {
  const PodRef pod = DecodePod(
      "", "'nominatedNodeName':'n1','conditions':[{'type':'Ready','status':'True','reason':'R'}]");
  const PodRef unchanged = WithStatus(pod, {}, "2");
  EXPECT_EQ(Changed(pod, unchanged), BERTH_PART(IDENTITY));
  EXPECT_EQ(unchanged->nominated_node(), "n1");

  const PodRef cleared = WithStatus(pod, {.nominated_node = "", .pod_scheduled = {}}, "2");
  EXPECT_EQ(cleared->view().nominated_node, kNoId);
  EXPECT_EQ(Changed(pod, cleared), BERTH_PART(IDENTITY) | BERTH_PART(NOMINATION));

  PodStatusPatch patch;
  patch.pod_scheduled = {.status = BERTH_CONDITION_FALSE,
                         .reason = "Unschedulable",
                         .message = "no room",
                         .transition_ns = 5};
  const PodRef parked = WithStatus(pod, patch, "3");
  EXPECT_EQ(Conditions(parked), "'Ready'1'R'@0 'PodScheduled'2'Unschedulable'@5 ");
  EXPECT_EQ(Changed(pod, parked), BERTH_PART(IDENTITY) | BERTH_PART(STATUS));

  patch.pod_scheduled->reason = "SchedulerError";
  patch.pod_scheduled->transition_ns = 9;
  const PodRef again = WithStatus(parked, patch, "4");
  EXPECT_EQ(Conditions(again), "'Ready'1'R'@0 'PodScheduled'2'SchedulerError'@5 ")
      << "the transition time changes only with the status";
  patch.pod_scheduled->status = BERTH_CONDITION_TRUE;
  patch.pod_scheduled->reason = "";
  EXPECT_EQ(Conditions(WithStatus(again, patch, "5")), "'Ready'1'R'@0 'PodScheduled'1-@9 ");
  EXPECT_EQ(Conditions(pod), "'Ready'1'R'@0 ");
}

TEST_F(DerivedPodTest, CopiesConditionsOfADerivedPod) {
  PodRef pod = DecodePod("");
  PodStatusPatch patch;
  patch.pod_scheduled = {.reason = "Rare-Reason", .message = {}};
  PodRef parked = WithStatus(pod, patch, "2");
  pod.reset();
  const Id node = interner_.Intern("n");
  PodRef bound = WithNode(parked, node, "3");
  interner_.Release(node);
  parked.reset();
  interner_.Sweep();
  EXPECT_EQ(Conditions(bound), "'PodScheduled'2'Rare-Reason'@0 ");
  EXPECT_EQ(bound->part_hash(BERTH_PART_STATUS),
            WithResourceVersion(bound, "9")->part_hash(BERTH_PART_STATUS));
}

TEST_F(DerivedPodTest, DerivesNodesAndObjects) {
  NodeRef node = DecodeNode("'unschedulable':true", "", "'resourceVersion':'1'");
  NodeRef later = WithResourceVersion(WithResourceVersion(node, "2"), "3");
  const std::weak_ptr<const Node> root = node;
  node.reset();
  EXPECT_EQ(later->resource_version(), "3");
  EXPECT_EQ(later->view().unschedulable, 1u);
  EXPECT_EQ(later->view().meta, &later->meta());
  later.reset();
  EXPECT_TRUE(root.expired());

  const Result<ObjectRef> object = decoder_.DecodeObject(
      Json("{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'x'}}"));
  ASSERT_TRUE(object.ok());
  const ObjectRef changed = WithResourceVersion(*object, "7");
  EXPECT_EQ(changed->resource_version(), "7");
  EXPECT_EQ(changed->value(), (*object)->value());
  EXPECT_EQ(Base(AnyObject(changed)).Key(), "x/s");
}

}  // namespace
}  // namespace berth::host

#include "host/api/shared_parts.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/api/decode_testing.h"
#include "host/api/part_hash.h"

namespace berth::host {
namespace {

constexpr std::string_view kSpec =
    "'schedulerName':'acme','nodeSelector':{'disk':'ssd'},'priorityClassName':'high',"
    "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':["
    "{'topologyKey':'zone','labelSelector':{'matchLabels':{'app':'web'}},'namespaces':['x']}]}},"
    "'tolerations':[{'key':'gpu','operator':'Exists'}],"
    "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone',"
    "'whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchLabels':{'app':'web'}}}],"
    "'containers':[{'name':'main','image':'repo/web:1','ports':[{'hostPort':80}],"
    "'resources':{'requests':{'cpu':'1','acme.com/gpu':'2'},'limits':{'acme.com/gpu':'2'}}}],"
    "'schedulingGates':[{'name':'wait'}],'overhead':{'cpu':'10m'}";

std::string Meta(std::string_view uid, std::string_view more = "") {
  std::string text = "'namespace':'ns','resourceVersion':'7','uid':'";
  text.append(uid).append("'").append(more.empty() ? "" : ",").append(more);
  return text;
}

class SharedPartsTest : public DecodeTest {
 protected:
  // Decodes the pod with a decoder that knows no other object.
  PodRef DecodeAlone(std::string_view spec, std::string_view status, std::string_view meta) {
    Decoder decoder(interner_);
    Result<PodRef> pod = decoder.DecodePod(PodText(spec, status, meta));
    EXPECT_TRUE(pod.ok()) << pod.status().ToString();
    return *pod;
  }

  NodeRef DecodeNodeAlone(std::string_view spec, std::string_view status, std::string_view meta) {
    Decoder decoder(interner_);
    Result<NodeRef> node = decoder.DecodeNode(ObjectText("n", spec, status, meta));
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    return *node;
  }

  static bool SharesSpec(const PodRef& a, const PodRef& b) {
    return a->view().containers.data == b->view().containers.data;
  }

  static bool SharesImages(const NodeRef& a, const NodeRef& b) {
    return a->view().images.data == b->view().images.data;
  }

  std::string ShowNode(const Node& node) const {
    std::string text(node.uid());
    text.append(" labels ").append(ShowPairs(node.meta().labels)).append(" taints");
    for (const berth_taint& taint : Elements<berth_taint>(node.view().taints)) {
      text.append(" ").append(Show(taint.key)).append(Show(taint.value));
    }
    text.append(" allocatable ").append(Show(*node.view().allocatable));
    text.append(" capacity ").append(Show(*node.view().capacity)).append(" images");
    for (const berth_image& image : Elements<berth_image>(node.view().images)) {
      text.append(" ").append(std::to_string(image.size));
      for (const Id name : Elements<Id>(image.names)) text.append(Show(name));
    }
    text.append(" features");
    for (const Id feature : Elements<Id>(node.view().declared_features)) text.append(Show(feature));
    text.append(" conditions");
    for (const auto& condition : Elements<berth_condition>(node.view().conditions)) {
      text.append(Show(condition.type)).append(Show(condition.reason));
    }
    for (const auto& pair : Elements<berth_str_pair>(node.meta().annotations)) {
      text.append(" ").append(Text(pair.key)).append("=").append(Text(pair.value));
    }
    return text;
  }

  // Expects that each part of `pod`, as it can be read now, is that of `expected`.
  void ExpectEqual(const PodRef& pod, const PodRef& expected) {
    for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) {
      EXPECT_EQ(pod->part_hash(part), expected->part_hash(part)) << "part " << part;
      EXPECT_EQ(HashPart(pod->view(), part, interner_), expected->part_hash(part))
          << "part " << part;
    }
    EXPECT_EQ(pod->Key(), expected->Key());
    EXPECT_EQ(pod->view().flags, expected->view().flags);
    EXPECT_EQ(pod->scheduler_name(), expected->scheduler_name());
  }
};

TEST_F(SharedPartsTest, PodsOfOneTemplateShareItsMemory) {
  const PodRef first = DecodePod(kSpec, "", Meta("1"));
  const PodRef second = DecodePod(kSpec, "", Meta("2"));
  EXPECT_TRUE(SharesSpec(first, second));
  EXPECT_EQ(first->view().affinity, second->view().affinity);
  EXPECT_EQ(first->uid(), "1");
  EXPECT_EQ(second->uid(), "2");
  ExpectEqual(second, DecodeAlone(kSpec, "", Meta("2")));
}

TEST_F(SharedPartsTest, PodsOfDifferentTemplatesShareNothing) {
  struct Case {
    std::string_view name, from, to;
  };
  const Case cases[] = {
      {"node selector", "'disk':'ssd'", "'disk':'hdd'"},
      {"affinity", "'namespaces':['x']", "'namespaces':['y']"},
      {"tolerations", "'key':'gpu'", "'key':'cpu'"},
      {"spread", "'maxSkew':1", "'maxSkew':2"},
      {"request", "'cpu':'1'", "'cpu':'2'"},
      {"container", "'name':'main'", "'name':'side'"},
      {"port", "'hostPort':80", "'hostPort':81"},
      {"image", "repo/web:1", "repo/web:2"},
      {"gate", "'name':'wait'", "'name':'halt'"},
      {"overhead", "'cpu':'10m'", "'cpu':'11m'"},
  };
  const PodRef first = DecodePod(kSpec, "", Meta("1"));
  for (const Case& c : cases) {
    std::string spec(kSpec);
    const size_t at = spec.find(c.from);
    ASSERT_NE(at, spec.npos) << c.name;
    spec.replace(at, c.from.size(), c.to);
    const PodRef other = DecodePod(spec, "", Meta("2"));
    EXPECT_FALSE(SharesSpec(first, other)) << c.name;
    ExpectEqual(other, DecodeAlone(spec, "", Meta("2")));
  }
}

TEST_F(SharedPartsTest, CopiesPartsThatDifferWithinATemplate) {
  const PodRef first = DecodePod(
      kSpec, "'conditions':[{'type':'Ready','status':'True','reason':'A'}]",
      Meta("1", "'labels':{'pod':'1'},'annotations':{'k':'1'},'ownerReferences':[{'uid':'1'}]"));
  const std::string spec = std::string(kSpec) +
                           ",'nodeName':'n1','volumes':[{'name':'token-x1','projected':{}},"
                           "{'name':'data','persistentVolumeClaim':{'claimName':'c-2'}},"
                           "{'name':'r','rbd':{'image':'i','monitors':['m1','m2']}}]";
  const std::string_view status =
      "'phase':'Running','conditions':[{'type':'Ready','status':'False','reason':'B'},"
      "{'type':'PodScheduled','status':'True'}]";
  const std::string meta = Meta("2",
                                "'labels':{'pod':'2','app':'web'},'annotations':{'k':'2','l':''},"
                                "'ownerReferences':[{'uid':'2','kind':'Job','name':'j'}]");
  const PodRef second = DecodePod(spec, status, meta);
  EXPECT_TRUE(SharesSpec(first, second));
  ExpectEqual(second, DecodeAlone(spec, status, meta));
}

TEST_F(SharedPartsTest, EqualPodsShareTheHashesOfOtherParts) {
  struct Case {
    std::string_view name;
    std::string spec;
    std::string_view status;
    std::string meta;
    bool shares;
  };
  const std::string spec(kSpec);
  const Case cases[] = {
      {"other name", spec, "", Meta("2"), true},
      {"other node and status", spec + ",'nodeName':'n1'", "'phase':'Running'", Meta("2"), true},
      {"other volumes", spec + ",'volumes':[{'name':'token-x1','projected':{}}]", "", Meta("2"),
       true},
      {"other labels", spec, "", Meta("2", "'labels':{'pod':'2'}"), false},
      {"other priority", spec + ",'priority':7", "", Meta("2"), false},
  };
  const PodRef first = DecodePod(kSpec, "", Meta("1"));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const PodRef second = DecodePod(c.spec, c.status, c.meta);
    ASSERT_TRUE(SharesSpec(first, second));
    EXPECT_EQ(first->view().part_hashes.data == second->view().part_hashes.data, c.shares);
    EXPECT_EQ(WithResourceVersion(second, "9")->view().part_hashes.data,
              second->view().part_hashes.data);
    ExpectEqual(second, DecodeAlone(c.spec, c.status, c.meta));
  }
}

TEST_F(SharedPartsTest, PodsOfOneKindShareSecondPodsParts) {
  const auto meta = [](const char* uid) { return Meta(uid, "'labels':{'zone':'a'}"); };
  const PodRef other = DecodePod(kSpec, "", Meta("0"));
  const PodRef first = DecodePod(kSpec, "", meta("1"));
  const PodRef second = DecodePod(kSpec, "", meta("2"));
  const PodRef third = DecodePod(kSpec, "", meta("3"));
  EXPECT_TRUE(SharesSpec(other, first));
  EXPECT_FALSE(SharesSpec(other, second));
  for (const PodRef& later : {third, DecodePod(kSpec, "", meta("4"))}) {
    EXPECT_EQ(later->meta().labels.data, second->meta().labels.data);
    EXPECT_EQ(later->view().part_hashes.data, second->view().part_hashes.data);
    EXPECT_TRUE(SharesSpec(second, later));
  }
  ExpectEqual(third, DecodeAlone(kSpec, "", meta("3")));
  // A kind with a single pod shares its template with any other one.
  const PodRef single = DecodePod(kSpec, "", Meta("5", "'labels':{'zone':'b'}"));
  EXPECT_TRUE(SharesSpec(second, single));
}

// The pods of a StatefulSet are each of a kind of their own.
TEST_F(SharedPartsTest, VersionsOfALonePodShareTheTemplate) {
  const PodRef other = DecodePod(kSpec, "", Meta("0"));
  const std::string meta = Meta("1", "'labels':{'pod':'web-0'}");
  const PodRef added = DecodePod(kSpec, "", meta);
  const PodRef bound = DecodePod(std::string(kSpec) + ",'nodeName':'n1'", "", meta);
  const PodRef running =
      DecodePod(std::string(kSpec) + ",'nodeName':'n1'", "'phase':'Running'", meta);
  for (const PodRef& version : {added, bound, running}) EXPECT_TRUE(SharesSpec(other, version));
  // Other kinds that come and go do not displace one that is in use.
  for (int i = 0; i < 5000; ++i) {
    DecodePod(kSpec, "", Meta("2", "'labels':{'pod':'db-" + std::to_string(i) + "'}"));
  }
  EXPECT_EQ(DecodePod(kSpec, "", Meta("3"))->view().part_hashes.data,
            other->view().part_hashes.data);
}

TEST_F(SharedPartsTest, PodKeepsSharedAndOwnIds) {
  PodRef first = DecodePod(kSpec, "", Meta("1"));
  const std::string meta = Meta("2", "'labels':{'rare-key':'rare-value'}");
  PodRef second = DecodePod(std::string(kSpec) + ",'nodeName':'rare-node'", "", meta);
  ASSERT_TRUE(SharesSpec(first, second));
  const PodRef expected = DecodeAlone(kSpec, "", meta);
  const std::weak_ptr<const Pod> kept = first;
  first.reset();
  decoder_.ReleaseIds();
  interner_.Sweep();
  EXPECT_FALSE(kept.expired());
  EXPECT_EQ(second->node_name(), "rare-node");
  EXPECT_EQ(HashPart(second->view(), BERTH_PART_LABELS, interner_),
            expected->part_hash(BERTH_PART_LABELS));
  EXPECT_EQ(HashPart(second->view(), BERTH_PART_POD_AFFINITY, interner_),
            expected->part_hash(BERTH_PART_POD_AFFINITY));
  second.reset();
  EXPECT_TRUE(kept.expired());
  interner_.Sweep();
  EXPECT_EQ(interner_.Find("rare-node"), kNoId);
}

TEST_F(SharedPartsTest, NoChainOfPodsForms) {
  PodRef first = DecodePod(kSpec, "", Meta("0"));
  std::weak_ptr<const Pod> before;
  PodRef last;
  for (int i = 1; i < 100; ++i) {
    before = last;
    last = DecodePod(kSpec, "", Meta(std::to_string(i)));
    EXPECT_TRUE(before.expired()) << i;
    EXPECT_TRUE(SharesSpec(first, last));
  }
}

TEST_F(SharedPartsTest, APodThatNobodyHoldsSharesNothing) {
  DecodePod(kSpec, "", Meta("1"));
  const PodRef second = DecodePod(kSpec, "", Meta("2"));
  const PodRef third = DecodePod(kSpec, "", Meta("3"));
  EXPECT_TRUE(SharesSpec(second, third));
}

TEST_F(SharedPartsTest, ADerivedPodKeepsWhatItsRootShares) {
  PodRef first = DecodePod(kSpec, "", Meta("1"));
  PodRef second = DecodePod(kSpec, "", Meta("2", "'annotations':{'k':'v'}"));
  ASSERT_TRUE(SharesSpec(first, second));
  const PodRef derived = WithResourceVersion(second, "9");
  const uint64_t annotations = second->part_hash(BERTH_PART_ANNOTATIONS);
  first.reset();
  second.reset();
  EXPECT_EQ(derived->uid(), "2");
  EXPECT_EQ(HashPart(derived->view(), BERTH_PART_ANNOTATIONS, interner_), annotations);
  EXPECT_EQ(Text(Elements<berth_container>(derived->view().containers)[0].name), "main");
}

constexpr std::string_view kNodeStatus =
    "'allocatable':{'cpu':'4','acme.com/gpu':'2'},'capacity':{'cpu':'5'},"
    "'images':[{'names':['repo/web:1','repo/web@sha'],'sizeBytes':5}],"
    "'declaredFeatures':['B','A'],'conditions':[{'type':'Ready','status':'True','reason':'R'}]";

TEST_F(SharedPartsTest, NodesWithTheSameImagesShareThem) {
  const std::string_view spec = "'taints':[{'key':'k1','value':'v','effect':'NoSchedule'}]";
  const NodeRef first = DecodeNode(spec, kNodeStatus, "'labels':{'host':'1'}");
  const NodeRef second = DecodeNode("", kNodeStatus, "'labels':{'host':'2'},'uid':'2'");
  EXPECT_TRUE(SharesImages(first, second));
  EXPECT_EQ(first->view().allocatable, second->view().allocatable);
  EXPECT_EQ(second->view().taints.count, 0U);
  EXPECT_EQ(second->uid(), "2");
  EXPECT_EQ(Show(FindValue(second->meta().labels, interner_.Find("host"))), "'2'");
}

TEST_F(SharedPartsTest, NodesWithOtherImagesShareNothing) {
  struct Case {
    std::string_view name, from, to;
    bool shares;
  };
  const Case cases[] = {
      {"size", "'sizeBytes':5", "'sizeBytes':6", false},
      {"image", "repo/web:1", "repo/web:2", false},
      {"one name", ",'repo/web@sha'", "", false},
      {"feature", "'B','A'", "'B','C'", false},
      {"allocatable", "'cpu':'4'", "'cpu':'3'", true},
      {"scalar", "'acme.com/gpu':'2'", "'acme.com/gpu':'3'", true},
      {"capacity", "'cpu':'5'", "'cpu':'6'", true},
      {"condition", "'reason':'R'", "'reason':'S'", true},
  };
  const NodeRef first = DecodeNode("", kNodeStatus);
  for (const Case& c : cases) {
    std::string status(kNodeStatus);
    const size_t at = status.find(c.from);
    ASSERT_NE(at, status.npos) << c.name;
    status.replace(at, c.from.size(), c.to);
    const NodeRef other = DecodeNode("", status);
    EXPECT_EQ(SharesImages(first, other), c.shares) << c.name;
    const NodeRef alone = DecodeNodeAlone("", status, "");
    EXPECT_EQ(ShowNode(*other), ShowNode(*alone)) << c.name;
    EXPECT_NE(ShowNode(*other), ShowNode(*first)) << c.name;
  }
}

TEST_F(SharedPartsTest, NodeKeepsSharedAndOwnIds) {
  NodeRef first = DecodeNode("", kNodeStatus, "'labels':{'host':'1'}");
  NodeRef second = DecodeNode("'taints':[{'key':'rare-taint','effect':'NoSchedule'}]", kNodeStatus,
                              "'labels':{'host':'rare-host'},'annotations':{'a':'b'}");
  ASSERT_TRUE(SharesImages(first, second));
  const std::string before = ShowNode(*second);
  first.reset();
  decoder_.ReleaseIds();
  interner_.Sweep();
  EXPECT_EQ(ShowNode(*second), before);
  EXPECT_NE(interner_.Find("rare-host"), kNoId);
  second.reset();
  interner_.Sweep();
  EXPECT_EQ(interner_.Find("rare-host"), kNoId);
  EXPECT_EQ(interner_.Find("rare-taint"), kNoId);
}

}  // namespace
}  // namespace berth::host

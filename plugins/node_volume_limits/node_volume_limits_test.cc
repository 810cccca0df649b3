#include <string>
#include <utility>
#include <vector>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

const Answer kTooMany = Unschedulable("node(s) exceed max volume count");

VolumeSpec ClaimVolume(const std::string& claim) {
  return {.name = "v", .kind = BERTH_VOLUME_CLAIM, .source = claim};
}
PodSpec PodWith(const std::vector<std::string>& claims, const std::string& name = "p") {
  PodSpec pod = MakePod(name);
  for (const std::string& claim : claims) pod.Volume(ClaimVolume(claim));
  return pod;
}

ObjectSpec Claim(const std::string& name, const std::string& spec) {
  return MakeObject("v1/PersistentVolumeClaim", "default", name, R"({"spec": )" + spec + "}");
}
ObjectSpec Bound(const std::string& name, const std::string& volume) {
  return Claim(name, R"({"volumeName": ")" + volume + "\"}");
}
ObjectSpec OfClass(const std::string& name, const std::string& storage_class) {
  return Claim(name, R"({"storageClassName": ")" + storage_class + "\"}");
}
ObjectSpec Volume(const std::string& name, const std::string& spec) {
  return MakeObject("v1/PersistentVolume", "", name, R"({"spec": )" + spec + "}");
}
ObjectSpec CsiVolume(const std::string& name, const std::string& driver,
                     const std::string& handle) {
  return Volume(name,
                R"({"csi": {"driver": ")" + driver + R"(", "volumeHandle": ")" + handle + "\"}}");
}
ObjectSpec Class(const std::string& name, const std::string& provisioner) {
  return MakeObject("storage.k8s.io/v1/StorageClass", "", name,
                    R"({"provisioner": ")" + provisioner + "\"}");
}
// Returns the CSINode of `node` with one driver and its limit `count`; empty for no limit.
ObjectSpec CsiNode(const std::string& node, const std::string& driver, const std::string& count) {
  const std::string limit = count.empty() ? "" : R"(, "allocatable": {"count": )" + count + "}";
  return MakeObject("storage.k8s.io/v1/CSINode", "", node,
                    R"({"spec": {"drivers": [{"name": ")" + driver + "\"" + limit + "}]}}");
}
ObjectSpec Attachment(const std::string& name, const std::string& node, const std::string& volume,
                      const std::string& driver = "d") {
  return MakeObject("storage.k8s.io/v1/VolumeAttachment", "", name,
                    R"({"spec": {"attacher": ")" + driver + R"(", "nodeName": ")" + node +
                        R"(", "source": {"persistentVolumeName": ")" + volume + "\"}}}");
}

// Returns `more` and the claims c1..c4, bound to the volumes pv1..pv4 of driver d.
std::vector<ObjectSpec> FourClaims(std::vector<ObjectSpec> more) {
  for (const char* i : {"1", "2", "3", "4"}) {
    const std::string n = i;
    more.push_back(Bound("c" + n, "pv" + n));
    more.push_back(CsiVolume("pv" + n, "d", "h" + n));
  }
  return more;
}

TEST(NodeVolumeLimits, FilterNeedsPreFilterForVolumes) {
  PluginUnderTest plugin({.nodes = {MakeNode("n")}});
  const auto filter = [&plugin](const PodSpec& spec) {
    const PodHandle pod(spec, plugin.ids());
    Cycle cycle(&plugin.instance(), &plugin.table(), pod);
    return EvaluateTable(cycle, Step::kFilter).call;
  };
  EXPECT_EQ(filter(PodWith({"c"})),
            Error("Filter requires the State of the plugin, which no method has emplaced in "
                  "this cycle: PreFilter was not called (the profile must run the plugin at "
                  "PreFilter), or it did not call Emplace"));
  EXPECT_EQ(filter(MakePod("p")), Success());
}

TEST(NodeVolumeLimits, SkipsPodsWithoutSuchVolumes) {
  PluginUnderTest plugin({.nodes = {MakeNode("n")}});
  EXPECT_EQ(plugin.Filter(MakePod("p")).pre_filter, Skip());
  EXPECT_EQ(plugin.Filter(MakePod("p").Volume({.name = "v", .kind = BERTH_VOLUME_NFS})).pre_filter,
            Skip());
  const PodSpec vsphere = MakePod("p").Volume({.name = "v", .kind = BERTH_VOLUME_VSPHERE});
  EXPECT_EQ(plugin.Filter(vsphere).pre_filter, Success()) << "a CSI driver replaces it";
  EXPECT_EQ(plugin.Filter(vsphere).On("n"), Success()) << "but the volume does not count";
}

TEST(NodeVolumeLimits, RejectsNodeAtTheLimitOfTheDriver) {
  const auto on = [](const char* limit, const std::vector<std::string>& claims) {
    PluginUnderTest plugin({.nodes = {MakeNode("n").Pod(PodWith({"c1"}, "q"))},
                            .objects = FourClaims({CsiNode("n", "d", limit)})});
    return plugin.Filter(PodWith(claims)).On("n");
  };
  EXPECT_EQ(on("2", {"c2"}), Success());
  EXPECT_EQ(on("1", {"c2"}), kTooMany);
  EXPECT_EQ(on("2", {"c2", "c3"}), kTooMany);
  EXPECT_EQ(on("3", {"c2", "c3"}), Success());
  EXPECT_EQ(on("2", {"c2", "c2"}), Success()) << "the pod uses one volume twice";
  EXPECT_EQ(on("1", {"c1"}), Success()) << "the volume is already on the node";
  EXPECT_EQ(on("0", {"c1"}), Success());
  EXPECT_EQ(on("0", {"c2"}), kTooMany);
  EXPECT_EQ(on("", {"c2"}), Success()) << "no limit";
}

TEST(NodeVolumeLimits, OnlyVolumesOfTheDriverCount) {
  std::vector<ObjectSpec> objects =
      FourClaims({CsiNode("n", "d", "1"), Bound("other", "other"), CsiVolume("other", "e", "h1"),
                  Bound("nfs", "nfs"), Volume("nfs", R"({"nfs": {"server": "s"}})")});
  PluginUnderTest plugin({.nodes = {MakeNode("n").Pod(PodWith({"other", "nfs", "gone"}, "q")),
                                    MakeNode("bare").Pod(PodWith({"c3", "c4"}, "r"))},
                          .objects = std::move(objects)});
  EXPECT_EQ(plugin.Filter(PodWith({"c1"})).On("n"), Success());
  EXPECT_EQ(plugin.Filter(PodWith({"c1", "c2"})).On("n"), kTooMany);
  EXPECT_EQ(plugin.Filter(PodWith({"c1", "c2"})).On("bare"), Success()) << "no CSINode";
  EXPECT_EQ(plugin.Filter(PodWith({"other", "nfs"})).On("n"), Success());
}

TEST(NodeVolumeLimits, AVolumeOfSeveralPodsCountsOnce) {
  std::vector<ObjectSpec> objects =
      FourClaims({CsiNode("n", "d", "2"), Bound("same", "same"), CsiVolume("same", "d", "h1")});
  PluginUnderTest plugin({.nodes = {MakeNode("n")
                                        .Pod(PodWith({"c1"}, "q"))
                                        .Pod(PodWith({"c1"}, "r"))
                                        .Pod(PodWith({"same"}, "s"))},
                          .objects = std::move(objects)});
  EXPECT_EQ(plugin.Filter(PodWith({"c2"})).On("n"), Success());
  EXPECT_EQ(plugin.Filter(PodWith({"c2", "c3"})).On("n"), kTooMany);
}

TEST(NodeVolumeLimits, UnboundClaimsCountForDriverOfTheirClass) {
  PluginUnderTest plugin(
      {.nodes = {MakeNode("n").Pod(PodWith({"u1", "u2"}, "q"))},
       .objects = {CsiNode("n", "d", "2"), Class("of-d", "d"), Class("of-e", "e"),
                   OfClass("u1", "of-d"), OfClass("u2", "of-d"), OfClass("u3", "of-d"),
                   OfClass("x", "of-e"), OfClass("y", "none"), Claim("z", "{}"),
                   Claim("lost", R"({"volumeName": "gone", "storageClassName": "of-d"})")}});
  EXPECT_EQ(plugin.Filter(PodWith({"u3"})).On("n"), kTooMany);
  EXPECT_EQ(plugin.Filter(PodWith({"u1"})).On("n"), Success())
      << "a pod on the node uses the claim";
  EXPECT_EQ(plugin.Filter(PodWith({"x", "y", "z"})).On("n"), Success());
  EXPECT_EQ(plugin.Filter(PodWith({"lost"})).On("n"), kTooMany) << "its volume does not exist";
}

TEST(NodeVolumeLimits, AttachedVolumesCountWithoutPodThatUsesThem) {
  std::vector<ObjectSpec> objects =
      FourClaims({CsiNode("n", "d", "2"), CsiNode("m", "d", "2"), Attachment("a1", "n", "pv1"),
                  Attachment("a2", "n", "pv2"), Attachment("a3", "n", "gone"),
                  Attachment("a4", "n", "pv4", "e"), Attachment("a5", "elsewhere", "pv4")});
  PluginUnderTest plugin({.nodes = {MakeNode("n").Pod(PodWith({"c1"}, "q")), MakeNode("m")},
                          .objects = std::move(objects)});
  EXPECT_EQ(plugin.Filter(PodWith({"c3"})).On("n"), kTooMany);
  EXPECT_EQ(plugin.Filter(PodWith({"c3"})).On("m"), Success());
  EXPECT_EQ(plugin.Filter(PodWith({"c2"})).On("n"), Success()) << "it is attached already";
  plugin.RemoveObject(Attachment("a2", "n", "pv2"));
  EXPECT_EQ(plugin.Filter(PodWith({"c3"})).On("n"), Success());
  plugin.PutObject(Attachment("a1", "n", "pv2"));
  EXPECT_EQ(plugin.Filter(PodWith({"c3"})).On("n"), kTooMany)
      << "the attachment changed to another volume";
}

TEST(NodeVolumeLimits, InTreeVolumesCountForTheirCsiDriver) {
  const std::string ebs = "ebs.csi.aws.com";
  const VolumeSpec disk = {.name = "v", .kind = BERTH_VOLUME_AWS_DISK, .source = "vol-1"};
  const auto on = [&](const char* limit, const PodSpec& pod) {
    PluginUnderTest plugin(
        {.nodes = {MakeNode("n").Pod(MakePod("q").Volume(disk)), MakeNode("bare")},
         .objects = {CsiNode("n", ebs, limit), Bound("same", "same"), Bound("other", "other"),
                     CsiVolume("same", ebs, "vol-1"), OfClass("unbound", "old"),
                     Volume("other", R"({"awsElasticBlockStore": {"volumeID": "aws://z/vol-2"}})"),
                     Class("old", "kubernetes.io/aws-ebs")}});
    EXPECT_EQ(plugin.Filter(pod).On("bare"), Success());
    return plugin.Filter(pod).On("n");
  };
  EXPECT_EQ(on("1", PodWith({"same"})), Success());
  EXPECT_EQ(on("1", PodWith({"other"})), kTooMany);
  EXPECT_EQ(on("2", PodWith({"other"})), Success());
  EXPECT_EQ(on("1", PodWith({"unbound"})), kTooMany);
  EXPECT_EQ(on("1", MakePod("p").Volume(disk)), Success());
  VolumeSpec second = disk;
  second.source = "aws://z/vol-2";
  EXPECT_EQ(on("1", MakePod("p").Volume(second)), kTooMany);
}

TEST(NodeVolumeLimits, UntranslatableInTreeVolumeFailsOnCsiNodes) {
  PluginUnderTest plugin(
      {.nodes = {MakeNode("bare"), MakeNode("n")}, .objects = {CsiNode("n", "d", "1")}});
  const PodSpec pod =
      MakePod("p").Volume({.name = "v", .kind = BERTH_VOLUME_AWS_DISK, .source = "aws://x/y"});
  const FilterResult result = plugin.Filter(pod);
  EXPECT_EQ(result.On("bare"), Success());
  EXPECT_EQ(result.On("n"), Error("converting volume(v) from inline to csi: no volume of "
                                  "ebs.csi.aws.com is called aws://x/y"));
}

TEST(NodeVolumeLimits, AMissingClaimRejectsThePod) {
  PluginUnderTest plugin({.nodes = {MakeNode("n")}, .objects = FourClaims({})});
  EXPECT_EQ(plugin.Filter(PodWith({"c1", "x", "y"})).On("n"),
            Unresolvable("looking up PVC default/x: persistentvolumeclaim \"x\" not found"));
  EXPECT_EQ(plugin.Filter(PodWith({"c1"}).Namespace("other")).On("n"),
            Unresolvable("looking up PVC other/c1: persistentvolumeclaim \"c1\" not found"));
  EXPECT_EQ(plugin.Filter(PodWith({""})).On("n"), Error("PersistentVolumeClaim had no name"));
}

TEST(NodeVolumeLimits, EphemeralVolumeNeedsClaimThatThePodOwns) {
  const OwnerSpec owner{.kind = "Pod", .name = "p", .uid = "uid-p", .api_version = "v1"};
  const auto on = [&](const ObjectSpec& claim, const char* limit) {
    PluginUnderTest plugin({.nodes = {MakeNode("n").Pod(PodWith({"c1"}, "q"))},
                            .objects = FourClaims({CsiNode("n", "d", limit), claim})});
    const PodSpec pod =
        MakePod("p").Uid("uid-p").Volume({.name = "tmp", .kind = BERTH_VOLUME_EPHEMERAL});
    return plugin.Filter(pod).On("n");
  };
  EXPECT_EQ(on(Bound("p-tmp", "pv2").Owner(owner), "2"), Success());
  EXPECT_EQ(on(Bound("p-tmp", "pv2").Owner(owner), "1"), kTooMany);
  EXPECT_EQ(on(Bound("p-tmp", "pv2"), "2"),
            Error("PVC default/p-tmp was not created for pod default/p (pod is not owner)"));
  EXPECT_EQ(
      on(Bound("tmp", "pv2"), "2"),
      Unresolvable("looking up PVC default/p-tmp: persistentvolumeclaim \"p-tmp\" not found"));
}

TEST(NodeVolumeLimits, BrokenClaimsOfOtherPodsAreIgnored) {
  const OwnerSpec owner{.kind = "Pod", .name = "q", .uid = "uid-q", .api_version = "v1"};
  const PodSpec holder =
      MakePod("q").Uid("uid-q").Volume({.name = "tmp", .kind = BERTH_VOLUME_EPHEMERAL});
  const auto on = [&](const ObjectSpec& claim) {
    PluginUnderTest plugin({.nodes = {MakeNode("n").Pod(holder)},
                            .objects = FourClaims({CsiNode("n", "d", "1"), claim})});
    return plugin.Filter(PodWith({"c1"})).On("n");
  };
  EXPECT_EQ(on(Bound("q-tmp", "pv2").Owner(owner)), kTooMany);
  EXPECT_EQ(on(Bound("q-tmp", "pv2")), Success()) << "the claim belongs to no pod";
  EXPECT_EQ(on(Bound("else", "pv2")), Success()) << "the claim does not exist";
}

TEST(NodeVolumeLimits, RejectsANodeWithoutARequiredDriver) {
  const auto csi_driver = [](const char* name, const char* spec) {
    return MakeObject("storage.k8s.io/v1/CSIDriver", "", name,
                      R"({"spec": )" + std::string(spec) + "}");
  };
  constexpr const char* kMust = R"({"preventPodSchedulingIfMissing": true})";
  constexpr const char* kMay = R"({"preventPodSchedulingIfMissing": false})";
  const PodSpec bound = PodWith({"c1", "c2"});
  const PodSpec unbound = PodWith({"u"});
  const PodSpec inline_disk =
      MakePod("p").Volume({.name = "v", .kind = BERTH_VOLUME_AWS_DISK, .source = "vol-1"});
  const Answer pass = Success();
  const Answer missing = Unschedulable("d CSI driver is not installed on the node");
  const Answer no_ebs = Unschedulable("ebs.csi.aws.com CSI driver is not installed on the node");
  const struct {
    const char* name;
    ObjectSpec driver;
    PodSpec pod;
    Answer on_with;     // In 1.37, on a node with the driver d.
    Answer on_without;  // On a node with a CSINode without d.
    Answer on_bare;     // On a node without a CSINode.
  } cases[] = {
      {"a required driver", csi_driver("d", kMust), bound, pass, missing, missing},
      {"the driver of an unbound claim", csi_driver("d", kMust), unbound, pass, missing, missing},
      {"a driver that is not required", csi_driver("d", kMay), bound, pass, pass, pass},
      {"no value", csi_driver("d", "{}"), bound, pass, pass, pass},
      {"another driver", csi_driver("other", kMust), bound, pass, pass, pass},
      {"an in-tree disk needs its driver only on nodes with a CSINode",
       csi_driver("ebs.csi.aws.com", kMust), inline_disk, no_ebs, no_ebs, pass},
  };
  for (const auto& c : cases) {
    for (const KubeVersion version : {KubeVersion{1, 36}, KubeVersion{1, 37}}) {
      const bool rejects = version != KubeVersion{1, 36};
      PluginUnderTest plugin(
          {.nodes = {MakeNode("with"), MakeNode("without"), MakeNode("bare")},
           .objects = FourClaims({CsiNode("with", "d", ""), CsiNode("without", "e", "1"), c.driver,
                                  OfClass("u", "of-d"), Class("of-d", "d")}),
           .emulated_version = version});
      const FilterResult result = plugin.Filter(c.pod);
      SCOPED_TRACE(std::string(c.name) + (rejects ? ", 1.37" : ", 1.36"));
      EXPECT_EQ(result.On("with"), rejects ? c.on_with : pass);
      EXPECT_EQ(result.On("without"), rejects ? c.on_without : pass);
      EXPECT_EQ(result.On("bare"), rejects ? c.on_bare : pass);
    }
  }
}

// Verdicts with reasons are reused for pods with the same signature, so the numbers of the reasons
// must mean the same texts.
TEST(NodeVolumeLimits, EqualSignaturesMeanEqualReasons) {
  const ObjectSpec driver = MakeObject("storage.k8s.io/v1/CSIDriver", "", "d",
                                       R"({"spec": {"preventPodSchedulingIfMissing": true}})");
  PluginUnderTest plugin({.nodes = {MakeNode("n")}, .objects = FourClaims({driver})});
  struct Signed {
    uint64_t low;
    uint64_t high;
    std::vector<std::string> reasons;
  };
  const auto sign = [&plugin](const PodSpec& spec) {
    const PodHandle pod(spec, plugin.ids());
    Cycle cycle(&plugin.instance(), &plugin.table(), pod);
    EXPECT_EQ(cycle.PreFilter(), Success());
    berth_signature signature{};
    const berth_dependence& declared = *DependenceOf(plugin.instance(), Step::kFilter);
    const Answer answer = cycle.Invoke("sign", kCycle, [&](berth_status*) {
      return declared.sign(plugin.instance().self(), cycle.abi(), &signature);
    });
    EXPECT_EQ(answer, Success());
    return Signed{signature.low, signature.high, cycle.reasons()};
  };
  const std::vector<std::string> kClaims[] = {{"gone", "c1"}, {"c1", "gone"}, {"gone", "c1", "c1"},
                                              {"c1"},         {"c2"},         {"gone"}};
  std::vector<Signed> all;
  for (const auto& claims : kClaims) all.push_back(sign(PodWith(claims)));
  const auto equal = [](const Signed& a, const Signed& b) {
    return a.low == b.low && a.high == b.high;
  };
  for (const Signed& a : all) {
    for (const Signed& b : all) {
      if (equal(a, b)) {
        EXPECT_EQ(a.reasons, b.reasons);
      }
    }
  }
  EXPECT_NE(all[0].reasons, all[1].reasons) << "the order of the volumes is that of the reasons";
  EXPECT_TRUE(equal(all[0], all[2])) << "the same volumes have the same signature";
  EXPECT_TRUE(equal(all[0], sign(PodWith({"gone", "c1"}, "q"))));
}

TEST(NodeVolumeLimits, UsesTheLatestObjects) {
  PluginUnderTest plugin({.nodes = {MakeNode("n").Pod(PodWith({"c1"}, "q"))},
                          .objects = FourClaims({CsiNode("n", "d", "1"), OfClass("u", "of-d")})});
  const PodSpec pod = PodWith({"c2"});
  EXPECT_EQ(plugin.Filter(pod).On("n"), kTooMany);
  plugin.PutObject(CsiNode("n", "d", "2"));
  EXPECT_EQ(plugin.Filter(pod).On("n"), Success());
  plugin.PutObject(CsiNode("n", "d", "1"));
  plugin.PutObject(CsiVolume("pv1", "e", "h1"));
  EXPECT_EQ(plugin.Filter(pod).On("n"), Success()) << "the volume has another driver";
  plugin.PutObject(CsiVolume("pv1", "d", "h1"));
  plugin.RemoveObject(Bound("c1", "pv1"));
  EXPECT_EQ(plugin.Filter(pod).On("n"), Success()) << "the other claim was deleted";
  plugin.PutObject(Bound("c1", "pv1"));
  EXPECT_EQ(plugin.Filter(PodWith({"u"})).On("n"), Success()) << "its class does not exist";
  plugin.PutObject(Class("of-d", "d"));
  EXPECT_EQ(plugin.Filter(PodWith({"u"})).On("n"), kTooMany);
  plugin.RemoveObject(CsiNode("n", "d", "1"));
  EXPECT_EQ(plugin.Filter(pod).On("n"), Success());
}

}  // namespace
}  // namespace berth::testing

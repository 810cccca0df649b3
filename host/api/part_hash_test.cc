#include "host/api/part_hash.h"

#include <set>
#include <string>

#include "host/api/decode_testing.h"

namespace berth::host {
namespace {

struct Parts {
  std::string_view spec;
  std::string_view status;
  std::string_view meta;
};

class PartHashTest : public DecodeTest {
 protected:
  static uint64_t Changed(const PodRef& before, const PodRef& after) {
    uint64_t changed = 0;
    for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) {
      if (before->part_hash(part) != after->part_hash(part)) changed |= uint64_t{1} << part;
    }
    return changed;
  }
};

constexpr uint64_t kRequestsAndContainers = BERTH_PART(REQUESTS) | BERTH_PART(CONTAINERS);

struct PartCase {
  Parts before;
  Parts after;
  uint64_t parts;
};
// CONTAINER makes a pod with one container, and REQUESTS its cpu and memory requests, so that only
// the part under test differs.
#define CONTAINER(text) "'containers':[{'name':'a'," text "}]"
#define REQUESTS "'resources':{'requests':{'cpu':'1','memory':'1'}}"
#define TERMS(kind, text) "'affinity':{'" kind "':{" text "}}"
#define REQUIRED "'requiredDuringSchedulingIgnoredDuringExecution'"
#define PREFERRED "'preferredDuringSchedulingIgnoredDuringExecution'"
constexpr PartCase kPartCases[] = {
    {{}, {"", "", "'uid':'u'"}, BERTH_PART(IDENTITY)},
    {{}, {"", "", "'resourceVersion':'1'"}, BERTH_PART(IDENTITY)},
    {{}, {"", "", "'generation':7"}, 0},
    {{}, {"", "", "'namespace':'x'"}, BERTH_PART(NAMESPACE)},
    {{}, {"", "", "'labels':{'a':'b'}"}, BERTH_PART(LABELS)},
    {{"", "", "'labels':{'a':'b'}"}, {"", "", "'labels':{'b':'a'}"}, BERTH_PART(LABELS)},
    {{"", "", "'labels':{'a':'1','b':'2'}"}, {"", "", "'labels':{'b':'2','a':'1'}"}, 0},
    {{}, {"", "", "'annotations':{'a':'b'}"}, BERTH_PART(ANNOTATIONS)},
    {{}, {"", "", "'ownerReferences':[{'name':'x'}]"}, BERTH_PART(OWNERS)},
    {{"", "", "'ownerReferences':[{'kind':'A'}]"},
     {"", "", "'ownerReferences':[{'kind':'A','controller':true}]"},
     BERTH_PART(OWNERS)},
    {{}, {"", "", "'creationTimestamp':'2026-01-10T08:00:00Z'"}, BERTH_PART(TIMES)},
    {{}, {"", "", "'deletionTimestamp':'2026-01-10T08:00:00Z'"}, BERTH_PART(TIMES)},
    {{}, {"'priority':1", "", ""}, BERTH_PART(PRIORITY)},
    {{}, {"'priority':0", "", ""}, BERTH_PART(PRIORITY)},
    {{}, {"'priorityClassName':'x'", "", ""}, BERTH_PART(PRIORITY)},
    {{}, {"'preemptionPolicy':'Never'", "", ""}, BERTH_PART(PRIORITY)},
    {{}, {"'schedulerName':'x'", "", ""}, BERTH_PART(SCHEDULER_NAME)},
    {{}, {"'schedulerName':'default-scheduler'", "", ""}, 0},
    {{}, {"'nodeName':'x'", "", ""}, BERTH_PART(NODE_NAME)},
    {{}, {"'nodeSelector':{'a':'b'}", "", ""}, BERTH_PART(NODE_SELECTION)},
    {{}, {TERMS("nodeAffinity", REQUIRED ":{}"), "", ""}, BERTH_PART(NODE_SELECTION)},
    {{TERMS("nodeAffinity", REQUIRED ":{}"), "", ""},
     {TERMS("nodeAffinity", REQUIRED ":{'nodeSelectorTerms':[{}]}"), "", ""},
     BERTH_PART(NODE_SELECTION)},
    {{TERMS("nodeAffinity", PREFERRED ":[{'weight':1}]"), "", ""},
     {TERMS("nodeAffinity", PREFERRED ":[{'weight':2}]"), "", ""},
     BERTH_PART(NODE_SELECTION)},
    {{},
     {TERMS("podAffinity", REQUIRED ":[{'topologyKey':'a'}]"), "", ""},
     BERTH_PART(POD_AFFINITY)},
    {{TERMS("podAffinity", REQUIRED ":[{'topologyKey':'a'}]"), "", ""},
     {TERMS("podAntiAffinity", REQUIRED ":[{'topologyKey':'a'}]"), "", ""},
     BERTH_PART(POD_AFFINITY)},
    {{TERMS("podAffinity", REQUIRED ":[{'labelSelector':{}}]"), "", ""},
     {TERMS("podAffinity", REQUIRED ":[{'namespaceSelector':{}}]"), "", ""},
     BERTH_PART(POD_AFFINITY)},
    {{TERMS("podAffinity", REQUIRED ":[{'namespaces':['a']}]"), "", ""},
     {TERMS("podAffinity", REQUIRED ":[{'namespaces':['b']}]"), "", ""},
     BERTH_PART(POD_AFFINITY)},
    {{}, {TERMS("podAntiAffinity", PREFERRED ":[{'weight':1}]"), "", ""}, BERTH_PART(POD_AFFINITY)},
    {{}, {"'tolerations':[{'operator':'Exists'}]", "", ""}, BERTH_PART(TOLERATIONS)},
    {{"'tolerations':[{'key':'a'}]", "", ""},
     {"'tolerations':[{'key':'a','tolerationSeconds':1}]", "", ""},
     BERTH_PART(TOLERATIONS)},
    {{}, {"'topologySpreadConstraints':[{'topologyKey':'a'}]", "", ""}, BERTH_PART(SPREAD)},
    {{"'topologySpreadConstraints':[{'maxSkew':1}]", "", ""},
     {"'topologySpreadConstraints':[{'maxSkew':1,'minDomains':2}]", "", ""},
     BERTH_PART(SPREAD)},
    {{"'topologySpreadConstraints':[{}]", "", ""},
     {"'topologySpreadConstraints':[{'labelSelector':{}}]", "", ""},
     BERTH_PART(SPREAD)},
    {{CONTAINER(REQUESTS), "", ""},
     {CONTAINER("'resources':{'requests':{'cpu':'2','memory':'1'}}"), "", ""},
     kRequestsAndContainers},
    {{CONTAINER(REQUESTS), "", ""},
     {CONTAINER("'resources':{'requests':{'cpu':'1000m','memory':'1'}}"), "", ""},
     0},
    {{CONTAINER(REQUESTS), "", ""},
     {CONTAINER("'resources':{'requests':{'cpu':'1','memory':'1'},'limits':{'cpu':'1'}}"), "", ""},
     BERTH_PART(CONTAINERS)},
    {{CONTAINER("'x':1"), "", ""}, {"'containers':[{'name':'b'}]", "", ""}, BERTH_PART(CONTAINERS)},
    {{CONTAINER("'x':1"), "", ""},
     {CONTAINER("'restartPolicyRules':[{'action':'RestartAllContainers'}]"), "", ""},
     BERTH_PART(CONTAINERS)},
    {{}, {"'overhead':{'cpu':'1'}", "", ""}, kRequestsAndContainers},
    {{}, {"'resources':{'requests':{'cpu':'1'}}", "", ""}, kRequestsAndContainers},
    {{CONTAINER(REQUESTS), "", ""},
     {CONTAINER(REQUESTS),
      "'containerStatuses':[{'name':'a','resources':{'requests':{'cpu':'5'}}}]", ""},
     BERTH_PART(REQUESTS)},
    {{CONTAINER("'ports':[{'containerPort':1}]"), "", ""},
     {CONTAINER("'ports':[{'containerPort':2}]"), "", ""},
     BERTH_PART(PORTS)},
    {{CONTAINER("'ports':[{'containerPort':1}]"), "", ""},
     {CONTAINER("'ports':[{'containerPort':1,'hostPort':1}]"), "", ""},
     BERTH_PART(PORTS)},
    {{CONTAINER("'image':'x:1'"), "", ""},
     {CONTAINER("'image':'x:2'"), "", ""},
     BERTH_PART(IMAGES)},
    {{}, {"'volumes':[{'name':'v'}]", "", ""}, BERTH_PART(VOLUMES)},
    {{"'volumes':[{'persistentVolumeClaim':{'claimName':'a'}}]", "", ""},
     {"'volumes':[{'persistentVolumeClaim':{'claimName':'a','readOnly':true}}]", "", ""},
     BERTH_PART(VOLUMES)},
    {{}, {"'schedulingGates':[{'name':'g'}]", "", ""}, BERTH_PART(GATES)},
    {{}, {"'resourceClaims':[{'name':'c'}]", "", ""}, BERTH_PART(CLAIMS)},
    {{"'resourceClaims':[{'name':'c'}]", "", ""},
     {"'resourceClaims':[{'name':'c'}]",
      "'resourceClaimStatuses':[{'name':'c','resourceClaimName':'x'}]", ""},
     BERTH_PART(CLAIMS)},
    {{}, {"'schedulingGroup':{'podGroupName':'g'}", "", ""}, BERTH_PART(GROUP)},
    {{}, {"'os':{'name':'linux'}", "", ""}, BERTH_PART(RUNTIME)},
    {{}, {"'runtimeClassName':'x'", "", ""}, BERTH_PART(RUNTIME)},
    {{}, {"'hostNetwork':true", "", ""}, BERTH_PART(RUNTIME)},
    {{}, {"'hostUsers':false", "", ""}, BERTH_PART(RUNTIME)},
    {{}, {"'restartPolicy':'Never'", "", ""}, BERTH_PART(RUNTIME)},
    {{CONTAINER("'volumeMounts':[{'name':'v'}]"), "", ""},
     {CONTAINER("'volumeMounts':[{'name':'v','bindMountOptions':['noexec']}]"), "", ""},
     BERTH_PART(RUNTIME)},
    {{}, {"", "'nominatedNodeName':'x'", ""}, BERTH_PART(NOMINATION)},
    {{}, {"", "'phase':'Running'", ""}, BERTH_PART(STATUS)},
    {{}, {"", "'startTime':'2026-01-10T08:00:00Z'", ""}, BERTH_PART(STATUS)},
    {{}, {"", "'conditions':[{'type':'Ready'}]", ""}, BERTH_PART(STATUS)},
    {{}, {"'unknown':1", "'message':'x'", "'managedFields':[]"}, 0},
};
#undef CONTAINER
#undef REQUESTS
#undef TERMS
#undef REQUIRED
#undef PREFERRED

TEST_F(PartHashTest, EachFieldChangesOnlyItsParts) {
  for (const PartCase& c : kPartCases) {
    const PodRef before = DecodePod(c.before.spec, c.before.status, c.before.meta);
    const PodRef after = DecodePod(c.after.spec, c.after.status, c.after.meta);
    EXPECT_EQ(Changed(before, after), c.parts) << c.after.spec << c.after.status << c.after.meta;
  }
}

TEST_F(PartHashTest, TheNameBelongsToTheIdentity) {
  const Result<PodRef> p = decoder_.DecodePod(Json("{'metadata':{'name':'p'}}"));
  const Result<PodRef> q = decoder_.DecodePod(Json("{'metadata':{'name':'q'}}"));
  EXPECT_EQ(Changed(*p, *q), BERTH_PART(IDENTITY));
}

TEST_F(PartHashTest, SidecarsDifferFromInitContainers) {
  const PodRef init = DecodePod("'initContainers':[{'name':'i'}]");
  const PodRef sidecar = DecodePod("'initContainers':[{'name':'i','restartPolicy':'Always'}]");
  const PodRef container = DecodePod("'containers':[{'name':'i'}]");
  EXPECT_EQ(Changed(init, sidecar), BERTH_PART(CONTAINERS));
  EXPECT_EQ(Changed(init, container),
            BERTH_PART(CONTAINERS) | BERTH_PART(IMAGES) | BERTH_PART(PORTS));
}

TEST_F(PartHashTest, KeptFieldsBelongToThePartFields) {
  DecodeOptions options;
  options.pod_fields = {"/spec/hostIPC"};
  Decoder decoder(interner_, options);
  const Result<PodRef> a = decoder.DecodePod(PodText("'hostIPC':true"));
  const Result<PodRef> b = decoder.DecodePod(PodText("'hostIPC':false"));
  EXPECT_EQ(Changed(*a, *b), BERTH_PART(FIELDS));
}

TEST_F(PartHashTest, DoesNotDependOnIds) {
  constexpr const char* kSpec =
      "'nodeSelector':{'a':'b','c':'d'},'overhead':{'x.com/a':1,'x.com/b':2},"
      "'tolerations':[{'key':'k','value':'v'}]";
  constexpr const char* kMeta = "'labels':{'c':'1','a':'2'}";
  const PodRef here = DecodePod(kSpec, "", kMeta);
  Interner other;
  for (int32_t i = 0; i < 40; ++i) other.Intern("taken" + std::to_string(i));
  for (const char* text : {"v", "d", "x.com/b", "c", "x.com/a", "a"}) other.Intern(text);
  Decoder decoder(other);
  const Result<PodRef> there = decoder.DecodePod(PodText(kSpec, "", kMeta));
  ASSERT_TRUE(there.ok());
  EXPECT_NE(here->view().scheduler_name, (*there)->view().scheduler_name);
  EXPECT_EQ(Changed(here, *there), 0u);
}

TEST_F(PartHashTest, EveryPartDependsOnTheKey) {
  constexpr const char* kSpec = "'nodeName':'x','containers':[{'name':'c','image':'i'}]";
  const PodRef pod = DecodePod(kSpec, "", "'labels':{'a':'1'}");
  Interner other({1, 2});
  Decoder decoder(other);
  const Result<PodRef> with_other_key = decoder.DecodePod(PodText(kSpec, "", "'labels':{'a':'1'}"));
  ASSERT_TRUE(with_other_key.ok());
  EXPECT_EQ(Changed(pod, *with_other_key), kAllParts);
}

TEST_F(PartHashTest, PartsOfOnePodDiffer) {
  // Only parts with content are compared, because parts that are empty lists have equal hashes.
  const PodRef pod = DecodePod(
      "'nodeName':'x','runtimeClassName':'x','schedulingGroup':{'podGroupName':'x'},"
      "'schedulingGates':[{'name':'x'}]",
      "'nominatedNodeName':'y'", "'namespace':'z'");
  std::set<uint64_t> hashes;
  for (const uint32_t part : {BERTH_PART_NODE_NAME, BERTH_PART_GATES, BERTH_PART_RUNTIME,
                              BERTH_PART_NOMINATION, BERTH_PART_NAMESPACE}) {
    hashes.insert(pod->part_hash(part));
  }
  EXPECT_EQ(hashes.size(), 5u);
}

}  // namespace
}  // namespace berth::host

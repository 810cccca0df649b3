#include <cstdint>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "host/api/decode_testing.h"

namespace berth::host {
namespace {

class DecodePodTest : public DecodeTest {};

TEST_F(DecodePodTest, ReadsMetadata) {
  const PodRef pod = DecodePod(
      "", "",
      "'namespace':'shop','uid':'u-1','resourceVersion':'81','generation':3,"
      "'creationTimestamp':'2026-01-10T08:00:00Z','deletionTimestamp':'2026-01-10T08:00:01Z',"
      "'labels':{'app':'web','tier':'','a.example.com/x':'1'},"
      "'annotations':{'note':'one','empty':'','note':'two words','a':'b'},"
      "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'rs','uid':'u-2',"
      "'controller':true},{'apiVersion':'v1','kind':'Node','name':'n','uid':'u-3'}]");
  EXPECT_EQ(pod->name(), "p");
  EXPECT_EQ(pod->ns(), "shop");
  EXPECT_EQ(pod->Key(), "shop/p");
  EXPECT_EQ(pod->uid(), "u-1");
  EXPECT_EQ(pod->resource_version(), "81");
  EXPECT_EQ(pod->meta().generation, 3);
  EXPECT_EQ(pod->meta().created_ns, 1768032000LL * 1'000'000'000);
  EXPECT_EQ(pod->meta().deleted_ns - pod->meta().created_ns, 1'000'000'000);
  EXPECT_TRUE(pod->terminating());
  EXPECT_EQ(ShowPairs(pod->meta().labels), "a.example.com/x=1 app=web tier=");
  const auto annotations = Elements<berth_str_pair>(pod->meta().annotations);
  std::string shown;  // Sorted by key; the last one of equal keys counts.
  for (const berth_str_pair& pair : annotations) {
    shown.append(Text(pair.key)).append("=").append(Text(pair.value)).append(" ");
  }
  EXPECT_EQ(shown, "a=b empty= note=two words ");
  const auto owners = Elements<berth_owner>(pod->meta().owners);
  ASSERT_EQ(owners.size(), 2u);
  EXPECT_EQ(Text(owners[0].name), "rs");
  EXPECT_EQ(Text(owners[0].uid), "u-2");
  EXPECT_EQ(Show(owners[0].api_version) + Show(owners[0].kind), "'apps/v1''ReplicaSet'");
  EXPECT_EQ(owners[0].controller, 1u);
  EXPECT_EQ(owners[1].controller, 0u);
}

TEST_F(DecodePodTest, SortsLabelsByKeyAndKeepsLastDuplicate) {
  const PodRef pod = DecodePod("", "", "'labels':{'b':'1','a':'2','b':'3','c':'4'}");
  const auto labels = Elements<berth_id_pair>(pod->meta().labels);
  ASSERT_EQ(labels.size(), 3u);
  EXPECT_LT(labels[0].key, labels[1].key);
  EXPECT_LT(labels[1].key, labels[2].key);
  EXPECT_EQ(ShowPairs(pod->meta().labels), "a=2 b=3 c=4");
  EXPECT_EQ(FindValue(pod->meta().labels, interner_.Find("b")), interner_.Find("3"));
  EXPECT_EQ(FindValue(pod->meta().labels, interner_.Find("p")), kNoId);
}

TEST_F(DecodePodTest, ReadsTheSpec) {
  const PodRef pod = DecodePod(
      "'schedulerName':'binpack','nodeName':'n1','priority':-5,'preemptionPolicy':'Never',"
      "'priorityClassName':'batch','runtimeClassName':'kata','os':{'name':'linux'},"
      "'restartPolicy':'OnFailure','hostNetwork':true,'hostUsers':false,"
      "'nodeSelector':{'disk':'ssd'},'schedulingGates':[{'name':'g1'},{'name':'g2'}],"
      "'schedulingGroup':{'podGroupName':'gang'}",
      "'phase':'Running','nominatedNodeName':'n2','startTime':'1970-01-01T00:00:02Z',"
      "'conditions':[{'type':'Ready','status':'Unknown','reason':'Because',"
      "'lastTransitionTime':'1970-01-01T00:00:01Z'}]");
  const berth_pod& view = pod->view();
  EXPECT_EQ(view.struct_size, sizeof(berth_pod));
  EXPECT_EQ(pod->scheduler_name(), "binpack");
  EXPECT_EQ(pod->node_name(), "n1");
  EXPECT_EQ(view.priority, -5);
  EXPECT_EQ(view.preemption_policy, uint32_t{BERTH_PREEMPT_NEVER});
  EXPECT_EQ(Show(view.priority_class) + Show(view.runtime_class) + Show(view.os),
            "'batch''kata''linux'");
  EXPECT_EQ(view.restart_policy, uint32_t{BERTH_RESTART_ON_FAILURE});
  EXPECT_EQ(view.flags,
            uint32_t{BERTH_POD_HAS_PRIORITY | BERTH_POD_HOST_NETWORK | BERTH_POD_HOST_USERS_FALSE});
  EXPECT_EQ(ShowPairs(view.node_selector), "disk=ssd");
  ASSERT_EQ(view.scheduling_gates.count, 2u);
  EXPECT_EQ(Text(Elements<berth_str>(view.scheduling_gates)[1]), "g2");
  EXPECT_EQ(Text(view.pod_group), "gang");
  EXPECT_EQ(view.phase, uint32_t{BERTH_PHASE_RUNNING});
  EXPECT_EQ(pod->nominated_node(), "n2");
  EXPECT_EQ(view.started_ns, 2'000'000'000);
  const auto conditions = Elements<berth_condition>(view.conditions);
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(Show(conditions[0].type) + Show(conditions[0].reason), "'Ready''Because'");
  EXPECT_EQ(conditions[0].status, uint32_t{BERTH_CONDITION_UNKNOWN});
  EXPECT_EQ(conditions[0].transition_ns, 1'000'000'000);
}

TEST_F(DecodePodTest, AppliesDefaults) {
  const PodRef pod = DecodePod("");
  const berth_pod& view = pod->view();
  EXPECT_EQ(pod->ns(), "default");
  EXPECT_EQ(pod->scheduler_name(), "default-scheduler");
  EXPECT_EQ(view.priority, 0);
  EXPECT_EQ(view.flags, 0u);
  EXPECT_EQ(view.preemption_policy, uint32_t{BERTH_PREEMPT_LOWER_PRIORITY});
  EXPECT_EQ(view.restart_policy, uint32_t{BERTH_RESTART_ALWAYS});
  EXPECT_EQ(view.node_name, kNoId);
  EXPECT_EQ(view.nominated_node, kNoId);
  EXPECT_EQ(view.phase, 0u);
  ASSERT_NE(view.affinity, nullptr);
  EXPECT_EQ(view.affinity->struct_size, sizeof(berth_affinity));
  EXPECT_EQ(view.affinity->has_required_node_terms, 0u);
  ASSERT_NE(view.overhead, nullptr);
  EXPECT_EQ(view.own_part_hashes.count, uint32_t{BERTH_OWN_PARTS});
  EXPECT_EQ(view.part_hashes.count, uint32_t{BERTH_PART_COUNT - BERTH_OWN_PARTS});
  EXPECT_EQ(DecodePod("'schedulerName':'','nodeName':''")->scheduler_name(), "default-scheduler");
}

TEST_F(DecodePodTest, TreatsNullAsAbsentAndSkipsUnknownFields) {
  const PodRef pod = DecodePod(
      "'priority':null,'affinity':null,'containers':null,'tolerations':null,'nodeName':null,"
      "'somethingNew':{'containers':[{'deep':[[[1,2,{'x':null}]]]}]},'volumes':[]",
      "'containerStatuses':null", "'labels':null,'creationTimestamp':null");
  EXPECT_EQ(pod->view().flags, 0u);
  EXPECT_EQ(pod->view().containers.count, 0u);
  EXPECT_EQ(pod->meta().created_ns, 0);
}

TEST_F(DecodePodTest, ReadsFieldsInAnyOrder) {
  const Result<PodRef> pod = decoder_.DecodePod(
      Json("{'status':{'containerStatuses':[{'resources':{'requests':{'cpu':'3'}},'name':'a'}],"
           "'resourceClaimStatuses':[{'resourceClaimName':'p-gpu-x','name':'gpu'}]},"
           "'spec':{'topologySpreadConstraints':[{'matchLabelKeys':['app'],"
           "'labelSelector':{},'topologyKey':'zone'}],"
           "'volumes':[{'ephemeral':{},'name':'scratch'}],"
           "'containers':[{'ports':[{'containerPort':80}],'resources':{'limits':{'cpu':'2'}},"
           "'name':'a'}],'resourceClaims':[{'resourceClaimTemplateName':'t','name':'gpu'}],"
           "'hostNetwork':true},'metadata':{'labels':{'app':'web'},'name':'p'},'kind':'Pod'}"));
  ASSERT_TRUE(pod.ok()) << pod.status().ToString();
  const berth_pod& view = (*pod)->view();
  EXPECT_EQ(Show(*view.accounted), "cpu=3000");
  EXPECT_EQ(Show(Elements<berth_spread>(view.spreads)[0].selector), "app In 'web'");
  EXPECT_EQ(Text(Elements<berth_volume>(view.volumes)[0].source), "p-scratch");
  EXPECT_EQ(Text(Elements<berth_resource_claim>(view.resource_claims)[0].claim_name), "p-gpu-x");
  EXPECT_EQ(Elements<berth_port>(view.host_ports)[0].host_port, 80);
}

TEST_F(DecodePodTest, ReadsContainers) {
  const PodRef pod = DecodePod(
      "'initContainers':[{'name':'s','restartPolicy':'Always','image':'reg:5000/a/b'},"
      "{'name':'i','restartPolicy':'Never'}],"
      "'containers':[{'name':'c','image':'app:1.2',"
      "'resources':{'requests':{'cpu':'1'},'limits':{'cpu':'2','memory':'3'}}},"
      "{'name':'d','image':'busybox','restartPolicyRules':[{'action':'Restart'}]},"
      "{'name':'e','image':'x@sha256:00ff','restartPolicy':'Never','restartPolicyRules':["
      "{'action':'Restart','exitCodes':{'operator':'In','values':[1]}},"
      "{'action':'RestartAllContainers'}]}]");
  const auto init = Elements<berth_container>(pod->view().init_containers);
  ASSERT_EQ(init.size(), 2u);
  EXPECT_EQ(init[0].flags, uint32_t{BERTH_CONTAINER_SIDECAR});
  EXPECT_EQ(init[1].flags, 0u);
  EXPECT_EQ(Show(init[0].image), "'reg:5000/a/b'");
  EXPECT_EQ(Show(init[0].image_normal), "'reg:5000/a/b:latest'");
  EXPECT_EQ(init[1].image, kNoId);
  EXPECT_EQ(init[1].image_normal, kNoId);
  const auto containers = Elements<berth_container>(pod->view().containers);
  ASSERT_EQ(containers.size(), 3u);
  EXPECT_EQ(Text(containers[0].name), "c");
  EXPECT_EQ(containers[1].flags, 0u);
  EXPECT_EQ(containers[2].flags, uint32_t{BERTH_CONTAINER_RESTARTS_ALL});
  EXPECT_EQ(Show(containers[0].image_normal), "'app:1.2'");
  EXPECT_EQ(Show(containers[1].image_normal), "'busybox:latest'");
  EXPECT_EQ(Show(containers[2].image_normal), "'x@sha256:00ff'");
  EXPECT_EQ(Show(*containers[0].requests), "cpu=1000 memory=3") << "limits imply requests";
  EXPECT_EQ(Show(*containers[0].limits), "cpu=2000 memory=3");
  EXPECT_EQ(Show(*containers[1].requests), "");
}

TEST_F(DecodePodTest, ReadsWhetherThereAreBindMountOptions) {
  constexpr const char* kPlain =
      "'volumeMounts':[{'name':'v','mountPath':'/v','readOnly':true,'subPath':'s'}]";
  constexpr const char* kOptions =
      "'volumeMounts':[{'name':'v'},{'name':'w','bindMountOptions':['noexec','nodev']}]";
  const struct {
    const char* name;
    const char* list;
    std::string mounts;
    bool want;
  } cases[] = {
      {"a container", "containers", kOptions, true},
      {"an init container", "initContainers", kOptions, true},
      {"an ephemeral container", "ephemeralContainers", kOptions, true},
      {"a mount without options", "containers", kPlain, false},
      {"an ephemeral container without options", "ephemeralContainers", kPlain, false},
      {"an empty list", "containers", "'volumeMounts':[{'bindMountOptions':[]}]", false},
      {"null", "containers", "'volumeMounts':[{'bindMountOptions':null}]", false},
      {"no mounts", "containers", "'volumeMounts':null", false},
  };
  for (const auto& c : cases) {
    const PodRef pod =
        DecodePod("'" + std::string(c.list) + "':[{'name':'a'},{'name':'b'," + c.mounts + "}]");
    EXPECT_EQ(pod->view().flags, c.want ? uint32_t{BERTH_POD_HAS_BIND_MOUNT_OPTIONS} : 0) << c.name;
  }
}

TEST_F(DecodePodTest, ReadsPorts) {
  constexpr const char* kContainers =
      "'initContainers':[{'name':'s','restartPolicy':'Always','ports':[{'containerPort':1,"
      "'hostPort':11}]},{'name':'i','ports':[{'containerPort':2,'hostPort':12}]}],"
      "'containers':[{'name':'c','ports':[{'containerPort':3},"
      "{'containerPort':4,'hostPort':14,'protocol':'UDP','hostIP':'10.0.0.1'},"
      "{'containerPort':5,'hostPort':-1,'protocol':'SCTP'}]}]";
  const auto show = [this](const berth_array& ports) {
    static constexpr const char* kProtocols[] = {"?", "TCP", "UDP", "SCTP"};
    std::string text;
    for (const berth_port& port : Elements<berth_port>(ports)) {
      text.append(kProtocols[port.protocol]).append(":").append(std::to_string(port.host_port));
      text.append(":").append(std::to_string(port.container_port)).append(":");
      text.append(Show(port.host_ip)).append(" ");
    }
    return text;
  };
  const PodRef pod = DecodePod(kContainers);
  EXPECT_EQ(show(pod->view().host_ports), "TCP:11:1:- UDP:14:4:'10.0.0.1' ")
      << "sorted by host port";
  EXPECT_EQ(show(Elements<berth_container>(pod->view().containers)[0].ports),
            "TCP:0:3:- UDP:14:4:'10.0.0.1' SCTP:-1:5:- ");
  const PodRef host = DecodePod(std::string("'hostNetwork':true,") + kContainers);
  EXPECT_EQ(show(host->view().host_ports), "TCP:3:3:- TCP:11:1:- UDP:14:4:'10.0.0.1' ");
}

TEST_F(DecodePodTest, ReadsTolerations) {
  const PodRef pod = DecodePod(
      "'tolerations':[{'key':'a','value':'x','effect':'NoSchedule'},"
      "{'operator':'Exists'},{'key':'b','operator':'Gt','value':'5','effect':'PreferNoSchedule'},"
      "{'key':'c','operator':'Lt','value':'-1'},"
      "{'key':'d','operator':'Equal','effect':'NoExecute','tolerationSeconds':300},"
      "{'key':'e','tolerationSeconds':-3}]");
  std::string text;
  for (const berth_toleration& t : Elements<berth_toleration>(pod->view().tolerations)) {
    text.append(Show(t.key)).append(" ").append(std::to_string(t.op)).append(" ");
    text.append(Show(t.value)).append(" ").append(std::to_string(t.effect)).append(" ");
    text.append(std::to_string(t.seconds)).append("\n");
  }
  EXPECT_EQ(text,
            "'a' 1 'x' 1 -1\n"
            "- 2 '' 0 -1\n"
            "'b' 3 '5' 2 -1\n"
            "'c' 4 '-1' 0 -1\n"
            "'d' 1 '' 3 300\n"
            "'e' 1 '' 0 0\n");
}

TEST_F(DecodePodTest, ReadsEveryKindOfVolume) {
  struct Case {
    const char* json;
    uint32_t kind;
    const char* source;
    const char* pool;
    uint32_t flags;
  };
  const Case cases[] = {
      {"'persistentVolumeClaim':{'claimName':'c','readOnly':true}", BERTH_VOLUME_CLAIM, "c", "", 1},
      {"'ephemeral':{'volumeClaimTemplate':{'spec':{}}}", BERTH_VOLUME_EPHEMERAL, "p-v", "", 0},
      {"'gcePersistentDisk':{'pdName':'d'}", BERTH_VOLUME_GCE_DISK, "d", "", 0},
      {"'awsElasticBlockStore':{'volumeID':'d','readOnly':true}", BERTH_VOLUME_AWS_DISK, "d", "",
       1},
      {"'iscsi':{'iqn':'q','targetPortal':'t','readOnly':false}", BERTH_VOLUME_ISCSI, "q", "t", 0},
      {"'rbd':{'image':'i','pool':'o','monitors':['a','b']}", BERTH_VOLUME_RBD, "i", "o", 0},
      {"'rbd':{'image':'i'}", BERTH_VOLUME_RBD, "i", "rbd", 0},
      {"'csi':{'driver':'d','readOnly':true}", BERTH_VOLUME_CSI, "d", "", 1},
      {"'azureDisk':{'diskName':'d','diskURI':'u'}", BERTH_VOLUME_AZURE_DISK, "d", "u", 0},
      {"'azureFile':{'shareName':'s','secretName':'k'}", BERTH_VOLUME_AZURE_FILE, "s", "k", 0},
      {"'cinder':{'volumeID':'d'}", BERTH_VOLUME_CINDER, "d", "", 0},
      {"'vsphereVolume':{'volumePath':'w'}", BERTH_VOLUME_VSPHERE, "w", "", 0},
      {"'portworxVolume':{'volumeID':'d'}", BERTH_VOLUME_PORTWORX, "d", "", 0},
      {"'hostPath':{'path':'/x'}", BERTH_VOLUME_HOST_PATH, "/x", "", 0},
      {"'nfs':{'server':'s','path':'/x'}", BERTH_VOLUME_NFS, "s", "/x", 0},
      {"'image':{'reference':'r','pullPolicy':'Always'}", BERTH_VOLUME_IMAGE, "r", "", 0},
      {"'configMap':{'name':'c'}", BERTH_VOLUME_OTHER, "", "", 0},
      {"'emptyDir':{}", BERTH_VOLUME_OTHER, "", "", 0},
      {"'secret':null", BERTH_VOLUME_OTHER, "", "", 0},
  };
  for (const Case& c : cases) {
    const PodRef pod = DecodePod(std::string("'volumes':[{'name':'v',") + c.json + "}]");
    ASSERT_NE(pod, nullptr);
    const berth_volume& volume = Elements<berth_volume>(pod->view().volumes)[0];
    EXPECT_EQ(Text(volume.name), "v") << c.json;
    EXPECT_EQ(volume.kind, c.kind) << c.json;
    EXPECT_EQ(Text(volume.source), c.source) << c.json;
    EXPECT_EQ(Text(volume.pool), c.pool) << c.json;
    EXPECT_EQ(volume.flags, c.flags) << c.json;
  }
  const PodRef pod = DecodePod("'volumes':[{'name':'v','rbd':{'monitors':['a:1','b:2']}}]");
  const auto hosts = Elements<berth_str>(Elements<berth_volume>(pod->view().volumes)[0].hosts);
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(Text(hosts[1]), "b:2");
}

TEST_F(DecodePodTest, ReadsResourceClaims) {
  const PodRef pod = DecodePod(
      "'resourceClaims':[{'name':'a','resourceClaimName':'x'},"
      "{'name':'b','resourceClaimTemplateName':'t'},{'name':'c','resourceClaimTemplateName':'u'},"
      "{'name':'d','resourceClaimTemplateName':'w'}]",
      "'resourceClaimStatuses':[{'name':'b','resourceClaimName':'p-b-1'},{'name':'c'},"
      "{'name':'a','resourceClaimName':'ignored'}]");
  const auto claims = Elements<berth_resource_claim>(pod->view().resource_claims);
  ASSERT_EQ(claims.size(), 4u);
  EXPECT_EQ(Text(claims[0].claim_name), "x");
  EXPECT_EQ(Text(claims[1].claim_name), "p-b-1");
  EXPECT_EQ(Text(claims[1].template_name), "t");
  EXPECT_EQ(Text(claims[2].claim_name), "");
  const uint32_t flags[] = {0, 0, BERTH_CLAIM_NOT_NEEDED, 0};
  for (size_t i = 0; i < claims.size(); ++i) EXPECT_EQ(claims[i].flags, flags[i]) << i;
}

TEST_F(DecodePodTest, ReadsEscapedText) {
  const PodRef pod = DecodePod(
      "'nodeName':'n\\u0031','nodeSelector':{'d\\u0069sk':'\\u00e9'},'\\u006fs':{'name':'x'}", "",
      "'annotations':{'q':'a\\\"b\\\\n\\n'}");
  EXPECT_EQ(pod->node_name(), "n1");
  EXPECT_EQ(ShowPairs(pod->view().node_selector), "disk=\xc3\xa9");
  EXPECT_EQ(Show(pod->view().os), "'x'");
  EXPECT_EQ(Text(Elements<berth_str_pair>(pod->meta().annotations)[0].value), "a\"b\\n\n");
}

TEST_F(DecodePodTest, KeepsRequestedFields) {
  DecodeOptions options;
  options.pod_fields = {"/spec/hostIPC",  "/spec/x~1y/0/z", "/spec/list", "/spec/missing/deep",
                        "/metadata/name", "/spec/nothing",  "no pointer", ""};
  options.node_fields = {"/spec/podCIDR"};
  Decoder decoder(interner_, options);
  const Result<PodRef> pod = decoder.DecodePod(PodText(
      "'nothing':null,'hostIPC' : true ,'x/y':{'0':{'z': 1.5 }},'list':[ 1, {'a' : ' b '} ]"));
  ASSERT_TRUE(pod.ok()) << pod.status().ToString();
  const auto fields = Elements<berth_field>((*pod)->meta().fields);
  ASSERT_EQ(fields.size(), 8u);
  EXPECT_EQ(Text(fields[0].path), "/spec/hostIPC");
  EXPECT_EQ(Show(fields[0].value), "true");
  EXPECT_EQ(Show(fields[1].value), "1.5f");
  EXPECT_EQ(Show(fields[2].value), "[1,{'a':' b '}]");
  EXPECT_EQ(fields[3].value, nullptr);
  EXPECT_EQ(Show(fields[4].value), "'p'");
  for (size_t i = 5; i < fields.size(); ++i) EXPECT_EQ(fields[i].value, nullptr);
  const Result<NodeRef> node =
      decoder.DecodeNode(ObjectText("n", "'podCIDR':'10.0.0.0/24'", "", ""));
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(Show(Elements<berth_field>((*node)->meta().fields)[0].value), "'10.0.0.0/24'");
}

// A segment is the key of a member, or the index of an element; see kFields in plugin.h.
TEST_F(DecodePodTest, KeepsFieldsInArrays) {
  const struct {
    const char* path;
    const char* value;  // Null: absent.
  } cases[] = {
      {"/spec/list/0", "1"},
      {"/spec/list/1/a", "'b'"},
      {"/spec/list/1", "{'a':'b'}"},
      {"/spec/list/2/0", "'c'"},
      {"/spec/list", "[1,{'a':'b'},['c']]"},
      {"/spec/list/3", nullptr},
      {"/spec/list/01", nullptr},
      {"/spec/list/-", nullptr},
      {"/spec/list/a", nullptr},
      {"/spec/list/0/a", nullptr},
      {"/spec/list/99999999999999999999", nullptr},
      {"/spec/map/0", "'d'"},
  };
  DecodeOptions options;
  for (const auto& c : cases) options.pod_fields.emplace_back(c.path);
  Decoder decoder(interner_, options);
  const Result<PodRef> pod =
      decoder.DecodePod(PodText("'list':[1, {'a':'b'}, ['c']],'map':{'0':'d'}"));
  ASSERT_TRUE(pod.ok()) << pod.status().ToString();
  const auto fields = Elements<berth_field>((*pod)->meta().fields);
  ASSERT_EQ(fields.size(), std::size(cases));
  for (size_t i = 0; i < fields.size(); ++i) {
    SCOPED_TRACE(cases[i].path);
    ASSERT_EQ(fields[i].value == nullptr, cases[i].value == nullptr);
    if (cases[i].value != nullptr) {
      EXPECT_EQ(Show(fields[i].value), cases[i].value);
    }
  }
}

TEST_F(DecodePodTest, ReadsEveryFormOfAQuantity) {
  for (const char* amount :
       {"'1'", "1", "1.0", "'+1'", "'1.'", "' 1\\n'", "1e0", "'1e4294967296'"}) {
    const PodRef pod = DecodePod(std::string("'overhead':{'memory':").append(amount).append("}"));
    ASSERT_NE(pod, nullptr);
    EXPECT_EQ(Show(*pod->view().overhead), "memory=1") << amount;
  }
}

TEST_F(DecodePodTest, ReadsWholeNumbersWithAnExponentOrPoint) {
  const struct {
    const char* text;
    int32_t priority;
  } cases[] = {
      {"3.0", 3}, {"1e3", 1000}, {"-2.50e1", -25}, {"-0", 0}, {"2147483647.0", 2147483647}};
  for (const auto& c : cases) {
    const PodRef pod = DecodePod(std::string("'priority':") + c.text);
    ASSERT_NE(pod, nullptr);
    EXPECT_EQ(pod->view().priority, c.priority) << c.text;
  }
  for (const char* text : {"2.5", "1e-1", "2147483648.0", "1e19", "-1e19", "1e300", "'3'"}) {
    EXPECT_EQ(PodError(std::string("'priority':") + text).substr(0, 16), "/spec/priority: ")
        << text;
  }
  // A double from 2^53 on may be another number than its text.
  EXPECT_EQ(DecodePod("", "", "'generation':-9007199254740991.0")->meta().generation,
            -9'007'199'254'740'991);
  for (const char* text : {"9007199254740993.0", "9007199254740994.0", "9223372036854775808",
                           "-9223372036854775809"}) {
    EXPECT_EQ(PodError("", "", std::string("'generation':") + text).substr(0, 22),
              "/metadata/generation: ")
        << text;
  }
}

TEST_F(DecodePodTest, ErrorsNameThePathAndTheValue) {
  struct Case {
    const char* spec;
    const char* status;
    const char* meta;
    const char* error;
  };
  const Case cases[] = {
      {"'containers':[{'name':'a'},{'resources':{'requests':{'cpu':'abc'}}}]", "", "",
       "/spec/containers/1/resources/requests/cpu: "},
      {"'priority':'high'", "", "", "/spec/priority: expected an integer, found \"high\""},
      {"'priority':1.5", "", "", "/spec/priority: expected an integer, found 1.5"},
      {"'priority':3000000000", "", "",
       "/spec/priority: expected an integer of 32 bits, found 3000000000"},
      {"'nodeName':7", "", "", "/spec/nodeName: expected a string, found 7"},
      {"'containers':{}", "", "", "/spec/containers: expected an array, found an object"},
      {"'affinity':[]", "", "", "/spec/affinity: expected an object, found an array"},
      {"'hostNetwork':'yes'", "", "", "/spec/hostNetwork: expected true or false, found \"yes\""},
      {"'containers':[null]", "", "", "/spec/containers/0: expected an object, found null"},
      {"'nodeSelector':{'a/b':1}", "", "", "/spec/nodeSelector/a~1b: expected a string, found 1"},
      {"'nodeSelector':{'a~b':{}}", "", "",
       "/spec/nodeSelector/a~0b: expected a string, found an object"},
      {"'preemptionPolicy':'Sometimes'", "", "",
       "/spec/preemptionPolicy: expected PreemptLowerPriority or Never, found \"Sometimes\""},
      {"'tolerations':[{'effect':'Foo'}]", "", "",
       "/spec/tolerations/0/effect: expected NoSchedule, PreferNoSchedule or NoExecute, found "
       "\"Foo\""},
      {"'overhead':{'cpu':{'a':1}}", "", "",
       "/spec/overhead/cpu: expected a quantity, found an object"},
      {"'overhead':{'cpu':'-1'}", "", "",
       "/spec/overhead/cpu: expected a quantity of 0 or more, found -1"},
      {"", "'phase':'Gone'", "",
       "/status/phase: expected Pending, Running, Succeeded, Failed or Unknown, found \"Gone\""},
      {"", "", "'creationTimestamp':'yesterday'", "/metadata/creationTimestamp: "},
      {"", "", "'ownerReferences':[{'controller':1}]",
       "/metadata/ownerReferences/0/controller: expected true or false, found 1"},
      {"'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
       "[{'topologyKey':1}]}}",
       "", "",
       "/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/topologyKey: "
       "expected a string, found 1"},
      {"'nodeName':'\\ud800'", "", "", "/spec/nodeName: malformed JSON: "},
      {"'nodeName' 'x'", "", "", "/spec: malformed JSON: "},
  };
  for (const Case& c : cases) {
    const std::string error = PodError(c.spec, c.status, c.meta);
    EXPECT_EQ(error.substr(0, std::string_view(c.error).size()), c.error) << error;
  }
  // Failed objects leave no state behind: the next pod is decoded.
  EXPECT_NE(DecodePod("'nodeName':'fine'"), nullptr);
}

TEST_F(DecodePodTest, ShortensLongValuesInErrors) {
  const std::string error = PodError("'priority':'" + std::string(100, 'x') + "\xc3\xa9'");
  EXPECT_EQ(error, "/spec/priority: expected an integer, found \"" + std::string(47, 'x') + "...");
}

TEST_F(DecodePodTest, NamesPodsByTheirGenerateName) {
  const auto name = [this](std::string_view meta) {
    const Result<PodRef> pod =
        decoder_.DecodePod(Json("{'metadata':{" + std::string(meta) + "},'spec':{}}"));
    return pod.ok() ? std::string((*pod)->name()) : std::string(pod.status().message());
  };
  EXPECT_EQ(name("'name':'a','generateName':'x-'"), "a");
  EXPECT_EQ(name("'generateName':'x-','name':'a'"), "a");
  const std::string first = name("'generateName':'x-'");
  EXPECT_THAT(first, testing::MatchesRegex("x-[b-df-hj-np-tv-z2-9]{5}"));
  EXPECT_EQ(name("'name':'','generateName':'x-'").size(), first.size());
  EXPECT_EQ(name("'generateName':'" + std::string(58, 'x') + "'").size(), 63U);
  EXPECT_EQ(name("'generateName':'" + std::string(59, 'x') + "'").size(), 63U);
  std::set<std::string> names = {first};
  for (int i = 0; i < 1000; ++i) names.insert(name("'generateName':'x-'"));
  EXPECT_EQ(names.size(), 1001U);
}

TEST_F(DecodePodTest, RejectsTextsThatAreNotAPod) {
  const auto error = [this](std::string_view text) {
    const Result<PodRef> pod = decoder_.DecodePod(Json(text));
    return pod.ok() ? "decoded" : std::string(pod.status().message());
  };
  EXPECT_EQ(error("{'metadata':{'name':''}}"), "/metadata/name: expected a name, found nothing");
  EXPECT_EQ(error("{'metadata':{'generateName':''}}"),
            "/metadata/name: expected a name, found nothing");
  EXPECT_EQ(error("{'metadata':{'generateName':7}}"),
            "/metadata/generateName: expected a string, found 7");
  EXPECT_EQ(error("{}"), "/metadata/name: expected a name, found nothing");
  EXPECT_EQ(error("{'kind':'Node','metadata':{'name':'n'}}"),
            "/kind: expected \"Pod\", found \"Node\"");
  EXPECT_EQ(error("{'apiVersion':'v2','metadata':{'name':'n'}}"),
            "/apiVersion: expected \"v1\", found \"v2\"");
  EXPECT_EQ(error(""), "/: expected an object, found nothing");
  EXPECT_EQ(error("[]"), "/: expected an object, found another JSON value");
  EXPECT_EQ(error("17"), "/: expected an object, found another JSON value");
  EXPECT_EQ(error("{'metadata':{'name':'p'}} {}"),
            "/: expected the end of the text after the object, found more text");
  EXPECT_NE(error("{'metadata':{'name':'p'}"), "decoded");
  EXPECT_NE(error("{'metadata':{'name':'p'}}}"), "decoded");
  EXPECT_NE(error("{'metadata':{'name':'\xff'}}"), "decoded");
}

TEST_F(DecodePodTest, EnforcesItsLimits) {
  DecodeOptions options;
  options.max_object_bytes = 200;
  options.max_elements = 3;
  options.max_depth = 5;
  options.pod_fields = {"/spec/x"};
  Decoder decoder(interner_, options);
  const auto decode = [&](const std::string& text) {
    const Result<PodRef> pod = decoder.DecodePod(text);
    return pod.ok() ? "decoded" : pod.status().ToString();
  };
  EXPECT_EQ(decode(PodText("'tolerations':[{},{},{}]")), "decoded");
  EXPECT_EQ(decode(PodText("'tolerations':[{},{},{},{}]")),
            "OutOfRange: /spec/tolerations: expected at most 3 elements, found more");
  EXPECT_EQ(decode(PodText("'nodeSelector':{'a':'','b':'','c':'','d':''}")),
            "OutOfRange: /spec/nodeSelector: expected at most 3 elements, found more");
  EXPECT_EQ(decode(PodText("'x':[[[[[1]]]]]")), "decoded");
  EXPECT_EQ(decode(PodText("'x':[[[{'a':[[1]]}]]]")),
            "OutOfRange: /spec/x/0/0/0/a/0: nested deeper than 5 levels");
  std::string fits = PodText("");
  fits.insert(1, 200 - fits.size(), ' ');
  EXPECT_EQ(decode(fits), "decoded");
  EXPECT_EQ(decode(fits + " "),
            "OutOfRange: /: expected an object of at most 200 bytes, found 201 bytes");
}

TEST_F(DecodePodTest, ReleasesIds) {
  for (const uint32_t cached_ids : {1U, 4096U}) {
    const size_t before = interner_.size();
    DecodeOptions options;
    options.cached_ids = cached_ids;
    {
      Decoder decoder(interner_, options);
      Result<PodRef> pod = decoder.DecodePod(
          PodText("'nodeName':'n','nodeSelector':{'k':'v','k2':'v'},'tolerations':[{'key':'k'}]"));
      ASSERT_TRUE(pod.ok());
      EXPECT_GT(interner_.size(), before);
      ASSERT_FALSE(decoder.DecodePod(PodText("'nodeName':'m','os':1")).ok());
      interner_.Sweep();
      EXPECT_EQ((*pod)->node_name(), "n");
      EXPECT_EQ(ShowPairs((*pod)->view().node_selector), "k2=v k=v");
      decoder.ReleaseIds();
      interner_.Sweep();
      EXPECT_EQ((*pod)->node_name(), "n") << "the pod still holds its ids";
      EXPECT_EQ(interner_.Find("m"), kNoId);
    }
    interner_.Sweep();
    EXPECT_EQ(interner_.size(), before) << cached_ids;
  }
}

}  // namespace
}  // namespace berth::host

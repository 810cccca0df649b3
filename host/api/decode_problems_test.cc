#include <string>
#include <string_view>
#include <utility>

#include "host/api/decode_testing.h"

namespace berth::host {
namespace {

DecodeOptions SkipUnreadable() {
  DecodeOptions options;
  options.skip_unreadable = true;
  options.max_elements = 12;
  options.pod_fields = {"/spec/hostIPC"};
  return options;
}

// Decodes with skip_unreadable, and the same text without it.
class DecodeProblemsTest : public DecodeTest {
 protected:
  // Returns "<accounted>! <problems>", or the error of a pod that is rejected.
  std::string PodOf(std::string_view spec, std::string_view status = "",
                    std::string_view meta = "") {
    const Result<PodRef> pod = partial_.DecodePod(PodText(spec, status, meta));
    if (!pod.ok()) return std::string(pod.status().message());
    return WithProblems(Show(*(*pod)->view().accounted));
  }
  std::string NodeOf(std::string_view spec, std::string_view status, std::string_view meta = "") {
    const Result<NodeRef> node = partial_.DecodeNode(ObjectText("n", spec, status, meta));
    if (!node.ok()) return std::string(node.status().message());
    return WithProblems(Show(*(*node)->view().allocatable));
  }
  std::string WithProblems(std::string text) const {
    const Status problems = partial_.problems();
    if (problems.ok()) return text;
    return text.append("! ").append(problems.message());
  }

  Decoder partial_{interner_, SkipUnreadable()};
};

// A bound pod with `requests`, and a readable container with cpu 100m.
std::string Bound(std::string_view requests) {
  return std::string("'nodeName':'n1','containers':[{'name':'a','resources':{'requests':")
      .append(requests)
      .append("}},{'name':'b','resources':{'requests':{'cpu':'100m'}}}]");
}

TEST_F(DecodeProblemsTest, ABoundPodCountsWithReadableValues) {
  const struct {
    const char* name;
    std::string spec;
    const char* status;
    const char* found;
  } cases[] = {
      {"nothing is wrong", Bound("{'cpu':'1','memory':'5'}"), "", "cpu=1100 memory=5"},
      {"one amount", Bound("{'cpu':'x','memory':'5'}"), "",
       "cpu=100 memory=5! /spec/containers/0/resources/requests/cpu: quantity \"x\": expected a "
       "number with an optional suffix, such as 2, 100m, 1.5Gi or 12e6"},
      {"a negative amount", Bound("{'memory':'5','cpu':-2}"), "",
       "cpu=100 memory=5! /spec/containers/0/resources/requests/cpu: expected a quantity of 0 or "
       "more, found -2"},
      {"an amount that is an object", Bound("{'cpu':{'a':[1,{'b':2}]},'memory':'5'}"), "",
       "cpu=100 memory=5! /spec/containers/0/resources/requests/cpu: expected a quantity, found an "
       "object"},
      {"a whole list", Bound("7"), "",
       "cpu=100! /spec/containers/0/resources/requests: expected an object, found 7"},
      {"an amount with a limit",
       "'nodeName':'n1','containers':[{'resources':{'requests':{'cpu':'x'},'limits':{'cpu':'2'}}}]",
       "",
       "cpu=2000! /spec/containers/0/resources/requests/cpu: quantity \"x\": expected a number "
       "with "
       "an optional suffix, such as 2, 100m, 1.5Gi or 12e6"},
      {"a container", "'nodeName':'n1','containers':[true,{'resources':{'requests':{'cpu':1}}}]",
       "", "cpu=1000! /spec/containers/0: expected an object, found true"},
      {"two values far apart",
       "'nodeName':'n1','containers':[{'ports':[{'hostPort':'a'}],'resources':{'requests':"
       "{'cpu':1}}}],'priority':1.5",
       "",
       "cpu=1000! /spec/containers/0/ports/0/hostPort: expected an integer, found \"a\"; "
       "/spec/priority: expected an integer, found 1.5"},
      {"the phase and the start", Bound("{'cpu':1}"), "'phase':'Gone','startTime':'soon'",
       "cpu=1100! /status/phase: expected Pending, Running, Succeeded, Failed or Unknown, found "
       "\"Gone\"; /status/startTime: "},
      {"the resources of a status",
       "'nodeName':'n1','containers':[{'name':'a','resources':{'requests':{'cpu':1}}}]",
       "'containerStatuses':[{'name':'a','resources':3}]",
       "cpu=1000! /status/containerStatuses/0/resources: expected an object, found 3"},
      {"the node is read last", "'overhead':{'cpu':'x','memory':1},'nodeName':'n1'", "",
       "memory=1! /spec/overhead/cpu: quantity"},
  };
  for (const auto& c : cases) {
    const std::string found = PodOf(c.spec, c.status);
    EXPECT_EQ(found.substr(0, std::string_view(c.found).size()), c.found)
        << c.name << ": " << found;
  }
  EXPECT_EQ(PodOf(Bound("{}"), "", "'labels':{'a':1,'b':'c'}"),
            "cpu=100! /metadata/labels/a: expected a string, found 1");
}

TEST_F(DecodeProblemsTest, AnUnreadableListOfAStatusIsAbsent) {
  const std::string infeasible =
      "'conditions':[{'type':'PodResizePending','reason':'Infeasible'}],";
  const auto container = [&](std::string_view fields) {
    return infeasible + "'containerStatuses':[{'name':'a'," + std::string(fields) + "}]";
  };
  const auto pod = [&](std::string_view fields) { return infeasible + std::string(fields); };
  const struct {
    const char* name;
    std::string status;
    const char* in_1_36;
    const char* in_1_37;
    const char* problem;
  } cases[] = {
      {"resources of a container", container("'resources':3,'allocatedResources':{'cpu':'2'}"),
       "cpu=1000", "cpu=2000", "/status/containerStatuses/0/resources: expected an object"},
      {"requests of a container",
       container("'resources':{'requests':[]},'allocatedResources':{'cpu':'2'}"), "cpu=2000",
       "cpu=2000", "/status/containerStatuses/0/resources/requests: expected an object"},
      {"allocatedResources of a container",
       container("'resources':{'requests':{'cpu':'3'}},'allocatedResources':'x'"), "cpu=3000",
       "cpu=3000", "/status/containerStatuses/0/allocatedResources: expected an object"},
      {"an amount, in a list that is there", container("'allocatedResources':{'cpu':'x'}"),
       "cpu=1000", "", "/status/containerStatuses/0/allocatedResources/cpu: quantity"},
      {"resources of the pod", pod("'resources':3,'allocatedResources':{'cpu':'2'}"), "cpu=1000",
       "", "/status/resources: expected an object"},
      {"requests of the pod", pod("'resources':{'requests':4},'allocatedResources':{'cpu':'2'}"),
       "cpu=1000", "", "/status/resources/requests: expected an object"},
      {"allocatedResources of the pod",
       pod("'resources':{'requests':{'cpu':'3'}},'allocatedResources':5"), "cpu=1000", "",
       "/status/allocatedResources: expected an object"},
      {"an amount of the pod",
       pod("'resources':{'requests':{'cpu':'3'}},'allocatedResources':{'memory':[]}"), "cpu=1000",
       "cpu=3000", "/status/allocatedResources/memory: expected a quantity"},
  };
  const std::string spec =
      "'nodeName':'n1','containers':[{'name':'a','resources':{'requests':{'cpu':'1'}}}]";
  for (const auto& c : cases) {
    for (const auto& [version, expected] :
         {std::pair(KubeVersion{1, 36}, c.in_1_36), std::pair(KubeVersion{1, 37}, c.in_1_37)}) {
      DecodeOptions options = SkipUnreadable();
      options.emulated_version = version;
      Decoder decoder(interner_, options);
      const Result<PodRef> decoded = decoder.DecodePod(PodText(spec, c.status));
      ASSERT_TRUE(decoded.ok()) << c.name;
      EXPECT_EQ(Show(*(*decoded)->view().accounted), expected) << c.name << " " << version.minor;
      EXPECT_EQ(decoder.problems().message().substr(0, std::string_view(c.problem).size()),
                c.problem);
    }
    // Without a node, the pod is rejected.
    EXPECT_EQ(PodError(spec.substr(spec.find(',') + 1), c.status).find(c.problem), 0u) << c.name;
  }
}

TEST_F(DecodeProblemsTest, AnUnreadableValueCountsAsAbsent) {
  const Result<PodRef> pod = partial_.DecodePod(
      PodText("'nodeName':'n1','priority':'high','nodeSelector':{'a':'b','c':[1]},'tolerations':"
              "[{'key':'k','operator':'Perhaps'},'all',{'key':'l','operator':'Exists'}],"
              "'schedulerName':{'x':1},'terminationGracePeriodSeconds':true"));
  ASSERT_TRUE(pod.ok()) << pod.status().ToString();
  EXPECT_EQ((*pod)->view().flags & BERTH_POD_HAS_PRIORITY, 0u);
  EXPECT_EQ(Show((*pod)->view().scheduler_name), "'default-scheduler'");
  EXPECT_EQ(ShowPairs((*pod)->view().node_selector), "a=b");
  const auto tolerations = Elements<berth_toleration>((*pod)->view().tolerations);
  ASSERT_EQ(tolerations.size(), 2u);
  EXPECT_EQ(Show(tolerations[0].key), "'k'");
  EXPECT_EQ(tolerations[0].op, uint32_t{BERTH_TOLERATION_EQUAL});
  EXPECT_EQ(Show(tolerations[1].key), "'l'");
  EXPECT_EQ(partial_.problems().message(),
            "/spec/priority: expected an integer, found \"high\"; "
            "/spec/nodeSelector/c: expected a string, found an array; "
            "/spec/tolerations/0/operator: expected Equal, Exists, Gt or Lt, found \"Perhaps\"; "
            "/spec/tolerations/1: expected an object, found \"all\"; "
            "/spec/schedulerName: expected a string, found an object");
}

TEST_F(DecodeProblemsTest, AnUnreadableRequirementMakesItsSelectorInvalid) {
  struct Case {
    const char* selector;
    uint32_t flags;
  };
  const Case cases[] = {{"{'matchLabels':{'app':'a'}}", 0},
                        {"{'matchLabels':{'app':7}}", BERTH_SELECTOR_INVALID},
                        {"{'matchExpressions':[7]}", BERTH_SELECTOR_INVALID},
                        {"{'matchExpressions':[{'key':'app','operator':'In','values':['a',7]}]}",
                         BERTH_SELECTOR_INVALID}};
  for (const Case& c : cases) {
    const std::string spec =
        "'nodeName':'n1','affinity':{'podAntiAffinity':{"
        "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'zone',"
        "'labelSelector':" +
        std::string(c.selector) + "}]}}";
    const auto pod = partial_.DecodePod(ObjectText("p", spec, "", ""));
    ASSERT_TRUE(pod.ok()) << pod.status().ToString();
    const auto terms = Elements<berth_pod_term>((*pod)->view().affinity->required_pod_anti_terms);
    ASSERT_EQ(terms.size(), 1u) << c.selector;
    ASSERT_NE(terms[0].selector, nullptr) << c.selector;
    EXPECT_EQ(terms[0].selector->flags, c.flags) << c.selector;
  }
}

TEST_F(DecodeProblemsTest, ANodeStaysUsable) {
  const struct {
    const char* name;
    const char* spec;
    const char* status;
    const char* found;
  } cases[] = {
      {"one amount", "", "'capacity':{'cpu':9},'allocatable':{'cpu':'x','memory':'7','pods':'3'}",
       "memory=7 pods=3! /status/allocatable/cpu: quantity \"x\": "},
      {"one amount of the capacity", "", "'capacity':{'cpu':'x','memory':'7'}",
       "memory=7! /status/capacity/cpu: quantity \"x\": "},
      {"a negative amount", "", "'allocatable':{'cpu':'-1','memory':'7'}",
       "memory=7! /status/allocatable/cpu: expected a quantity of 0 or more, found -1"},
      {"the capacity does not replace an allocatable list", "",
       "'capacity':{'cpu':9},'allocatable':[1]",
       "! /status/allocatable: expected an object, found an array"},
      {"a condition", "", "'allocatable':{'cpu':1},'conditions':[{'status':'Maybe'}]",
       "cpu=1000! /status/conditions/0/status: expected True, False or Unknown, found \"Maybe\""},
      {"the size of an image", "", "'images':[{'sizeBytes':'a'}],'allocatable':{'cpu':1}",
       "cpu=1000! /status/images/0/sizeBytes: expected an integer, found \"a\""},
      {"a taint", "'taints':[{'key':'k','effect':'Never'}]", "'allocatable':{'cpu':1}",
       "cpu=1000! /spec/taints/0/effect: expected NoSchedule, PreferNoSchedule or NoExecute, found "
       "\"Never\""},
  };
  for (const auto& c : cases) {
    const std::string found = NodeOf(c.spec, c.status);
    EXPECT_EQ(found.substr(0, std::string_view(c.found).size()), c.found)
        << c.name << ": " << found;
  }
}

TEST_F(DecodeProblemsTest, APodWithoutANodeIsRejected) {
  const struct {
    const char* spec;
    const char* error;
  } cases[] = {
      {"'overhead':{'cpu':'-1','memory':'x'}",
       "/spec/overhead/cpu: expected a quantity of 0 or more, found -1"},
      {"'nodeName':'','priority':'high'", "/spec/priority: expected an integer, found \"high\""},
      {"'nodeName':['n1']", "/spec/nodeName: expected a string, found an array"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(PodOf(c.spec), c.error);
    EXPECT_EQ(PodError(c.spec), c.error);
    EXPECT_TRUE(partial_.problems().ok());
  }
}

TEST_F(DecodeProblemsTest, SomeErrorsRejectEveryObject) {
  const struct {
    std::string text;
    const char* error;
  } cases[] = {
      {PodText(Bound("{}"), "", "'namespace':1"), "/metadata/namespace: "},
      {PodText(Bound("{}"), "", "'uid':1"), "/metadata/uid: "},
      {PodText(Bound("{}"), "", "'resourceVersion':1"), "/metadata/resourceVersion: "},
      {PodText(Bound("{}"), "", "'name':1"), "/metadata/name: expected a string"},
      {Json("{'metadata':7,'spec':{'nodeName':'n1'}}"), "/metadata: expected an object"},
      {Json("{'kind':'Node','metadata':{'name':'p'},'spec':{'nodeName':'n1'}}"), "/kind: "},
      {Json("{'apiVersion':1,'metadata':{'name':'p'},'spec':{'nodeName':'n1'}}"), "/apiVersion: "},
      {PodText("'nodeName':'n1','priority' 1"), "/: malformed JSON: "},
      {PodText("'nodeName':'n1','priority':1") + "}", "/: expected the end of the text"},
      {PodText("'nodeName':'n1','nodeSelector':{'a':'\\ud800'}"),
       "/spec/nodeSelector/a: malformed"},
      {PodText("'nodeName':'n1','tolerations':[{},{},{},{},{},{},{},{},{},{},{},{},{}]"),
       "/spec/tolerations: expected at most 12 elements, found more"},
  };
  for (const auto& c : cases) {
    const Result<PodRef> pod = partial_.DecodePod(c.text);
    ASSERT_FALSE(pod.ok()) << c.error;
    EXPECT_EQ(pod.status().message().substr(0, std::string_view(c.error).size()), c.error)
        << pod.status().ToString();
  }
  EXPECT_EQ(PodOf("'nodeName':'n1','overhead':{'cpu':1}"), "cpu=1000");
}

TEST_F(DecodeProblemsTest, NamesTheFirstProblemsAndCountsOthers) {
  std::string labels;
  for (int i = 0; i < 10; ++i) {
    labels.append(i == 0 ? "" : ",").append("'l" + std::to_string(i) + "':0");
  }
  EXPECT_EQ(PodOf("'nodeName':'n1'", "", "'labels':{" + labels.substr(0, labels.size() - 14) + "}")
                .find("more"),
            std::string::npos);
  const std::string found = PodOf("'nodeName':'n1'", "", "'labels':{" + labels + "}");
  EXPECT_TRUE(found.ends_with("/metadata/labels/l7: expected a string, found 0; and 2 more"))
      << found;
  // The next object has problems of its own only.
  EXPECT_EQ(PodOf("'nodeName':'n1'"), "");
}

TEST_F(DecodeProblemsTest, WithoutTheOptionEveryErrorRejectsTheObject) {
  EXPECT_EQ(PodError("'nodeName':'n1','priority':'high'"),
            "/spec/priority: expected an integer, found \"high\"");
  EXPECT_EQ(NodeError("", "'capacity':{'cpu':'-1'}"),
            "/status/capacity/cpu: expected a quantity of 0 or more, found -1");
  EXPECT_TRUE(decoder_.problems().ok());
}

TEST_F(DecodeProblemsTest, OtherKindsAreReadWhole) {
  const Result<ObjectRef> object = partial_.DecodeObject(
      Json("{'apiVersion':'v1','kind':'Service','metadata':{'name':'s','labels':{'a':1}}}"));
  ASSERT_FALSE(object.ok());
  EXPECT_EQ(object.status().message(), "/metadata/labels/a: expected a string, found 1");
}

}  // namespace
}  // namespace berth::host

#include <string>

#include "host/api/decode_testing.h"

namespace berth::host {
namespace {

class DecodeSelectorTest : public DecodeTest {
 protected:
  std::string LabelSelector(std::string_view selector, std::string_view keys = "",
                            std::string_view labels = "") {
    std::string spec = "'topologySpreadConstraints':[{";
    spec.append(selector.empty() ? "" : "'labelSelector':").append(selector);
    spec.append(!selector.empty() && !keys.empty() ? "," : "").append(keys).append("}]");
    const PodRef pod = DecodePod(spec, "", labels);
    if (pod == nullptr) return "error";
    return Show(Elements<berth_spread>(pod->view().spreads)[0].selector);
  }

  // Returns "<expressions> / <fields>".
  std::string NodeTerm(std::string_view term) {
    const PodRef pod = DecodePod(
        "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
        "{'nodeSelectorTerms':[" +
        std::string(term) + "]}}}");
    if (pod == nullptr) return "error";
    const auto& read = Elements<berth_node_term>(pod->view().affinity->required_node_terms)[0];
    if ((read.flags & BERTH_SELECTOR_INVALID) != 0) return "invalid";
    return ShowRequirements(read.expressions) + " / " + ShowRequirements(read.fields);
  }
};

TEST_F(DecodeSelectorTest, ReadsLabelSelectors) {
  EXPECT_EQ(LabelSelector(""), "none");
  EXPECT_EQ(LabelSelector("null"), "none");
  EXPECT_EQ(LabelSelector("{}"), "");
  EXPECT_EQ(LabelSelector("{'matchLabels':{'a':'x','b':''}}"), "a In 'x'; b In ''");
  EXPECT_EQ(LabelSelector("{'matchExpressions':[{'key':'a','operator':'In','values':['x','y']},"
                          "{'key':'b','operator':'NotIn','values':['z']},"
                          "{'key':'c','operator':'Exists'},"
                          "{'key':'d','operator':'DoesNotExist','values':[]}]}"),
            "a In 'x' 'y'; b NotIn 'z'; c Exists; d DoesNotExist");
}

TEST_F(DecodeSelectorTest, MarksLabelSelectorsThatKubernetesCannotParse) {
  const char* const selectors[] = {
      "{'matchExpressions':[{'key':'a','operator':'In'}]}",
      "{'matchExpressions':[{'key':'a','operator':'NotIn','values':[]}]}",
      "{'matchExpressions':[{'key':'a','operator':'Exists','values':['x']}]}",
      "{'matchExpressions':[{'key':'a','operator':'DoesNotExist','values':['x']}]}",
      "{'matchExpressions':[{'key':'a','operator':'Gt','values':['1']}]}",
      "{'matchExpressions':[{'key':'a','operator':'Is','values':['1']}]}",
      "{'matchExpressions':[{'key':'a','values':['1']}]}",
      "{'matchExpressions':[{'operator':'Exists'}]}",
      "{'matchExpressions':[{'key':'-a','operator':'Exists'}]}",
      "{'matchExpressions':[{'key':'a','operator':'In','values':['x y']}]}",
      "{'matchLabels':{'a b':'x'}}",
      "{'matchLabels':{'a':'-x'}}",
      "{'matchLabels':{'A.com/':'x'}}",
      "{'matchLabels':{'fine':'x'},'matchExpressions':[{'key':'a','operator':'In'}]}",
  };
  for (const char* selector : selectors) {
    EXPECT_EQ(LabelSelector(selector), "invalid") << selector;
  }
}

TEST_F(DecodeSelectorTest, MergesLabelKeysOfThePod) {
  constexpr const char* kLabels = "'labels':{'app':'web','hash':'7'}";
  EXPECT_EQ(LabelSelector("{'matchLabels':{'tier':'x'}}", "'matchLabelKeys':['app','none','hash']",
                          kLabels),
            "tier In 'x'; app In 'web'; hash In '7'");
  EXPECT_EQ(LabelSelector("{}", "'matchLabelKeys':['app']", kLabels), "app In 'web'");
  EXPECT_EQ(LabelSelector("{'matchExpressions':[{'key':'app','operator':'In','values':['web']}]}",
                          "'matchLabelKeys':['app']", kLabels),
            "app In 'web'")
      << "the requirement is already in the selector";
  EXPECT_EQ(LabelSelector("", "'matchLabelKeys':['app']", kLabels), "none");
  EXPECT_EQ(LabelSelector("{'matchLabels':{'a':'-x'}}", "'matchLabelKeys':['app']", kLabels),
            "invalid");
}

TEST_F(DecodeSelectorTest, MergesLabelKeysIntoPodTerms) {
  const PodRef pod = DecodePod(
      "'affinity':{'podAntiAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':"
      "[{'weight':3,'podAffinityTerm':{'topologyKey':'zone','labelSelector':{},"
      "'matchLabelKeys':['app'],'mismatchLabelKeys':['hash','none']}}]}}",
      "", "'labels':{'app':'web','hash':'7'}");
  const auto& term = Elements<berth_pod_term>(pod->view().affinity->preferred_pod_anti_terms)[0];
  EXPECT_EQ(Show(term.selector), "app In 'web'; hash NotIn '7'");
}

// The API server merged the value that the label had when the pod was created.
TEST_F(DecodeSelectorTest, KeepsLabelKeysThatPodTermAlreadyHas) {
  const PodRef pod = DecodePod(
      "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
      "[{'topologyKey':'zone','matchLabelKeys':['app','tier'],'mismatchLabelKeys':['hash'],"
      "'labelSelector':{'matchExpressions':[{'key':'app','operator':'In','values':['old']},"
      "{'key':'hash','operator':'NotIn','values':['6']}]}}]}}",
      "", "'labels':{'app':'web','hash':'7','tier':'1'}");
  const auto& term = Elements<berth_pod_term>(pod->view().affinity->required_pod_terms)[0];
  EXPECT_EQ(Show(term.selector), "app In 'old'; hash NotIn '6'; tier In '1'");
}

TEST_F(DecodeSelectorTest, ReadsNodeTerms) {
  EXPECT_EQ(NodeTerm("{}"), " / ");
  EXPECT_EQ(NodeTerm("{'matchExpressions':[{'key':'a','operator':'Gt','values':['5']},"
                     "{'key':'b','operator':'Lt','values':['007']}],"
                     "'matchFields':[{'key':'metadata.name','operator':'In','values':['n1']}]}"),
            "a Gt 5; b Lt 7 / metadata.name In 'n1'");
  EXPECT_EQ(NodeTerm("{'matchFields':[{'key':'metadata.name','operator':'NotIn',"
                     "'values':['n1']}]}"),
            " / metadata.name NotIn 'n1'");
}

TEST_F(DecodeSelectorTest, MarksNodeTermsThatKubernetesCannotParse) {
  const char* const terms[] = {
      "{'matchExpressions':[{'key':'a','operator':'Gt','values':['x']}]}",
      "{'matchExpressions':[{'key':'a','operator':'Gt','values':['1','2']}]}",
      "{'matchExpressions':[{'key':'a','operator':'Lt'}]}",
      "{'matchExpressions':[{'key':'a','operator':'Gt','values':['9223372036854775808']}]}",
      "{'matchExpressions':[{'key':'a','operator':'Gt','values':['']}]}",
      "{'matchExpressions':[{'key':'a','operator':'Gt','values':['-1']}]}",
      "{'matchExpressions':[{'key':'a','operator':'Gt','values':['1x']}]}",
      "{'matchFields':[{'key':'metadata.name','operator':'In','values':['a','b']}]}",
      "{'matchFields':[{'key':'metadata.name','operator':'Exists'}]}",
      "{'matchFields':[{'key':'metadata.uid','operator':'In','values':['a']}]}",
  };
  for (const char* term : terms) EXPECT_EQ(NodeTerm(term), "invalid") << term;
}

TEST_F(DecodeSelectorTest, RejectsUnknownOperatorsOfNodeAffinity) {
  const auto decode = [this](const std::string& required, const std::string& preferred) {
    return decoder_
        .DecodePod(Json("{'metadata':{'name':'a'},'spec':{'affinity':{'nodeAffinity':{"
                        "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[" +
                        required + "]},'preferredDuringSchedulingIgnoredDuringExecution':[" +
                        preferred + "]}}}}"))
        .status()
        .ToString();
  };
  const std::string path = "InvalidArgument: /spec/affinity/nodeAffinity/";
  const std::string expected =
      "/operator: expected In, NotIn, Exists, DoesNotExist, Gt or Lt, found ";
  EXPECT_EQ(decode("{'matchExpressions':[{'key':'a','operator':'Exists'},{'key':'a',"
                   "'operator':'Equals','values':['b']}]}",
                   ""),
            path +
                "requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/"
                "matchExpressions/1" +
                expected + "\"Equals\"");
  EXPECT_EQ(decode("{'matchFields':[{'key':'metadata.name','operator':'in','values':['n']}]}", ""),
            path +
                "requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/"
                "matchFields/0" +
                expected + "\"in\"");
  EXPECT_EQ(decode("", "{'weight':1,'preference':{'matchExpressions':[{'operator':'=='}]}}"),
            path +
                "preferredDuringSchedulingIgnoredDuringExecution/0/preference/"
                "matchExpressions/0" +
                expected + "\"==\"");
  EXPECT_EQ(decode("{'matchExpressions':[{'key':'a'},{'key':'a','operator':''}]}", ""), "Ok")
      << "a term without an operator is invalid, as in Kubernetes";
}

TEST_F(DecodeSelectorTest, ReadsNodeAffinity) {
  const PodRef pod = DecodePod(
      "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{},"
      "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':7,'preference':"
      "{'matchExpressions':[{'key':'a','operator':'Exists'}]}},{'weight':1}]}}");
  const berth_affinity& affinity = *pod->view().affinity;
  EXPECT_EQ(affinity.has_required_node_terms, 1u) << "the field is set, but has no terms";
  EXPECT_EQ(affinity.required_node_terms.count, 0u);
  const auto preferred = Elements<berth_node_term>(affinity.preferred_node_terms);
  ASSERT_EQ(preferred.size(), 2u);
  EXPECT_EQ(preferred[0].weight, 7);
  EXPECT_EQ(ShowRequirements(preferred[0].expressions), "a Exists");
  EXPECT_EQ(preferred[1].expressions.count, 0u);
}

TEST_F(DecodeSelectorTest, ReadsPodAffinity) {
  const PodRef pod = DecodePod(
      "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
      "[{'topologyKey':'zone','namespaces':['a','b'],'labelSelector':{'matchLabels':{'k':'v'}}},"
      "{'topologyKey':'host','namespaceSelector':{}}],"
      "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':9,'podAffinityTerm':"
      "{'topologyKey':'rack'}}]},'podAntiAffinity':"
      "{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'host'}]}}");
  const berth_affinity& affinity = *pod->view().affinity;
  const auto required = Elements<berth_pod_term>(affinity.required_pod_terms);
  ASSERT_EQ(required.size(), 2u);
  EXPECT_EQ(Show(required[0].topology_key), "'zone'");
  EXPECT_EQ(Show(required[0].selector), "k In 'v'");
  EXPECT_EQ(Show(required[0].namespace_selector), "none");
  ASSERT_EQ(required[0].namespaces.count, 2u);
  EXPECT_EQ(Show(Elements<Id>(required[0].namespaces)[1]), "'b'");
  EXPECT_EQ(required[0].weight, 0);
  EXPECT_EQ(Show(required[1].selector), "none");
  EXPECT_EQ(Show(required[1].namespace_selector), "");
  EXPECT_EQ(Elements<berth_pod_term>(affinity.preferred_pod_terms)[0].weight, 9);
  EXPECT_EQ(affinity.required_pod_anti_terms.count, 1u);
  EXPECT_EQ(affinity.preferred_pod_anti_terms.count, 0u);
}

TEST_F(DecodeSelectorTest, ReadsSpreads) {
  const PodRef pod = DecodePod(
      "'topologySpreadConstraints':[{'maxSkew':2,'topologyKey':'zone','whenUnsatisfiable':"
      "'ScheduleAnyway','minDomains':4,'nodeAffinityPolicy':'Ignore','nodeTaintsPolicy':'Honor'},"
      "{'maxSkew':1,'topologyKey':'host','whenUnsatisfiable':'DoNotSchedule'}]");
  const auto spreads = Elements<berth_spread>(pod->view().spreads);
  ASSERT_EQ(spreads.size(), 2u);
  EXPECT_EQ(spreads[0].max_skew, 2);
  EXPECT_EQ(spreads[0].min_domains, 4);
  EXPECT_EQ(spreads[0].when_unsatisfiable, uint32_t{BERTH_SCHEDULE_ANYWAY});
  EXPECT_EQ(spreads[0].node_affinity_policy, uint32_t{BERTH_POLICY_IGNORE});
  EXPECT_EQ(spreads[0].node_taints_policy, uint32_t{BERTH_POLICY_HONOR});
  EXPECT_EQ(Show(spreads[0].topology_key), "'zone'");
  EXPECT_EQ(spreads[1].min_domains, 1);
  EXPECT_EQ(spreads[1].when_unsatisfiable, uint32_t{BERTH_DO_NOT_SCHEDULE});
  EXPECT_EQ(spreads[1].node_affinity_policy, uint32_t{BERTH_POLICY_HONOR});
  EXPECT_EQ(spreads[1].node_taints_policy, uint32_t{BERTH_POLICY_IGNORE});
}

}  // namespace
}  // namespace berth::host

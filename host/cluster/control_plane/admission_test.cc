#include "host/cluster/control_plane/admission.h"

#include <exception>
#include <string>
#include <string_view>

#include "host/cluster/control_plane/control_plane_testing.h"
#include "host/cluster/control_plane/json_members.h"

namespace berth::host {
namespace {

constexpr std::string_view kGold = R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: gold}
value: 9000
preemptionPolicy: Never
)";

constexpr std::string_view kSandbox = R"(
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: sandbox}
handler: h
overhead: {podFixed: {cpu: 250m}}
scheduling:
  nodeSelector: {sandbox: 'yes'}
  tolerations: [{key: sandbox, operator: Exists}]
)";

class AdmissionTest : public ControlPlaneTest {
 protected:
  // Returns the spec of a pod with this spec after admission, or the error as a JSON text.
  Json SpecOf(std::string_view spec, std::string_view ns = "default") {
    Json pod =
        Yaml("{kind: Pod, apiVersion: v1, metadata: {name: a, namespace: " + std::string(ns) +
             "}, spec: " + std::string(spec) + "}");
    const Status status = admission_.Admit(pod);
    return status.ok() ? pod["spec"] : Json(std::string(status.message()));
  }
  // Returns the resources of a pod's only container, which has `resources`, after admission.
  Json ResourcesOf(std::string_view resources, std::string_view ns = "default") {
    return SpecOf("{containers: [{name: c, resources: " + std::string(resources) + "}]}",
                  ns)["containers"][0]["resources"];
  }
  std::string ErrorOf(std::string_view spec) {
    const Json result = SpecOf(spec);
    return result.is_string() ? result.get<std::string>() : "admitted: " + result.dump();
  }

  Admission admission_{cluster_};
};

// ---- Priority -----------------------------------------------------------------------------------

TEST_F(AdmissionTest, TakesThePriorityOfTheClass) {
  Add(Yaml(kGold));
  Json spec = SpecOf("{priorityClassName: gold}");
  EXPECT_EQ(spec["priority"], 9000);
  EXPECT_EQ(spec["preemptionPolicy"], "Never");
  spec = SpecOf("{priorityClassName: gold, priority: 9000, preemptionPolicy: Never}");
  EXPECT_EQ(spec["priority"], 9000);
  EXPECT_EQ(admission_.counts().priorities, 2U);
  spec = SpecOf("{}");
  EXPECT_FALSE(spec.contains("priority"));
  EXPECT_FALSE(spec.contains("priorityClassName"));
  EXPECT_EQ(admission_.counts().priorities, 2U);
  EXPECT_EQ(admission_.counts().pods, 3U);
}

TEST_F(AdmissionTest, KnowsTheClassesOfTheSystem) {
  EXPECT_EQ(SpecOf("{priorityClassName: system-node-critical}")["priority"], 2'000'001'000);
  EXPECT_EQ(SpecOf("{priorityClassName: system-cluster-critical}")["priority"], 2'000'000'000);
}

TEST_F(AdmissionTest, TakesTheLowestOfTheGlobalDefaults) {
  for (const char* one :
       {"{name: high}, value: 7", "{name: low}, value: 5", "{name: mid}, value: 6"}) {
    Add(Yaml(std::string("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: ") +
             one + ", globalDefault: true}"));
  }
  const Json spec = SpecOf("{}");
  EXPECT_EQ(spec["priority"], 5);
  EXPECT_EQ(spec["priorityClassName"], "low");
  // A pod that states its priority comes from a cluster.
  EXPECT_EQ(SpecOf("{priority: 3}")["priority"], 3);
}

TEST_F(AdmissionTest, RefusesClassesThatDoNotFit) {
  Add(Yaml(kGold));
  Add(Yaml("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: odd}}"));
  EXPECT_EQ(ErrorOf("{priorityClassName: silver}"),
            "/spec/priorityClassName: expected a PriorityClass of the cluster, found \"silver\"");
  EXPECT_EQ(ErrorOf("{priorityClassName: odd}"),
            "/spec/priorityClassName: expected a PriorityClass with a value, found \"odd\"");
  EXPECT_EQ(ErrorOf("{priorityClassName: gold, priority: 1}"),
            "/spec/priority: expected 9000 of the PriorityClass \"gold\", found 1");
  Add(Yaml(
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: plain}, value: "
      "1}"));
  admission_.Refresh();
  EXPECT_EQ(ErrorOf("{priorityClassName: plain, preemptionPolicy: Never}"),
            "/spec/preemptionPolicy: expected \"PreemptLowerPriority\" of the PriorityClass "
            "\"plain\", found \"Never\"");
  EXPECT_EQ(SpecOf("{priorityClassName: silver, priority: 7}")["priority"], 7);
  EXPECT_EQ(ErrorOf("{priorityClassName: gold, preemptionPolicy: PreemptLowerPriority}"),
            "/spec/preemptionPolicy: expected \"Never\" of the PriorityClass \"gold\", found "
            "\"PreemptLowerPriority\"");
  EXPECT_EQ(admission_.counts().pods, 1U);
}

TEST_F(AdmissionTest, SeesClassesThatChangeAfterARefresh) {
  EXPECT_NE(ErrorOf("{priorityClassName: gold}").find("expected a PriorityClass"),
            std::string::npos);
  Add(Yaml(kGold));
  EXPECT_TRUE(Admission::Reads("scheduling.k8s.io/v1/PriorityClass"));
  EXPECT_TRUE(Admission::Reads("v1/LimitRange"));
  EXPECT_TRUE(Admission::Reads("node.k8s.io/v1/RuntimeClass"));
  EXPECT_FALSE(Admission::Reads("v1/Pod"));
  EXPECT_FALSE(Admission::Reads("example.com/v1/PriorityClass"));
  admission_.Refresh();
  EXPECT_EQ(SpecOf("{priorityClassName: gold}")["priority"], 9000);
}

// ---- LimitRange ---------------------------------------------------------------------------------

TEST_F(AdmissionTest, AddsTheDefaultsOfALimitRange) {
  Add(
      Yaml("{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: default}, spec: "
           "{limits: [{type: Container, default: {cpu: 800m}, defaultRequest: {cpu: 600m}}, "
           "{type: Pod, max: {memory: 1Gi}}]}}"));
  struct Case {
    const char* given;
    const char* expected;
  };
  const Case cases[] = {
      {"{}", R"({"limits":{"cpu":"800m"},"requests":{"cpu":"600m"}})"},
      {"null", R"({"limits":{"cpu":"800m"},"requests":{"cpu":"600m"}})"},
      {"{requests: {cpu: 1}}", R"({"requests":{"cpu":1},"limits":{"cpu":"800m"}})"},
      // A limit without a request is a request before admission begins.
      {"{limits: {cpu: 2}}", R"({"limits":{"cpu":2},"requests":{"cpu":2}})"},
      {"{limits: {memory: 1Gi}}",
       R"({"limits":{"memory":"1Gi","cpu":"800m"},"requests":{"memory":"1Gi","cpu":"600m"}})"},
      {"{requests: {cpu: 1}, limits: {cpu: 2}}", R"({"requests":{"cpu":1},"limits":{"cpu":2}})"},
  };
  for (const Case& c : cases) EXPECT_EQ(ResourcesOf(c.given).dump(), c.expected) << c.given;
  EXPECT_EQ(admission_.counts().limit_ranges, 4U);
  EXPECT_EQ(ResourcesOf("{}", "other").dump(), "{}");
  const Json spec = SpecOf("{containers: [{name: c}], initContainers: [{name: i}]}");
  EXPECT_EQ(spec["initContainers"][0]["resources"]["requests"]["cpu"], "600m");
}

TEST_F(AdmissionTest, DerivesDefaultsFromMaximumAndMinimum) {
  struct Case {
    const char* item;
    const char* expected;
  };
  const Case cases[] = {
      {"max: {cpu: 3}", R"({"limits":{"cpu":3},"requests":{"cpu":3}})"},
      {"min: {cpu: 1}", R"({"limits":{},"requests":{"cpu":1}})"},
      {"min: {cpu: 1}, max: {cpu: 3}", R"({"limits":{"cpu":3},"requests":{"cpu":3}})"},
      {"min: {cpu: 1}, max: {cpu: 3}, default: {cpu: 2}",
       R"({"limits":{"cpu":2},"requests":{"cpu":2}})"},
      {"max: {cpu: 3}, defaultRequest: {cpu: 2}", R"({"limits":{"cpu":3},"requests":{"cpu":2}})"},
  };
  for (const Case& c : cases) {
    const std::string ns = "n" + std::to_string(&c - cases);
    Add(Yaml("{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: " + ns +
             "}, spec: {limits: [{type: Container, " + c.item + "}]}}"));
    admission_.Refresh();
    EXPECT_EQ(ResourcesOf("{}", ns).dump(), c.expected) << c.item;
  }
}

// ---- Tolerations --------------------------------------------------------------------------------

TEST_F(AdmissionTest, AddsTolerationsThatThePodLacks) {
  struct Case {
    const char* given;
    const char* keys;
  };
  const Case cases[] = {
      {"[]", "not-ready unreachable "},
      {"[{key: a, operator: Exists}]", "a not-ready unreachable "},
      {"[{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}]",
       "not-ready unreachable "},
      {"[{key: node.kubernetes.io/not-ready, effect: NoSchedule}]",
       "not-ready not-ready unreachable "},
      {"[{operator: Exists}]", " "},
      {"[{operator: Exists, effect: NoSchedule}]", " not-ready unreachable "},
  };
  for (const Case& c : cases) {
    std::string keys;
    const Json spec = SpecOf(std::string("{tolerations: ") + c.given + "}");
    for (const Json& one : spec["tolerations"]) {
      const std::string key = TextAt(one, "/key");
      keys += key.substr(key.find('/') + 1) + " ";
    }
    EXPECT_EQ(keys, c.keys) << c.given;
  }
  EXPECT_EQ(SpecOf("{}")["tolerations"][1].dump(),
            R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute",)"
            R"("tolerationSeconds":300})");
  EXPECT_EQ(admission_.counts().tolerations, 6U);
}

// ---- RuntimeClass -------------------------------------------------------------------------------

TEST_F(AdmissionTest, AddsOverheadAndSchedulingOfARuntimeClass) {
  Add(Yaml(kSandbox));
  const Json spec = SpecOf("{runtimeClassName: sandbox, nodeSelector: {a: b}}");
  EXPECT_EQ(spec["overhead"].dump(), R"({"cpu":"250m"})");
  EXPECT_EQ(spec["nodeSelector"].dump(), R"({"a":"b","sandbox":"yes"})");
  EXPECT_EQ(spec["tolerations"][2].dump(), R"({"key":"sandbox","operator":"Exists"})");
  for (const char* amount : {"0.25", "'250m'", "'0.25'", "250e-3"}) {
    EXPECT_TRUE(SpecOf(std::string("{runtimeClassName: sandbox, overhead: {cpu: ") + amount + "}}")
                    .is_object())
        << amount;
  }
  // A second admission adds nothing.
  const Json again = SpecOf(spec.dump());
  EXPECT_EQ(again, spec);
  EXPECT_EQ(admission_.counts().runtime_classes, 5U);
}

TEST_F(AdmissionTest, RefusesRuntimeClassesThatDoNotFit) {
  Add(Yaml(kSandbox));
  EXPECT_EQ(ErrorOf("{runtimeClassName: none}"),
            "/spec/runtimeClassName: expected a RuntimeClass of the cluster, found \"none\"");
  EXPECT_EQ(ErrorOf("{runtimeClassName: sandbox, overhead: {cpu: 1}}"),
            "/spec/overhead: expected {\"cpu\":\"250m\"} of the RuntimeClass \"sandbox\", found "
            "{\"cpu\":1}");
  EXPECT_EQ(ErrorOf("{runtimeClassName: sandbox, nodeSelector: {sandbox: 'no'}}"),
            "/spec/nodeSelector: expected sandbox=\"yes\" of the RuntimeClass \"sandbox\", found "
            "\"no\"");
}

TEST_F(AdmissionTest, ChecksPolicies) {
  struct Case {
    const char* kind;
    const char* object;
    const char* expected;
  };
  constexpr const char* kLimits = "v1/LimitRange";
  constexpr const char* kPriority = "scheduling.k8s.io/v1/PriorityClass";
  constexpr const char* kRuntime = "node.k8s.io/v1/RuntimeClass";
  const Case cases[] = {
      {kLimits, "{spec: {limits: []}}", ""},
      {kLimits, "{spec: {limits: [{default: {cpu: 1}, min: {memory: 1Gi}}]}}", ""},
      {kLimits, "{spec: {limits: {default: {cpu: 1}}}}",
       "/spec/limits: expected an array, found {\"default\":{\"cpu\":1}}"},
      {kLimits, "{spec: {limits: [{}, {max: {cpu: x}}]}}",
       "/spec/limits/1/max/cpu: expected a quantity such as 100m, found \"x\""},
      {kLimits, "{spec: {limits: [{defaultRequest: 1}]}}",
       "/spec/limits/0/defaultRequest: expected an object with quantities, found 1"},
      {kPriority, "{value: 5}", ""},
      {kPriority, "{value: -2147483648, globalDefault: true}", ""},
      {kPriority, "{value: 2147483648}",
       "/value: expected an integer of 32 bits, found 2147483648"},
      {kPriority, "{}", "/value: expected an integer of 32 bits, found nothing"},
      {kPriority, "{value: 5, globalDefault: 'true'}",
       "/globalDefault: expected true or false, found \"true\""},
      {kRuntime, "{}", ""},
      {kRuntime, "{overhead: {podFixed: {cpu: 100m}}}", ""},
      {kRuntime, "{overhead: {cpu: 100}}",
       "/overhead/podFixed: expected an object with quantities, found nothing"},
      {"v1/Service", "{spec: {limits: 1}}", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Admission::Check(c.kind, Yaml(c.object)).message(), c.expected) << c.object;
  }
}

TEST_F(AdmissionTest, KeepsThePriorityOfAnUpdate) {
  const Result<PodRef> stored = decoder_.DecodePod(
      R"({"metadata":{"name":"a"},"spec":{"priority":9000,"preemptionPolicy":"Never"}})");
  ASSERT_TRUE(stored.ok());
  Json pod = Yaml("{metadata: {name: a}, spec: {priorityClassName: gone, runtimeClassName: gone}}");
  ASSERT_TRUE(admission_.Admit(pod, stored->get()).ok());
  EXPECT_EQ(pod["spec"]["priority"], 9000);
  EXPECT_EQ(pod["spec"]["preemptionPolicy"], "Never");
  EXPECT_EQ(pod["spec"]["tolerations"].size(), 2U);
  EXPECT_EQ(admission_.counts().pods, 0U);
}

// ---- Values of another type ---------------------------------------------------------------------

TEST_F(AdmissionTest, AnswersValuesOfAnyType) {
  const Json policies[] = {
      Yaml(kGold), Yaml(kSandbox),
      Yaml("{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: default}, spec: "
           "{limits: [{type: Container, max: {cpu: 1}, min: {cpu: 1}, default: {cpu: 1}, "
           "defaultRequest: {cpu: 1}}]}}")};
  const Json pod = Yaml(
      "{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {priorityClassName: gold, "
      "runtimeClassName: sandbox, containers: [{name: c, resources: {limits: {cpu: 1}}}]}}");
  size_t admitted = 0;
  const auto admit = [&](Json changed, const std::string& what) {
    if (!decoder_.Decode(DumpJson(changed)).ok()) return;
    try {
      // A value of a policy that is no value for a pod is an error when the pod is decoded.
      if (admission_.Admit(changed).ok() && decoder_.DecodePod(DumpJson(changed)).ok()) ++admitted;
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << ": " << error.what();
    }
  };
  for (const Json& policy : policies) {
    ForEachMutation(policy, [&](const Json& changed, const std::string& what) {
      if (!decoder_.Decode(DumpJson(changed)).ok()) return;
      for (const Json& one : policies) {
        const std::string kind = TextAt(one, "/apiVersion") + "/" + TextAt(one, "/kind");
        for (const AnyObject& old : cluster_.List(kind)) {
          Remove(kind, std::string(Base(old).ns()).c_str(), std::string(Base(old).name()).c_str());
        }
        Add(&one == &policy ? changed : one);
      }
      admission_.Refresh();
      admit(pod, TextAt(policy, "/kind") + " " + what);
    });
  }
  for (const Json& policy : policies) {
    const std::string kind = TextAt(policy, "/apiVersion") + "/" + TextAt(policy, "/kind");
    for (const AnyObject& old : cluster_.List(kind)) {
      Remove(kind, std::string(Base(old).ns()).c_str(), std::string(Base(old).name()).c_str());
    }
    Add(policy);
  }
  admission_.Refresh();
  ForEachMutation(pod, [&](const Json& changed, const std::string& what) { admit(changed, what); });
  EXPECT_GT(admitted, 200U);
}

}  // namespace
}  // namespace berth::host

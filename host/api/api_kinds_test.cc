#include "host/api/api_kinds.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(ApiKinds, AcceptsKindsThatAServerCanServe) {
  for (const char* kind :
       {"v1/Pod", "v1/Node", "v1/ConfigMap", "apps/v1/Deployment", "batch/v1/CronJob",
        "autoscaling/v1/HorizontalPodAutoscaler", "autoscaling/v2/HorizontalPodAutoscaler",
        "scheduling.k8s.io/v1/PriorityClass", "storage.k8s.io/v1beta1/CSIStorageCapacity",
        "resource.k8s.io/v1beta2/DeviceClass", "events.k8s.io/v1/Event",
        "lifecycle.k8s.io/v1alpha1/EvictionRequest", "policy/v1/Eviction",
        "storagemigration.k8s.io/v1/StorageVersionMigration",
        // New kinds, and custom resources, also with the name of a kind of Kubernetes.
        "scheduling.k8s.io/v1alpha3/NewThing", "gateway.networking.k8s.io/v1/Gateway",
        "scheduling.sigs.k8s.io/v1alpha1/PodGroup", "example.com/v1/Rack",
        "example.com/v1/Deployment", "serving.knative.dev/v1/Service"}) {
    EXPECT_EQ(CheckKind(kind).ToString(), "Ok") << kind;
  }
}

TEST(ApiKinds, NamesWhatWasProbablyMeant) {
  struct Case {
    const char* kind;
    const char* expected;
  };
  constexpr const char* kFound = "/kind: expected a kind of Kubernetes, found ";
  const Case cases[] = {
      {"v1/Pods", "Pods (apiVersion v1); did you mean Pod?"},
      {"v1/pod", "pod (apiVersion v1); did you mean Pod?"},
      {"v1/Pode", "Pode (apiVersion v1); did you mean Node or Pod?"},
      {"apps/v1/Deploymnet", "Deploymnet (apiVersion apps/v1); did you mean Deployment?"},
      {"apps/v1/deployments", "deployments (apiVersion apps/v1); did you mean Deployment?"},
      {"scheduling.k8s.io/v1/PriorityClasses",
       "PriorityClasses (apiVersion scheduling.k8s.io/v1); did you mean PriorityClass?"},
      {"networking.k8s.io/v1/NetworkPolicies",
       "NetworkPolicies (apiVersion networking.k8s.io/v1); did you mean NetworkPolicy?"},
      {"v1/Frobnicator", "Frobnicator (apiVersion v1)"},
      {"v1/Service Secret", "Service Secret (apiVersion v1)"},
      {"v1/", " (apiVersion v1)"},
      {"app/v1/Frobnicator", "Frobnicator (apiVersion app/v1)"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CheckKind(c.kind).message(), std::string(kFound) + c.expected) << c.kind;
  }
}

TEST(ApiKinds, NamesTheGroupOfAKind) {
  struct Case {
    const char* kind;
    const char* expected;
  };
  const Case cases[] = {
      {"v1/Deployment", "expected apps/v1 for the kind Deployment, found v1"},
      {"apps/v1/Pod", "expected v1 for the kind Pod, found apps/v1"},
      {"app/v1/Deployment", "expected apps/v1 for the kind Deployment, found app/v1"},
      {"apps/v1beta1/Deployment", "expected apps/v1 for the kind Deployment, found apps/v1beta1"},
      {"extensions/v1beta1/Ingress",
       "expected networking.k8s.io/v1 for the kind Ingress, found extensions/v1beta1"},
      {"policy/v1/Event", "expected v1 or events.k8s.io/v1 for the kind Event, found policy/v1"},
      {"apps/v1/Eviction",
       "expected policy/v1 or lifecycle.k8s.io/v1alpha1 for the kind Eviction, found apps/v1"},
      {"apps/v1/CompositePodGroup",
       "expected scheduling.k8s.io/v1 for the kind CompositePodGroup, found apps/v1"},
      {"storage.k8s.io/v1/PriorityClass",
       "expected scheduling.k8s.io/v1 for the kind PriorityClass, found storage.k8s.io/v1"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CheckKind(c.kind).message(), std::string("/apiVersion: ") + c.expected) << c.kind;
  }
}

TEST(ApiKinds, TellsCustomKinds) {
  EXPECT_TRUE(IsCustomKind("argoproj.io/v1alpha1/Rollout"));
  EXPECT_TRUE(IsCustomKind("example.com/v1/Deployment"));
  EXPECT_FALSE(IsCustomKind("v1/Pod"));
  EXPECT_FALSE(IsCustomKind("apps/v1/Deployment"));
  EXPECT_FALSE(IsCustomKind("app/v1/Deployment"));
  EXPECT_FALSE(IsCustomKind("scheduling.k8s.io/v1/Other"));
  EXPECT_TRUE(IsCustomKind("scheduling.sigs.k8s.io/v1alpha1/PodGroup"));
}

TEST(ApiKinds, SplitsNames) {
  const GroupVersionKind core = SplitKind("v1/Pod");
  EXPECT_EQ(core.group, "");
  EXPECT_EQ(core.version, "v1");
  EXPECT_EQ(core.kind, "Pod");
  const GroupVersionKind grouped = SplitKind("apps/v1/Deployment");
  EXPECT_EQ(grouped.group, "apps");
  EXPECT_EQ(grouped.version, "v1");
  EXPECT_EQ(grouped.kind, "Deployment");
}

}  // namespace
}  // namespace berth::host

// Measures how many objects per second one core decodes.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "host/api/decode.h"
#include "host/base/interner.h"

namespace berth::host {
namespace {

std::string Replace(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (size_t at = 0;;) {
    const size_t found = text.find(from, at);
    result.append(text.substr(at, found - at));
    if (found == text.npos) return result;
    result.append(to);
    at = found + from.size();
  }
}

// A pending pod of a Deployment as the API server sends it, without managedFields.
constexpr std::string_view kStoredPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-6d4cf56db6-#","generateName":)"
    R"("web-6d4cf56db6-","namespace":"shop","uid":"7c0d9f5e-3d53-4b4a-9d1e-0a6a3f00#",)"
    R"("resourceVersion":"81#","creationTimestamp":"2026-01-10T08:00:00Z","labels":{"app":)"
    R"("web","pod-template-hash":"6d4cf56db6","tier":"frontend"},"ownerReferences":)"
    R"([{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-6d4cf56db6","uid":)"
    R"("f1e3d0a2-8a39-4a8e-8a6e-3a5b4d1c2e90","controller":true,"blockOwnerDeletion":true}]},)"
    R"("spec":{"volumes":[{"name":"kube-api-access-x7k2p","projected":{"sources":)"
    R"([{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":)"
    R"("kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],)"
    R"("containers":[{"name":"web","image":"registry.example.com/shop/web:2.14.1","ports":)"
    R"([{"containerPort":8080,"protocol":"TCP"}],"resources":{"limits":{"memory":"512Mi"},)"
    R"("requests":{"cpu":"250m","memory":"512Mi"}},"volumeMounts":[{"name":)"
    R"("kube-api-access-x7k2p","readOnly":true,"mountPath":)"
    R"("/var/run/secrets/kubernetes.io/serviceaccount"}],"terminationMessagePath":)"
    R"("/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":)"
    R"("IfNotPresent"},{"name":"proxy","image":"registry.example.com/mesh/proxy:1.9",)"
    R"("resources":{"requests":{"cpu":"100m","memory":"64Mi"}},"terminationMessagePath":)"
    R"("/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":)"
    R"("IfNotPresent"}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,)"
    R"("dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default",)"
    R"("securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":)"
    R"("node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
    R"("tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists",)"
    R"("effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,)"
    R"("preemptionPolicy":"PreemptLowerPriority"},"status":{"phase":"Pending","conditions":)"
    R"([{"type":"PodScheduled","status":"False","lastProbeTime":null,"lastTransitionTime":)"
    R"("2026-01-10T08:00:00Z","reason":"Unschedulable","message":"0/3 nodes are available:)"
    R"( 3 Insufficient cpu."}],"qosClass":"Burstable"}})";

// A pod of a GPU trace, as in manifests for simulations.
constexpr std::string_view kTracePod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"openb-pod-#","namespace":"default",)"
    R"("uid":"openb-pod-#","creationTimestamp":"2026-01-10T08:00:00Z"},"spec":{"priority":1000,)"
    R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
    R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"openb/gpu-model","operator":"In",)"
    R"("values":["V100M16","V100M32"]}]}]}}},"containers":[{"name":"main","image":)"
    R"("registry.example.com/train:1","resources":{"requests":{"cpu":"12000m","memory":)"
    R"("16384Mi","example.com/gpu-milli":"1000"},"limits":{"example.com/gpu-milli":"1000"}}}]},)"
    R"("status":{"phase":"Pending"}})";

std::vector<std::string> Numbered(std::string_view pod) {
  std::vector<std::string> pods;
  for (int32_t i = 0; i < 1000; ++i) pods.push_back(Replace(pod, "#", std::to_string(10000 + i)));
  return pods;
}

void Decode(benchmark::State& state, std::string_view text) {
  Interner interner;
  Decoder decoder(interner);
  const std::vector<std::string> pods = Numbered(text);
  size_t next = 0;
  for (auto _ : state) {
    const Result<PodRef> pod = decoder.DecodePod(pods[next]);
    if (!pod.ok()) state.SkipWithError(pod.status().ToString().c_str());
    benchmark::DoNotOptimize(pod);
    next = next + 1 == pods.size() ? 0 : next + 1;
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(pods[0].size()));
}

void StoredPod(benchmark::State& state) { Decode(state, kStoredPod); }
void TracePod(benchmark::State& state) { Decode(state, kTracePod); }
BENCHMARK(StoredPod);
BENCHMARK(TracePod);

}  // namespace
}  // namespace berth::host

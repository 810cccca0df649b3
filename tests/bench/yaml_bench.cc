// Measures how fast manifests are converted to JSON: 10 MB of pods as `kubectl get -o yaml` prints
// them.
#include <string>

#include <benchmark/benchmark.h>

#include "host/api/yaml.h"

namespace berth::host {
namespace {

std::string MakeManifest(size_t bytes) {
  std::string yaml;
  for (int64_t i = 0; yaml.size() < bytes; ++i) {
    const std::string number = std::to_string(i);
    yaml += "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web-" + number +
            "\n  namespace: team-" + std::to_string(i % 50) +
            "\n  labels:\n    app.kubernetes.io/name: web\n    app.kubernetes.io/instance: web-" +
            number +
            "\nspec:\n  schedulerName: default-scheduler\n  priority: 0\n  containers:\n"
            "  - name: main\n    image: registry.example.com/team/web:1.25.3\n    resources:\n"
            "      requests:\n        cpu: 250m\n        memory: 512Mi\n"
            "      limits:\n        memory: \"1Gi\"\n    ports:\n    - containerPort: 8080\n"
            "  tolerations:\n  - effect: NoExecute\n    key: node.kubernetes.io/not-ready\n"
            "    operator: Exists\n    tolerationSeconds: 300\nstatus:\n  phase: Pending\n";
  }
  return yaml;
}

void BM_YamlToJson(benchmark::State& state) {
  const std::string yaml = MakeManifest(10'000'000);
  for (auto _ : state) {
    const Result<std::vector<JsonDocument>> documents = YamlToJson(yaml);
    benchmark::DoNotOptimize(documents->size());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(yaml.size()));
}
BENCHMARK(BM_YamlToJson)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::host

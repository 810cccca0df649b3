// acme.GpuShare writes an annotation to a pod in PreBind and reads it in Filter, as plugins that
// share GPUs do on an API server. simulate and replay give it the same without one.
#include <string>
#include <vector>

#include "tests/integration/run_cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

class GpuShareCliTest : public RunCliTest {
 protected:
  // A profile in which every node has `gpus` GPUs.
  std::string Profile(int gpus) {
    return File("gpus.toml",
                "extends = \"default\"\n[[plugins]]\nname = \"acme.GpuShare\"\n"
                "library = \"" BERTH_TEST_PLUGIN_DIR
                "/libtest_gpu_share.so\"\n"
                "args = {gpus = " +
                    std::to_string(gpus) + "}\n");
  }
};

// Cpu is enough for all pods. The last pod is refused for what the annotations of the others say,
// and not for reservations, which end when the annotations arrive.
TEST_F(GpuShareCliTest, SimulateUsesEachGpuOnce) {
  std::string cluster = kNodes;
  for (const char* name : {"p1", "p2", "p3", "p4", "p5"}) cluster += PodOf(name, "100m");
  const std::string file = File("cluster.yaml", cluster);
  const Outcome run = Run({"simulate", "--cluster", file, "--profile", Profile(2)});
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out.substr(0, run.out.find("\n\n") + 1),
            "NAMESPACE   POD   NODE     REASON\n"
            "default     p1    b\n"
            "default     p2    b\n"
            "default     p5    <none>   0/2 nodes are available: 2 No GPU is free.\n"
            "default     p3    a\n"
            "default     p4    a\n");
}

// An annotation in the file counts like one that was written.
TEST_F(GpuShareCliTest, ReadsAnnotationsOfTheFile) {
  const std::string used =
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: old, annotations: {acme.io/gpu: \"0\"}}\n"
      "spec:\n  nodeName: b\n  containers:\n    - name: c\n";
  const std::string file = File("cluster.yaml", kNodes + used + PodOf("p1", "4"));
  const Outcome run =
      Run({"simulate", "--cluster", file, "--profile", Profile(1), "--output", "json"});
  EXPECT_EQ(run.json()["placements"][0]["message"],
            "0/2 nodes are available: 1 Insufficient cpu, 1 No GPU is free.");
}

// The GPU of a deleted pod is known by its annotation, so that p3 gets it.
TEST_F(GpuShareCliTest, ReplayUsesAGpuAgain) {
  const std::string events = Line("ADDED", NodeJson("n", "8")) + Line("ADDED", PodJson("p1", "1")) +
                             Line("ADDED", PodJson("p2", "1"), "1s") +
                             Line("ADDED", PodJson("p3", "1"), "1s") +
                             Line("DELETED", PodJson("p1", "1"), "10s");
  const Outcome run = Play(events, {"--profile", Profile(2)});
  EXPECT_THAT(
      Decisions(run.out),
      ElementsAre("0 Bound p1 n", "1 Bound p2 n",
                  "2 Refused p3 0/1 nodes are available: 1 No GPU is free.", "12 Bound p3 n"));
  EXPECT_EQ(Play(events, {"--profile", Profile(2)}).out, run.out);
}

}  // namespace
}  // namespace berth::host

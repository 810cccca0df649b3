// The example examples/plugins/gpu_share writes an annotation to a pod in PreBind and reads it from
// the changes that follow, as on an API server. simulate and replay give it the same without one.
#include <string>
#include <vector>

#include "tests/integration/run_cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

// The node's label, and the share that a pod needs or has.
std::string GpusOf(const std::string& count) {
  return R"(,"labels":{"acme.com/gpus":")" + count + R"("})";
}
std::string Share(const std::string& percent) {
  return R"(,"annotations":{"acme.com/gpu-percent":")" + percent + R"("})";
}
std::string Manifest(const std::string& json) { return "---\n" + json + "\n"; }

class GpuShareCliTest : public RunCliTest {
 protected:
  std::string Profile() {
    return File("gpus.toml",
                "extends = \"default\"\n[[plugins]]\nname = \"acme.GpuShare\"\n"
                "library = \"" BERTH_TEST_PLUGIN_DIR "/libtest_gpu_share.so\"\nweight = 5\n");
  }
};

// Cpu is enough for all pods. The last pod is refused for what the annotations of the others say.
TEST_F(GpuShareCliTest, SimulateFillsEachGpu) {
  std::string cluster = Manifest(NodeJson("a", "64", GpusOf("1")));
  cluster += Manifest(NodeJson("b", "8", GpusOf("2")));
  for (const char* pod : {"p1", "p2", "p3", "p4", "p5", "p6"}) {
    cluster += Manifest(PodJson(pod, "100m", Share("50")));
  }
  cluster += Manifest(PodJson("q", "100m", Share("1")));
  const Outcome run =
      Run({"simulate", "--cluster", File("cluster.yaml", cluster), "--profile", Profile()});
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("Placed 6 of 7 pods"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("q     <none>   0/2 nodes are available: 2 No GPU has enough room."),
            std::string::npos)
      << run.out;
}

// An annotation in the file counts like one that was written.
TEST_F(GpuShareCliTest, ReadsAnnotationsOfTheFile) {
  const std::string used = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"old",)"
                           R"("annotations":{"acme.com/gpu-percent":"70","acme.com/gpu":"0"}},)"
                           R"("spec":{"nodeName":"n","containers":[{"name":"c"}]}})";
  const std::string file =
      File("cluster.yaml", Manifest(NodeJson("n", "8", GpusOf("1"))) + Manifest(used) +
                               Manifest(PodJson("p1", "1", Share("31"))) +
                               Manifest(PodJson("p2", "1", Share("30"))));
  const Outcome run =
      Run({"simulate", "--cluster", file, "--profile", Profile(), "--output", "json"});
  EXPECT_EQ(run.json()["placements"][0]["message"],
            "0/1 nodes are available: 1 No GPU has enough room.");
  EXPECT_EQ(run.json()["placements"][1]["node"], "n");
}

// The share of a deleted pod is known by its annotation, so that p3 gets it.
TEST_F(GpuShareCliTest, ReplayUsesAGpuAgain) {
  const std::string events = Line("ADDED", NodeJson("n", "8", GpusOf("1"))) +
                             Line("ADDED", PodJson("p1", "1", Share("60"))) +
                             Line("ADDED", PodJson("p2", "1", Share("40")), "1s") +
                             Line("ADDED", PodJson("p3", "1", Share("60")), "1s") +
                             Line("DELETED", PodJson("p1", "1", Share("60")), "10s");
  const Outcome run = Play(events, {"--profile", Profile()});
  EXPECT_THAT(Decisions(run.out),
              ElementsAre("0 Bound p1 n", "1 Bound p2 n",
                          "2 Refused p3 0/1 nodes are available: 1 No GPU has enough room.",
                          "12 Bound p3 n"));
  EXPECT_EQ(Play(events, {"--profile", Profile()}).out, run.out);
}

}  // namespace
}  // namespace berth::host

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/args.h>
#include <berth/testing/builders.h>

namespace berth::testing {
namespace {

using ::testing::ElementsAre;

TEST(Quantity, IsExactAndRoundsUp) {
  const struct {
    const char* name;
    const char* resource;
    const char* text;
    int64_t want;
  } cases[] = {
      {"milli cpu", "cpu", "500m", 500},
      {"cores", "cpu", "2", 2000},
      {"half a core", "cpu", "0.5", 500},
      {"less than a milli", "cpu", "1u", 1},
      {"bytes", "memory", "1024", 1024},
      {"binary", "memory", "1.5Gi", int64_t{3} << 29},
      {"decimal", "memory", "1k", 1000},
      {"milli bytes", "memory", "1500m", 2},
      {"zero", "memory", "0", 0},
      {"exponent", "memory", "1e3", 1000},
      {"the most", "memory", "9223372036854775807", INT64_MAX},
      {"more than the most", "cpu", "9224P", INT64_MAX},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ParseAmount(c.resource, c.text), c.want);
  }
}

TEST(QuantityDeathTest, ReportsMistakes) {
  EXPECT_DEATH(ParseAmount("cpu", "half"), "\"half\" is not a quantity: expected a number");
  EXPECT_DEATH(ParseAmount("cpu", "1x"), "\"1x\" is not a quantity: expected a suffix of");
  EXPECT_DEATH(ParseAmount("memory", "-1"), "\"-1\" is not a quantity: expected 0 or more");
}

TEST(PodRequest, EqualsComponentHelpers) {
  const struct {
    const char* name;
    PodSpec pod;
    int64_t cpu;
    int64_t cpu_of_containers;
    int64_t nonzero_cpu;
  } cases[] = {
      {"nothing", MakePod("p"), 0, 0, 0},
      {"a container without requests", MakePod("p").Container("a"), 0, 100, 100},
      {"an explicit zero", MakePod("p").CpuMilli(0), 0, 0, 0},
      {"two containers", MakePod("p").Container("a").CpuMilli(300).Container("b").CpuMilli(200),
       500, 500, 500},
      {"a larger init container", MakePod("p").CpuMilli(300).InitContainer("i").CpuMilli(700), 700,
       700, 700},
      {"a smaller init container", MakePod("p").CpuMilli(300).InitContainer("i").CpuMilli(200), 300,
       300, 300},
      {"a sidecar adds up", MakePod("p").CpuMilli(300).Sidecar("s").CpuMilli(50), 350, 350, 350},
      {"init after a sidecar",
       MakePod("p").CpuMilli(300).Sidecar("s").CpuMilli(50).InitContainer("i").CpuMilli(400), 450,
       450, 450},
      {"init before a sidecar",
       MakePod("p").CpuMilli(300).InitContainer("i").CpuMilli(400).Sidecar("s").CpuMilli(50), 400,
       400, 400},
      {"overhead", MakePod("p").CpuMilli(300).Overhead("cpu", "10m"), 310, 310, 310},
      {"pod level", MakePod("p").CpuMilli(300).PodLevelRequest("cpu", "1"), 1000, 300, 1000},
      {"pod level and overhead", MakePod("p").PodLevelRequest("cpu", "1").Overhead("cpu", "10m"),
       1010, 10, 1010},
      {"pod level of another resource", MakePod("p").Container("a").PodLevelRequest("memory", "1"),
       0, 100, 100},
  };
  Ids ids;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const PodHandle pod(c.pod, ids);
    EXPECT_EQ(pod->request->milli_cpu, c.cpu);
    EXPECT_EQ(pod->request_of_containers->milli_cpu, c.cpu_of_containers);
    EXPECT_EQ(pod->nonzero_milli_cpu, c.nonzero_cpu);
    EXPECT_EQ(pod->accounted->milli_cpu, c.cpu);
  }
}

TEST(PodRequest, CountsAResizeWithItsLargerSize) {
  Ids ids;
  const PodHandle pod(MakePod("p").CpuMilli(300).Allocated("cpu", "500m"), ids);
  EXPECT_EQ(pod->request->milli_cpu, 300);
  EXPECT_EQ(pod->accounted->milli_cpu, 500);
  EXPECT_EQ(pod->nonzero_milli_cpu, 500);
}

// As since Kubernetes 1.37: the larger of two sums, not the sum of the larger sizes.
TEST(PodRequest, CountsTheLargerSumOfAResize) {
  Ids ids;
  const PodHandle pod(MakePod("p")
                          .Container("grows")
                          .CpuMilli(300)
                          .Allocated("cpu", "100m")
                          .Container("shrinks")
                          .CpuMilli(200)
                          .Allocated("cpu", "300m"),
                      ids);
  EXPECT_EQ(pod->request->milli_cpu, 500);
  EXPECT_EQ(pod->accounted->milli_cpu, 500);
}

TEST(PodHandle, HasTheValuesOfTheSpec) {
  Ids ids;
  const PodHandle pod(MakePod("web")
                          .Label("app", "web")
                          .Tolerate("dedicated", "web", BERTH_EFFECT_NO_EXECUTE)
                          .Request("nvidia.com/gpu", "2")
                          .Image("registry:5000/web")
                          .HostPort(80)
                          .PodAntiAffinity("zone", {In("app", {"web"})})
                          .NodeAffinity({In("arch", {"arm64"})})
                          .Spread(1, "zone", {Exists("app")}),
                      ids);
  EXPECT_EQ(ids.Text(pod->meta->ns), "default");
  EXPECT_EQ(FromAbi(pod->meta->name), "web");
  ASSERT_EQ(pod->meta->labels.count, 1u);
  EXPECT_EQ(ids.Text(BERTH_AT(berth_id_pair, pod->meta->labels, 0)->value), "web");
  ASSERT_EQ(pod->tolerations.count, 1u);
  EXPECT_EQ(BERTH_AT(berth_toleration, pod->tolerations, 0)->effect,
            uint32_t{BERTH_EFFECT_NO_EXECUTE});
  EXPECT_EQ(BERTH_AT(berth_toleration, pod->tolerations, 0)->seconds, -1);
  ASSERT_EQ(pod->request->scalars.count, 1u);
  EXPECT_EQ(BERTH_AT(berth_quantity, pod->request->scalars, 0)->value, 2);
  const auto* container = BERTH_AT(berth_container, pod->containers, 0);
  EXPECT_EQ(ids.Text(container->image), "registry:5000/web");
  EXPECT_EQ(ids.Text(container->image_normal), "registry:5000/web:latest");
  ASSERT_EQ(pod->host_ports.count, 1u);
  EXPECT_EQ(BERTH_AT(berth_port, pod->host_ports, 0)->host_port, 80);
  ASSERT_EQ(pod->affinity->required_pod_anti_terms.count, 1u);
  const auto* term = BERTH_AT(berth_pod_term, pod->affinity->required_pod_anti_terms, 0);
  ASSERT_EQ(term->namespaces.count, 1u);
  EXPECT_EQ(ids.Text(*BERTH_AT(berth_id, term->namespaces, 0)), "default");
  EXPECT_EQ(pod->affinity->has_required_node_terms, 1u);
  EXPECT_EQ(BERTH_AT(berth_spread, pod->spreads, 0)->min_domains, 1);
  EXPECT_EQ(pod->own_part_hashes.count, uint32_t{BERTH_OWN_PARTS});
  EXPECT_EQ(pod->part_hashes.count, uint32_t{BERTH_PART_COUNT - BERTH_OWN_PARTS});
}

TEST(NodeHandle, HasTheValuesOfTheSpec) {
  Ids ids;
  const NodeHandle node(MakeNode("a")
                            .CpuMilli(4000)
                            .Capacity("cpu", "5")
                            .Taint("gpu", "yes")
                            .Image("web:1", 100)
                            .Feature("b")
                            .Unschedulable(),
                        ids);
  EXPECT_EQ(ids.Text(node->name), "a");
  EXPECT_EQ(node->unschedulable, 1u);
  EXPECT_EQ(node->allocatable->milli_cpu, 4000);
  EXPECT_EQ(node->allocatable->pods, 110);
  EXPECT_EQ(node->capacity->milli_cpu, 5000);
  EXPECT_EQ(node->capacity->pods, 110);
  EXPECT_EQ(BERTH_AT(berth_taint, node->taints, 0)->effect, uint32_t{BERTH_EFFECT_NO_SCHEDULE});
  EXPECT_EQ(BERTH_AT(berth_image, node->images, 0)->size, 100);
}

// A pod with a value in every part.
PodSpec Full() {
  return MakePod("full")
      .Label("a", "b")
      .Annotation("a", "b")
      .Owner({"Job", "job"})
      .Priority(1)
      .NodeSelector("a", "b")
      .PodAffinity("zone", {Exists("a")})
      .Tolerate("a", "b")
      .Spread(1, "zone", {Exists("a")})
      .CpuMilli(100)
      .Limit("cpu", "1")
      .HostPort(80)
      .Image("a")
      .PersistentClaim("v", "claim")
      .Gate("g")
      .Claim({"c", "c"})
      .Group("g")
      .Os("linux")
      .Nominated("n")
      .StartedNs(1)
      .Field("/spec/hostIPC", "true");
}

// Returns whether changing part `changed` also changes part `other`: containers hold requests,
// ports and images.
bool Follows(int changed, size_t other) {
  const auto is = [&](int a, size_t b) { return changed == a && other == b; };
  return is(BERTH_PART_REQUESTS, BERTH_PART_CONTAINERS) ||
         is(BERTH_PART_CONTAINERS, BERTH_PART_PORTS) ||
         is(BERTH_PART_CONTAINERS, BERTH_PART_IMAGES) ||
         is(BERTH_PART_CONTAINERS, BERTH_PART_REQUESTS);
}

TEST(MutatePart, ChangesOnlyThatPart) {
  const PodSpec others[] = {MakePod("blank"), Full()};
  for (const PodSpec& pod : {Full(), MakePod("plain").Container("c")}) {
    const PartHashes before = HashParts(pod);
    for (int part = 0; part < BERTH_PART_COUNT; ++part) {
      SCOPED_TRACE(std::string(PartName(part)) + " of " + pod.name);
      const auto mutations = MutatePart(part, pod, others);
      EXPECT_FALSE(mutations.empty());
      for (const Mutation& mutation : mutations) {
        const PartHashes after = HashParts(mutation.pod);
        for (size_t other = 0; other < after.size(); ++other) {
          SCOPED_TRACE(mutation.how + ", " + std::string(PartName(static_cast<int>(other))));
          if (other == static_cast<size_t>(part)) {
            EXPECT_NE(after[other], before[other]);
          } else if (!Follows(part, other)) {
            EXPECT_EQ(after[other], before[other]);
          }
        }
      }
    }
  }
}

TEST(Args, AreJsonOrALiteral) {
  const Args json(R"({"a": {"b": [1, -2.5, "x\n", true, null]}, "c": "d"})");
  const ValueSpec& root = *json.value();
  ASSERT_EQ(root.kind, uint32_t{BERTH_VALUE_OBJECT});
  EXPECT_THAT(root.keys, ElementsAre("a", "c"));
  const ValueSpec& list = root.items[0].items[0];
  ASSERT_EQ(list.items.size(), 5u);
  EXPECT_EQ(list.items[0].number, 1);
  EXPECT_EQ(list.items[1].real, -2.5);
  EXPECT_EQ(list.items[2].text, "x\n");
  EXPECT_EQ(list.items[3].kind, uint32_t{BERTH_VALUE_BOOL});
  EXPECT_EQ(list.items[4].kind, uint32_t{BERTH_VALUE_NULL});
  EXPECT_EQ(list.items[4].where, "args/a/b/4");
  const Args literal = {{"cpuMilli", 200}, {"name", "x"}, {"share", 0.5}};
  EXPECT_THAT(literal.value()->keys, ElementsAre("cpuMilli", "name", "share"));
  EXPECT_EQ(literal.value()->items[0].number, 200);
  EXPECT_EQ(literal.value()->items[1].text, "x");
  EXPECT_EQ(Args().value(), nullptr);
}

TEST(ArgsDeathTest, ReportsThePositionOfAJsonError) {
  for (const char* text :
       {"", "{", "[1,]", "{\"a\" 1}", "{\"a\":1} x", "\"open", "tru", "1-2", "{a:1}"}) {
    SCOPED_TRACE(text);
    EXPECT_DEATH(Args{std::string_view(text)}, "bad JSON at byte");
  }
}

}  // namespace
}  // namespace berth::testing

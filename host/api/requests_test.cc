#include "host/api/requests.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/decode_testing.h"
#include "host/api/objects.h"

namespace berth::host {
namespace {

TEST(ClassifyResource, ClassifiesByName) {
  struct Case {
    const char* name;
    ResourceClass expected;
  };
  const std::string long_name(63, 'a');
  const std::string too_long(64, 'a');
  const std::string full_name = "example.com/" + long_name;
  const std::string over_name = "example.com/" + too_long;
  const Case cases[] = {
      {"cpu", ResourceClass::kCpu},
      {"memory", ResourceClass::kMemory},
      {"ephemeral-storage", ResourceClass::kEphemeralStorage},
      {"pods", ResourceClass::kPods},
      {"hugepages-2Mi", ResourceClass::kHugePages},
      {"attachable-volumes-aws-ebs", ResourceClass::kScalar},
      {"nvidia.com/gpu", ResourceClass::kScalar},
      {"kubernetes.io/batch-cpu", ResourceClass::kScalar},
      {"node.kubernetes.io/x", ResourceClass::kScalar},
      {"storage", ResourceClass::kIgnored},
      {"gpu", ResourceClass::kIgnored},
      {"", ResourceClass::kIgnored},
      {"requests.example.com/gpu", ResourceClass::kIgnored},
      {"example.com/", ResourceClass::kIgnored},
      {"/gpu", ResourceClass::kIgnored},
      {"Example.com/gpu", ResourceClass::kIgnored},
      {"example..com/gpu", ResourceClass::kIgnored},
      {"example.-com/gpu", ResourceClass::kIgnored},
      {"example.com/a/b", ResourceClass::kIgnored},
      {"example.com/-a", ResourceClass::kIgnored},
      {full_name.c_str(), ResourceClass::kScalar},
      {over_name.c_str(), ResourceClass::kIgnored},
  };
  for (const Case& c : cases) EXPECT_EQ(ClassifyResource(c.name), c.expected) << c.name;
}

constexpr Quantity Milli(int32_t milli) { return {milli / 1000, milli % 1000 * 1'000'000}; }

TEST(ResourceSum, MergesByName) {
  constexpr ResourceKey kX = ScalarKey(3);
  constexpr ResourceKey kY = ScalarKey(4);
  ResourceSum a;
  a.Set(kY, Milli(7500));
  a.Set(BERTH_PRESENT_CPU, Milli(5500));
  ResourceSum b;
  b.Set(kX, Milli(2000));
  b.Set(BERTH_PRESENT_CPU, Milli(3500));
  b.Set(kY, Milli(1250));
  b.Set(BERTH_PRESENT_PODS, Milli(0));
  const auto expect = [](const ResourceSum& sum, std::vector<ResourceAmount> amounts) {
    EXPECT_TRUE(SameAmounts(sum.amounts(), amounts));
  };

  ResourceSum sum;
  sum.Assign(a.amounts());
  sum.Add(b.amounts());
  expect(sum, {{BERTH_PRESENT_CPU, Milli(9000)},
               {BERTH_PRESENT_PODS, Milli(0)},
               {kX, Milli(2000)},
               {kY, Milli(8750)}});
  sum.Assign(a.amounts());
  sum.Max(b.amounts());
  expect(sum, {{BERTH_PRESENT_CPU, Milli(5500)},
               {BERTH_PRESENT_PODS, Milli(0)},
               {kX, Milli(2000)},
               {kY, Milli(7500)}});
  sum.Assign(a.amounts());
  sum.Set(b.amounts());
  expect(sum, {{BERTH_PRESENT_CPU, Milli(3500)},
               {BERTH_PRESENT_PODS, Milli(0)},
               {kX, Milli(2000)},
               {kY, Milli(1250)}});
  sum.Assign(b.amounts());
  sum.Fill(a.amounts());
  expect(sum, {b.amounts().begin(), b.amounts().end()});
  sum.Assign({});
  sum.Fill(a.amounts());
  expect(sum, {a.amounts().begin(), a.amounts().end()});
  EXPECT_FALSE(SameAmounts(a.amounts(), b.amounts()));
}

TEST(ResourceSum, MergesLongListsAsShortOnes) {
  // Lists of more than 16 names are merged at once.
  const auto list = [](uint32_t first, uint32_t step, int64_t amount) {
    ResourceSum sum;
    for (uint32_t i = 0; i < 40; ++i) {
      sum.Append(ScalarKey(first + i * step), Quantity(amount + int64_t{i}, 0));
    }
    sum.Sort();
    return sum;
  };
  using Merge = void (ResourceSum::*)(ResourceList);
  for (const Merge merge : {Merge(&ResourceSum::Add), Merge(&ResourceSum::Max),
                            Merge(&ResourceSum::Set), Merge(&ResourceSum::Fill)}) {
    const ResourceSum theirs = list(1, 3, 5);
    ResourceSum sum = list(2, 2, 10);
    ResourceSum expected = list(2, 2, 10);
    (sum.*merge)(theirs.amounts());
    for (const ResourceAmount& amount : theirs.amounts()) {
      (expected.*merge)(ResourceList(&amount, 1));
    }
    EXPECT_TRUE(SameAmounts(sum.amounts(), expected.amounts()));
    EXPECT_TRUE(std::ranges::is_sorted(sum.amounts(), {}, &ResourceAmount::key));
    EXPECT_GT(sum.amounts().size(), 60U);
  }
}

TEST(ResourceSum, SortKeepsTheLastOfEqualNames) {
  ResourceSum sum;
  sum.Append(ScalarKey(7), Quantity(1, 0));
  sum.Append(ScalarKey(3), Quantity(2, 0));
  sum.Append(ScalarKey(7), Quantity(3, 0));
  sum.Sort();
  ASSERT_EQ(sum.amounts().size(), 2U);
  EXPECT_EQ(*sum.Find(ScalarKey(3)), Quantity(2, 0));
  EXPECT_EQ(*sum.Find(ScalarKey(7)), Quantity(3, 0));
  // A long list is sorted once, at the end.
  for (const int64_t amount : {4, 5}) {
    for (Id name = 60; name > 20; --name) sum.Append(ScalarKey(name), Quantity(amount, 0));
  }
  sum.Sort();
  ASSERT_EQ(sum.amounts().size(), 42U);
  EXPECT_TRUE(std::ranges::is_sorted(sum.amounts(), {}, &ResourceAmount::key));
  EXPECT_EQ(*sum.Find(ScalarKey(21)), Quantity(5, 0));
  EXPECT_EQ(*sum.Find(ScalarKey(60)), Quantity(5, 0));
}

TEST(ResourceSum, FindsAmountsByKey) {
  ResourceSum sum;
  sum.Set(BERTH_PRESENT_MEMORY, Milli(0));
  sum.Add(ScalarKey(1), Milli(1500));
  EXPECT_EQ(sum.Find(BERTH_PRESENT_CPU), nullptr);
  ASSERT_NE(sum.Find(BERTH_PRESENT_MEMORY), nullptr);
  EXPECT_EQ(*sum.Find(BERTH_PRESENT_MEMORY), Milli(0));
  ASSERT_NE(sum.Find(ScalarKey(1)), nullptr);
  EXPECT_EQ(*sum.Find(ScalarKey(1)), Milli(1500));
  EXPECT_EQ(sum.Find(ScalarKey(2)), nullptr);
  sum.Clear();
  EXPECT_EQ(sum.Find(BERTH_PRESENT_MEMORY), nullptr);
}

TEST(RoundUp, SetsTheFieldOfEachResource) {
  Arena arena;
  EXPECT_EQ(RoundUp({}, arena), &kNoResources);
  const ResourceAmount amounts[] = {{BERTH_PRESENT_CPU, Quantity(1, 1)},
                                    {BERTH_PRESENT_MEMORY, Quantity(2, 1)},
                                    {BERTH_PRESENT_EPHEMERAL_STORAGE, Quantity(3, 0)},
                                    {BERTH_PRESENT_PODS, Quantity()},
                                    {ScalarKey(5), Quantity(4, 999'999'999)},
                                    {ScalarKey(9), Quantity()}};
  const berth_resources* all = RoundUp(amounts, arena);
  EXPECT_EQ(all->struct_size, sizeof(berth_resources));
  EXPECT_EQ(all->present, 15u);
  EXPECT_EQ(all->milli_cpu, 1001);
  EXPECT_EQ(all->memory, 3);
  EXPECT_EQ(all->ephemeral_storage, 3);
  EXPECT_EQ(all->pods, 0);
  const auto scalars = Elements<berth_quantity>(all->scalars);
  ASSERT_EQ(scalars.size(), 2u);
  EXPECT_EQ(scalars[0].name, 5u);
  EXPECT_EQ(scalars[0].value, 5);
  EXPECT_EQ(scalars[1].name, 9u);
  EXPECT_EQ(scalars[1].value, 0);

  const berth_resources* one = RoundUp(std::span(amounts).subspan(5), arena);
  EXPECT_EQ(one->present, 0u);
  EXPECT_EQ(one->scalars.count, 1u);
  EXPECT_FALSE(SameResources(*one, *all));
  EXPECT_TRUE(SameResources(*one, *RoundUp(std::span(amounts).subspan(5), arena)));
}

class RequestsTest : public DecodeTest {
 protected:
  struct Sums {
    std::string request;
    std::string of_containers;
    std::string accounted;
    int64_t nonzero_cpu;
    int64_t nonzero_memory;
  };

  void Expect(const char* what, std::string_view spec, std::string_view status,
              const Sums& expected) {
    const PodRef pod = DecodePod(spec, status);
    ASSERT_NE(pod, nullptr) << what;
    EXPECT_EQ(Show(*pod->view().request), expected.request) << what;
    EXPECT_EQ(Show(*pod->view().request_of_containers), expected.of_containers) << what;
    EXPECT_EQ(Show(*pod->view().accounted), expected.accounted) << what;
    EXPECT_EQ(pod->view().nonzero_milli_cpu, expected.nonzero_cpu) << what;
    EXPECT_EQ(pod->view().nonzero_memory, expected.nonzero_memory) << what;
  }
};

constexpr int64_t kMi = 1024 * 1024;

// Returns one container per text, with that text as its requests.
std::string Containers(std::initializer_list<const char*> requests) {
  std::string text = "'containers':[";
  for (const char* list : requests) {
    text.append(text.back() == '[' ? "" : ",").append("{'name':'c','resources':{'requests':{");
    text.append(list).append("}}}");
  }
  return text.append("]");
}

TEST_F(RequestsTest, SumsContainers) {
  Expect("no containers", "", "", {"", "", "", 0, 0});
  Expect("one container with both",
         "'containers':[{'name':'a','resources':{'requests':{'cpu':'250m','memory':'10'}}}]", "",
         {"cpu=250 memory=10", "cpu=250 memory=10", "cpu=250 memory=10", 250, 10});
  Expect("two containers",
         "'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'10'}}},"
         "{'name':'b','resources':{'requests':{'cpu':'2','memory':'5','example.com/gpu':1}}}]",
         "",
         {"cpu=3000 memory=15 example.com/gpu=1", "cpu=3000 memory=15 example.com/gpu=1",
          "cpu=3000 memory=15 example.com/gpu=1", 3000, 15});
}

TEST_F(RequestsTest, CountsContainersWithoutRequestsWithTheDefaults) {
  Expect("no requests", "'containers':[{'name':'a'}]", "",
         {"", "cpu=100 memory=209715200", "", 100, 200 * kMi});
  Expect("requests of zero",
         "'containers':[{'name':'a','resources':{'requests':{'cpu':0,'memory':'0'}}}]", "",
         {"cpu=0 memory=0", "cpu=0 memory=0", "cpu=0 memory=0", 0, 0});
  Expect(
      "defaults are added per container",
      "'containers':[{'name':'a','resources':{'requests':{'cpu':'1'}}},"
      "{'name':'b','resources':{'requests':{'memory':'1'}}}]",
      "",
      {"cpu=1000 memory=1", "cpu=1100 memory=209715201", "cpu=1000 memory=1", 1100, 200 * kMi + 1});
  Expect("requests for other resources",
         Containers({"'example.com/x':1,'example.com/y':2,'pods':1"}), "",
         {"pods=1 example.com/x=1 example.com/y=2",
          "cpu=100 memory=209715200 pods=1 example.com/x=1 example.com/y=2",
          "pods=1 example.com/x=1 example.com/y=2", 100, 200 * kMi});
  Expect("an init container without requests",
         "'initContainers':[{'name':'i'}],"
         "'containers':[{'name':'a','resources':{'requests':{'cpu':'50m','memory':'1'}}}]",
         "", {"cpu=50 memory=1", "cpu=100 memory=209715200", "cpu=50 memory=1", 100, 200 * kMi});
}

TEST_F(RequestsTest, UsesTheLargestPhase) {
  const auto container = [](const char* name, int32_t cpu, bool sidecar) {
    return std::string("{'name':'") + name + "'" + (sidecar ? ",'restartPolicy':'Always'" : "") +
           ",'resources':{'requests':{'cpu':" + std::to_string(cpu) + ",'memory':1}}}";
  };
  struct Case {
    const char* what;
    std::string init;
    std::string containers;
    int64_t cpu;
    int64_t memory;
  };
  const Case cases[] = {
      {"the init container is smaller", container("i", 2, false), container("a", 3, false), 3, 1},
      {"the init container is larger", container("i", 5, false), container("a", 3, false), 5, 1},
      {"init containers are not added", container("i", 2, false) + "," + container("j", 4, false),
       container("a", 3, false), 4, 1},
      {"a sidecar is added to the containers", container("s", 2, true), container("a", 3, false), 5,
       2},
      {"a sidecar before an init container is added to it",
       container("s", 2, true) + "," + container("i", 4, false), container("a", 3, false), 6, 2},
      {"a sidecar after an init container is not added to it",
       container("i", 4, false) + "," + container("s", 2, true), container("a", 1, false), 4, 2},
      {"one sidecar before and one after an init container",
       container("s", 1, true) + "," + container("i", 9, false) + "," + container("t", 5, true),
       container("a", 1, false), 10, 3},
  };
  for (const Case& c : cases) {
    const PodRef pod =
        DecodePod("'initContainers':[" + c.init + "],'containers':[" + c.containers + "]");
    ASSERT_NE(pod, nullptr);
    EXPECT_EQ(pod->view().request->milli_cpu, c.cpu * 1000) << c.what;
    EXPECT_EQ(pod->view().request->memory, c.memory) << c.what;
  }
}

TEST_F(RequestsTest, PodLevelRequestsReplaceTheSum) {
  constexpr const char* kTwo =
      "'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'10',"
      "'example.com/gpu':'2','ephemeral-storage':'3'}}}]";
  Expect("cpu only", std::string("'resources':{'requests':{'cpu':'4'}},") + kTwo, "",
         {"cpu=4000 memory=10 ephemeral-storage=3 example.com/gpu=2",
          "cpu=1000 memory=10 ephemeral-storage=3 example.com/gpu=2",
          "cpu=4000 memory=10 ephemeral-storage=3 example.com/gpu=2", 4000, 10});
  Expect("less than the sum", std::string("'resources':{'requests':{'memory':'5'}},") + kTwo, "",
         {"cpu=1000 memory=5 ephemeral-storage=3 example.com/gpu=2",
          "cpu=1000 memory=10 ephemeral-storage=3 example.com/gpu=2",
          "cpu=1000 memory=5 ephemeral-storage=3 example.com/gpu=2", 1000, 5});
  Expect("resources that are not supported at pod level",
         std::string("'resources':{'requests':{'example.com/gpu':'9','pods':'4',"
                     "'ephemeral-storage':'8'}},") +
             kTwo,
         "",
         {"cpu=1000 memory=10 ephemeral-storage=3 example.com/gpu=2",
          "cpu=1000 memory=10 ephemeral-storage=3 example.com/gpu=2",
          "cpu=1000 memory=10 ephemeral-storage=3 example.com/gpu=2", 1000, 10});
  Expect("huge pages", "'resources':{'requests':{'hugepages-2Mi':'8'}}", "",
         {"hugepages-2Mi=8", "", "hugepages-2Mi=8", 0, 0});
}

TEST_F(RequestsTest, DefaultsYieldToPodLevelRequests) {
  Expect("cpu is requested at pod level, memory is not requested",
         "'resources':{'requests':{'cpu':'1'}},'containers':[{'name':'a'},{'name':'b'}]", "",
         {"cpu=1000", "cpu=200 memory=419430400", "cpu=1000", 1000, 400 * kMi});
  Expect("memory is requested by one container",
         "'resources':{'requests':{'cpu':'1'}},"
         "'containers':[{'name':'a','resources':{'requests':{'memory':'7'}}},{'name':'b'}]",
         "", {"cpu=1000 memory=7", "cpu=200 memory=209715207", "cpu=1000 memory=7", 1000, 7});
}

TEST_F(RequestsTest, PodLevelLimitsBecomeRequests) {
  Expect("no container requests anything",
         "'resources':{'limits':{'cpu':'2','memory':'9','example.com/gpu':1}},"
         "'containers':[{'name':'a'}]",
         "", {"cpu=2000 memory=9", "cpu=100 memory=209715200", "cpu=2000 memory=9", 2000, 9});
  Expect("container requests take precedence",
         "'resources':{'limits':{'cpu':'2','memory':'9'}},"
         "'containers':[{'name':'a','resources':{'requests':{'cpu':'500m'}}}]",
         "", {"cpu=500 memory=9", "cpu=500 memory=209715200", "cpu=500 memory=9", 500, 9});
  const PodRef pod = DecodePod("'resources':{'limits':{'cpu':'2'}}");
  EXPECT_TRUE(pod->view().flags & BERTH_POD_HAS_POD_LEVEL_REQUESTS);
  EXPECT_FALSE(DecodePod("'resources':{'requests':{'pods':'2'}}")->view().flags &
               BERTH_POD_HAS_POD_LEVEL_REQUESTS);
}

TEST_F(RequestsTest, AddsOverhead) {
  Expect("every resource of the overhead",
         "'overhead':{'cpu':'10m','memory':'20','example.com/gpu':1},"
         "'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'1'}}}]",
         "",
         {"cpu=1010 memory=21 example.com/gpu=1", "cpu=1010 memory=21 example.com/gpu=1",
          "cpu=1010 memory=21 example.com/gpu=1", 1010, 21});
  Expect("added to pod-level requests",
         "'overhead':{'cpu':'10m'},'resources':{'requests':{'cpu':'1','memory':'1'}},"
         "'containers':[{'name':'a'}]",
         "", {"cpu=1010 memory=1", "cpu=110 memory=209715200", "cpu=1010 memory=1", 1010, 1});
}

TEST_F(RequestsTest, SharesEqualSums) {
  const PodRef pod =
      DecodePod("'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'1'}}}]");
  EXPECT_EQ(pod->view().request, pod->view().request_of_containers);
  EXPECT_EQ(pod->view().request, pod->view().accounted);
}

TEST_F(RequestsTest, SumsFractionsExactlyAndRoundsTheSumUp) {
  struct Case {
    const char* what;
    std::initializer_list<const char*> containers;
    const char* request;
  };
  const Case cases[] = {
      {"two tenths of a Gi", {"'memory':'0.1Gi'", "'memory':'0.1Gi'"}, "memory=214748365"},
      {"five tenths of a Gi",
       {"'memory':'0.1Gi'", "'memory':'0.1Gi'", "'memory':'0.1Gi'", "'memory':'0.1Gi'",
        "'memory':'0.1Gi'"},
       "memory=536870912"},
      {"two half thousandths", {"'cpu':'0.5m'", "'cpu':'500u'"}, "cpu=1"},
      {"three half thousandths", {"'cpu':'0.5m'", "'cpu':'0.5m'", "'cpu':'0.5m'"}, "cpu=2"},
      {"a whole unit and a nano-unit", {"'cpu':'1'", "'cpu':'1n'"}, "cpu=1001"},
      {"one nano-unit less than a unit", {"'memory':'999999998n'", "'memory':'1n'"}, "memory=1"},
      {"a unit in nano-units", {"'memory':'999999999n'", "'memory':'1n'"}, "memory=1"},
      {"one nano-unit more than a unit", {"'memory':'999999999n'", "'memory':'2n'"}, "memory=2"},
      {"ephemeral storage",
       {"'ephemeral-storage':'0.1Gi'", "'ephemeral-storage':'0.1Gi'"},
       "ephemeral-storage=214748365"},
      {"extended resources",
       {"'example.com/x':'500m','example.com/y':'1.5'", "'example.com/y':1,'example.com/x':0.5"},
       "example.com/x=1 example.com/y=3"},
      {"huge pages", {"'hugepages-2Mi':'0.5Ki'", "'hugepages-2Mi':'0.3'"}, "hugepages-2Mi=513"},
      {"attachable volumes",
       {"'attachable-volumes-x':'0.5'", "'attachable-volumes-x':'0.5'"},
       "attachable-volumes-x=1"},
  };
  for (const Case& c : cases) {
    const PodRef pod = DecodePod(Containers(c.containers));
    ASSERT_NE(pod, nullptr) << c.what;
    EXPECT_EQ(Show(*pod->view().request), c.request) << c.what;
    EXPECT_EQ(pod->view().accounted, pod->view().request) << c.what;
  }
}

TEST_F(RequestsTest, AddsDefaultsToFractions) {
  Expect("cpu of one container, memory of two",
         Containers({"'cpu':'0.5m'", "'cpu':'0.5m','memory':'0.5'", "'memory':'0.5'"}), "",
         {"cpu=1 memory=1", "cpu=101 memory=209715201", "cpu=1 memory=1", 101, 200 * kMi + 1});
}

TEST_F(RequestsTest, UsesTheLargestPhaseOfFractions) {
  const auto init = [](const char* memory, bool sidecar) {
    return std::string("{'name':'i',") + (sidecar ? "'restartPolicy':'Always'," : "") +
           "'resources':{'requests':{'memory':'" + memory + "'}}}";
  };
  struct Case {
    const char* what;
    std::string init;
    std::initializer_list<const char*> containers;
    int64_t memory;
  };
  const Case cases[] = {
      {"the init container is smaller than the sum",
       init("0.9", false),
       {"'memory':'0.5'", "'memory':'0.5'"},
       1},
      {"the init container is larger than the sum",
       init("1.1", false),
       {"'memory':'0.5'", "'memory':'0.5'"},
       2},
      {"a sidecar is added to the containers", init("0.5", true), {"'memory':'0.5'"}, 1},
      {"a sidecar is added to the init container after it",
       init("0.5", true) + "," + init("1.5", false),
       {"'memory':'0.1'"},
       2},
      {"two sidecars and an init container",
       init("0.3", true) + "," + init("0.3", true) + "," + init("0.4", false),
       {"'memory':'0.2'"},
       1},
  };
  for (const Case& c : cases) {
    const PodRef pod = DecodePod("'initContainers':[" + c.init + "]," + Containers(c.containers));
    ASSERT_NE(pod, nullptr) << c.what;
    EXPECT_EQ(pod->view().request->memory, c.memory) << c.what;
    EXPECT_EQ(pod->view().accounted->memory, c.memory) << c.what;
  }
}

TEST_F(RequestsTest, AddsOverheadToFractions) {
  Expect("added to container requests",
         "'overhead':{'cpu':'0.5m','memory':'0.1Gi','example.com/x':'0.5'}," +
             Containers({"'cpu':'0.5m','memory':'0.1Gi','example.com/x':'0.5'"}),
         "",
         {"cpu=1 memory=214748365 example.com/x=1", "cpu=1 memory=214748365 example.com/x=1",
          "cpu=1 memory=214748365 example.com/x=1", 1, 214748365});
  Expect("added to pod-level requests",
         "'overhead':{'memory':'0.5'},'resources':{'requests':{'memory':'2.5'}}," +
             Containers({"'cpu':'0.5m','memory':'0.3'", "'cpu':'0.5m','memory':'0.2'"}),
         "", {"cpu=1 memory=3", "cpu=1 memory=1", "cpu=1 memory=3", 1, 3});
}

TEST_F(RequestsTest, PodLevelRequestsUseExactSumOfContainers) {
  Expect("the pod has only limits",
         "'overhead':{'cpu':'0.5m','memory':'0.5'},'resources':{'limits':{'cpu':'1'}}," +
             Containers({"'cpu':'0.75m','memory':'0.75'", "'cpu':'0.75m','memory':'0.75'"}),
         "", {"cpu=2 memory=2", "cpu=2 memory=2", "cpu=2 memory=2", 2, 2});
}

TEST_F(RequestsTest, RoundsUpEachAmountOfAContainer) {
  const PodRef pod = DecodePod(
      "'containers':[{'name':'c','resources':{'requests':{'cpu':'0.5m','memory':'0.1Gi'},"
      "'limits':{'cpu':'1.5m','memory':'0.2Gi','example.com/x':'0.5'}}}]");
  const auto containers = Elements<berth_container>(pod->view().containers);
  ASSERT_EQ(containers.size(), 1u);
  EXPECT_EQ(Show(*containers[0].requests), "cpu=1 memory=107374183 example.com/x=1");
  EXPECT_EQ(Show(*containers[0].limits), "cpu=2 memory=214748365 example.com/x=1");
}

TEST_F(RequestsTest, DoesNotDependOnThePreviousPod) {
  ASSERT_NE(DecodePod("'overhead':{'memory':'0.5'}," + Containers({"'memory':'0.5'"})), nullptr);
  EXPECT_EQ(PodError(Containers({"'memory':'0.5'", "'memory':'x'"})).find("decoded"),
            std::string::npos);
  EXPECT_EQ(Show(*DecodePod(Containers({"'memory':'0.5'"}))->view().request), "memory=1");
}

TEST_F(RequestsTest, RoundsUpEachAmountOfOverhead) {
  EXPECT_EQ(Show(*DecodePod("'overhead':{'cpu':'0.1m','memory':'100m','example.com/x':'1500m',"
                            "'ephemeral-storage':'0.1Gi'}")
                      ->view()
                      .request),
            "cpu=1 memory=1 ephemeral-storage=107374183 example.com/x=2");
}

TEST_F(RequestsTest, SumsSaturate) {
  const PodRef pod = DecodePod(
      "'overhead':{'memory':'8Ei','cpu':'9E','example.com/x':'9223372036854775807'},"
      "'containers':[{'name':'a','resources':{'requests':"
      "{'cpu':'9E','memory':'8Ei','example.com/x':'9223372036854775807'}}}]");
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(pod->view().request->milli_cpu, kMax);
  EXPECT_EQ(pod->view().request->memory, kMax);
  EXPECT_EQ(Elements<berth_quantity>(pod->view().request->scalars)[0].value, kMax);
  EXPECT_EQ(pod->view().nonzero_memory, kMax);
  EXPECT_EQ(DecodePod(Containers({"'memory':'9223372036854775806'", "'memory':'500m'",
                                  "'memory':'500m'", "'memory':'1n'"}))
                ->view()
                .request->memory,
            kMax);
}

}  // namespace
}  // namespace berth::host

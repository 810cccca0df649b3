#include "host/api/requests.h"

#include <limits>
#include <string>

#include "host/api/decode_testing.h"

namespace berth::host {
namespace {

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

TEST_F(RequestsTest, CountsContainersWithoutRequestsAtTheDefault) {
  Expect("nothing named", "'containers':[{'name':'a'}]", "",
         {"", "cpu=100 memory=209715200", "", 100, 200 * kMi});
  Expect("zero is named",
         "'containers':[{'name':'a','resources':{'requests':{'cpu':0,'memory':'0'}}}]", "",
         {"cpu=0 memory=0", "cpu=0 memory=0", "cpu=0 memory=0", 0, 0});
  Expect(
      "per container",
      "'containers':[{'name':'a','resources':{'requests':{'cpu':'1'}}},"
      "{'name':'b','resources':{'requests':{'memory':'1'}}}]",
      "",
      {"cpu=1000 memory=1", "cpu=1100 memory=209715201", "cpu=1000 memory=1", 1100, 200 * kMi + 1});
  Expect("init containers too",
         "'initContainers':[{'name':'i'}],"
         "'containers':[{'name':'a','resources':{'requests':{'cpu':'50m','memory':'1'}}}]",
         "", {"cpu=50 memory=1", "cpu=100 memory=209715200", "cpu=50 memory=1", 100, 200 * kMi});
}

TEST_F(RequestsTest, TakesTheLargestPhase) {
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
      {"init below containers", container("i", 2, false), container("a", 3, false), 3, 1},
      {"init above containers", container("i", 5, false), container("a", 3, false), 5, 1},
      {"inits do not add up", container("i", 2, false) + "," + container("j", 4, false),
       container("a", 3, false), 4, 1},
      {"a sidecar runs on", container("s", 2, true), container("a", 3, false), 5, 2},
      {"a sidecar before an init stays alive",
       container("s", 2, true) + "," + container("i", 4, false), container("a", 3, false), 6, 2},
      {"a sidecar behind an init is not there yet",
       container("i", 4, false) + "," + container("s", 2, true), container("a", 1, false), 4, 2},
      {"two sidecars around an init",
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
  Expect("cpu alone", std::string("'resources':{'requests':{'cpu':'4'}},") + kTwo, "",
         {"cpu=4000 memory=10 ephemeral-storage=3 example.com/gpu=2",
          "cpu=1000 memory=10 ephemeral-storage=3 example.com/gpu=2",
          "cpu=4000 memory=10 ephemeral-storage=3 example.com/gpu=2", 4000, 10});
  Expect("smaller, too", std::string("'resources':{'requests':{'memory':'5'}},") + kTwo, "",
         {"cpu=1000 memory=5 ephemeral-storage=3 example.com/gpu=2",
          "cpu=1000 memory=10 ephemeral-storage=3 example.com/gpu=2",
          "cpu=1000 memory=5 ephemeral-storage=3 example.com/gpu=2", 1000, 5});
  Expect("others are not supported",
         std::string("'resources':{'requests':{'example.com/gpu':'9','pods':'4',"
                     "'ephemeral-storage':'8'}},") +
             kTwo,
         "",
         {"cpu=1000 memory=10 ephemeral-storage=3 example.com/gpu=2",
          "cpu=1000 memory=10 ephemeral-storage=3 example.com/gpu=2",
          "cpu=1000 memory=10 ephemeral-storage=3 example.com/gpu=2", 1000, 10});
  Expect("huge pages are", "'resources':{'requests':{'hugepages-2Mi':'8'}}", "",
         {"hugepages-2Mi=8", "", "hugepages-2Mi=8", 0, 0});
}

TEST_F(RequestsTest, PodLevelRequestsLeaveDefaultsOnlyToWhatIsNotNamed) {
  Expect("cpu is named for the pod, memory nowhere",
         "'resources':{'requests':{'cpu':'1'}},'containers':[{'name':'a'},{'name':'b'}]", "",
         {"cpu=1000", "cpu=200 memory=419430400", "cpu=1000", 1000, 400 * kMi});
  Expect("memory is named by one container",
         "'resources':{'requests':{'cpu':'1'}},"
         "'containers':[{'name':'a','resources':{'requests':{'memory':'7'}}},{'name':'b'}]",
         "", {"cpu=1000 memory=7", "cpu=200 memory=209715207", "cpu=1000 memory=7", 1000, 7});
}

TEST_F(RequestsTest, PodLevelLimitsBecomeRequests) {
  Expect("no container requests anything",
         "'resources':{'limits':{'cpu':'2','memory':'9','example.com/gpu':1}},"
         "'containers':[{'name':'a'}]",
         "", {"cpu=2000 memory=9", "cpu=100 memory=209715200", "cpu=2000 memory=9", 2000, 9});
  Expect("what containers request comes first",
         "'resources':{'limits':{'cpu':'2','memory':'9'}},"
         "'containers':[{'name':'a','resources':{'requests':{'cpu':'500m'}}}]",
         "", {"cpu=500 memory=9", "cpu=500 memory=209715200", "cpu=500 memory=9", 500, 9});
  const PodRef pod = DecodePod("'resources':{'limits':{'cpu':'2'}}");
  EXPECT_TRUE(pod->view().flags & BERTH_POD_HAS_POD_LEVEL_REQUESTS);
  EXPECT_FALSE(DecodePod("'resources':{'requests':{'pods':'2'}}")->view().flags &
               BERTH_POD_HAS_POD_LEVEL_REQUESTS);
}

TEST_F(RequestsTest, AddsOverhead) {
  Expect("every name of it",
         "'overhead':{'cpu':'10m','memory':'20','example.com/gpu':1},"
         "'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'1'}}}]",
         "",
         {"cpu=1010 memory=21 example.com/gpu=1", "cpu=1010 memory=21 example.com/gpu=1",
          "cpu=1010 memory=21 example.com/gpu=1", 1010, 21});
  Expect("on pod-level requests",
         "'overhead':{'cpu':'10m'},'resources':{'requests':{'cpu':'1','memory':'1'}},"
         "'containers':[{'name':'a'}]",
         "", {"cpu=1010 memory=1", "cpu=110 memory=209715200", "cpu=1010 memory=1", 1010, 1});
}

TEST_F(RequestsTest, AccountsForResizes) {
  constexpr const char* kSpec =
      "'containers':[{'name':'a','resources':{'requests':{'cpu':'2','memory':'20'}}}]";
  const auto status = [](const char* requests, const char* allocated) {
    return std::string(
               "'containerStatuses':[{'name':'other'},{'name':'a','resources':{'requests':") +
           requests + "},'allocatedResources':" + allocated + "}]";
  };
  const std::string plain = "cpu=2000 memory=20";
  Expect("as in the spec", kSpec, status("{'cpu':'2','memory':'20'}", "{'cpu':'2'}"),
         {plain, plain, plain, 2000, 20});
  Expect("the actual size is larger", kSpec, status("{'cpu':'3','memory':'10'}", "{'cpu':'1'}"),
         {plain, plain, "cpu=3000 memory=20", 3000, 20});
  Expect("the allocated size is larger", kSpec, status("{'cpu':'1'}", "{'cpu':'4','memory':'30'}"),
         {plain, plain, "cpu=4000 memory=30", 4000, 30});
  Expect("infeasible: the spec does not count", kSpec,
         "'conditions':[{'type':'PodResizePending','status':'True','reason':'Infeasible'}]," +
             status("{'cpu':'1','memory':'5'}", "{'cpu':'1500m'}"),
         {plain, plain, "cpu=1500 memory=5", 1500, 5});
  Expect("deferred: it does", kSpec,
         "'conditions':[{'type':'PodResizePending','status':'True','reason':'Deferred'}]," +
             status("{'cpu':'1','memory':'5'}", "{'cpu':'1500m'}"),
         {plain, plain, plain, 2000, 20});
  Expect("infeasible without a status of the container: the spec", kSpec,
         "'conditions':[{'type':'PodResizePending','status':'True','reason':'Infeasible'}]",
         {plain, plain, plain, 2000, 20});
  Expect("allocated without resources: the spec", kSpec,
         "'containerStatuses':[{'name':'a','allocatedResources':{'cpu':'9'}}]",
         {plain, plain, plain, 2000, 20});
}

TEST_F(RequestsTest, AccountsForResizesOfSidecarsButNotOfInitContainers) {
  constexpr const char* kStatus =
      "'initContainerStatuses':[{'name':'i','resources':{'requests':{'cpu':'5','memory':'1'}}}]";
  Expect("sidecar",
         "'initContainers':[{'name':'i','restartPolicy':'Always',"
         "'resources':{'requests':{'cpu':'1','memory':'1'}}}]",
         kStatus, {"cpu=1000 memory=1", "cpu=1000 memory=1", "cpu=5000 memory=1", 5000, 1});
  Expect("init container",
         "'initContainers':[{'name':'i','resources':{'requests':{'cpu':'1','memory':'1'}}}]",
         kStatus, {"cpu=1000 memory=1", "cpu=1000 memory=1", "cpu=1000 memory=1", 1000, 1});
}

TEST_F(RequestsTest, AccountsForResizesOfThePod) {
  constexpr const char* kSpec = "'resources':{'requests':{'cpu':'2','memory':'20'}}";
  Expect("larger", kSpec,
         "'resources':{'requests':{'cpu':'3'}},'allocatedResources':{'memory':'30'}",
         {"cpu=2000 memory=20", "", "cpu=3000 memory=30", 3000, 30});
  Expect("infeasible", kSpec,
         "'conditions':[{'type':'PodResizePending','reason':'Infeasible'}],"
         "'resources':{'requests':{'cpu':'1','memory':'4'}}",
         {"cpu=2000 memory=20", "", "cpu=1000 memory=4", 1000, 4});
  Expect("not pod-level", "", "'resources':{'requests':{'cpu':'1'}}", {"", "", "", 0, 0});
}

TEST_F(RequestsTest, SharesEqualSums) {
  const PodRef pod =
      DecodePod("'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'1'}}}]");
  EXPECT_EQ(pod->view().request, pod->view().request_of_containers);
  EXPECT_EQ(pod->view().request, pod->view().accounted);
}

TEST_F(RequestsTest, RoundsUpEachAmount) {
  EXPECT_EQ(Show(*DecodePod("'overhead':{'cpu':'0.1m','memory':'100m','example.com/x':'1500m',"
                            "'ephemeral-storage':'0.1Gi'}")
                      ->view()
                      .request),
            "cpu=1 memory=1 ephemeral-storage=107374183 example.com/x=2");
}

TEST_F(RequestsTest, Saturates) {
  const PodRef pod = DecodePod(
      "'overhead':{'memory':'8Ei','cpu':'9E','example.com/x':'9223372036854775807'},"
      "'containers':[{'name':'a','resources':{'requests':"
      "{'cpu':'9E','memory':'8Ei','example.com/x':'9223372036854775807'}}}]");
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(pod->view().request->milli_cpu, kMax);
  EXPECT_EQ(pod->view().request->memory, kMax);
  EXPECT_EQ(Elements<berth_quantity>(pod->view().request->scalars)[0].value, kMax);
  EXPECT_EQ(pod->view().nonzero_memory, kMax);
}

TEST(ClassifyResource, ByName) {
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

TEST(ResourceSum, MergesByName) {
  Interner interner;
  const Id x = interner.Intern("example.com/x");
  const Id y = interner.Intern("example.com/y");
  ResourceSum a;
  a.SetAmount(BERTH_RESOURCE_CPU, 5);
  a.SetScalar(y, 7);
  ResourceSum b;
  b.SetAmount(BERTH_RESOURCE_CPU, 3);
  b.SetAmount(BERTH_RESOURCE_PODS, 0);
  b.SetScalar(x, 2);
  b.SetScalar(y, 1);

  ResourceSum sum;
  sum.Assign(a.view());
  sum.Add(b.view());
  EXPECT_EQ(sum.view().milli_cpu, 8);
  EXPECT_EQ(sum.view().present, uint32_t{BERTH_RESOURCE_CPU | BERTH_RESOURCE_PODS});
  const auto scalars = Elements<berth_quantity>(sum.view().scalars);
  ASSERT_EQ(scalars.size(), 2u);
  EXPECT_LT(scalars[0].name, scalars[1].name);
  EXPECT_EQ(scalars[0].value + scalars[1].value, 10);

  ResourceSum largest;
  largest.Assign(a.view());
  largest.Max(b.view());
  EXPECT_EQ(largest.view().milli_cpu, 5);
  ResourceSum set;
  set.Assign(a.view());
  set.Set(b.view());
  EXPECT_EQ(set.view().milli_cpu, 3);
  ResourceSum filled;
  filled.Assign(a.view());
  filled.Fill(b.view());
  EXPECT_EQ(filled.view().milli_cpu, 5);
  EXPECT_EQ(filled.view().scalars.count, 2u);
  EXPECT_TRUE(SameResources(filled.view(), largest.view()));
  EXPECT_FALSE(SameResources(filled.view(), set.view()));
  filled.Clear();
  Arena arena;
  EXPECT_EQ(filled.Store(arena), &kNoResources);
}

}  // namespace
}  // namespace berth::host

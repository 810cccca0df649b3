// The amounts that a pod occupies while its containers are resized; see CountsResizesBySum().
#include <string>

#include <gtest/gtest.h>

#include "host/api/requests.h"
#include "host/api/requests_testing.h"

namespace berth::host {
namespace {

using RequestsStatusTest = ResizeTest;

TEST(CountsResizesBySum, SinceKubernetes137) {
  EXPECT_FALSE(CountsResizesBySum({1, 30}));
  EXPECT_FALSE(CountsResizesBySum({1, 36}));
  EXPECT_TRUE(CountsResizesBySum({1, 37}));
  EXPECT_TRUE(CountsResizesBySum({2, 0}));
}

TEST_F(RequestsStatusTest, AContainerCountsWithItsLargestSize) {
  const std::string spec = Apps(Of("a", "'cpu':'2','memory':'20'"));
  const auto status = [](const char* allocated, const char* actual) {
    return States(State("other", "'cpu':'9'", "'cpu':'9'") + "," + State("a", allocated, actual));
  };
  const char* const plain = "cpu=2000 memory=20";
  const Case cases[] = {
      {"no status", spec, "", plain, plain},
      {"a status without lists", spec, status(nullptr, nullptr), plain, plain},
      {"as the spec", spec, status("'cpu':'2','memory':'20'", "'cpu':'2','memory':'20'"), plain,
       plain},
      {"the spec is the largest", spec, status("'cpu':'1'", "'cpu':'1','memory':'10'"), plain,
       plain},
      {"the actual size is larger", spec, status("'cpu':'1'", "'cpu':'3','memory':'10'"),
       "cpu=3000 memory=20", "cpu=3000 memory=20"},
      {"the allocated size is larger", spec, status("'cpu':'4','memory':'30'", "'cpu':'1'"),
       "cpu=4000 memory=30", "cpu=4000 memory=30"},
      {"cpu grows, memory shrinks", spec, status("'cpu':'1','memory':'30'", "'cpu':'3'"),
       "cpu=3000 memory=30", "cpu=3000 memory=30"},
      {"only the actual size", spec, status(nullptr, "'cpu':'3'"), "cpu=3000 memory=20",
       "cpu=3000 memory=20"},
      {"only the allocated size", spec, status("'cpu':'3'", nullptr), plain, "cpu=3000 memory=20"},
      {"the allocated size, and resources without requests", spec,
       States("{'name':'a','allocatedResources':{'cpu':'3'},'resources':{'limits':{'cpu':'9'}}}"),
       "cpu=3000 memory=20", "cpu=3000 memory=20"},
      {"a name that only the status has", spec, status("'example.com/a':'7'", "'cpu':'1'"),
       "cpu=2000 memory=20 example.com/a=7", "cpu=2000 memory=20 example.com/a=7"},
      {"a deferred resize", spec,
       "'conditions':[{'type':'PodResizePending','reason':'Deferred'}]," +
           status("'cpu':'1'", "'cpu':'1'"),
       plain, plain},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsStatusTest, ContainersWithDifferentLargestLists) {
  const std::string spec = Apps(Of("a", "'cpu':'3'") + "," + Of("b", "'cpu':'1'"));
  const auto status = [](const char* a_allocated, const char* a_actual, const char* b_allocated,
                         const char* b_actual) {
    return States(State("a", a_allocated, a_actual) + "," + State("b", b_allocated, b_actual));
  };
  const char* const one = "'cpu':'1'";
  const char* const two = "'cpu':'2'";
  const char* const three = "'cpu':'3'";
  const Case cases[] = {
      {"both as in the spec", spec, status(three, three, one, one), "cpu=4000", "cpu=4000"},
      {"both grow", spec, status(one, one, one, one), "cpu=4000", "cpu=4000"},
      {"both shrink", spec, status("'cpu':'4'", "'cpu':'4'", three, three), "cpu=7000", "cpu=7000"},
      {"one grows, the other shrinks", spec, status(one, one, three, three), "cpu=6000",
       "cpu=4000"},
      {"the shrinking one is larger", spec, status(one, one, "'cpu':'5'", "'cpu':'5'"), "cpu=8000",
       "cpu=6000"},
      {"the shrinking one is allocated smaller", spec, status(one, one, one, three), "cpu=6000",
       "cpu=4000"},
      {"each is the largest in another list", spec, status("'cpu':'4'", two, one, three),
       "cpu=7000", "cpu=5000"},
      {"the other one has no status", spec, States(State("a", "'cpu':'4'", "'cpu':'4'")),
       "cpu=5000", "cpu=5000"},
      {"only allocated, without resources", spec, status(one, nullptr, three, nullptr), "cpu=4000",
       "cpu=4000"},
      {"each resource has its largest sum",
       Apps(Of("a", "'cpu':'3','memory':'10'") + "," + Of("b", "'cpu':'1','memory':'30'")),
       status("'cpu':'1','memory':'10'", "'cpu':'1','memory':'20'", "'cpu':'2','memory':'10'",
              "'cpu':'3','memory':'30'"),
       "cpu=6000 memory=50", "cpu=4000 memory=50"},
      {"overhead is added once", spec + ",'overhead':{'cpu':'500m'}",
       status(one, one, three, three), "cpu=6500", "cpu=4500"},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsStatusTest, InfeasibleResizesIgnoreTheSpec) {
  const std::string one = Apps(Of("a", "'cpu':'2','memory':'8'"));
  const std::string two = Apps(Of("a", "'cpu':'2'") + "," + Of("b", "'cpu':'3'"));
  const auto status = [](const std::string& states) { return kInfeasible + States(states); };
  const Case cases[] = {
      {"smaller than the spec", one, status(State("a", "'cpu':'1','memory':'4'", "'cpu':'1'")),
       "cpu=1000 memory=4", "cpu=1000 memory=4"},
      {"the larger list of the status", one, status(State("a", "'cpu':'1500m'", "'cpu':'1'")),
       "cpu=1500", "cpu=1500"},
      {"larger than the spec", one, status(State("a", "'cpu':'3','memory':'9'", "'cpu':'3'")),
       "cpu=3000 memory=9", "cpu=3000 memory=9"},
      {"only the actual size", one, status(State("a", nullptr, "'cpu':'1'")), "cpu=1000",
       "cpu=1000"},
      {"only the allocated size", one, status(State("a", "'cpu':'1'", nullptr)),
       "cpu=2000 memory=8", "cpu=1000"},
      {"empty lists", one, status(State("a", "", "")), "", ""},
      {"resources without requests", one, status("{'name':'a','resources':{}}"), "", ""},
      {"a status without lists", one, status(State("a", nullptr, nullptr)), "cpu=2000 memory=8",
       ""},
      {"no status", one, kInfeasible + std::string("'phase':'Running'"), "cpu=2000 memory=8", ""},
      {"a status of another container", one, status(State("other", "'cpu':'1'", "'cpu':'1'")),
       "cpu=2000 memory=8", ""},
      {"one of two containers has a status", two, status(State("a", "'cpu':'1'", "'cpu':'1'")),
       "cpu=4000", "cpu=1000"},
      {"both have a status", two,
       status(State("a", "'cpu':'1'", "'cpu':'4'") + "," + State("b", "'cpu':'4'", "'cpu':'1'")),
       "cpu=8000", "cpu=5000"},
      {"only overhead is left", one + ",'overhead':{'cpu':'100m'}",
       kInfeasible + std::string("'phase':'Running'"), "cpu=2100 memory=8", "cpu=100"},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsStatusTest, OneListMayLackAName) {
  const std::string spec = Apps(Of("a", "'cpu':'2','memory':'8'"));
  const std::string two =
      Apps(Of("a", "'cpu':'1','memory':'8'") + "," + Of("b", "'cpu':'1','memory':'1'"));
  const Case cases[] = {
      {"the spec has the name", spec, States(State("a", "'cpu':'3'", "'cpu':'1'")),
       "cpu=3000 memory=8", "cpu=3000 memory=8"},
      {"infeasible: the other list has the name", spec,
       kInfeasible + States(State("a", "'cpu':'3'", "'memory':'4'")), "cpu=3000 memory=4",
       "cpu=3000 memory=4"},
      {"infeasible: neither list has the name", spec,
       kInfeasible + States(State("a", "'cpu':'3'", "'cpu':'1'")), "cpu=3000", "cpu=3000"},
      {"the allocated list of one container lacks memory", two,
       States(State("a", "'cpu':'1'", "'cpu':'1'") + "," +
              State("b", "'cpu':'1','memory':'5'", "'cpu':'1','memory':'5'")),
       "cpu=2000 memory=13", "cpu=2000 memory=9"},
      {"the actual list of that container has memory", two,
       States(State("a", "'cpu':'1'", "'memory':'8'") + "," +
              State("b", "'cpu':'1','memory':'5'", "'cpu':'1','memory':'5'")),
       "cpu=2000 memory=13", "cpu=2000 memory=13"},
      {"no requests: the allocated list counts twice", two,
       States(State("a", "'cpu':'1'", nullptr) + "," + State("b", nullptr, "'memory':'5'")),
       "cpu=2000 memory=13", "cpu=2000 memory=9"},
      {"an empty list is not absent", two,
       States(State("a", "", nullptr) + "," + State("b", nullptr, "'memory':'12'")),
       "cpu=2000 memory=20", "cpu=2000 memory=12"},
      {"null is absent", two,
       States("{'name':'a','allocatedResources':null,'resources':null}," +
              State("b", nullptr, "'memory':'12'")),
       "cpu=2000 memory=20", "cpu=2000 memory=20"},
      {"a list of names that no sum includes", two,
       States(State("a", "'plain':'1'", nullptr) + "," + State("b", nullptr, "'memory':'12'")),
       "cpu=2000 memory=20", "cpu=2000 memory=12"},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsStatusTest, InitContainersAndSidecars) {
  const char* const one = "'cpu':'1'";
  const char* const five = "'cpu':'5'";
  const std::string init = Init(Of("i", one));
  const std::string app = "," + Apps(Of("a", "'cpu':'2'"));
  const std::string sidecar = Init(Sidecar("s", one) + "," + Of("i", "'cpu':'3'"));
  const Case cases[] = {
      {"an init container is allocated more", init, InitStates(State("i", five, one)), "cpu=1000",
       "cpu=5000"},
      {"an init container is actually larger", init, InitStates(State("i", one, five)), "cpu=1000",
       "cpu=5000"},
      {"less than the containers", init + app, InitStates(State("i", "'cpu':'1900m'", one)),
       "cpu=2000", "cpu=2000"},
      {"more than the containers", init + app, InitStates(State("i", "'cpu':'2100m'", one)),
       "cpu=2000", "cpu=2100"},
      {"its status is among those of containers", init, States(State("i", five, nullptr)),
       "cpu=1000", "cpu=5000"},
      {"infeasible, with a status", init, kInfeasible + InitStates(State("i", "'cpu':'500m'", "")),
       "cpu=1000", "cpu=500"},
      {"infeasible, without a status", init + app,
       kInfeasible + States(State("a", "'cpu':'500m'", "'cpu':'500m'")), "cpu=1000", "cpu=500"},
      {"a sidecar is larger", sidecar, InitStates(State("s", five, five)), "cpu=8000", "cpu=8000"},
      {"a sidecar is allocated more, without resources", sidecar,
       InitStates(State("s", five, nullptr)), "cpu=4000", "cpu=8000"},
      {"the sidecar shrinks, the init container grows", sidecar,
       InitStates(State("s", five, five) + "," + State("i", one, one)), "cpu=8000", "cpu=6000"},
      {"infeasible: a sidecar without a status", sidecar,
       kInfeasible + InitStates(State("i", one, one)), "cpu=4000", "cpu=1000"},
      {"the sidecar shrinks, the container grows", Init(Sidecar("s", one)) + app,
       States(State("a", one, one)) + "," + InitStates(State("s", five, five)), "cpu=7000",
       "cpu=6000"},
      {"the phase of the init container was larger", Init(Of("i", "'cpu':'4'")) + app,
       States(State("a", "'cpu':'3'", "'cpu':'3'")), "cpu=4000", "cpu=4000"},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsStatusTest, OneOfEqualContainerStatusesCounts) {
  const std::string spec = Apps(Of("a", "'cpu':'1'")) + "," + Init(Sidecar("s", "'cpu':'1'"));
  const auto state = [](const char* name, const char* cpu) {
    const std::string list = std::string("'cpu':'") + cpu + "'";
    return State(name, nullptr, list.c_str());
  };
  const std::string five = state("a", "5");
  const std::string three = state("a", "3");
  const std::string none = State("a", nullptr, nullptr);
  const Case cases[] = {
      {"the larger one is last", spec, States(three + "," + five), "cpu=6000", "cpu=4000"},
      {"the smaller one is last", spec, States(five + "," + three), "cpu=4000", "cpu=6000"},
      {"the last one has no list", spec, States(five + "," + none), "cpu=2000", "cpu=6000"},
      {"the first one has no list", spec, States(none + "," + five), "cpu=6000", "cpu=2000"},
      {"statuses of init containers are the last", spec, States(five) + "," + InitStates(three),
       "cpu=4000", "cpu=6000"},
      {"also if their field is first", spec, InitStates(three) + "," + States(five), "cpu=4000",
       "cpu=6000"},
      {"of a sidecar, among others", spec,
       InitStates(state("s", "5") + "," + state("x", "9") + "," + state("s", "3")), "cpu=4000",
       "cpu=6000"},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsStatusTest, TheFirstPodResizePendingConditionCounts) {
  const std::string spec = Apps(Of("a", "'cpu':'2'"));
  const auto conditions = [](const std::string& list) {
    return "'conditions':[{'type':'Ready','reason':'Infeasible'}," + list + "]," +
           States(State("a", "'cpu':'1'", "'cpu':'1'"));
  };
  const std::string infeasible = "{'type':'PodResizePending','reason':'Infeasible'}";
  const std::string deferred = "{'type':'PodResizePending','reason':'Deferred'}";
  const Case cases[] = {
      {"first infeasible", spec, conditions(infeasible + "," + deferred), "cpu=1000", "cpu=1000"},
      {"first deferred", spec, conditions(deferred + "," + infeasible), "cpu=2000", "cpu=2000"},
      {"the status of the condition is False", spec,
       conditions("{'type':'PodResizePending','status':'False','reason':'Infeasible'}"), "cpu=1000",
       "cpu=1000"},
      {"another type", spec, conditions("{'type':'PodResizeInProgress','reason':'Infeasible'}"),
       "cpu=2000", "cpu=2000"},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsStatusTest, EachContainerOfASumHasDefaults) {
  const std::string two = Apps(Of("a", "'cpu':'3'") + "," + Of("b", "'cpu':'1'"));
  const std::string opposite = States(State("a", "'cpu':'1','memory':'7'", "'cpu':'1'") + "," +
                                      State("b", "'cpu':'3','memory':'7'", "'cpu':'3'"));
  const Case cases[] = {
      {"no status", two, "", "cpu=4000 memory=419430400", "cpu=4000 memory=419430400"},
      {"every list is without memory", two,
       States(State("a", "'cpu':'1'", "'cpu':'1'") + "," + State("b", "'cpu':'3'", "'cpu':'3'")),
       "cpu=6000 memory=419430400", "cpu=4000 memory=419430400"},
      {"only the allocated lists have memory", two, opposite, "cpu=6000 memory=14",
       "cpu=4000 memory=419430400"},
      {"infeasible: the actual lists have no memory", two, kInfeasible + opposite,
       "cpu=4000 memory=14", "cpu=4000 memory=419430400"},
      {"infeasible: one container without a status", two,
       kInfeasible + States(State("a", "'cpu':'1'", "'cpu':'1'")), "cpu=2000 memory=419430400",
       "cpu=1100 memory=419430400"},
      {"an init container", Init(Of("i", "'cpu':'1'")), InitStates(State("i", "'cpu':'2'", "")),
       "cpu=1000 memory=209715200", "cpu=2000 memory=209715200"},
  };
  ExpectNonzero(cases);
}

TEST_F(RequestsStatusTest, SumsFractionsExactly) {
  const std::string spec = Apps(Of("a", "'memory':'1.2'")) + ",'overhead':{'memory':'0.7'}";
  const auto status = [](const char* allocated, const char* actual) {
    const std::string lists[] = {std::string("'memory':'") + allocated + "'",
                                 std::string("'memory':'") + actual + "'"};
    return States(State("a", lists[0].c_str(), lists[1].c_str()));
  };
  const Case cases[] = {
      {"the spec is the largest", spec, status("1", "1.1"), "memory=2", "memory=2"},
      {"larger by a fraction", spec, status("1.25", "1.3"), "memory=2", "memory=2"},
      {"the fraction rounds the sum up", spec, status("1.25", "1.3001"), "memory=3", "memory=3"},
      {"the allocated size is larger", spec, status("1.4", "1.1"), "memory=3", "memory=3"},
      {"infeasible", spec, kInfeasible + status("0.2", "0.3"), "memory=1", "memory=1"},
      {"infeasible, a larger sum", spec, kInfeasible + status("0.4", "0.3"), "memory=2",
       "memory=2"},
      {"two containers", Apps(Of("a", "'cpu':'0.5m'") + "," + Of("b", "'cpu':'0.7m'")),
       States(State("a", "'cpu':'0.7m'", "'cpu':'0.7m'") + "," +
              State("b", "'cpu':'0.5m'", "'cpu':'1.4m'")),
       "cpu=3", "cpu=3"},
      {"sums of two containers that round down",
       Apps(Of("a", "'cpu':'0.5m'") + "," + Of("b", "'cpu':'1.4m'")),
       States(State("a", "'cpu':'0.7m'", "'cpu':'0.7m'") + "," +
              State("b", "'cpu':'0.5m'", "'cpu':'0.5m'")),
       "cpu=3", "cpu=2"},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsStatusTest, SharesSumsThatAreEqual) {
  const std::string spec = Apps(Of("a", "'cpu':'1','memory':'1'"));
  const std::string status = States(State("a", "'cpu':'1','memory':'1'", "'cpu':'1'"));
  for (Decoder* decoder : {&decoder_1_36_, &decoder_1_37_}) {
    for (const std::string& text : {PodText(spec), PodText(spec, status)}) {
      const Result<PodRef> pod = decoder->DecodePod(text);
      ASSERT_TRUE(pod.ok());
      EXPECT_EQ((*pod)->view().accounted, (*pod)->view().request) << text;
    }
  }
}

}  // namespace
}  // namespace berth::host

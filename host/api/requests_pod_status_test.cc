// The amounts that a pod occupies by the pod-level lists of its status; see CountsResizesBySum().
#include <string>

#include <gtest/gtest.h>

#include "host/api/requests_testing.h"

namespace berth::host {
namespace {

class RequestsPodStatusTest : public ResizeTest {
 protected:
  // Returns spec.resources.
  static std::string Pod(const std::string& requests) {
    return "'resources':{'requests':{" + requests + "}}";
  }

  // Returns the pod-level fields of the status. A null list is absent.
  static std::string Lists(const char* allocated, const char* actual) {
    std::string text = "'phase':'Running'";
    if (allocated != nullptr) text.append(",'allocatedResources':{").append(allocated).append("}");
    if (actual != nullptr) text.append(",'resources':{'requests':{").append(actual).append("}}");
    return text;
  }
};

TEST_F(RequestsPodStatusTest, TheStatusReplacesPodLevelRequests) {
  const std::string container = Apps(Of("a", "'cpu':'500m'"));
  const std::string overhead = ",'overhead':{'cpu':'500m'}";
  const std::string cpu = container + "," + Pod("'cpu':'1'");
  const std::string memory = container + "," + Pod("'memory':'8'");
  const std::string huge = container + "," + Pod("'hugepages-2Mi':'2'");
  const auto status = [](const char* actual) { return Lists(nullptr, actual); };
  const Case cases[] = {
      {"a name that the spec requests", cpu, status("'cpu':'3'"), "cpu=3000", "cpu=3000"},
      {"less than the spec requests", cpu, status("'cpu':'900m'"), "cpu=1000", "cpu=1000"},
      {"overhead is added to the larger amount", cpu + overhead, status("'cpu':'3'"), "cpu=3500",
       "cpu=3500"},
      {"a name that only containers request", memory, status("'cpu':'1'"), "cpu=500 memory=8",
       "cpu=1000 memory=8"},
      {"such a name, smaller than in the containers", memory, status("'cpu':'400m'"),
       "cpu=500 memory=8", "cpu=400 memory=8"},
      {"such a name, with overhead", memory + overhead, status("'cpu':'1'"), "cpu=1000 memory=8",
       "cpu=1500 memory=8"},
      {"a name that nothing requests", cpu, status("'memory':'9'"), "cpu=1000",
       "cpu=1000 memory=9"},
      {"a name without a meaning at pod level", cpu, status("'example.com/a':'9'"), "cpu=1000",
       "cpu=1000"},
      {"huge pages that the spec requests", huge, status("'hugepages-2Mi':'4'"),
       "cpu=500 hugepages-2Mi=4", "cpu=500 hugepages-2Mi=4"},
      {"huge pages of another size", huge, status("'hugepages-1Gi':'4'"), "cpu=500 hugepages-2Mi=2",
       "cpu=500 hugepages-1Gi=4 hugepages-2Mi=2"},
      {"only limits of the pod, which are its requests",
       "'resources':{'limits':{'cpu':'1'}}," + Apps("{'name':'a'}"), status("'cpu':'3'"),
       "cpu=3000", "cpu=3000"},
      {"no requests of the pod", container, status("'cpu':'3'"), "cpu=500", "cpu=500"},
      {"requests of the pod that have no meaning", container + "," + Pod("'pods':'1'"),
       status("'cpu':'3'"), "cpu=500", "cpu=500"},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsPodStatusTest, ReplacementNeedsTheFieldResources) {
  const std::string spec = Pod("'cpu':'1','memory':'8'");
  const std::string allocated = "'allocatedResources':{'cpu':'3'}";
  const char* const plain = "cpu=1000 memory=8";
  const char* const larger = "cpu=3000 memory=8";
  const Case cases[] = {
      {"allocatedResources alone", spec, allocated, plain, plain},
      {"resources is null", spec, "'resources':null," + allocated, plain, plain},
      {"resources is empty", spec, "'resources':{}," + allocated, larger, larger},
      {"resources has no requests", spec, "'resources':{'limits':{'cpu':'9'}}," + allocated, larger,
       larger},
      {"the requests are null", spec, "'resources':{'requests':null}," + allocated, larger, larger},
      {"resources of containers", spec, States("{'name':'c','resources':{}}") + "," + allocated,
       plain, plain},
      {"the largest of three", spec, Lists("'cpu':'3'", "'cpu':'4'"), "cpu=4000 memory=8",
       "cpu=4000 memory=8"},
      {"the largest of each name", spec, Lists("'cpu':'3','memory':'5'", "'cpu':'2','memory':'9'"),
       "cpu=3000 memory=9", "cpu=3000 memory=9"},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsPodStatusTest, BothListsReplaceTheSumsOfContainers) {
  const std::string spec = Apps(Of("a", "'cpu':'2','example.com/gpu':'1'"));
  const std::string larger = States(State("a", "'cpu':'9'", "'cpu':'9'"));
  const char* const plain = "cpu=2000 example.com/gpu=1";
  const Case cases[] = {
      {"both are smaller", spec, Lists("'cpu':'1'", "'cpu':'1'"), plain, plain},
      {"one is larger", spec, Lists("'cpu':'3'", "'cpu':'1'"), plain, "cpu=3000 example.com/gpu=1"},
      {"the other one is larger", spec, Lists("'cpu':'1'", "'cpu':'3'"), plain,
       "cpu=3000 example.com/gpu=1"},
      {"only allocatedResources", spec, Lists("'cpu':'3'", nullptr), plain, plain},
      {"only resources.requests", spec, Lists(nullptr, "'cpu':'3'"), plain, plain},
      {"resources without requests", spec, "'resources':{}," + Lists("'cpu':'3'", nullptr), plain,
       plain},
      {"allocatedResources is null", spec,
       "'allocatedResources':null," + Lists(nullptr, "'cpu':'3'"), plain, plain},
      {"an empty list", spec, Lists("", "'cpu':'3'"), plain, "cpu=3000 example.com/gpu=1"},
      {"statuses of containers count if one list is absent", spec,
       larger + "," + Lists(nullptr, "'cpu':'3'"), "cpu=9000 example.com/gpu=1",
       "cpu=9000 example.com/gpu=1"},
      {"statuses of containers do not count", spec, larger + "," + Lists("'cpu':'3'", "'cpu':'1'"),
       "cpu=9000 example.com/gpu=1", "cpu=3000 example.com/gpu=1"},
      {"names without a meaning at pod level", spec,
       Lists("'cpu':'1','ephemeral-storage':'5','pods':'1'", "'example.com/gpu':'3'"), plain,
       "cpu=2000 ephemeral-storage=5 pods=1 example.com/gpu=3"},
      {"overhead is added to the lists", spec + ",'overhead':{'cpu':'500m'}",
       Lists("'cpu':'3'", ""), "cpu=2500 example.com/gpu=1", "cpu=3500 example.com/gpu=1"},
      {"the spec has pod-level requests", spec + "," + Pod("'memory':'4'"),
       Lists("'cpu':'1','example.com/gpu':'2'", "'cpu':'1500m','memory':'2'"),
       "cpu=2000 memory=4 example.com/gpu=1", "cpu=1500 memory=4 example.com/gpu=2"},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsPodStatusTest, InfeasibleResizesIgnoreTheSpec) {
  const std::string pod = Pod("'cpu':'2','memory':'8'");
  const std::string container = Apps(Of("a", "'cpu':'2','example.com/gpu':'1'"));
  const auto status = [](const char* allocated, const char* actual) {
    return kInfeasible + Lists(allocated, actual);
  };
  const Case cases[] = {
      {"every name is in the status", pod, status("'memory':'4'", "'cpu':'1'"), "cpu=1000 memory=4",
       "cpu=1000 memory=4"},
      {"a name is in neither list", pod, status("", "'cpu':'1'"), "cpu=1000 memory=0", "cpu=1000"},
      {"the lists are empty", pod, status("", ""), "cpu=0 memory=0", ""},
      {"a missing name gets the overhead", pod + ",'overhead':{'memory':'3'}",
       status("", "'cpu':'1'"), "cpu=1000 memory=3", "cpu=1000 memory=3"},
      {"without resources in the status, the spec counts", pod, status("'cpu':'1'", nullptr),
       "cpu=2000 memory=8", "cpu=2000 memory=8"},
      {"a missing name counts as the containers do", pod + "," + Apps(Of("a", "'memory':'6'")),
       status(nullptr, "'cpu':'1'") + "," + States(State("a", "'memory':'5'", nullptr)),
       "cpu=1000 memory=0", "cpu=1000 memory=5"},
      {"a missing name and no status of the container", pod + "," + Apps(Of("a", "'memory':'6'")),
       status(nullptr, "'cpu':'1'"), "cpu=1000 memory=0", "cpu=1000"},
      {"no pod-level requests", container, status("'cpu':'1'", "'cpu':'1500m'"),
       "cpu=2000 example.com/gpu=1", "cpu=1500"},
      {"the lists have the other names", container,
       status("'cpu':'1','example.com/gpu':'1'", "'cpu':'1','ephemeral-storage':'7'"),
       "cpu=2000 example.com/gpu=1", "cpu=1000 ephemeral-storage=7 example.com/gpu=1"},
      {"one list is absent", container, status("'cpu':'1'", nullptr), "cpu=2000 example.com/gpu=1",
       ""},
  };
  ExpectAccounted(cases);
}

TEST_F(RequestsPodStatusTest, ListsOfThePodHaveNoDefaults) {
  const std::string spec = Apps("{'name':'a'}");
  const Case cases[] = {
      {"the sum of the spec has them", spec, Lists("'cpu':'1'", "'cpu':'1'"),
       "cpu=100 memory=209715200", "cpu=1000 memory=209715200"},
      {"infeasible: the lists count alone", spec, kInfeasible + Lists("'cpu':'1'", "'cpu':'1'"),
       "cpu=100 memory=209715200", "cpu=1000 memory=0"},
      {"infeasible: one list is absent", spec, kInfeasible + Lists("'cpu':'1'", nullptr),
       "cpu=100 memory=209715200", "cpu=100 memory=209715200"},
      {"pod-level requests, and a name only in the status", spec + "," + Pod("'cpu':'1'"),
       Lists(nullptr, "'memory':'9'"), "cpu=1000 memory=209715200", "cpu=1000 memory=9"},
      {"pod-level requests, and no other name", spec + "," + Pod("'cpu':'1'"),
       Lists(nullptr, "'cpu':'2'"), "cpu=2000 memory=209715200", "cpu=2000 memory=209715200"},
  };
  ExpectNonzero(cases);
}

TEST_F(RequestsPodStatusTest, SumsFractionsExactly) {
  const std::string spec = "'overhead':{'memory':'0.7'}," + Pod("'memory':'1.2'");
  const Case cases[] = {
      {"resources.requests", spec, Lists(nullptr, "'memory':'1.3'"), "memory=2", "memory=2"},
      {"allocatedResources", spec, Lists("'memory':'1.4'", "'memory':'1.3'"), "memory=3",
       "memory=3"},
      {"infeasible", spec, kInfeasible + Lists(nullptr, "'memory':'0.3'"), "memory=1", "memory=1"},
  };
  ExpectAccounted(cases);
}

}  // namespace
}  // namespace berth::host

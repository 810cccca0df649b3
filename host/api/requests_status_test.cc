// The statuses of a pod and of its containers add to its requests. The rules are those of
// kube-scheduler 1.36.2: component-helpers/resource/helpers.go, PodRequests with UseStatusResources
// and InPlacePodLevelResourcesVerticalScalingEnabled.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "host/api/decode_testing.h"
#include "host/api/objects.h"

namespace berth::host {
namespace {

constexpr const char* kInfeasible =
    "'conditions':[{'type':'PodResizePending','reason':'Infeasible'}],";

class RequestsStatusTest : public DecodeTest {
 protected:
  struct Case {
    const char* what;
    std::string spec;
    std::string status;
    const char* accounted;
  };

  // Expects the amounts that the pod occupies. The status never changes what the pod requests.
  void Expect(const Case& c) {
    const PodRef pod = DecodePod(c.spec, c.status);
    const PodRef without = DecodePod(c.spec);
    ASSERT_TRUE(pod != nullptr && without != nullptr) << c.what;
    EXPECT_EQ(Show(*pod->view().accounted), c.accounted) << c.what;
    EXPECT_EQ(Show(*pod->view().request), Show(*without->view().request)) << c.what;
    EXPECT_EQ(Show(*pod->view().request_of_containers),
              Show(*without->view().request_of_containers))
        << c.what;
  }
};

TEST_F(RequestsStatusTest, ThePodsStatusCountsForRequestedNames) {
  const std::string container =
      "'containers':[{'name':'c','resources':{'requests':{'cpu':'500m'}}}]";
  const std::string overhead = ",'overhead':{'cpu':'500m'}";
  const std::string cpu = ",'resources':{'requests':{'cpu':'1'}}";
  const std::string memory = ",'resources':{'requests':{'memory':'8'}}";
  const auto status = [](const std::string& name, const std::string& amount) {
    return "'resources':{'requests':{'" + name + "':'" + amount + "'}}";
  };
  const Case cases[] = {
      {"a name that the spec requests", container + cpu, status("cpu", "3"), "cpu=3000"},
      {"less than the spec requests", container + cpu, status("cpu", "900m"), "cpu=1000"},
      {"overhead is added to the larger amount", container + cpu + overhead, status("cpu", "3"),
       "cpu=3500"},
      {"a name that only containers request", container + memory, status("cpu", "1"),
       "cpu=500 memory=8"},
      {"such a name, with overhead", container + memory + overhead, status("cpu", "1"),
       "cpu=1000 memory=8"},
      {"a name that nothing requests", container + cpu, status("memory", "9"), "cpu=1000"},
      {"a name without a meaning at pod level", container + cpu, status("example.com/a", "9"),
       "cpu=1000"},
      {"huge pages that the spec requests",
       container + ",'resources':{'requests':{'hugepages-2Mi':'2'}}", status("hugepages-2Mi", "4"),
       "cpu=500 hugepages-2Mi=4"},
      {"huge pages of another size", container + ",'resources':{'requests':{'hugepages-2Mi':'2'}}",
       status("hugepages-1Gi", "4"), "cpu=500 hugepages-2Mi=2"},
      {"no resources of the pod", container, status("cpu", "3"), "cpu=500"},
      {"only limits of the pod, which are its requests",
       "'resources':{'limits':{'cpu':'1'}},'containers':[{'name':'c'}]", status("cpu", "3"),
       "cpu=3000"},
  };
  for (const Case& c : cases) Expect(c);
}

TEST_F(RequestsStatusTest, AllocatedResourcesOfThePodNeedResources) {
  const std::string spec = "'resources':{'requests':{'cpu':'1','memory':'8'}}";
  const std::string allocated = "'allocatedResources':{'cpu':'3'}";
  const Case cases[] = {
      {"allocatedResources alone", spec, allocated, "cpu=1000 memory=8"},
      {"resources is null", spec, "'resources':null," + allocated, "cpu=1000 memory=8"},
      {"resources is empty", spec, "'resources':{}," + allocated, "cpu=3000 memory=8"},
      {"resources has no requests", spec, "'resources':{'limits':{'cpu':'9'}}," + allocated,
       "cpu=3000 memory=8"},
      {"resources of containers", spec,
       "'containerStatuses':[{'name':'c','resources':{}}]," + allocated, "cpu=1000 memory=8"},
      {"the largest of three", spec, "'resources':{'requests':{'cpu':'4'}}," + allocated,
       "cpu=4000 memory=8"},
  };
  for (const Case& c : cases) Expect(c);
}

TEST_F(RequestsStatusTest, InfeasibleResizesIgnoreTheSpec) {
  const std::string pod = "'resources':{'requests':{'cpu':'2','memory':'8'}}";
  const std::string container =
      "'containers':[{'name':'c','resources':{'requests':{'cpu':'2','memory':'8'}}}]";
  const auto of_pod = [](const char* requests, const char* allocated) {
    return std::string(kInfeasible) + "'resources':{'requests':{" + requests +
           "}},'allocatedResources':{" + allocated + "}";
  };
  const auto of_container = [](const char* requests, const char* allocated) {
    return std::string(kInfeasible) + "'containerStatuses':[{'name':'c','resources':{'requests':{" +
           requests + "}},'allocatedResources':{" + allocated + "}}]";
  };
  const Case cases[] = {
      {"pod: every name is in the status", pod, of_pod("'cpu':'1'", "'memory':'4'"),
       "cpu=1000 memory=4"},
      {"pod: a name is in neither list", pod, of_pod("'cpu':'1'", ""), "cpu=1000 memory=0"},
      {"pod: the lists are empty", pod, of_pod("", ""), "cpu=0 memory=0"},
      {"pod: a name that is missing gets the overhead", pod + ",'overhead':{'memory':'3'}",
       of_pod("'cpu':'1'", ""), "cpu=1000 memory=3"},
      {"pod: without resources in the status, the spec counts", pod,
       kInfeasible + std::string("'phase':'Running'"), "cpu=2000 memory=8"},
      {"container: every name is in the status", container,
       of_container("'cpu':'1'", "'memory':'4'"), "cpu=1000 memory=4"},
      {"container: a name is in neither list", container, of_container("'cpu':'1'", ""),
       "cpu=1000"},
      {"container: the lists are empty", container, of_container("", ""), ""},
      {"container: a name that only the status has", container,
       of_container("'cpu':'1','example.com/a':'7'", ""), "cpu=1000 example.com/a=7"},
  };
  for (const Case& c : cases) Expect(c);
}

TEST_F(RequestsStatusTest, TheFirstPodResizePendingConditionCounts) {
  const std::string spec = "'resources':{'requests':{'cpu':'2'}}";
  const std::string status = "'resources':{'requests':{'cpu':'1'}}";
  const auto conditions = [&](const char* first, const char* second) {
    const auto one = [](const char* reason) {
      return std::string("{'type':'PodResizePending','reason':'") + reason + "'}";
    };
    return "'conditions':[{'type':'Ready','reason':'Infeasible'}," + one(first) + "," +
           one(second) + "]," + status;
  };
  Expect({"first infeasible", spec, conditions("Infeasible", "Deferred"), "cpu=1000"});
  Expect({"first deferred", spec, conditions("Deferred", "Infeasible"), "cpu=2000"});
}

TEST_F(RequestsStatusTest, TheLastOfEqualContainerStatusesCounts) {
  const std::string spec =
      "'containers':[{'name':'a','resources':{'requests':{'cpu':'1'}}}],'initContainers':"
      "[{'name':'s','restartPolicy':'Always','resources':{'requests':{'cpu':'1'}}}]";
  const auto status = [](const char* name, const char* cpu) {
    return std::string("{'name':'") + name + "','resources':{'requests':{'cpu':'" + cpu + "'}}}";
  };
  const std::string without = "{'name':'a','allocatedResources':{'cpu':'9'}}";
  const Case cases[] = {
      {"the larger one is last", spec,
       "'containerStatuses':[" + status("a", "3") + "," + status("a", "5") + "]", "cpu=6000"},
      {"the smaller one is last", spec,
       "'containerStatuses':[" + status("a", "5") + "," + status("a", "3") + "]", "cpu=4000"},
      {"the last one has no resources", spec,
       "'containerStatuses':[" + status("a", "5") + "," + without + "]", "cpu=2000"},
      {"statuses of init containers count last", spec,
       "'containerStatuses':[" + status("a", "5") + "],'initContainerStatuses':[" +
           status("a", "3") + "]",
       "cpu=4000"},
      {"also if their field is first", spec,
       "'initContainerStatuses':[" + status("a", "3") + "],'containerStatuses':[" +
           status("a", "5") + "]",
       "cpu=4000"},
      {"of a sidecar, among others", spec,
       "'initContainerStatuses':[" + status("s", "5") + "," + status("x", "9") + "," +
           status("s", "3") + "]",
       "cpu=4000"},
  };
  for (const Case& c : cases) Expect(c);
}

}  // namespace
}  // namespace berth::host

#include "host/cluster/embedded/whole_object.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cluster/client.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/json_body.h"
#include "tests/harness/embedded_fixture.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class WholeObjectTest : public EmbeddedTest {
 protected:
  WholeObjectTest() : EmbeddedTest(KeepTexts()) {}

  std::string TextOf(const AnyObject& object, std::string_view message = "") {
    const Result<Json> json = WholeObject(object, message);
    return json.ok() ? json->dump() : json.status().ToString();
  }
};

TEST_F(WholeObjectTest, IsTheTextWithMetadataOfTheServer) {
  const AnyObject pod = MakePod("p", R"(,"spec":{"x":[1.5,null,{"y":"\u00e4"}]})", R"(,"z":1)");
  EXPECT_EQ(TextOf(pod), R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","z":1,)"
                         R"("namespace":"default","uid":"","resourceVersion":""},)"
                         R"("spec":{"x":[1.5,null,{"y":"ä"}]}})");
  EXPECT_EQ(TextOf(*cluster_.Create(MakeNode("n", R"(,"managedFields":[{}],"uid":"u")"))),
            R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n","uid":"u",)"
            R"("resourceVersion":"1","creationTimestamp":"2026-01-01T00:00:00Z"}})");
}

TEST_F(WholeObjectTest, AddsTheTypeOfAListItem) {
  const PodRef pod = *decoder_.DecodePod(R"({"metadata":{"name":"p"}})");
  EXPECT_THAT(TextOf(pod), HasSubstr(R"("kind":"Pod","apiVersion":"v1")"));
  const NodeRef node = *decoder_.DecodeNode(R"({"metadata":{"name":"n"}})");
  EXPECT_THAT(TextOf(node), HasSubstr(R"("kind":"Node","apiVersion":"v1")"));
}

TEST_F(WholeObjectTest, HasWhatTheSchedulerWrote) {
  AddPod("p", R"(,"status":{"conditions":[{"type":"Ready","status":"False","reason":"New",)"
              R"("message":"kept"},{"type":"PodScheduled","status":"True","message":"old"}]})");
  PodStatusPatch patch;
  patch.nominated_node = "n1";
  patch.pod_scheduled = {.status = BERTH_CONDITION_FALSE,
                         .reason = "Unschedulable",
                         .message = "no room",
                         .transition_ns = NowNs()};
  patch.disruption_target = {.status = BERTH_CONDITION_TRUE,
                             .reason = "Preempted",
                             .message = "lost",
                             .transition_ns = NowNs()};
  ASSERT_TRUE(cluster_.PatchStatus({"default", "p", ""}, patch).ok());
  const std::string conditions =
      R"([{"type":"Ready","status":"False","reason":"New","message":"kept"},)"
      R"({"type":"PodScheduled","status":"False","message":"no room",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z","reason":"Unschedulable"},)"
      R"({"type":"DisruptionTarget","status":"True",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z","reason":"Preempted"}])";
  EXPECT_THAT(
      TextOf(cluster_.FindPod("default", "p"), "no room"),
      HasSubstr(R"("status":{"conditions":)" + conditions + R"(,"nominatedNodeName":"n1"})"));
  cluster_.Bind({"default", "p", ""}, "n2", nullptr);
  const Json bound = Json::parse(TextOf(cluster_.FindPod("default", "p")));
  EXPECT_EQ(bound["spec"]["nodeName"], "n2");
  EXPECT_EQ(bound["status"].count("nominatedNodeName"), 0U);
  EXPECT_EQ(bound["status"]["conditions"][1]["status"], "True");
  EXPECT_EQ(bound["status"]["conditions"][1].count("message"), 0U) << "of another state";
}

TEST_F(WholeObjectTest, TextThatIsNotJsonIsAnError) {
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  const AnyObject pod = MakePod("p", R"(,"x":)" + deep);
  EXPECT_EQ(TextOf(pod),
            "Internal: the text of v1/Pod default/p cannot be read: the body has more than 100 "
            "levels of nested arrays and objects");
}

// ---- Updates ------------------------------------------------------------------------------------

constexpr const char* kOldPod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default","uid":"u",)"
    R"("resourceVersion":"5","creationTimestamp":"2026-01-01T00:00:00Z","generation":2,)"
    R"("ownerReferences":[{"uid":"o"}]},"spec":{"nodeName":"n1","containers":[{"name":"c",)"
    R"("image":"i:1"}],"tolerations":[{"key":"k","tolerationSeconds":5}],)"
    R"("activeDeadlineSeconds":50,"terminationGracePeriodSeconds":-1},)"
    R"("status":{"phase":"Running"}})";
constexpr const char* kOldGated =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default","uid":"u",)"
    R"("resourceVersion":"5"},"spec":{"schedulingGates":[{"name":"a"},{"name":"b"}],)"
    R"("nodeSelector":{"x":"1"}}})";
constexpr const char* kOldNode =
    R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n","uid":"u","resourceVersion":"5"},)"
    R"("spec":{"podCIDRs":["10.0.0.0/24"],"providerID":"p://1"},"status":{"phase":"x"}})";

// Applies a merge patch to an object and returns the completed result, or the HTTP status and the
// message of the error.
std::string Update(const char* object, const std::string& patch, bool is_status = false) {
  const Json before = Json::parse(object);
  Json after = before;
  after.merge_patch(Json::parse(patch));
  const std::string_view kind = before["kind"] == "Pod" ? kPodKind : kNodeKind;
  const Status status = PrepareUpdate(kind, is_status, before, after);
  if (status.ok()) return after.dump();
  return std::to_string(HttpStatusOf(status)) + " " + std::string(status.message());
}

// Returns the object as it is with a merge patch.
std::string With(const char* object, const std::string& patch) {
  Json json = Json::parse(object);
  json.merge_patch(Json::parse(patch));
  return json.dump();
}

TEST(PrepareUpdate, AllowsWhatAnApiServerAllows) {
  constexpr std::pair<const char*, const char*> kTable[] = {
      {kOldPod, R"({"metadata":{"annotations":{"a":"1"},"labels":{"b":"2"},"finalizers":["f"]}})"},
      {kOldPod, R"({"metadata":{"ownerReferences":[]}})"},
      {kOldPod, R"({"spec":{"nodeName":"n1"}})"},
      {kOldPod, R"({"metadata":{"resourceVersion":"5","uid":"u","namespace":"default"}})"},
      {kOldNode, R"({"metadata":{"annotations":{"a":"1"}},"spec":{"unschedulable":true,)"
                 R"("taints":[{"key":"a","effect":"NoSchedule"}]}})"},
  };
  for (const auto& [object, patch] : kTable) EXPECT_EQ(Update(object, patch), With(object, patch));
}

TEST(PrepareUpdate, ChangedSpecsOfPodsHaveANewGeneration) {
  for (const char* spec : {R"("containers":[{"name":"c","image":"i:2"}])",
                           R"("activeDeadlineSeconds":20)", R"("terminationGracePeriodSeconds":1)",
                           R"("tolerations":[{"key":"l"},{"key":"k","tolerationSeconds":9}])"}) {
    const std::string patch = std::string(R"({"spec":{)") + spec;
    EXPECT_EQ(Update(kOldPod, patch + "}}"),
              With(kOldPod, patch + R"(},"metadata":{"generation":3}})"));
  }
  for (const char* spec : {R"("schedulingGates":[{"name":"b"}])", R"("schedulingGates":null)",
                           R"("nodeSelector":{"y":"2"})"}) {
    const std::string patch = std::string(R"({"spec":{)") + spec + "}}";
    EXPECT_EQ(Update(kOldGated, patch), With(kOldGated, patch));
  }
}

TEST(PrepareUpdate, CompletesWhatOnlyTheServerChanges) {
  for (const char* patch :
       {R"({"metadata":{"resourceVersion":null,"uid":null,"namespace":null,)"
        R"("creationTimestamp":null,"generation":null}})",
        R"({"metadata":{"resourceVersion":"","uid":"","namespace":"","generation":7,)"
        R"("managedFields":[{}],"creationTimestamp":"2020-01-01T00:00:00Z"}})",
        R"({"kind":null,"apiVersion":null})", R"({"status":{"phase":"Failed"}})",
        R"({"status":null})"}) {
    EXPECT_TRUE(AreEqual(Json::parse(Update(kOldPod, patch)), Json::parse(kOldPod))) << patch;
  }
}

TEST(PrepareUpdate, StatusRequestsKeepTheSpec) {
  const struct {
    const char* object;
    const char* patch;
    const char* effective;
  } kTable[] = {
      {kOldPod,
       R"({"spec":{"nodeName":"n2"},"status":{"phase":"Failed"},)"
       R"("metadata":{"annotations":{"a":"1"},"ownerReferences":null}})",
       R"({"status":{"phase":"Failed"},"metadata":{"annotations":{"a":"1"}}})"},
      {kOldNode, R"({"spec":null,"status":{"phase":"y"}})", R"({"status":{"phase":"y"}})"},
  };
  for (const auto& c : kTable) {
    const std::string updated = Update(c.object, c.patch, true);
    EXPECT_TRUE(AreEqual(Json::parse(updated), Json::parse(With(c.object, c.effective))))
        << updated;
  }
}

TEST(PrepareUpdate, RefusesWhatAnApiServerRefuses) {
  const std::string pod = R"(422 Pod "p" is invalid: )";
  const std::string other = pod + "spec: Forbidden: pod updates may not change fields other than ";
  const struct {
    const char* object;
    const char* patch;
    std::string error;
  } kTable[] = {
      {kOldPod, R"({"metadata":{"name":"q"}})",
       "400 the name of the object (q) does not match the name on the URL (p)"},
      {kOldPod, R"({"metadata":null})",
       "400 the name of the object () does not match the name on the URL (p)"},
      {kOldPod, R"({"metadata":{"namespace":"q"}})",
       "400 the namespace of the provided object does not match the namespace sent on the request"},
      {kOldPod, R"({"kind":"Node"})", R"(400 /kind: expected "Pod", found "Node")"},
      {kOldPod, R"({"apiVersion":"v2"})", R"(400 /apiVersion: expected "v1", found "v2")"},
      {kOldPod, R"({"metadata":{"resourceVersion":"4"}})",
       "409 Operation cannot be fulfilled on pods \"p\": the object has been modified; "},
      {kOldPod, R"({"metadata":{"resourceVersion":5}})",
       "409 Operation cannot be fulfilled on pods \"p\": the object has been modified; "},
      {kOldPod, R"({"metadata":{"uid":"v"}})",
       pod + R"(metadata.uid: Invalid value: "v": field is immutable)"},
      {kOldPod, R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})",
       pod + "metadata.deletionTimestamp: Invalid value: "},
      {kOldPod, R"({"spec":{"nodeName":"n2"}})", other},
      {kOldPod, R"({"spec":{"nodeName":null}})", other},
      {kOldPod, R"({"spec":{"priority":1}})", other},
      {kOldPod, R"({"spec":null})",
       pod + "spec.containers: Forbidden: pod updates may not add or "},
      {kOldPod, R"({"spec":{"containers":[]}})",
       pod + "spec.containers: Forbidden: pod updates may not add or remove containers"},
      {kOldPod, R"({"spec":{"initContainers":[{"name":"i"}]}})",
       pod + "spec.initContainers: Forbidden: pod updates may not add or remove containers"},
      {kOldPod, R"({"spec":{"containers":[{"name":"d","image":"i:1"}]}})", other},
      {kOldPod, R"({"spec":{"tolerations":[{"key":"l"}]}})",
       pod + "spec.tolerations: Forbidden: existing toleration can not be modified except its "},
      {kOldPod, R"({"spec":{"activeDeadlineSeconds":51}})",
       pod + "spec.activeDeadlineSeconds: Invalid value: 51: must be less than or equal to "},
      {kOldPod, R"({"spec":{"activeDeadlineSeconds":-1}})",
       pod + "spec.activeDeadlineSeconds: Invalid value: -1: must be between 0 and "},
      {kOldPod, R"({"spec":{"activeDeadlineSeconds":null}})",
       pod + "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive "},
      {kOldPod, R"({"spec":{"terminationGracePeriodSeconds":2}})", other},
      {kOldPod, R"({"spec":{"schedulingGates":[{"name":"a"}]}})",
       pod + "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "},
      {kOldPod, R"({"spec":{"nodeSelector":{"y":"1"}}})", other},
      {kOldGated, R"({"spec":{"nodeSelector":{"x":"2"}}})",
       pod + "spec.nodeSelector: Invalid value: "},
      {kOldGated, R"({"spec":{"nodeSelector":null}})", pod + "spec.nodeSelector: Invalid value: "},
      {kOldNode, R"({"metadata":{"uid":"v"}})",
       R"(422 Node "n" is invalid: metadata.uid: Invalid value: "v": field is immutable)"},
      {kOldNode, R"({"spec":{"podCIDRs":["10.0.1.0/24"]}})",
       R"(422 Node "n" is invalid: spec.podCIDRs: Forbidden: node updates may not change )"},
      {kOldNode, R"({"spec":null})",
       R"(422 Node "n" is invalid: spec.podCIDRs: Forbidden: node updates may not change )"},
      {kOldNode, R"({"spec":{"providerID":"p://2"}})",
       R"(422 Node "n" is invalid: spec.providerID: Forbidden: node updates may not change )"},
  };
  for (const auto& c : kTable) {
    EXPECT_THAT(Update(c.object, c.patch), StartsWith(c.error)) << c.patch;
  }
  EXPECT_THAT(Update(kOldPod, R"({"metadata":{"uid":"v"}})", true),
              StartsWith(pod + "metadata.uid"));
}

TEST(PrepareUpdate, LimitsTheSizeOfAnnotations) {
  const auto update = [](size_t bytes) {
    const std::string value(bytes - 1, 'x');
    return Update(kOldPod, R"({"metadata":{"annotations":{"a":")" + value + R"("}}})");
  };
  EXPECT_THAT(update(size_t{256} << 10), StartsWith("{"));
  EXPECT_EQ(update((size_t{256} << 10) + 1),
            R"(422 Pod "p" is invalid: metadata.annotations: Too long: may not be more than )"
            "262144 bytes");
}

}  // namespace
}  // namespace berth::host

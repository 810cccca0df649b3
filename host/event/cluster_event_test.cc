#include "host/event/cluster_event.h"

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/decode.h"

namespace berth::host {
namespace {

// ---- Where a change goes ------------------------------------------------------------------------

// `old` and `now` are "uid version scheduler node", with "-" for a version or a node that is not
// set and `""` for an empty node. No `old`: an addition. "gone " before `now`: a deletion; "missed
// " before it: one whose final state is not known.
struct RouteCase {
  const char* sentence;
  const char* old;
  const char* now;
  const char* steps;
};

constexpr RouteCase kPodCases[] = {
    // Added.
    {"ours and without a node: the queue", "", "u 1 ours -", "AddToQueue u@1;"},
    {"of our other profile: the queue", "", "u 1 ours-too -", "AddToQueue u@1;"},
    {"theirs and without a node: nowhere", "", "u 1 theirs -", ""},
    {"ours and with a node: the cache", "", "u 1 ours n1", "AddToCache u@1;"},
    {"theirs and with a node: the cache", "", "u 1 theirs n1", "AddToCache u@1;"},
    {"an empty node name is none", "", "u 1 ours \"\"", "AddToQueue u@1;"},
    // Modified.
    {"pending and ours", "u 1 ours -", "u 2 ours -", "UpdateInQueue u@2 from 1;"},
    {"pending and theirs", "u 1 theirs -", "u 2 theirs -", ""},
    {"the same version again", "u 1 ours -", "u 1 ours -", ""},
    {"the same version on a node", "u 1 ours n1", "u 1 ours n1", ""},
    {"no versions prove nothing", "u - ours -", "u - ours -", "UpdateInQueue u@ from ;"},
    {"bound", "u 1 ours -", "u 2 ours n1", "AddToCache u@2;TakeFromQueue u@2 from 1;"},
    {"bound by another scheduler", "u 1 theirs -", "u 2 theirs n1", "AddToCache u@2;"},
    {"stays on its node", "u 1 ours n1", "u 2 ours n1", "UpdateInCache u@2 from 1;"},
    {"moved", "u 1 ours n1", "u 2 ours n2", "RemoveFromCache u@1;AddToCache u@2;"},
    {"lost its node", "u 1 ours n1", "u 2 ours -", "RemoveFromCache u@1;AddToQueue u@2;"},
    {"becomes ours", "u 1 theirs -", "u 2 ours -", "AddToQueue u@2;"},
    {"stops being ours", "u 1 ours -", "u 2 theirs -", "RemoveFromQueue u@1;"},
    {"from one profile to another", "u 1 ours -", "u 2 ours-too -", "UpdateInQueue u@2 from 1;"},
    {"created anew", "u 1 ours -", "v 5 ours -", "RemoveAnywhere u@1;AddToQueue v@5;"},
    {"created anew on a node", "u 1 ours n1", "v 1 ours n1", "RemoveAnywhere u@1;AddToCache v@1;"},
    // Deleted.
    {"pending and ours, gone", "u 1 ours -", "gone u 2 ours -", "RemoveFromQueue u@2;"},
    {"pending and theirs, gone", "u 1 theirs -", "gone u 2 theirs -", ""},
    {"from a node, gone", "u 1 theirs n1", "gone u 2 theirs n1", "RemoveFromCache u@2;"},
    {"pending, missed", "u 1 ours -", "missed u 1 ours -", "RemoveAnywhere u@1;"},
    {"from a node, missed", "u 1 theirs n1", "missed u 1 theirs n1", "RemoveAnywhere u@1;"},
    {"one that we never saw, gone", "u 1 ours -", "gone v 7 ours n1", "RemoveAnywhere u@1;"},
};

constexpr RouteCase kNodeCases[] = {
    {"new", "", "u 1 - -", "Added u@1;"},
    {"changed", "u 1 - -", "u 2 - -", "Modified u@2 from 1;"},
    {"the same version again", "u 1 - -", "u 1 - -", ""},
    {"created anew", "u 1 - -", "v 9 - -", "Deleted u@1;Added v@9;"},
    {"gone", "u 1 - -", "gone u 2 - -", "Deleted u@2;"},
    {"one that we never saw, gone", "u 1 - -", "gone v 7 - -", "Deleted u@1;"},
};

template <class Step>
std::string Describe(const Step& step, const ObjectBase& object, std::string_view action) {
  std::string text(action);
  text.append(" ").append(object.uid()).append("@").append(object.resource_version());
  if (step.old) text.append(" from ").append(step.old->resource_version());
  return text + ";";
}

std::string Describe(const PodStep& step) {
  constexpr std::string_view kNames[] = {"AddToQueue",      "UpdateInQueue", "RemoveFromQueue",
                                         "TakeFromQueue",   "AddToCache",    "UpdateInCache",
                                         "RemoveFromCache", "RemoveAnywhere"};
  return Describe(step, *step.pod, kNames[static_cast<size_t>(step.action)]);
}

std::string Describe(const NodeStep& step) {
  constexpr std::string_view kNames[] = {"Added", "Modified", "Deleted"};
  return Describe(step, *step.node, kNames[static_cast<size_t>(step.action)]);
}

template <class Step>
std::string Describe(const Route<Step>& route) {
  std::string text;
  for (const Step& step : route) text += Describe(step);
  return text;
}

class ClusterEvent : public ::testing::Test {
 protected:
  PodRef DecodePod(const std::string& json) {
    Result<PodRef> pod = decoder_.DecodePod(json);
    BERTH_ASSERT_MSG(pod.ok(), "%s: %s", json.c_str(), pod.status().ToString().c_str());
    return *pod;
  }
  NodeRef DecodeNode(const std::string& json) {
    Result<NodeRef> node = decoder_.DecodeNode(json);
    BERTH_ASSERT_MSG(node.ok(), "%s: %s", json.c_str(), node.status().ToString().c_str());
    return *node;
  }

  AnyObject MakeObject(const std::string& text, bool is_pod) {
    std::istringstream words(text);
    std::string uid, version, scheduler, node;
    words >> uid >> version >> scheduler >> node;
    std::string meta = R"("name":"x","uid":")" + uid + '"';
    if (version != "-") meta += R"(,"resourceVersion":")" + version + '"';
    if (!is_pod) return DecodeNode("{\"metadata\":{" + meta + "}}");
    std::string spec = R"("schedulerName":")" + scheduler + '"';
    if (node != "-") spec += R"(,"nodeName":)" + (node == "\"\"" ? node : '"' + node + '"');
    return DecodePod("{\"metadata\":{" + meta + "},\"spec\":{" + spec + "}}");
  }

  WatchEvent MakeEvent(const RouteCase& c, bool is_pod) {
    std::string now = c.now;
    const auto take = [&now](const std::string& prefix) {
      if (!now.starts_with(prefix)) return false;
      now.erase(0, prefix.size());
      return true;
    };
    WatchEvent event;
    event.final_state_unknown = take("missed ");
    const bool is_deleted = event.final_state_unknown || take("gone ");
    event.object = MakeObject(now, is_pod);
    event.type = WatchType::kAdded;
    if (*c.old == '\0') return event;
    event.type = is_deleted ? WatchType::kDeleted : WatchType::kModified;
    event.previous = MakeObject(c.old, is_pod);
    return event;
  }

  Interner interner_;
  Decoder decoder_{interner_};
};

TEST_F(ClusterEvent, RoutesPods) {
  IdRefs refs(interner_);
  const Id profiles[] = {refs.Intern("ours"), refs.Intern("ours-too")};
  for (const RouteCase& c : kPodCases) {
    EXPECT_EQ(Describe(ClassifyPodEvent(MakeEvent(c, true), profiles)), c.steps) << c.sentence;
  }
}

TEST_F(ClusterEvent, RoutesNodes) {
  for (const RouteCase& c : kNodeCases) {
    EXPECT_EQ(Describe(ClassifyNodeEvent(MakeEvent(c, false))), c.steps) << c.sentence;
  }
}

// ---- What a change is to pods that wait ---------------------------------------------------------

// `old` and `now` are what stands in the object beside its name: "metadata", "spec" or "status", a
// colon, and the fields within. Empty: nothing.
struct ChangeCase {
  const char* sentence;
  const char* old;
  const char* now;
  uint32_t actions;
};

std::string ObjectJson(std::string_view text) {
  const std::string head = R"({"metadata":{"name":"x")";
  if (text.empty()) return head + "}}";
  const size_t colon = text.find(':');
  const std::string part(text.substr(0, colon));
  const std::string fields(text.substr(colon + 1));
  if (part == "metadata") return head + "," + fields + "}}";
  return head + "},\"" + part + "\":{" + fields + "}}";
}

constexpr ChangeCase kNodeChanges[] = {
    {"nothing", "", "", 0},
    {"a heartbeat", R"(status:"conditions":[{"type":"Ready","status":"True","reason":"A"}])",
     R"(status:"conditions":[{"type":"Ready","status":"True","reason":"B"}])", 0},
    {"a new image", "", R"(status:"images":[{"names":["a:1"],"sizeBytes":5}])", 0},
    {"a condition's status", R"(status:"conditions":[{"type":"Ready","status":"True"}])",
     R"(status:"conditions":[{"type":"Ready","status":"Unknown"}])",
     BERTH_ACTION_UPDATE_NODE_CONDITION},
    {"a condition that came", "", R"(status:"conditions":[{"type":"Ready","status":"True"}])",
     BERTH_ACTION_UPDATE_NODE_CONDITION},
    {"a condition that went", R"(status:"conditions":[{"type":"Ready","status":"True"}])", "",
     BERTH_ACTION_UPDATE_NODE_CONDITION},
    {"conditions in another order",
     R"(status:"conditions":[{"type":"A","status":"True"},{"type":"B","status":"False"}])",
     R"(status:"conditions":[{"type":"B","status":"False"},{"type":"A","status":"True"}])", 0},
    {"more to allocate", R"(status:"allocatable":{"cpu":"4"})",
     R"(status:"allocatable":{"cpu":"8"})", BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
    {"less to allocate", R"(status:"allocatable":{"cpu":"4"})",
     R"(status:"allocatable":{"cpu":"3999m"})", BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
    {"the same amount in other words", R"(status:"allocatable":{"memory":"1Gi"})",
     R"(status:"allocatable":{"memory":"1024Mi"})", 0},
    {"room for other pods", R"(status:"allocatable":{"pods":"10"})",
     R"(status:"allocatable":{"pods":"11"})", BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
    {"a device that came", R"(status:"allocatable":{"cpu":"4"})",
     R"(status:"allocatable":{"cpu":"4","a.io/gpu":"1"})", BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
    {"a device that broke", R"(status:"allocatable":{"a.io/gpu":"2"})",
     R"(status:"allocatable":{"a.io/gpu":"1"})", BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
    {"a label that came", R"(metadata:"labels":{"a":"1"})",
     R"(metadata:"labels":{"a":"1","b":"2"})", BERTH_ACTION_UPDATE_NODE_LABEL},
    {"a label's value", R"(metadata:"labels":{"a":"1"})", R"(metadata:"labels":{"a":""})",
     BERTH_ACTION_UPDATE_NODE_LABEL},
    {"labels in another order", R"(metadata:"labels":{"a":"1","b":"2"})",
     R"(metadata:"labels":{"b":"2","a":"1"})", 0},
    {"an annotation's value", R"(metadata:"annotations":{"a":"1"})",
     R"(metadata:"annotations":{"a":"2"})", BERTH_ACTION_UPDATE_NODE_ANNOTATION},
    {"an annotation in another's place", R"(metadata:"annotations":{"a":"1"})",
     R"(metadata:"annotations":{"b":"1"})", BERTH_ACTION_UPDATE_NODE_ANNOTATION},
    {"annotations in another order", R"(metadata:"annotations":{"a":"1","b":"2"})",
     R"(metadata:"annotations":{"b":"2","a":"1"})", 0},
    {"a taint that came", "", R"(spec:"taints":[{"key":"k","effect":"NoSchedule"}])",
     BERTH_ACTION_UPDATE_NODE_TAINT},
    {"a taint's effect", R"(spec:"taints":[{"key":"k","effect":"NoSchedule"}])",
     R"(spec:"taints":[{"key":"k","effect":"NoExecute"}])", BERTH_ACTION_UPDATE_NODE_TAINT},
    {"opened for pods", R"(spec:"unschedulable":true)", "", BERTH_ACTION_UPDATE_NODE_TAINT},
    {"closed to pods helps nobody", "", R"(spec:"unschedulable":true)", 0},
    {"a declared feature", "", R"(status:"declaredFeatures":["F"])",
     BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE},
    {"several at once", R"(metadata:"labels":{"a":"1"},"annotations":{"b":"1"})",
     R"(status:"allocatable":{"cpu":"1"})",
     BERTH_ACTION_UPDATE_NODE_LABEL | BERTH_ACTION_UPDATE_NODE_ANNOTATION |
         BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
};

TEST_F(ClusterEvent, TellsWhatChangedInANode) {
  for (const ChangeCase& c : kNodeChanges) {
    const NodeRef old = DecodeNode(ObjectJson(c.old));
    const NodeRef now = DecodeNode(ObjectJson(c.now));
    EXPECT_EQ(NodeChange(*old, *now), c.actions) << c.sentence;
  }
}

constexpr ChangeCase kPodChanges[] = {
    {"nothing in particular", "", R"(metadata:"annotations":{"a":"1"})", BERTH_ACTION_UPDATE},
    {"a label", "", R"(metadata:"labels":{"a":"1"})", BERTH_ACTION_UPDATE_POD_LABEL},
    {"one more toleration", "", R"(spec:"tolerations":[{"operator":"Exists"}])",
     BERTH_ACTION_UPDATE_POD_TOLERATION},
    {"the last gate", R"(spec:"schedulingGates":[{"name":"g"}])", "",
     BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED},
    {"one of two gates", R"(spec:"schedulingGates":[{"name":"g"},{"name":"h"}])",
     R"(spec:"schedulingGates":[{"name":"h"}])", BERTH_ACTION_UPDATE},
    {"several at once", R"(spec:"schedulingGates":[{"name":"g"}])",
     R"(metadata:"labels":{"a":"1"})",
     BERTH_ACTION_UPDATE_POD_LABEL | BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED},
};

TEST_F(ClusterEvent, TellsWhatChangedInAPod) {
  for (const ChangeCase& c : kPodChanges) {
    const PodRef old = DecodePod(ObjectJson(c.old));
    const PodRef now = DecodePod(ObjectJson(c.now));
    EXPECT_EQ(PodChange(*old, *now), c.actions) << c.sentence;
  }
}

// `old` and `now` are the requests of the pod's container.
constexpr ChangeCase kRequestChanges[] = {
    {"less cpu", R"("cpu":"2")", R"("cpu":"1999m")", BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"as much cpu", R"("cpu":"2")", R"("cpu":"2000m")", BERTH_ACTION_UPDATE},
    {"more cpu", R"("cpu":"2")", R"("cpu":"2001m")", BERTH_ACTION_UPDATE},
    {"more cpu, less memory", R"("cpu":"2","memory":"2Gi")", R"("cpu":"4","memory":"1Gi")",
     BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"less storage", R"("ephemeral-storage":"2Gi")", R"("ephemeral-storage":"1Gi")",
     BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"no memory any more", R"("cpu":"1","memory":"1Gi")", R"("cpu":"1")",
     BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"none of no memory any more", R"("cpu":"1","memory":"0")", R"("cpu":"1")",
     BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"fewer devices", R"("a.io/gpu":"2")", R"("a.io/gpu":"1")", BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"no device any more", R"("cpu":"1","a.io/gpu":"2")", R"("cpu":"1")",
     BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"more devices", R"("a.io/gpu":"1")", R"("a.io/gpu":"2")", BERTH_ACTION_UPDATE},
};

TEST_F(ClusterEvent, TellsWhenAPodHoldsLess) {
  const auto with_requests = [this](const std::string& requests) {
    return DecodePod(
        R"({"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","resources":{"requests":{)" +
        requests + "}}}]}}");
  };
  for (const ChangeCase& c : kRequestChanges) {
    EXPECT_EQ(PodChange(*with_requests(c.old), *with_requests(c.now)), c.actions) << c.sentence;
  }
}

TEST_F(ClusterEvent, TellsWhenAClaimOfAPodWasGenerated) {
  const std::string head = R"({"metadata":{"name":"x"},"spec":{"resourceClaims":[{"name":"r",)"
                           R"("resourceClaimTemplateName":"t"}]})";
  const PodRef old = DecodePod(head + "}");
  const PodRef now = DecodePod(
      head + R"(,"status":{"resourceClaimStatuses":[{"name":"r","resourceClaimName":"x-r-1"}]}})");
  EXPECT_EQ(PodChange(*old, *now), BERTH_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM);
  EXPECT_EQ(PodChange(*now, *now), BERTH_ACTION_UPDATE);
}

}  // namespace
}  // namespace berth::host

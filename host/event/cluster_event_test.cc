#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/decode.h"
#include "host/event/event_router.h"

namespace berth::host {
namespace {

// `old` and `now` are "uid version scheduler node", with "-" for a version or a node that is not
// set and `""` for an empty node. Without `old` the event is an addition. `now` begins with "gone "
// for a deletion, and with "missed " for a deletion whose final state is unknown.
struct RouteCase {
  const char* description;
  const char* old;
  const char* now;
  const char* steps;
};

constexpr RouteCase kPodCases[] = {
    // Added.
    {"a pod of ours without a node is queued", "", "u 1 ours -", "AddToQueue u@1;"},
    {"a pod of our other profile is queued", "", "u 1 ours-too -", "AddToQueue u@1;"},
    {"a pod of another scheduler without a node is ignored", "", "u 1 theirs -", ""},
    {"a pod of ours with a node is cached", "", "u 1 ours n1", "AddToCache u@1;"},
    {"a pod of another scheduler with a node is cached", "", "u 1 theirs n1", "AddToCache u@1;"},
    {"an empty node name is no node", "", "u 1 ours \"\"", "AddToQueue u@1;"},
    // Modified.
    {"a pending pod of ours is updated", "u 1 ours -", "u 2 ours -", "UpdateInQueue u@2 from 1;"},
    {"a pending pod of another scheduler is ignored", "u 1 theirs -", "u 2 theirs -", ""},
    {"the same version of a pending pod", "u 1 ours -", "u 1 ours -", ""},
    {"the same version of an assigned pod", "u 1 ours n1", "u 1 ours n1", ""},
    {"empty versions are not the same version", "u - ours -", "u - ours -",
     "UpdateInQueue u@ from ;"},
    {"bound", "u 1 ours -", "u 2 ours n1", "AddToCache u@2;RemoveBoundFromQueue u@2 from 1;"},
    {"bound by another scheduler", "u 1 theirs -", "u 2 theirs n1", "AddToCache u@2;"},
    {"stays on its node", "u 1 ours n1", "u 2 ours n1", "UpdateInCache u@2 from 1;"},
    {"moved to another node", "u 1 ours n1", "u 2 ours n2", "RemoveFromCache u@1;AddToCache u@2;"},
    {"lost its node", "u 1 ours n1", "u 2 ours -", "RemoveFromCache u@1;AddToQueue u@2;"},
    {"changes to a profile of ours", "u 1 theirs -", "u 2 ours -", "AddToQueue u@2;"},
    {"changes to another scheduler", "u 1 ours -", "u 2 theirs -", "RemoveFromQueue u@1;"},
    {"from one profile to another", "u 1 ours -", "u 2 ours-too -", "UpdateInQueue u@2 from 1;"},
    {"created again", "u 1 ours -", "v 5 ours -", "RemoveAnywhere u@1;AddToQueue v@5;"},
    {"created again on a node", "u 1 ours n1", "v 1 ours n1", "RemoveAnywhere u@1;AddToCache v@1;"},
    // Deleted.
    {"a pending pod of ours is deleted", "u 1 ours -", "gone u 2 ours -", "RemoveFromQueue u@2;"},
    {"a pending pod of another scheduler is deleted", "u 1 theirs -", "gone u 2 theirs -", ""},
    {"an assigned pod is deleted", "u 1 theirs n1", "gone u 2 theirs n1", "RemoveFromCache u@2;"},
    {"the deletion of a pending pod was missed", "u 1 ours -", "missed u 1 ours -",
     "RemoveAnywhere u@1;"},
    {"the deletion of an assigned pod was missed", "u 1 theirs n1", "missed u 1 theirs n1",
     "RemoveAnywhere u@1;"},
    {"the deletion of a pod with an unknown uid", "u 1 ours -", "gone v 7 ours n1",
     "RemoveAnywhere u@1;"},
};

constexpr RouteCase kNodeCases[] = {
    {"added", "", "u 1 - -", "Added u@1;"},
    {"changed", "u 1 - -", "u 2 - -", "Modified u@2 from 1;"},
    {"the same version", "u 1 - -", "u 1 - -", ""},
    {"created again", "u 1 - -", "v 9 - -", "Deleted u@1;Added v@9;"},
    {"deleted", "u 1 - -", "gone u 2 - -", "Deleted u@2;"},
    {"the deletion of a node with an unknown uid", "u 1 - -", "gone v 7 - -", "Deleted u@1;"},
};

template <class Step>
std::string Describe(const Step& step, const ObjectBase& object, std::string_view action) {
  std::string text(action);
  text.append(" ").append(object.uid()).append("@").append(object.resource_version());
  if (step.old) text.append(" from ").append(step.old->resource_version());
  return text + ";";
}

std::string Describe(const PodStep& step) {
  constexpr std::string_view kNames[] = {"AddToQueue",           "UpdateInQueue", "RemoveFromQueue",
                                         "RemoveBoundFromQueue", "AddToCache",    "UpdateInCache",
                                         "RemoveFromCache",      "RemoveAnywhere"};
  return Describe(step, *step.pod, kNames[static_cast<size_t>(step.action)]);
}

std::string Describe(const NodeStep& step) {
  constexpr std::string_view kNames[] = {"Added", "Modified", "Deleted"};
  return Describe(step, *step.node, kNames[static_cast<size_t>(step.action)]);
}

template <class Route>
std::string DescribeRoute(const Route& route) {
  std::string text;
  for (const auto& step : route) text += Describe(step);
  return text;
}

class ClusterEventTest : public ::testing::Test {
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

TEST_F(ClusterEventTest, RoutesPods) {
  IdRefs refs(interner_);
  const Id profiles[] = {refs.Intern("ours"), refs.Intern("ours-too")};
  for (const RouteCase& c : kPodCases) {
    EXPECT_EQ(DescribeRoute(ClassifyPodEvent(MakeEvent(c, true), profiles)), c.steps)
        << c.description;
  }
}

TEST_F(ClusterEventTest, RoutesNodes) {
  for (const RouteCase& c : kNodeCases) {
    EXPECT_EQ(DescribeRoute(ClassifyNodeEvent(MakeEvent(c, false))), c.steps) << c.description;
  }
}

}  // namespace
}  // namespace berth::host

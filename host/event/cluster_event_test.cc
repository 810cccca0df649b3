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

}  // namespace
}  // namespace berth::host

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/queue_event.h"
#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kLabel = BERTH_ACTION_UPDATE_NODE_LABEL;
constexpr uint32_t kTaint = BERTH_ACTION_UPDATE_NODE_TAINT;

struct MatchCase {
  const char* description;
  uint32_t interest_resource;
  uint32_t interest_actions;
  uint32_t event_resource;
  uint32_t event_action;
  bool matches;
};

constexpr MatchCase kMatches[] = {
    {"the same resource and action", BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, BERTH_RESOURCE_NODE,
     BERTH_ACTION_ADD, true},
    {"another action", BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, BERTH_RESOURCE_NODE,
     BERTH_ACTION_DELETE, false},
    {"another resource", BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, BERTH_RESOURCE_PV, BERTH_ACTION_ADD,
     false},
    {"one of several actions, the lowest", BERTH_RESOURCE_NODE, kLabel | kTaint,
     BERTH_RESOURCE_NODE, kLabel, true},
    {"one of several actions, the highest", BERTH_RESOURCE_NODE, kLabel | kTaint,
     BERTH_RESOURCE_NODE, kTaint, true},
    {"an action between two registered ones", BERTH_RESOURCE_NODE, BERTH_ACTION_ADD | kTaint,
     BERTH_RESOURCE_NODE, kLabel, false},
    {"an interest in all updates matches a specific update", BERTH_RESOURCE_NODE,
     BERTH_ACTION_UPDATE, BERTH_RESOURCE_NODE, kTaint, true},
    {"an interest in all updates matches an unspecific update", BERTH_RESOURCE_TARGET_POD,
     BERTH_ACTION_UPDATE, BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE, true},
    {"an interest in all actions matches an unspecific update", BERTH_RESOURCE_TARGET_POD,
     BERTH_ACTION_ALL, BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE, true},
    {"an interest in a specific update does not match an unspecific update",
     BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_LABEL, BERTH_RESOURCE_TARGET_POD,
     BERTH_ACTION_UPDATE, false},
    {"an interest in additions and deletions does not match an unspecific update",
     BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_ADD | BERTH_ACTION_DELETE, BERTH_RESOURCE_TARGET_POD,
     BERTH_ACTION_UPDATE, false},
    {"any pod matches an assigned pod", BERTH_RESOURCE_POD_ANY, BERTH_ACTION_DELETE,
     BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE, true},
    {"any pod matches the pod itself", BERTH_RESOURCE_POD_ANY, BERTH_ACTION_UPDATE,
     BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_LABEL, true},
    {"any pod does not match an unscheduled pod", BERTH_RESOURCE_POD_ANY, BERTH_ACTION_ALL,
     BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_ACTION_ADD, false},
    {"any pod does not match a node", BERTH_RESOURCE_POD_ANY, BERTH_ACTION_ALL, BERTH_RESOURCE_NODE,
     BERTH_ACTION_ADD, false},
    {"an interest in unscheduled pods matches one", BERTH_RESOURCE_UNSCHEDULED_POD,
     BERTH_ACTION_ADD, BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_ACTION_ADD, true},
    {"an interest in assigned pods does not match the pod itself", BERTH_RESOURCE_ASSIGNED_POD,
     BERTH_ACTION_ALL, BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE, false},
    {"all resources match a node", BERTH_RESOURCE_WILDCARD, BERTH_ACTION_ALL, BERTH_RESOURCE_NODE,
     BERTH_ACTION_ADD, true},
    {"all resources do not match an unscheduled pod", BERTH_RESOURCE_WILDCARD, BERTH_ACTION_ALL,
     BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_ACTION_ADD, false},
    {"additions of all resources do not match a deletion", BERTH_RESOURCE_WILDCARD,
     BERTH_ACTION_ADD, BERTH_RESOURCE_PVC, BERTH_ACTION_DELETE, false},
    {"a wildcard event matches no interest", BERTH_RESOURCE_WILDCARD, BERTH_ACTION_ALL,
     BERTH_RESOURCE_WILDCARD, BERTH_ACTION_ALL, false},
    {"an interest in an unknown resource", 999, BERTH_ACTION_ALL, BERTH_RESOURCE_NODE,
     BERTH_ACTION_ADD, false},
    {"an event of an unknown resource", BERTH_RESOURCE_NODE, BERTH_ACTION_ALL, 999,
     BERTH_ACTION_ADD, false},
};

TEST(InterestTableTest, MatchesResourceAndAction) {
  for (const MatchCase& c : kMatches) {
    const std::vector<Interest> interests = {
        {.plugin = 1, .resource = c.interest_resource, .actions = c.interest_actions}};
    InterestTable table;
    table.Build(interests);
    std::vector<const Interest*> found;
    table.Find({.resource = c.event_resource, .action = c.event_action}, found);
    EXPECT_EQ(!found.empty(), c.matches) << c.description;
  }
}

TEST(InterestTableTest, FindsInTheOrderOfTheInterests) {
  const std::vector<Interest> interests = {
      {.plugin = 3, .index = 1, .resource = BERTH_RESOURCE_NODE, .actions = BERTH_ACTION_ADD},
      {.plugin = 9, .index = 0, .resource = BERTH_RESOURCE_WILDCARD, .actions = BERTH_ACTION_ALL},
      {.plugin = 3, .index = 0, .resource = BERTH_RESOURCE_NODE, .actions = BERTH_ACTION_ALL},
  };
  InterestTable table;
  table.Build(interests);
  std::vector<const Interest*> found;
  table.Find({.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_ADD}, found);
  EXPECT_THAT(found, ElementsAre(&interests[0], &interests[1], &interests[2]));
}

// The plugins that get an event of an object of `kind`. Plugin 1 registered for "acme.io/v1/Thing",
// 2 for "v1/Namespace", 3 for all resources, 4 for "storage.k8s.io/v1/StorageClass" and 5 for
// "v1/Pod"; all but 3 as CUSTOM.
struct CustomCase {
  const char* kind;
  std::vector<PluginId> plugins;
};

TEST(InterestTableTest, CustomEventsMatchByKind) {
  std::vector<Interest> interests;
  const std::vector<std::string> kinds = {
      "acme.io/v1/Thing", "v1/Namespace",       "", "storage.k8s.io/v1/StorageClass",
      "v1/Pod",           "acme.io/v4|v3/Thing"};
  for (const std::string& kind : kinds) {
    interests.push_back({.plugin = static_cast<PluginId>(interests.size() + 1),
                         .resource = kind.empty() ? BERTH_RESOURCE_WILDCARD : BERTH_RESOURCE_CUSTOM,
                         .actions = BERTH_ACTION_ALL,
                         .kind = kind});
  }
  InterestTable table;
  table.Build(interests);
  const auto found_by = [&](const QueueEvent& event) {
    std::vector<const Interest*> found;
    table.Find(event, found);
    std::vector<PluginId> plugins;
    for (const Interest* interest : found) plugins.push_back(interest->plugin);
    return plugins;
  };
  TestObjects objects;
  const auto object = [&](const std::string& version, const std::string& kind) {
    const ObjectRef ref = objects.ObjectFrom(R"({"apiVersion":")" + version + R"(","kind":")" +
                                             kind + R"(","metadata":{"name":"o"}})");
    return QueueEvent{.resource = EventResourceOf(ref->kind()),
                      .action = BERTH_ACTION_DELETE,
                      .before = ref,
                      .after = ObjectRef()};
  };
  EXPECT_THAT(found_by(object("acme.io/v1", "Thing")), ElementsAre(1, 3));
  EXPECT_THAT(found_by(object("acme.io/v2", "Thing")), ElementsAre(3)) << "another version";
  EXPECT_THAT(found_by(object("acme.io/v4", "Thing")), ElementsAre(3, 6)) << "several versions";
  EXPECT_THAT(found_by(object("acme.io/v3", "Thing")), ElementsAre(3, 6)) << "several versions";
  EXPECT_THAT(found_by(object("v1", "Namespace")), ElementsAre(2, 3));
  EXPECT_THAT(found_by(object("acme.io/v1", "Other")), ElementsAre(3));
  EXPECT_THAT(found_by(object("storage.k8s.io/v1", "StorageClass")), ElementsAre(3, 4))
      << "a kind with a resource of its own";
  EXPECT_THAT(found_by({.resource = BERTH_RESOURCE_ASSIGNED_POD, .action = BERTH_ACTION_ADD}),
              ElementsAre(3, 5));
  EXPECT_THAT(found_by({.resource = BERTH_RESOURCE_CUSTOM, .action = BERTH_ACTION_ADD}),
              ElementsAre(3))
      << "an event without an object has no kind";
}

TEST(InterestTableTest, PartsAreTheUnionOverAllHints) {
  const std::vector<Interest> interests = {
      {.plugin = 1, .has_hint = true, .pod_parts = BERTH_PART(LABELS)},
      {.plugin = 1, .has_hint = true, .pod_parts = BERTH_PART(PORTS)},
      {.plugin = 1, .has_hint = false, .pod_parts = BERTH_PART(IMAGES)},
      {.plugin = 2, .has_hint = true, .pod_parts = BERTH_PART(LABELS)},
      {.plugin = 2, .has_hint = true, .pod_parts = 0},
      {.plugin = 3, .has_hint = false, .pod_parts = 0},
      {.plugin = 4, .has_hint = true, .pod_parts = uint64_t{1} << BERTH_PART_COUNT},
  };
  InterestTable table;
  table.Build(interests);
  EXPECT_EQ(table.PartsOf(1).mask, BERTH_PART(LABELS) | BERTH_PART(PORTS));
  EXPECT_FALSE(table.PartsOf(1).each_pod);
  EXPECT_TRUE(table.PartsOf(2).each_pod) << "one hint declares no parts";
  EXPECT_EQ(table.PartsOf(3).mask, 0U);
  EXPECT_FALSE(table.PartsOf(3).each_pod) << "a plugin without hints depends on nothing";
  EXPECT_TRUE(table.PartsOf(4).each_pod) << "the part is unknown to this host";
  EXPECT_FALSE(table.PartsOf(99).each_pod);
}

TEST(InterestTableTest, BuildReplacesTheInterests) {
  const std::vector<Interest> interests = {{.plugin = 1,
                                            .resource = BERTH_RESOURCE_NODE,
                                            .actions = BERTH_ACTION_ALL,
                                            .has_hint = true,
                                            .pod_parts = 1}};
  InterestTable table;
  table.Build(interests);
  table.Build({});
  std::vector<const Interest*> found;
  table.Find({.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_ADD}, found);
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(table.PartsOf(1).mask, 0U);
}

}  // namespace
}  // namespace berth::host

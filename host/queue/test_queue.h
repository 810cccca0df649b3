// A scheduling queue for tests, with plugins that the test controls, a manual clock, and a small
// script language for queue operations.
#ifndef BERTH_HOST_QUEUE_TEST_QUEUE_H_
#define BERTH_HOST_QUEUE_TEST_QUEUE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "host/queue/scheduling_queue.h"

namespace berth::host {

// Orders by descending priority, then by the time at which the entity entered the queue.
class TestOrder final : public QueueOrder {
 public:
  bool has_key() const override { return uses_key; }
  SortKey KeyOf(const berth_queued& queued) const override {
    EXPECT_TRUE(uses_key) << "KeyOf() was called for an order without keys";
    SortKey key{};
    const uint32_t priority = Rank(queued) ^ 0x80000000U;
    const auto queued_ns = static_cast<uint64_t>(queued.queued_ns);
    for (uint32_t i = 0; i < 4; ++i) key[i] = static_cast<uint8_t>(priority >> (24 - 8 * i));
    for (uint32_t i = 0; i < 8; ++i) key[4 + i] = static_cast<uint8_t>(queued_ns >> (56 - 8 * i));
    return key;
  }
  bool Less(const berth_queued& a, const berth_queued& b) const override {
    EXPECT_FALSE(uses_key) << "Less() was called for an order with keys";
    if (a.priority != b.priority) return (a.priority > b.priority) != lowest_first;
    return a.queued_ns < b.queued_ns;
  }

  bool has_lanes() const override { return lane != nullptr; }
  uint64_t LaneOf(const berth_queued& queued) const override { return lane(queued); }
  size_t NextLane(std::span<const berth_lane> lanes) const override {
    EXPECT_FALSE(lanes.empty());
    offered.clear();
    for (const berth_lane& each : lanes) {
      offered.push_back(std::to_string(each.lane) + ":" + std::to_string(each.count) + ":" +
                        std::string(Text(each.first->pod->meta->name)));
    }
    return next ? next(lanes) : 0;
  }

  bool has_shared_entities() const override { return shared != nullptr; }
  std::string SharedEntityOf(const PodRef& pod) const override {
    asked.push_back(std::string(pod->name()));
    return shared(*pod);
  }

  bool uses_key = true;
  bool lowest_first = false;
  // Null: there are no lanes.
  std::function<uint64_t(const berth_queued&)> lane;
  std::function<size_t(std::span<const berth_lane>)> next;  // Not set: the first lane.
  // Null: pods share no entities.
  std::function<std::string(const Pod&)> shared;
  mutable std::vector<std::string> asked;  // The pod of each call of SharedEntityOf().
  // The lanes in the last call of NextLane(): "lane:count:first pod".
  mutable std::vector<std::string> offered;

 private:
  uint32_t Rank(const berth_queued& queued) const {
    const auto priority = static_cast<uint32_t>(queued.priority);
    return lowest_first ? priority : ~priority;
  }
};

// Plugins identified by numbers. By default, a hint returns true for events whose object has the
// plugin's number in its name, such as "helps-1-3".
class TestPolicy final : public QueuePolicy {
 public:
  std::optional<Gate> PreEnqueue(const PodRef& pod, const berth_queued& queued,
                                 std::optional<PluginId> first) override {
    EXPECT_EQ(queued.pod, &pod->view());
    pre_enqueue_views.push_back(queued);
    pre_enqueue_calls.push_back(std::string(pod->name()) +
                                (first.has_value() ? " first " + std::to_string(*first) : ""));
    const auto found = gated_by.find(pod->name());
    if (found == gated_by.end()) return std::nullopt;
    return Gate{.plugin = found->second, .reasons = {"gated by the test"}};
  }
  std::span<const Interest> interests() const override { return table; }
  bool Hint(const Interest& interest, const berth_queued& queued,
            const berth_event& event) override {
    EXPECT_TRUE(interest.has_hint);
    EXPECT_EQ(event.interest, interest.index);
    hint_calls.push_back(std::to_string(interest.plugin) + ":" +
                         std::string(Text(queued.pod->meta->name)));
    return hint ? hint(interest, queued, event) : Names(event, interest.plugin);
  }

  // Returns whether the name of the event's object contains this number.
  static bool Names(const berth_event& event, PluginId plugin) {
    const std::string name = std::string(NameOf(event)) + "-";
    return name.find("-" + std::to_string(plugin) + "-") != std::string::npos;
  }
  static std::string_view NameOf(const berth_event& event) {
    const berth_tagged& object = event.after.kind != 0 ? event.after : event.before;
    switch (object.kind) {
      case BERTH_KIND_POD: return Text(static_cast<const berth_pod*>(object.object)->meta->name);
      case BERTH_KIND_NODE: return Text(static_cast<const berth_node*>(object.object)->meta->name);
      case BERTH_KIND_OBJECT:
        return Text(static_cast<const berth_object*>(object.object)->meta->name);
      default: return "";
    }
  }

  std::vector<Interest> table;
  // Maps a pod's name to the plugin that rejects the pod in PreEnqueue.
  std::map<std::string, PluginId, std::less<>> gated_by;
  std::function<bool(const Interest&, const berth_queued&, const berth_event&)> hint;
  std::vector<std::string>
      pre_enqueue_calls;  // "pod", or "pod first 4" if plugin 4 rejected it before.
  std::vector<berth_queued> pre_enqueue_views;  // The argument of each call.
  std::vector<std::string> hint_calls;          // "plugin:pod".
};

inline std::string_view PlaceName(QueuePlace place) {
  constexpr std::string_view kNames[] = {"active", "backoff", "errors",
                                         "parked", "gated",   "flight"};
  return kNames[static_cast<size_t>(place)];
}

// Runs scripts on a queue. A script is a list of statements separated by ";":
//
//   add a [7] [on n]       adds pod a with its priority and status.nominatedNodeName
//   join a g [7]           adds or updates pod a as a member of group g; leave a: removes it
//                          from its group
//   label a x              changes the value of its label v; touch a: changes its annotation;
//                          nominate a n, nominate a -: sets or clears its nominated node
//   delete a               sets its deletionTimestamp; remove a: removes it from the queue
//   pop a                  pops, and expects a; pop -: expects that no pod is ready
//   return a 1,2 [3]       rejected by plugins 1 and 2, pending on 3; return a - 3; return g ...
//   await a 7 [2]          waits for plugin 7, and may be rejected by plugin 2
//   take a                 splits member a off its group
//   fail a                 returned with an error; slow a 1: rejected by plugin 1, slowly
//   done a                 stop a: StopRecording(); activate a
//   node helps-1           a node was added; freed x: an assigned pod was deleted; came x: a pod
//                          was assigned
//   other x                an object of kind acme.io/v1/Thing was added; pending x: a pod without
//                          a node was added
//   all                    a WILDCARD event; only a: a WILDCARD event for that pod
//   hold a 4, release a    PreEnqueue of plugin 4 rejects a; PreEnqueue accepts a
//   wait 1.5               advances the clock by that many seconds and calls Tick()
//   sleep 1.5              advances the clock only; tick: calls Tick() only
class TestQueue {
 public:
  using Options = SchedulingQueue::Options;

  explicit TestQueue(std::vector<Interest> table = DefaultTable(), Options options = Options()) {
    policy.table = std::move(table);
    queue = std::make_unique<SchedulingQueue>(policy, order, clock, options);
  }

  // The interests of the plugins:
  //   1   a node was added or its labels changed (hint); the pod's own labels changed (hint)
  //   2   an assigned pod was deleted (no hint)
  //   3   a node was added (hint); the pod itself changed (no hint)
  //   4   a Thing was added (hint)
  //   5   none
  //   6   a pod without a node was added (hint)
  static std::vector<Interest> DefaultTable() {
    const auto on = [](PluginId plugin, uint32_t index, uint32_t resource, uint32_t actions) {
      return Interest{.plugin = plugin,
                      .index = index,
                      .resource = resource,
                      .actions = actions,
                      .has_hint = true,
                      .pod_parts = BERTH_PART(LABELS)};
    };
    std::vector<Interest> table = {
        on(1, 0, BERTH_RESOURCE_NODE, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL),
        on(1, 1, BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_LABEL),
        on(2, 0, BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE),
        on(3, 0, BERTH_RESOURCE_NODE, BERTH_ACTION_ADD),
        on(3, 1, BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE),
        on(4, 0, BERTH_RESOURCE_CUSTOM, BERTH_ACTION_ADD),
        on(6, 0, BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_ACTION_ADD),
    };
    table[2].has_hint = table[4].has_hint = false;
    table[5].kind = "acme.io/v1/Thing";
    return table;
  }

  void Run(const std::string& script) {
    std::istringstream statements(script);
    for (std::string statement; std::getline(statements, statement, ';');) {
      SCOPED_TRACE(statement);
      std::istringstream words(statement);
      std::string verb, name, more, last;
      words >> verb >> name >> more >> last;
      if (!RunPodStatement(verb, name, more, last) && !RunCycleStatement(verb, name, more, last) &&
          !RunEventStatement(verb, name)) {
        ADD_FAILURE() << "unknown statement: " << statement;
      }
      queue->CheckInvariants();
    }
  }

  // Returns the place of every entity, sorted by name: "a=active b=parked g(c,d)=gated". A pod that
  // was removed in flight is shown as any pod in flight.
  std::string Places() const {
    std::map<std::string, std::string_view> places;
    queue->ForEach([&](const QueuedEntity& entity) {
      places.emplace(NameOf(entity), PlaceName(entity.place));
    });
    std::string text;
    for (const auto& [name, place] : places) {
      text.append(text.empty() ? "" : " ").append(name).append("=").append(place);
    }
    return text;
  }

  static std::string NameOf(const QueuedEntity& entity) {
    if (entity.group == nullptr) return std::string(entity.pod->name());
    std::string members;
    entity.ForEachPod([&members](const PodRef& pod) {
      members.append(members.empty() ? "" : ",").append(pod->name());
    });
    const std::string& name = entity.group->name;
    return name.substr(name.find('/') + 1).append(1, '(').append(members).append(1, ')');
  }

  const QueuedEntity& Entity(const std::string& name) const {
    const QueuedEntity* entity = queue->Find("uid-" + name);
    BERTH_ASSERT_MSG(entity != nullptr, "there is no pod %s", name.c_str());
    return *entity;
  }

  // Returns a pod of the script in its current state.
  PodRef Pod(const std::string& name) {
    const ScriptedPod& pod = pods_[name];
    return objects.Pod(
        {.name = name,
         .spec =
             "\"priority\":" + std::to_string(pod.priority) +
             (pod.group.empty() ? ""
                                : R"(,"schedulingGroup":{"podGroupName":")" + pod.group + "\"}"),
         .meta = R"("labels":{"v":")" + pod.label + R"("},"annotations":{"n":")" +
                 std::to_string(pod.touches) + "\"}" +
                 (pod.is_terminating ? R"(,"deletionTimestamp":"2026-01-10T08:00:00Z")" : ""),
         .status = pod.nominated.empty() ? "" : R"("nominatedNodeName":")" + pod.nominated + '"'});
  }
  QueueEvent NodeEvent(const std::string& name, uint32_t action = BERTH_ACTION_ADD) {
    return {.resource = BERTH_RESOURCE_NODE,
            .action = action,
            .before = NodeRef(),
            .after = objects.Node({.name = name})};
  }
  QueueEvent PodEvent(uint32_t resource, uint32_t action, const std::string& name) {
    PodRef pod = objects.Pod({.name = name});
    const bool gone = action == BERTH_ACTION_DELETE;
    return {.resource = resource,
            .action = action,
            .before = gone ? pod : PodRef(),
            .after = gone ? PodRef() : pod};
  }
  QueueEvent ThingEvent(const std::string& name, const std::string& version = "acme.io/v1") {
    return {
        .resource = BERTH_RESOURCE_CUSTOM,
        .action = BERTH_ACTION_ADD,
        .before = ObjectRef(),
        .after = objects.ObjectFrom(R"({"apiVersion":")" + version +
                                    R"(","kind":"Thing","metadata":{"name":")" + name + "\"}}")};
  }

  TestObjects objects;
  TestPolicy policy;
  TestOrder order;
  TestClock clock;
  std::unique_ptr<SchedulingQueue> queue;

 private:
  struct ScriptedPod {
    int32_t priority = 0;
    std::string label = "x";
    int32_t touches = 0;
    std::string nominated;
    std::string group;
    bool is_terminating = false;
  };

  static std::vector<PluginId> Plugins(const std::string& text) {
    std::vector<PluginId> plugins;
    std::istringstream numbers(text);
    for (std::string number; std::getline(numbers, number, ',');) {
      if (number != "-") plugins.push_back(static_cast<PluginId>(std::stoul(number)));
    }
    return plugins;
  }
  static int64_t Nanoseconds(const std::string& seconds) {
    return std::llround(std::stold(seconds) * kSecond);
  }

  bool RunPodStatement(const std::string& verb, const std::string& name, const std::string& more,
                       const std::string& last) {
    ScriptedPod& pod = pods_[name];
    if (verb == "add") {
      pod = ScriptedPod();
      if (more == "on") {
        pod.nominated = last;
      } else if (!more.empty()) {
        pod.priority = std::stoi(more);
      }
      queue->Add(Pod(name));
    } else if (verb == "join") {
      pod = ScriptedPod();
      pod.group = more;
      if (!last.empty()) pod.priority = std::stoi(last);
      queue->Update(Pod(name));
    } else if (verb == "leave") {
      pod.group.clear();
      queue->Update(Pod(name));
    } else if (verb == "label" || verb == "touch" || verb == "nominate") {
      if (verb == "label") pod.label = more;
      if (verb == "touch") ++pod.touches;
      if (verb == "nominate") pod.nominated = more == "-" ? "" : more;
      queue->Update(Pod(name));
    } else if (verb == "delete") {
      pod.is_terminating = true;
      queue->Update(Pod(name));
    } else if (verb == "remove") {
      queue->Remove("uid-" + name);
    } else {
      return false;
    }
    return true;
  }

  bool RunCycleStatement(const std::string& verb, const std::string& name, const std::string& more,
                         const std::string& last) {
    const std::string uid = "uid-" + name;
    if (verb == "pop") {
      const QueuedEntity* entity = queue->Pop();
      EXPECT_EQ(entity == nullptr ? "-" : NameOf(*entity), name);
    } else if (verb == "return") {
      EndAttempt(name, {.plugins = Plugins(more), .pending = Plugins(last)});
    } else if (verb == "await") {
      EndAttempt(name, {.plugins = Plugins(last), .awaited = Plugins(more)});
    } else if (verb == "fail") {
      EndAttempt(name, {});
    } else if (verb == "slow") {
      EndAttempt(name, {.plugins = Plugins(more)}, /*is_slow=*/true);
    } else if (verb == "take") {
      queue->SplitFromGroup(uid);
    } else if (verb == "done") {
      queue->Done(uid);
    } else if (verb == "stop") {
      queue->StopRecording(uid);
    } else if (verb == "activate") {
      queue->Activate(uid);
    } else if (verb == "hold") {
      policy.gated_by[name] = Plugins(more).front();
    } else if (verb == "release") {
      policy.gated_by.erase(name);
    } else {
      return false;
    }
    return true;
  }

  void EndAttempt(const std::string& name, Rejection rejection, bool is_slow = false) {
    if (queue->Find("uid-" + name) != nullptr) {
      queue->Return("uid-" + name, std::move(rejection), is_slow);
    } else {
      queue->ReturnGroup("default/" + name, std::move(rejection), is_slow);
    }
  }

  bool RunEventStatement(const std::string& verb, const std::string& name) {
    if (verb == "node") {
      queue->OnEvent(NodeEvent(name));
    } else if (verb == "freed") {
      queue->OnEvent(PodEvent(BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE, name));
    } else if (verb == "came") {
      queue->OnEvent(PodEvent(BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_ADD, name));
    } else if (verb == "pending") {
      queue->OnEvent(PodEvent(BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_ACTION_ADD, name));
    } else if (verb == "other") {
      queue->OnEvent(ThingEvent(name));
    } else if (verb == "all") {
      queue->OnEvent(QueueEvent());
    } else if (verb == "only") {
      QueueEvent event;
      event.after = Pod(name);
      queue->OnEvent(event);
    } else if (verb == "tick" || verb == "wait" || verb == "sleep") {
      if (verb != "tick") clock.Advance(Nanoseconds(name));
      if (verb != "sleep") queue->Tick();
    } else {
      return false;
    }
    return true;
  }

  std::map<std::string, ScriptedPod> pods_;
};

// A script and the expected places at its end.
struct QueueScript {
  const char* description;
  const char* script;
  const char* places;
};

inline void ExpectPlaces(std::span<const QueueScript> cases,
                         const TestQueue::Options& options = TestQueue::Options()) {
  for (const QueueScript& script : cases) {
    SCOPED_TRACE(script.description);
    TestQueue test(TestQueue::DefaultTable(), options);
    test.Run(script.script);
    EXPECT_EQ(test.Places(), script.places);
  }
}

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_TEST_QUEUE_H_

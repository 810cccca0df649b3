// Fixture of the tests of EventRouter: a router with its cache, store and queue, and one parked pod
// that gets every event.
#ifndef BERTH_HOST_EVENT_TEST_EVENT_ROUTER_H_
#define BERTH_HOST_EVENT_TEST_EVENT_ROUTER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/base/text.h"
#include "host/event/event_router.h"

namespace berth::host {

// Registers for every event and records them. Its hint always returns false.
class RecordingPolicy final : public QueuePolicy {
 public:
  static constexpr PluginId kPlugin = 3;

  RecordingPolicy() {
    interests_.push_back({.plugin = kPlugin,
                          .index = 0,
                          .resource = BERTH_RESOURCE_WILDCARD,
                          .actions = BERTH_ACTION_ALL,
                          .kind = "",
                          .has_hint = true,
                          .pod_parts = 0});
  }

  std::optional<Gate> PreEnqueue(const PodRef&, const berth_queued&,
                                 std::optional<PluginId>) override {
    return std::nullopt;
  }
  std::span<const Interest> interests() const override { return interests_; }
  bool Hint(const Interest&, const berth_queued&, const berth_event& event) override {
    const QueueEvent named{.resource = event.resource, .action = event.actions};
    events_.push_back(EventLabel(named, kNewestKubeVersion));
    NoteObjects(event);
    if (event.before.kind == BERTH_KIND_POD) {
      had_node_ = static_cast<const berth_pod*>(event.before.object)->node_name != kNoId;
    }
    return false;
  }

  std::vector<std::string> Take() {
    objects_.clear();
    return std::exchange(events_, {});
  }
  // Returns the events with the versions and the name of their object: "Update v1 v2 a".
  std::vector<std::string> TakeObjects() {
    events_.clear();
    return std::exchange(objects_, {});
  }
  // Returns whether the pod of the last event had a node before.
  bool had_node() const { return had_node_; }

 private:
  void NoteObjects(const berth_event& event) {
    std::string text = event.actions == BERTH_ACTION_ADD      ? "Add"
                       : event.actions == BERTH_ACTION_DELETE ? "Delete"
                                                              : "Update";
    const berth_object* last = nullptr;
    for (const berth_tagged& tagged : {event.before, event.after}) {
      if (tagged.kind != BERTH_KIND_OBJECT) continue;
      last = static_cast<const berth_object*>(tagged.object);
      const std::string_view kind = Object::Of(*last)->kind();
      const std::string_view version = kind.substr(0, kind.rfind('/'));
      text.append(" ").append(version.substr(version.rfind('/') + 1));
    }
    if (last != nullptr) objects_.push_back(text + " " + std::string(Text(last->meta->name)));
  }

  std::vector<Interest> interests_;
  std::vector<std::string> events_;
  std::vector<std::string> objects_;
  bool had_node_ = false;
};

class FirstInFirstOut final : public QueueOrder {
 public:
  bool has_key() const override { return true; }
  SortKey KeyOf(const berth_queued&) const override { return {}; }
  bool Less(const berth_queued&, const berth_queued&) const override { return false; }
};

// One parked pod, "watcher", gets every event.
class EventRouterTest : public ::testing::Test {
 protected:
  EventRouterTest()
      : cache_(objects_.interner()),
        queue_(policy_, order_, clock_, {}),
        profile_(objects_.interner().Intern("default-scheduler")),
        router_(cache_, store_, queue_,
                {.profiles = {profile_},
                 .on_assumed_pod_deleting =
                     [this](std::string_view uid) { deleting_.emplace_back(uid); },
                 .on_pod_bound = [this](std::string_view uid) { bound_.emplace_back(uid); },
                 .on_inconsistency =
                     [this](std::string_view text) { inconsistencies_.emplace_back(text); }}) {
    queue_.Add(Pod({.name = "watcher"}));
    queue_.Pop();
    queue_.Return("uid-watcher", {.plugins = {RecordingPolicy::kPlugin}, .pending = {}});
    policy_.Take();
  }
  ~EventRouterTest() override { objects_.interner().Release(profile_); }

  PodRef Pod(const TestPod& pod) {
    return WithResourceVersion(objects_.Pod(pod), std::to_string(++version_));
  }
  NodeRef Node(const TestNode& node) {
    return WithResourceVersion(objects_.Node(node), std::to_string(++version_));
  }
  ObjectRef Claim(const std::string& name, const std::string& uid = "uid") {
    return WithResourceVersion(
        objects_.ObjectFrom(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{)"
                            R"("name":")" +
                            name + R"(","namespace":"default","uid":")" + uid + R"("}})"),
        std::to_string(++version_));
  }

  PodRef Added(PodRef pod) {
    router_.OnPod({.type = WatchType::kAdded, .object = pod, .previous = PodRef()});
    return pod;
  }
  PodRef Changed(const PodRef& old, PodRef pod) {
    router_.OnPod({.type = WatchType::kModified, .object = pod, .previous = old});
    return pod;
  }
  void Deleted(const PodRef& pod, bool unknown = false) {
    router_.OnPod({.type = WatchType::kDeleted,
                   .object = pod,
                   .previous = pod,
                   .final_state_unknown = unknown});
  }
  NodeRef Added(NodeRef node) {
    router_.OnNode({.type = WatchType::kAdded, .object = node, .previous = NodeRef()});
    return node;
  }
  NodeRef Changed(const NodeRef& old, NodeRef node) {
    router_.OnNode({.type = WatchType::kModified, .object = node, .previous = old});
    return node;
  }
  void Deleted(const NodeRef& node) {
    router_.OnNode({.type = WatchType::kDeleted, .object = node, .previous = node});
  }
  bool Queued(std::string_view uid) const { return queue_.Find(uid) != nullptr; }
  bool Cached(std::string_view uid) const { return cache_.RowOf(uid) != kNoRow; }

  TestClock clock_;
  TestObjects objects_;
  RecordingPolicy policy_;
  FirstInFirstOut order_;
  Cache cache_;
  ObjectStore store_;
  SchedulingQueue queue_;
  Id profile_;
  std::vector<std::string> deleting_;
  std::vector<std::string> bound_;
  std::vector<std::string> inconsistencies_;
  uint64_t version_ = 0;
  EventRouter router_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_EVENT_TEST_EVENT_ROUTER_H_

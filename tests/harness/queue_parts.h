// For tests of host/cycle: a queue without plugins, and a client that records what is written.
#ifndef BERTH_TESTS_HARNESS_QUEUE_PARTS_H_
#define BERTH_TESTS_HARNESS_QUEUE_PARTS_H_

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
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/queue/scheduling_queue.h"
#include "tests/harness/forwarding_client.h"

namespace berth::host {

// Holds back no pod and is interested in no event.
class EmptyQueuePolicy final : public QueuePolicy {
 public:
  std::optional<Gate> PreEnqueue(const PodRef&, const berth_queued&,
                                 std::optional<PluginId>) override {
    return std::nullopt;
  }
  std::span<const Interest> interests() const override { return {}; }
  bool Hint(const Interest&, const berth_queued&, const berth_event&) override { return false; }
};

// First in, first out.
class ArrivalOrder final : public QueueOrder {
 public:
  bool has_key() const override { return true; }
  SortKey KeyOf(const berth_queued&) const override { return {}; }
  bool Less(const berth_queued&, const berth_queued&) const override { return false; }
};

// Records events, patches and deletions; answers patches and deletions at once. Passes all other
// calls to an empty cluster.
class RecordingClient final : public ForwardingClient {
 public:
  Status patch_answer;
  Status delete_answer;
  std::vector<std::string> events;     // "Warning FailedScheduling p: text"
  std::vector<std::string> patches;    // "p Unschedulable: text; nominated to 'n1'"
  std::vector<std::string> deletions;  // "p"

  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                      StatusCallback done) override {
    std::string text(pod.name);
    if (patch.pod_scheduled.has_value()) Append(text, *patch.pod_scheduled);
    if (patch.disruption_target.has_value()) Append(text, *patch.disruption_target);
    if (patch.nominated_node.has_value()) {
      text += "; nominated to '" + std::string(*patch.nominated_node) + "'";
    }
    patches.push_back(std::move(text));
    if (done) done(patch_answer);
  }
  void DeletePod(const PodName& pod, std::optional<int64_t>, StatusCallback done) override {
    deletions.emplace_back(pod.name);
    if (done) done(delete_answer);
  }
  void CreateEvent(Event event, StatusCallback) override {
    events.push_back(event.type + " " + event.reason + " " + event.regarding.name + ": " +
                     event.note);
  }

 private:
  Client target() override { return unused_; }
  static void Append(std::string& text, const PodStatusPatch::Condition& condition) {
    text += " " + std::string(condition.reason) + ": " + std::string(condition.message);
  }

  TestClock clock_;
  EmbeddedCluster unused_{{.clock = clock_, .max_events = 0, .serve = nullptr}};
};

class QueuePartsTest : public ::testing::Test {
 protected:
  // Adds a pod to the queue and pops it: it is in flight.
  PodRef PopPod(const std::string& name) {
    PodRef pod = objects_.Pod({.name = name});
    queue_.Add(pod);
    EXPECT_EQ(queue_.Pop(), queue_.Find(pod->uid()));
    return pod;
  }
  // Brings a parked or backing off pod back and pops it.
  void PopAgain(std::string_view uid) {
    queue_.Activate(uid);
    EXPECT_EQ(queue_.Pop(), queue_.Find(uid));
  }

  TestObjects objects_;
  TestClock clock_;
  EmptyQueuePolicy policy_;
  ArrivalOrder order_;
  SchedulingQueue queue_{policy_, order_, clock_, {}};
  RecordingClient client_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_QUEUE_PARTS_H_

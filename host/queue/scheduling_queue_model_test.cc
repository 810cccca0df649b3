// Compares the scheduling queue with its model after every step of random operations.
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/hash.h"
#include "host/base/time_units.h"
#include "host/queue/scheduling_queue.h"
#include "host/queue/test_queue.h"
#include "host/queue/test_queue_model.h"

namespace berth::host {
namespace {

// Applies the same operations to the queue and the model, and compares them.
class QueueWithModel {
 public:
  QueueWithModel(uint32_t seed, const SchedulingQueue::Options& options, bool has_lanes)
      : random_(seed), test_(ModelTable(), options), model_(ModelTable(), options, now_ns_) {
    test_.policy.hint = [this](const Interest& interest, const berth_queued& queued,
                               const berth_event& event) {
      const auto labels = Elements<berth_id_pair>(queued.pod->meta->labels);
      return HintResult(interest, std::string(Text(queued.pod->meta->name)),
                        std::string(test_.objects.interner().Text(labels.front().value)),
                        {event.resource, event.actions, std::string(TestPolicy::NameOf(event))});
    };
    if (has_lanes) UseLanes();
  }

  void Step() {
    const std::string name = "p" + std::to_string(Below(12));
    const uint32_t what = Below(100);
    if (what < 12) {
      AddOrUpdate(name);
    } else if (what < 17) {
      test_.queue->Remove("uid-" + name);
      model_.Remove(name);
    } else if (what < 40) {
      Pop();
    } else if (what < 62) {
      EndAttempt();
    } else if (what < 80) {
      SendEvent();
    } else if (what < 84) {
      SendWildcardEvent(name);
    } else if (what < 88) {
      test_.queue->Activate("uid-" + name);
      model_.Activate(name);
    } else if (what < 93) {
      ChangeGate(name);
    } else {
      AdvanceTime();
    }
    Compare();
  }

 private:
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }
  bool OneIn(uint32_t n) { return Below(n) == 0; }

  void UseLanes() {
    test_.order.lane = [this](const berth_queued& queued) {
      const auto labels = Elements<berth_id_pair>(queued.pod->meta->labels);
      return ModelLane(std::string(test_.objects.interner().Text(labels.front().value)));
    };
    test_.order.next = [this](std::span<const berth_lane> lanes) {
      return ModelNextLane(taken_++, lanes.size());
    };
    test_.queue->PolicyChanged();
    model_.has_lanes = true;
  }

  PodRef Decode(const ModelPod& pod) {
    return test_.objects.Pod(
        {.name = pod.name,
         .spec = "\"priority\":" + std::to_string(pod.priority),
         .meta = R"("labels":{"v":")" + pod.label + R"("},"annotations":{"n":")" +
                 std::to_string(pod.touches) + "\"}",
         .status = pod.nominated.empty() ? "" : R"("nominatedNodeName":")" + pod.nominated + '"'});
  }
  void AddOrUpdate(const std::string& name) {
    ModelPod pod;
    pod.name = name;
    pod.priority = static_cast<int32_t>(HashBytes(name) % 3);
    const auto known = model_.pods.find(name);
    if (known != model_.pods.end()) {
      pod.touches = known->second.touches + 1;
      pod.label = known->second.label;
      pod.nominated = known->second.nominated;
    }
    if (known == model_.pods.end() || OneIn(2)) pod.label = "l" + std::to_string(Below(3));
    if (OneIn(3)) pod.nominated = OneIn(2) ? "" : "n" + std::to_string(Below(2));
    test_.queue->Update(Decode(pod));
    model_.Update(pod);
  }

  void Pop() {
    const QueuedEntity* entity = test_.queue->Pop();
    ASSERT_EQ(entity == nullptr ? "" : std::string(entity->pod->name()), model_.Pop());
  }

  void EndAttempt() {
    std::vector<std::string> in_flight;
    for (const auto& [name, pod] : model_.pods) {
      if (pod.place == QueuePlace::kInFlight) in_flight.push_back(name);
    }
    if (in_flight.empty()) return;
    const std::string name = in_flight[Below(static_cast<uint32_t>(in_flight.size()))];
    const std::string uid = "uid-" + name;
    const uint32_t how = Below(10);
    if (how == 0) {
      test_.queue->StopRecording(uid);
      model_.pods.at(name).is_recording = false;
    } else if (how == 1) {
      test_.queue->Done(uid);
      model_.Done(name);
    } else {
      Rejection rejection;
      for (PluginId plugin = 1; plugin <= 8 && how > 3; ++plugin) {
        if (OneIn(5)) rejection.plugins.push_back(plugin);
        if (OneIn(12)) rejection.pending.push_back(plugin);
      }
      test_.queue->Return(uid, rejection);
      model_.Return(name, {rejection.plugins.begin(), rejection.plugins.end()},
                    {rejection.pending.begin(), rejection.pending.end()});
    }
  }

  void SendEvent() {
    const std::string object = "o" + std::to_string(Below(5));
    const QueueEvent events[] = {
        test_.NodeEvent(object),
        test_.NodeEvent(object, BERTH_ACTION_UPDATE_NODE_LABEL),
        test_.NodeEvent(object, BERTH_ACTION_UPDATE_NODE_TAINT),
        test_.PodEvent(BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE, object),
        test_.PodEvent(BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_UPDATE, object),
        test_.PodEvent(BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_ACTION_ADD, object),
        test_.ThingEvent(object),
    };
    const QueueEvent& event = events[Below(std::size(events))];
    const ModelEvent what{event.resource, event.action, object};
    if (OneIn(3)) {
      const auto priority = static_cast<int32_t>(Below(3));
      test_.queue->OnEvent(event, [priority](const QueuedEntity& entity) {
        return entity.pod->view().priority <= priority;
      });
      model_.OnEvent(what, [priority](const ModelPod& pod) { return pod.priority <= priority; });
    } else {
      test_.queue->OnEvent(event);
      model_.OnEvent(what, [](const ModelPod&) { return true; });
    }
  }

  void SendWildcardEvent(const std::string& name) {
    QueueEvent event;
    const bool is_for_one = !OneIn(4);
    if (is_for_one) event.after = test_.objects.Pod({.name = name});
    test_.queue->OnEvent(event);
    model_.OnEvent({}, [&](const ModelPod& pod) { return !is_for_one || pod.name == name; });
  }

  void ChangeGate(const std::string& name) {
    test_.policy.gated_by.erase(name);
    model_.gated_by.erase(name);
    if (!OneIn(3)) return;
    model_.gated_by[name] = test_.policy.gated_by[name] = 1 + Below(8);
  }

  void AdvanceTime() {
    const int64_t spans[] = {1, kSecond / 3, kSecond, 7 * kSecond, 31 * kSecond, 200 * kSecond};
    test_.clock.Advance(spans[Below(std::size(spans))]);
    if (OneIn(4)) {  // Advance exactly to the next tick, or to one nanosecond before it.
      const auto next = test_.queue->NextTickNs();
      const int64_t early = Below(2);
      if (next.has_value() && *next - early > test_.clock.NowNs()) {
        test_.clock.AdvanceTo(*next - early);
      }
    }
    now_ns_ = test_.clock.NowNs();
    const auto next = test_.queue->NextTickNs();
    if (OneIn(4)) return;
    const std::string before = test_.Places();
    const size_t asked = test_.policy.pre_enqueue_calls.size();
    test_.queue->Tick();
    model_.Tick();
    const bool changed = test_.Places() != before || test_.policy.pre_enqueue_calls.size() != asked;
    ASSERT_EQ(changed, next.has_value() && *next <= now_ns_) << "NextTickNs() and Tick() disagree";
  }

  void Compare() {
    test_.queue->CheckInvariants();
    ASSERT_EQ(test_.queue->size(), model_.pods.size());
    for (const auto& [name, pod] : model_.pods) {
      SCOPED_TRACE(name);
      const QueuedEntity* entity = test_.queue->Find("uid-" + name);
      ASSERT_NE(entity, nullptr);
      ASSERT_EQ(PlaceName(entity->place), PlaceName(pod.place));
      ASSERT_EQ(entity->attempts, pod.attempts);
      ASSERT_EQ(entity->rejected_count, pod.rejected);
      ASSERT_EQ(entity->error_count, pod.errors);
      ASSERT_EQ(entity->queued_ns, pod.queued_ns);
      ASSERT_EQ(entity->first_attempt_ns, pod.first_ns);
      ASSERT_EQ(entity->backoff_until_ns, QueueModel::IsBackingOff(pod) ? model_.Until(pod) : 0);
      ASSERT_EQ(entity->rejection().plugins,
                std::vector<PluginId>(pod.plugins.begin(), pod.plugins.end()));
      ASSERT_EQ(entity->rejection().pending,
                std::vector<PluginId>(pod.pending.begin(), pod.pending.end()));
      ASSERT_EQ(entity->gate != nullptr, pod.gate.has_value());
      ASSERT_EQ(entity->was_flushed, pod.was_flushed);
    }
    const Nominator& nominator = test_.queue->nominator();
    ASSERT_EQ(nominator.size(), model_.nominations.size());
    for (const auto& [name, node] : model_.nominations) {
      ASSERT_EQ(nominator.NodeOf("uid-" + name), node);
    }
  }

  std::mt19937 random_;
  TestQueue test_;
  int64_t now_ns_ = test_.clock.NowNs();
  uint64_t taken_ = 0;  // The number of calls of NextLane().
  QueueModel model_;
};

struct ModelCase {
  const char* name;
  SchedulingQueue::Options options;
  bool has_lanes = false;
};

class SchedulingQueueModelTest : public ::testing::TestWithParam<ModelCase> {};

INSTANTIATE_TEST_SUITE_P(
    Options, SchedulingQueueModelTest,
    ::testing::Values(ModelCase{"Default", {}},
                      ModelCase{"NoPopFromBackoff", {.pop_from_backoff = false}},
                      ModelCase{"NoBackoff", {.max_backoff_ns = 0}},
                      ModelCase{"ShortLog", {.max_logged_events = 3}},
                      ModelCase{"NoLog", {.max_logged_events = 0}},
                      ModelCase{"LongBackoff",
                                {.initial_backoff_ns = 150 * kSecond,
                                 .max_backoff_ns = 1000 * kSecond,
                                 .flush_after_ns = 60 * kSecond}},
                      ModelCase{"Lanes", {}, true},
                      ModelCase{"LanesAndNoPopFromBackoff", {.pop_from_backoff = false}, true}),
    [](const auto& of) { return std::string(of.param.name); });

// In a debug build, perhaps with a sanitizer, a step takes ten times as long.
#ifdef NDEBUG
constexpr uint32_t kSeeds = 8;
#else
constexpr uint32_t kSeeds = 2;
#endif

TEST_P(SchedulingQueueModelTest, AgreesWithTheModelAfterEveryStep) {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueueWithModel both(seed, GetParam().options, GetParam().has_lanes);
    for (uint32_t step = 0; step < 1500; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      both.Step();
      ASSERT_FALSE(::testing::Test::HasFatalFailure());
    }
  }
}

}  // namespace
}  // namespace berth::host

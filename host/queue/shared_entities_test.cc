// Pods that share an entity, which a plugin of the point Entity names.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/active_queue.h"
#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The pods whose names begin with the same letter share an entity, except those with "s", which
// stand alone.
std::string FirstLetter(const Pod& pod) {
  const std::string letter(pod.name().substr(0, 1));
  return letter == "s" ? "" : letter;
}

void UseFirstLetters(TestQueue& test) {
  test.order.shared = FirstLetter;
  test.queue->PolicyChanged();
}

// --- runs ----------------------------------------------------------------------------------------

struct Script {
  const char* description;
  const char* script;
};

constexpr Script kScripts[] = {
    {"two entities do not interleave",
     "add a1; add b1; add a2; add b2; add a3;"
     "pop a1; pop a2; pop a3; pop b1; pop b2; pop -"},
    {"QueueSort orders the pods of an entity, and the entities by their first pods",
     "add a1 1; add b1 5; add a2 9; add b2 7; add a3 5;"
     "pop a2; pop a3; pop a1; pop b2; pop b1"},
    {"a pod that stands alone begins no run",
     "add s1; add a1; add s2; add a2; pop s1; pop a1; pop a2; pop s2"},
    {"pods that stand alone share nothing", "add s1 9; add a1 5; add s2 1; pop s1; pop a1; pop s2"},
    {"a pod that enters during the run belongs to it",
     "add a1; add b1; pop a1; add a2; pop a2; add a3; pop a3; pop b1; add a4; add b2; pop b2; pop "
     "a4"},
    {"a higher priority waits for the end of the run",
     "add a1 5; add a2 1; pop a1; add b1 9; pop a2; pop b1"},
    {"the run ends when no pod is active", "add a1; pop a1; pop -; add b1; add a2; pop b1; pop a2"},
    {"the run ends when another pod is taken",
     "add a1; add b1; pop a1; pop b1; add c1; add a2; pop c1; pop a2"},
    {"a pod that failed and is active again waits for its turn",
     "add a1; add a2; add b1; add a3; pop a1; return a1 5; wait 0.5; activate a1;"
     "pop a2; pop a3; pop b1; pop a1"},
    {"a pod that was tried in an earlier run belongs to the next one",
     "add a1; pop a1; return a1 5; add b1; pop b1; pop -; add a2 9; add b2; activate a1;"
     "pop a2; pop a1; pop b2"},
    {"a retried pod begins a run of its own",
     "add a1; add a2; pop a1; return a1 5; activate a1; pop a2; return a2 5; activate a2; add b1;"
     "pop a1; pop a2; pop b1"},
    {"pods in backoff are not waited for",
     "add a1; add a2; pop a1; pop a2; return a2 1; add b1; add b2; node helps-1; pop b1; pop b2;"
     "wait 2; add a3; pop a2; pop a3"},
    {"pods that are parked are not waited for",
     "add a1; add b1; add a2; pop a1; return a1 1; pop a2; return a2 1; pop b1; pop -"},
    {"gated pods are not waited for", "hold a2 4; add a1; add a2; add b1; pop a1; pop b1; pop -"},
    {"a failure leaves the others active",
     "add a1; add a2; add b1; pop a1; fail a1; pop a2; pop b1"},
    {"a pod that is taken from the backoff begins no run",
     "add a1; pop a1; return a1 1; node helps-1; pop a1; add b1; add a2; pop b1; pop a2"},
    {"a removed pod leaves its entity",
     "add a1; add b1; add a2; add a3; pop a1; remove a2; pop a3; pop b1; pop -"},
    {"the first pod of the next run may be removed",
     "add b1; add a1; add b2; add a2; remove b1; pop a1; pop a2; pop b2"},
    {"a pod that is gated during the run waits",
     "add a1; add a2; add b1; pop a1; hold a2 4; touch a2; pop a2; pop b1"},
};

TEST(SharedEntities, LeaveTheQueueOneAfterAnother) {
  for (const bool uses_key : {true, false}) {
    for (const Script& script : kScripts) {
      SCOPED_TRACE(std::string(script.description) + (uses_key ? " (Key)" : " (Less)"));
      TestQueue test;
      test.order.uses_key = uses_key;
      UseFirstLetters(test);
      test.Run(script.script);
    }
  }
}

TEST(SharedEntities, AreNotAskedForWithoutPlugin) {
  TestQueue test;
  test.Run("add a1; add b1; add a2; pop a1; pop b1; pop a2");
  EXPECT_THAT(test.order.asked, IsEmpty());
}

TEST(SharedEntities, AreAskedForWhenActiveAndWhenUpdated) {
  TestQueue test;
  UseFirstLetters(test);
  test.Run("hold a2 4; add a1; add a2");
  EXPECT_THAT(test.order.asked, ElementsAre("a1"));
  test.Run("touch a1; release a2; touch a2");
  EXPECT_THAT(test.order.asked, ElementsAre("a1", "a1", "a2"));
  test.Run("pop a1; touch a1; return a1 1");
  EXPECT_THAT(test.order.asked, ElementsAre("a1", "a1", "a2"));
  test.Run("activate a1");
  EXPECT_THAT(test.order.asked, ElementsAre("a1", "a1", "a2", "a1"));
}

// A new version of a pod may share another entity.
TEST(SharedEntities, UpdatedPodJoinsAndLeavesTheRun) {
  std::map<std::string, std::string, std::less<>> names;
  const auto name_of = [&names](const Pod& pod) {
    const auto found = names.find(pod.name());
    return found != names.end() ? found->second : FirstLetter(pod);
  };
  TestQueue test;
  test.order.shared = name_of;
  test.queue->PolicyChanged();
  test.Run("add a1; add b1; add c1; add a2; add c2; pop a1");
  names = {{"a2", "b"}, {"c2", "a"}};
  test.Run("touch a2; touch c2; pop c2; pop b1; pop a2; pop c1; pop -");
}

TEST(SharedEntities, OfTwoNamespacesAreDifferent) {
  TestQueue test;
  UseFirstLetters(test);
  test.queue->Add(test.objects.Pod({.name = "a1", .ns = "one"}));
  test.queue->Add(test.objects.Pod({.name = "a2", .ns = "two"}));
  test.queue->Add(test.objects.Pod({.name = "a3", .ns = "one"}));
  test.Run("pop a1; pop a3; pop a2");
}

// The pods of a PodGroup have one entity already.
TEST(SharedEntities, AreNotAskedForOfGroups) {
  TestQueue test(TestQueue::DefaultTable(), {.groups = true});
  UseFirstLetters(test);
  test.Run("join a1 g; add b1; join a2 g; add a3; add b2; pop g(a1,a2); pop b1; pop b2; pop a3");
  EXPECT_THAT(test.order.asked, ElementsAre("b1", "a3", "b2"));
}

TEST(SharedEntities, BeginAndEndWithTheirPlugin) {
  TestQueue test;
  test.Run("add a1; add b1; add a2; add b2; add a3");
  UseFirstLetters(test);
  test.Run("pop a1; pop a2; pop a3");
  test.order.shared = nullptr;
  test.queue->PolicyChanged();
  test.Run("add a4; pop b1; add b3; pop b2; pop a4; pop b3");
}

// A reload ends the run: the next pod is the first one of the order.
TEST(SharedEntities, ReloadEndsTheRun) {
  TestQueue test;
  UseFirstLetters(test);
  test.Run("add a1; add b1; add a2; add b2; pop a1");
  test.queue->PolicyChanged();
  test.Run("pop b1; pop b2; pop a2");
}

// --- lanes ---------------------------------------------------------------------------------------

// Lanes take turns. In each of them, the entity is followed for itself.
TEST(SharedEntities, AreFollowedWithinTheirLane) {
  TestQueue test;
  uint64_t turns = 0;
  // The lane of a pod is the last digit of its name.
  test.order.lane = [](const berth_queued& queued) {
    return static_cast<uint64_t>(Text(queued.pod->meta->name).back() - '0');
  };
  test.order.next = [&turns](std::span<const berth_lane> lanes) { return turns++ % lanes.size(); };
  UseFirstLetters(test);
  test.Run("add a1; add b1; add aa1; add bb1; add b2; add a2; add bb2; add aa2");
  test.Run("pop a1");
  EXPECT_THAT(test.order.offered, ElementsAre("1:4:a1", "2:4:b2"));
  test.Run("pop b2");
  EXPECT_THAT(test.order.offered, ElementsAre("1:3:aa1", "2:4:b2"));
  test.Run("pop aa1; pop bb2; pop b1; pop a2; pop bb1; pop aa2; pop -");
}

// --- model ---------------------------------------------------------------------------------------

// Compares the queue with a list that is searched before every access.
TEST(SharedEntities, RandomOperationsAgreeWithALinearSearch) {
  std::mt19937 random(5);
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  TestObjects objects;
  TestOrder order;
  order.shared = FirstLetter;
  ActiveQueue queue(order);
  std::deque<QueueEntry> entries;  // A deque, because entries must not move.
  std::vector<QueueEntry*> active;
  std::vector<QueueEntry*> taken;  // In the present run.
  std::string entity;
  uint64_t sequence = 0;
  const auto make = [&](QueueEntry& entry) {
    entry.entity.pod = objects.Pod({.name = std::string(1, "abcs"[below(4)]) + "x",
                                    .spec = "\"priority\":" + std::to_string(below(3))});
  };
  const auto rank = [&](const QueueEntry* entry) {
    const bool is_next = !entity.empty() && FirstLetter(*entry->entity.pod) == entity &&
                         std::ranges::find(taken, entry) == taken.end();
    return std::tuple(!is_next, -entry->entity.pod->view().priority, entry->sequence);
  };
  for (uint32_t step = 0; step < 4000; ++step) {
    const size_t what = below(10);
    if (what < 5 || active.empty()) {
      // A pod that was taken before may enter again.
      const bool is_again = !taken.empty() && below(3) == 0;
      QueueEntry& entry = is_again ? *taken[below(taken.size())] : entries.emplace_back();
      if (std::ranges::find(active, &entry) != active.end()) continue;
      if (!is_again) make(entry);
      entry.sequence = ++sequence;
      active.push_back(&entry);
      queue.Push(entry);
    } else if (what < 6) {
      QueueEntry& entry = *active[below(active.size())];
      make(entry);
      queue.Update(entry);
    } else {
      const auto next = std::ranges::min_element(active, {}, rank);
      QueueEntry& entry = **next;
      if (std::get<0>(rank(&entry))) {
        entity = FirstLetter(*entry.entity.pod);
        taken.clear();
      }
      taken.push_back(&entry);
      ASSERT_EQ(&queue.Next(), &entry) << step;
      queue.Remove(entry);
      active.erase(next);
    }
    queue.CheckInvariants();
  }
}

}  // namespace
}  // namespace berth::host

#include "host/contract/observations.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

// Returns observations of a plugin with Filter and Score for which nothing is missing.
Observations Complete() {
  Observations seen;
  for (Observations::Step* step : {&seen.filter, &seen.score}) {
    step->is_declared = true;
    step->has_dependence = true;
    step->is_called = true;
    step->differs_by_node = true;
  }
  seen.has_status = true;
  seen.can_reject = true;
  seen.has_rejected = true;
  seen.has_add_pod = true;
  seen.has_slots = true;
  seen.has_hint_parts = true;
  seen.hints = {BERTH_HINT_QUEUE, BERTH_HINT_SKIP};
  seen.has_called_services = true;
  seen.has_seen_what_if = true;
  return seen;
}

std::vector<std::string> PromisesOf(const std::vector<ContractGap>& gaps) {
  std::vector<std::string> promises;
  for (const ContractGap& gap : gaps) promises.push_back(gap.promise);
  return promises;
}

using Promises = std::vector<std::string>;

testing::FilterResult ResultOf(std::map<std::string, testing::Answer> nodes) {
  testing::FilterResult result;
  result.nodes = std::move(nodes);
  return result;
}

testing::FilterResult RejectedByPreFilter() {
  testing::FilterResult result;
  result.pre_filter = testing::Unschedulable("x");
  return result;
}

const struct {
  const char* name;
  void (*change)(Observations& seen);
  Promises promises;
  const char* text;
} kCases[] = {
    {"everything was seen", [](Observations&) {}, {}, ""},
    {"no service was called",
     [](Observations& seen) { seen.has_called_services = false; },
     {"threads"},
     "called no service"},
    {"no rejection",
     [](Observations& seen) { seen.has_rejected = false; },
     {"codes"},
     "rejected no pod and no node"},
    {"no rejection, but none is possible",
     [](Observations& seen) { seen.has_rejected = seen.can_reject = false; },
     {},
     ""},
    {"Filter returns the same for all nodes, but not for all pods",
     [](Observations& seen) {
       seen.filter.differs_by_node = false;
       seen.filter.results = {"a", "b"};
     },
     {"blocks", "concurrency"},
     "Filter returned the same result for every node"},
    {"Score returns the same for everything",
     [](Observations& seen) {
       seen.score.differs_by_node = false;
       seen.score.results = {"a"};
     },
     {"blocks", "concurrency", "dependence"},
     "Score returned the same result for every node"},
    {"Score is serial",
     [](Observations& seen) { seen.score.is_serial = true; },
     {"concurrency"},
     "Score is declared SERIAL"},
    {"Filter is called for all nodes",
     [](Observations& seen) { seen.filter.is_whole = true; },
     {"blocks", "concurrency"},
     "Filter is called once for all nodes"},
    {"Score was not called",
     [](Observations& seen) { seen.score.is_called = false; },
     {"outputs", "codes", "blocks", "concurrency", "repeat", "dependence", "slots", "leaks",
      "faults", "deadlines", "survives"},
     "Score was never called"},
    {"no pod changes a result",
     [](Observations& seen) { seen.has_seen_what_if = false; },
     {"whatif"},
     "No pod that was added"},
    {"no AddPod",
     [](Observations& seen) { seen.has_seen_what_if = seen.has_add_pod = false; },
     {"whatif"},
     "registers no AddPod"},
    {"an absent column",
     [](Observations& seen) { seen.absent_columns = {"label:rack"}; },
     {"blocks", "whatif", "dependence"},
     "the column label:rack"},
    {"no dependence",
     [](Observations& seen) { seen.filter.has_dependence = seen.score.has_dependence = false; },
     {"dependence"},
     "declares a dependence"},
    {"no hint with parts",
     [](Observations& seen) { seen.has_hint_parts = false; },
     {"hints"},
     "needs a hint"},
    {"one answer of the hint",
     [](Observations& seen) { seen.hints = {BERTH_HINT_QUEUE}; },
     {"hints"},
     "the same for every pod and event"},
    {"no call of a hint with parts",
     [](Observations& seen) { seen.hints = {}; },
     {"hints"},
     "No hint that declares parts of the pod was called"},
    {"no cycle state",
     [](Observations& seen) { seen.has_slots = false; },
     {"slots"},
     "cycle state"},
    {"a sanitizer",
     [](Observations& seen) { seen.can_measure_heap = false; },
     {"leaks"},
     "sanitizer"},
    {"only QueueSort with lanes",
     [](Observations& seen) {
       seen = Observations();
       seen.has_queue_sort = seen.has_lanes = true;
     },
     {"threads", "outputs", "blocks", "concurrency", "whatif", "dependence", "hints", "slots"},
     "called no service"},
    {"only QueueSort",
     [](Observations& seen) {
       seen = Observations();
       seen.has_queue_sort = true;
     },
     {"threads", "outputs", "codes", "blocks", "concurrency", "whatif", "dependence", "hints",
      "slots"},
     "called no service"},
};

TEST(ObservationsTest, NamesWhatWasNotSeen) {
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    Observations seen = Complete();
    c.change(seen);
    const std::vector<ContractGap> gaps = seen.Gaps();
    EXPECT_EQ(PromisesOf(gaps), c.promises);
    if (!gaps.empty()) {
      EXPECT_NE(gaps.front().text.find(c.text), std::string::npos) << gaps.front().text;
    }
    for (const ContractGap& gap : gaps) EXPECT_TRUE(gap.text.ends_with('.')) << gap.text;
  }
}

TEST(ObservationsTest, ComparesResults) {
  const struct {
    const char* name;
    std::vector<testing::FilterResult> results;
    bool is_called;
    bool differs_by_node;
    bool differs;
    bool has_rejected;
  } cases[] = {
      {"no result", {}, false, false, false, false},
      {"PreFilter rejects", {RejectedByPreFilter()}, false, false, false, true},
      {"PreFilter excludes all nodes",
       {ResultOf({{"a", testing::Unresolvable(testing::kLeftOutByPreFilter)}})},
       false,
       false,
       false,
       false},
      {"PreFilter excludes one node, and Filter accepts the other",
       {ResultOf({{"a", testing::Unresolvable(testing::kLeftOutByPreFilter)}, {"b", {}}})},
       true,
       false,
       false,
       false},
      {"equal nodes", {ResultOf({{"a", {}}, {"b", {}}})}, true, false, false, false},
      {"different nodes",
       {ResultOf({{"a", {}}, {"b", testing::Unschedulable("x")}})},
       true,
       true,
       true,
       true},
      {"different pods",
       {ResultOf({{"a", {}}}), ResultOf({{"a", testing::Unschedulable("x")}})},
       true,
       false,
       true,
       true},
      {"equal pods", {ResultOf({{"a", {}}}), ResultOf({{"a", {}}})}, true, false, false, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Observations seen;
    seen.filter.is_declared = true;
    for (const testing::FilterResult& result : c.results) seen.AddFilter(result);
    EXPECT_EQ(seen.filter.is_called, c.is_called);
    EXPECT_EQ(seen.filter.differs_by_node, c.differs_by_node);
    EXPECT_EQ(seen.filter.differs(), c.differs);
    EXPECT_EQ(seen.has_rejected, c.has_rejected);
  }
}

}  // namespace
}  // namespace berth::host

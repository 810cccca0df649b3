#include "choice.h"

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "refusals.h"

namespace preemption {
namespace {

using berth::testing::Ids;
using berth::testing::MakePod;
using berth::testing::PodHandle;

constexpr int64_t kNow = 1'000;

// A victim: its priority and its start time, 0 for a pod that has not started.
struct VictimSpec {
  int32_t priority;
  int64_t started_ns;
};

class Choice {
 public:
  Candidate Make(uint32_t violations, std::initializer_list<VictimSpec> victims) {
    Candidate candidate{.row = 0, .victims = {}, .violations = violations};
    for (const VictimSpec& victim : victims) {
      const std::string name = "v" + std::to_string(pods_.size());
      pods_.push_back(std::make_unique<PodHandle>(
          MakePod(name).Priority(victim.priority).StartedNs(victim.started_ns), ids_));
      candidate.victims.emplace_back(*pods_.back()->get(), kNow);
    }
    return candidate;
  }
  // Returns "first", "second", or "equal".
  static std::string Better(const Candidate& first, const Candidate& second, bool work_lost) {
    const std::optional<int64_t> now = work_lost ? std::optional(kNow) : std::nullopt;
    const bool is_first = CriteriaOf(first, now).IsBetterThan(CriteriaOf(second, now));
    const bool is_second = CriteriaOf(second, now).IsBetterThan(CriteriaOf(first, now));
    EXPECT_FALSE(is_first && is_second);
    return is_first ? "first" : is_second ? "second" : "equal";
  }

 private:
  Ids ids_;
  std::vector<std::unique_ptr<PodHandle>> pods_;
};

TEST(Choice, FirstCriterionThatDiffersDecides) {
  Choice choice;
  const struct {
    const char* name;
    Candidate first;
    Candidate second;
    const char* want;
  } cases[] = {
      {"fewer violations, whatever the priorities", choice.Make(0, {{9, 1}, {9, 1}}),
       choice.Make(1, {{1, 9}}), "first"},
      {"lower highest priority, whatever the sum", choice.Make(0, {{2, 1}, {2, 1}, {2, 1}}),
       choice.Make(0, {{3, 9}}), "first"},
      {"smaller sum, whatever the start", choice.Make(0, {{3, 1}, {1, 1}}),
       choice.Make(0, {{3, 9}, {2, 9}}), "first"},
      {"a negative priority still counts as a pod", choice.Make(0, {{0, 1}, {-10, 1}}),
       choice.Make(0, {{0, 1}}), "second"},
      {"the lowest priority adds nothing to the sum, so the number decides",
       choice.Make(0, {{0, 1}, {INT32_MIN, 1}}), choice.Make(0, {{0, 1}}), "second"},
      {"later start of the most important victims", choice.Make(0, {{3, 5}}),
       choice.Make(0, {{3, 6}}), "second"},
      {"of several with the highest priority, the earliest start counts",
       choice.Make(0, {{3, 5}, {3, 9}}), choice.Make(0, {{3, 6}, {3, 7}}), "second"},
      {"the start of less important victims does not count", choice.Make(0, {{3, 5}, {2, 1}}),
       choice.Make(0, {{3, 5}, {2, 9}}), "equal"},
      {"a victim that has not started counts as started now", choice.Make(0, {{3, 0}}),
       choice.Make(0, {{3, kNow - 1}}), "first"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Choice::Better(c.first, c.second, false), c.want);
  }
}

TEST(Choice, LeastWorkLostDecidesLast) {
  Choice choice;
  const Candidate old = choice.Make(0, {{3, 500}, {2, 100}});
  const Candidate young = choice.Make(0, {{3, 500}, {2, 900}});
  EXPECT_EQ(Choice::Better(old, young, false), "equal");
  EXPECT_EQ(Choice::Better(old, young, true), "second");
  EXPECT_EQ(Choice::Better(choice.Make(0, {{3, 501}, {2, 100}}), young, true), "first");
}

TEST(Choice, FirstOfEqualCandidatesIsSelected) {
  Choice choice;
  std::vector<Candidate> candidates;
  candidates.push_back(choice.Make(1, {{1, 1}}));
  candidates.push_back(choice.Make(0, {{1, 1}}));
  candidates.push_back(choice.Make(0, {{1, 1}}));
  EXPECT_EQ(SelectBest(candidates, std::nullopt), 1U);
}

TEST(Unit, MoreImportantUnitsComeFirst) {
  Ids ids;
  const PodHandle high(MakePod("z").Priority(2).StartedNs(9), ids);
  const PodHandle early(MakePod("y").Priority(1).StartedNs(1), ids);
  const PodHandle late(MakePod("x").Priority(1).StartedNs(2), ids);
  const PodHandle pending(MakePod("a").Priority(1), ids);
  const PodHandle other(MakePod("b").Priority(1), ids);
  const PodHandle* const order[] = {&high, &early, &late, &pending, &other};
  for (std::size_t i = 0; i < std::size(order); ++i) {
    for (std::size_t j = 0; j < std::size(order); ++j) {
      EXPECT_EQ(Unit::IsMoreImportant(Unit(*order[i]->get(), kNow), Unit(*order[j]->get(), kNow)),
                i < j)
          << i << " " << j;
    }
  }
}

TEST(Refusals, CountsReasonsAndSortsThemAsTexts) {
  Refusals refusals;
  EXPECT_EQ(refusals.Text(0), "0/0 nodes are available:");
  refusals.Add("b");
  refusals.Add("a", 10);
  refusals.Add("c", 0);
  refusals.Add("b");
  EXPECT_EQ(refusals.Text(12), "0/12 nodes are available: 10 a, 2 b.");
}

}  // namespace
}  // namespace preemption

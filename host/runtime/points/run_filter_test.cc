// RunFilter on nodes to which other pods are nominated.
#include "host/runtime/points/run_filter.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/nominator.h"
#include "tests/harness/run_filter_fixture.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(RunFilterTest, WithoutNominationsEveryNodeIsFilteredOnce) {
  EXPECT_EQ(Outcome(Begin(), nominator_), "n0 fits, n1 fits, n2 fits");
  EXPECT_THAT(Take(), ElementsAre("n0 0", "n1 0", "n2 0"));
}

// A plugin in C may write `*out->codes++ = ...`.
TEST_F(RunFilterTest, PluginThatMovesPointersHarmsNoOther) {
  for (int i = 3; i < 600; ++i) {
    stage_.cache().SetNode(stage_.objects().Node({.name = "n" + std::to_string(i)}));
  }
  a_->filter = [](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                  berth_status*) {
    for (uint32_t i = 0; i < block.count; ++i) {
      *out.codes++ = BERTH_SUCCESS;
      *out.reasons++ = 0;
    }
    return BERTH_SUCCESS;
  };
  Puppet& b = stage_.Add("puppet.B", {Point::kFilter});
  b.reasons = {AsStr("odd")};
  b.filter = [](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                berth_status*) {
    ForEachSelected(block, [&](uint32_t i) {
      out.codes[i] = block.rows[i] % 2 == 0 ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
      out.reasons[i] = 1;
    });
    return BERTH_SUCCESS;
  };
  Attempt& attempt = Begin();
  const Filtered filtered = Filter(attempt);
  EXPECT_TRUE(filtered.status.ok());
  EXPECT_EQ(filtered.feasible->size(), 300U);
  EXPECT_TRUE(filtered.feasible->Contains(598));
  EXPECT_FALSE(filtered.feasible->Contains(599));
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(RunFilterTest, WhichNominatedPodsCount) {
  const struct {
    const char* description;
    const char* name;
    int priority;
    int own_priority;
    bool counts;
  } kTable[] = {
      {"equal priority", "q", 5, 5, true},
      {"lower by one", "q", 4, 5, false},
      {"higher by one", "q", 6, 5, true},
      {"both negative, lower by one", "q", -6, -5, false},
      {"the highest priority against the lowest", "q", INT32_MAX, INT32_MIN, true},
      {"an older version of the same pod", "p", 5, 5, false},
      {"the same pod with a higher priority before", "p", 6, 5, false},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.description);
    Nominator nominator;
    nominator.Add(MakePod(row.name, row.priority), "n1");
    EXPECT_EQ(Outcome(Begin(MakePod("p", row.own_priority)), nominator),
              row.counts ? "n0 fits, n1 puppet.A Unschedulable: full, n2 fits"
                         : "n0 fits, n1 fits, n2 fits");
  }
}

TEST_F(RunFilterTest, AddsOnlyNominatedPodsThatCount) {
  limit_ = 3;
  nominator_.Add(MakePod("low", -1), "n1");
  nominator_.Add(MakePod("p"), "n1");
  nominator_.Add(MakePod("q"), "n1");
  nominator_.Add(MakePod("high", 9), "n1");
  EXPECT_EQ(Outcome(Begin(), nominator_), "n0 fits, n1 fits, n2 fits");
  EXPECT_THAT(Take(), ElementsAre("n1 what-if 2", "n0 0", "n1 0", "n2 0"));
}

TEST_F(RunFilterTest, RejectionWithNominatedPodsIsFinal) {
  nominator_.Add(MakePod("q"), "n2");
  nominator_.Add(MakePod("r"), "n0");
  EXPECT_EQ(Outcome(Begin(), nominator_),
            "n0 puppet.A Unschedulable: full, n1 fits, n2 puppet.A Unschedulable: full");
  EXPECT_THAT(Take(), ElementsAre("n0 what-if 1", "n2 what-if 1", "n1 0"))
      << "in the order of rows";
}

TEST_F(RunFilterTest, DoesNotFilterAgainWithoutSurvivors) {
  for (const char* node : {"n0", "n1", "n2"}) nominator_.Add(MakePod(node), node);
  EXPECT_EQ(Outcome(Begin(), nominator_),
            "n0 puppet.A Unschedulable: full, n1 puppet.A Unschedulable: full, "
            "n2 puppet.A Unschedulable: full");
  EXPECT_THAT(Take(), ElementsAre("n0 what-if 1", "n1 what-if 1", "n2 what-if 1"));
}

TEST_F(RunFilterTest, NodeMustPassWithAndWithoutNominatedPods) {
  // The opposite filter: it rejects a node without other pods.
  a_->filter = [](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                  berth_status*) {
    ForEachSelected(block, [&](uint32_t i) {
      out.codes[i] = block.pods[i].count > 0 ? BERTH_SUCCESS : BERTH_PENDING;
      out.reasons[i] = 1;
    });
    return BERTH_SUCCESS;
  };
  ASSERT_TRUE(stage_.cache().AddPod(stage_.objects().Pod({.name = "x", .node = "n2"})).ok());
  nominator_.Add(MakePod("q"), "n1");
  EXPECT_EQ(Outcome(Begin(), nominator_),
            "n0 puppet.A Pending: full, n1 puppet.A Pending: full, n2 fits");
}

TEST_F(RunFilterTest, VerdictIsThatOfFirstPluginThatRejects) {
  Puppet& b = stage_.Add("puppet.B", {Point::kFilter});
  b.reasons = {AsStr("not at all"), AsStr("crowded")};
  b.filter = [](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                berth_status*) {
    ForEachSelected(block, [&](uint32_t i) {
      out.codes[i] =
          block.pods[i].count == 0 ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
      out.reasons[i] = 0b10;
    });
    return BERTH_SUCCESS;
  };
  limit_ = 2;
  nominator_.Add(MakePod("q"), "n0");
  nominator_.Add(MakePod("r"), "n1");
  nominator_.Add(MakePod("s"), "n1");
  EXPECT_EQ(Outcome(Begin(), nominator_),
            "n0 puppet.B UnschedulableAndUnresolvable: crowded, n1 puppet.A Unschedulable: full, "
            "n2 fits");
}

TEST_F(RunFilterTest, OnlyCandidatesAreEvaluated) {
  Attempt& attempt = Begin();
  nominator_.Add(MakePod("q"), "n1");
  nominator_.Add(MakePod("r"), "n2");
  nominator_.Add(MakePod("s"), "nowhere");
  Selection candidates;
  candidates.AssignRows(stage_.table(), std::vector<Row>{0, 2});
  EXPECT_EQ(Outcome(attempt, nominator_, &candidates), "n0 fits, n2 puppet.A Unschedulable: full");
  EXPECT_THAT(Take(), ElementsAre("n2 what-if 1", "n0 0"));
}

TEST_F(RunFilterTest, FindsNominatedRowsInEveryBlock) {
  for (int i = 3; i < 600; ++i) {
    stage_.cache().SetNode(stage_.objects().Node({.name = "n" + std::to_string(i)}));
  }
  for (const int row : {0, 255, 256, 511, 599}) {
    nominator_.Add(MakePod("q" + std::to_string(row)), "n" + std::to_string(row));
  }
  Attempt& attempt = Begin();
  EXPECT_TRUE(RunPreFilter(attempt).status.ok());
  const Filtered filtered = Filter(attempt);
  EXPECT_EQ(filtered.feasible->size(), 595U);
  for (const Row row : {0U, 255U, 256U, 511U, 599U}) {
    EXPECT_FALSE(filtered.feasible->Contains(row)) << row;
    EXPECT_EQ(filtered.VerdictOf(row).code, BERTH_UNSCHEDULABLE) << row;
  }
  EXPECT_EQ(Take().size(), 600U);
}

// --- errors --------------------------------------------------------------------------------------

TEST_F(RunFilterTest, AnErrorWithNominatedPodsFailsTheCycle) {
  a_->has_slot = true;
  ScriptedAnswer given{BERTH_ERROR, {"boom"}};
  a_->add_pod = [&given](const berth_cycle&, const berth_pod&, const berth_block&, uint32_t,
                         berth_status* status) { return Report(given, status); };
  int64_t slot = 1;
  a_->pre_filter = [&slot](const berth_cycle& cycle, const berth_nodes&, berth_pre_filter_out&,
                           berth_status*) {
    *static_cast<int64_t*>(cycle.slots[0]) = slot;
    return BERTH_SUCCESS;
  };
  nominator_.Add(MakePod("q"), "n1");
  EXPECT_EQ(Outcome(Begin(), nominator_),
            "Error: running AddPod on PreFilter plugin \"puppet.A\": boom");
  given = {};
  slot = -1;
  EXPECT_EQ(Outcome(Begin(), nominator_), "Error: plugin puppet.A could not clone its cycle state");
  slot = 1;
  a_->filter = [](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                  berth_status*) {
    const bool what_if = cycle.flags == BERTH_CYCLE_NOMINATED;
    ForEachSelected(block, [&](uint32_t i) {
      out.codes[i] = what_if ? BERTH_ERROR : BERTH_SUCCESS;
      out.reasons[i] = 1;
    });
    return BERTH_SUCCESS;
  };
  EXPECT_EQ(Outcome(Begin(), nominator_), "Error: running \"puppet.A\" filter plugin: full");
  nominator_.Remove("uid-q");
  EXPECT_EQ(Outcome(Begin(), nominator_), "n0 fits, n1 fits, n2 fits");
}

// --- random clusters -----------------------------------------------------------------------------

// The verdict of a node with nominated pods equals its verdict in a cluster in which those pods run
// there; if that is Success, it equals its verdict without them.
//
// Three plugins: one adds up requests (columns), one requires another pod on the node (pod lists),
// one limits the pods on all nodes of a zone (cycle state, AddPod).
class RunFilterRandomClusterTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  static constexpr size_t kNodes = 6;
  static constexpr size_t kZones = 2;
  static constexpr int64_t kZoneLimit = 5;

  RunFilterRandomClusterTest() {
    AddRoom();
    AddCompany();
    AddZoneLimit();
    stage_.Build();
    for (size_t i = 0; i < kNodes; ++i) {
      stage_.cache().SetNode(stage_.objects().Node(
          {.name = NodeName(i), .allocatable = "\"cpu\":\"" + Number(2, 4) + "\""}));
    }
  }

  static std::string NodeName(size_t i) { return "n" + std::to_string(i); }
  static int64_t ValueOf(const berth_block& block, size_t column, uint32_t index) {
    const berth_column& values = block.columns[column];
    return *reinterpret_cast<const int64_t*>(static_cast<const std::byte*>(values.data) +
                                             size_t{index} * values.stride);
  }
  static size_t ZoneOf(const berth_block& block, uint32_t index) {
    return static_cast<size_t>(NodeNameIn(block, index).back() - '0') % kZones;
  }
  static std::array<int32_t, kZones>& CountsOf(const berth_cycle& cycle) {
    static_assert(sizeof(std::array<int32_t, kZones>) == sizeof(int64_t));
    return *static_cast<std::array<int32_t, kZones>*>(cycle.slots[0]);
  }

  void AddRoom() {
    Puppet& room = stage_.Add("puppet.A", {Point::kFilter});
    room.reasons = {AsStr("no room")};
    room.columns = {"req.cpu", "alloc.cpu"};
    room.filter = [](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                     berth_status*) {
      ForEachSelected(block, [&](uint32_t i) {
        const int64_t free = ValueOf(block, 1, i) - ValueOf(block, 0, i);
        const bool fits = cycle.pod->request->milli_cpu <= free;
        out.codes[i] = fits ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
        out.reasons[i] = 1;
      });
      return BERTH_SUCCESS;
    };
  }
  void AddCompany() {
    Puppet& company = stage_.Add("puppet.B", {Point::kFilter});
    company.reasons = {AsStr("no company")};
    company.filter = [](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                        berth_status*) {
      ForEachSelected(block, [&](uint32_t i) {
        out.codes[i] = block.pods[i].count > 0 ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
        out.reasons[i] = 1;
      });
      return BERTH_SUCCESS;
    };
  }
  void AddZoneLimit() {
    Puppet& zone = stage_.Add("puppet.C", {Point::kPreFilter, Point::kFilter});
    zone.reasons = {AsStr("the zone is full")};
    zone.has_slot = true;
    zone.pre_filter = [](const berth_cycle& cycle, const berth_nodes& all, berth_pre_filter_out&,
                         berth_status*) {
      auto& counts = CountsOf(cycle) = {};
      for (uint32_t b = 0; b < all.n_blocks; ++b) {
        const berth_block& block = *all.block(&all, b);
        ForEachSelected(block, [&](uint32_t i) {
          counts[ZoneOf(block, i)] += static_cast<int32_t>(block.pods[i].count);
        });
      }
      return BERTH_SUCCESS;
    };
    zone.add_pod = [](const berth_cycle& cycle, const berth_pod&, const berth_block& block,
                      uint32_t index, berth_status*) {
      ++CountsOf(cycle)[ZoneOf(block, index)];
      return BERTH_SUCCESS;
    };
    zone.filter = [](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                     berth_status*) {
      ForEachSelected(block, [&](uint32_t i) {
        const bool fits = CountsOf(cycle)[ZoneOf(block, i)] < kZoneLimit;
        out.codes[i] = fits ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
        out.reasons[i] = 1;
      });
      return BERTH_SUCCESS;
    };
  }

  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  std::string Number(size_t low, size_t high) {
    return std::to_string(low + Below(high - low + 1));
  }
  PodRef RandomPod(const std::string& name, const std::string& node) {
    return stage_.objects().Pod({.name = name,
                                 .node = node,
                                 .requests = "\"cpu\":\"" + Number(0, 2) + '"',
                                 .spec = "\"priority\":" + Number(4, 6)});
  }

  // Returns the verdict of each node.
  std::vector<std::string> Verdicts(const PodRef& pod, const Nominator& nominator) {
    std::vector<std::string> verdicts;
    for (std::string_view text = outcome_ = Outcome(stage_.Begin(pod), nominator); !text.empty();) {
      const size_t end = text.find(", ");
      verdicts.emplace_back(text.substr(0, end));
      text = end == std::string_view::npos ? "" : text.substr(end + 2);
    }
    return verdicts;
  }

  std::mt19937 random_{GetParam()};
  Stage stage_;
  std::string outcome_;
};

TEST_P(RunFilterRandomClusterTest, VerdictsEqualThoseOfTheTwoClusters) {
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(
        stage_.cache().AddPod(RandomPod("r" + std::to_string(i), NodeName(Below(kNodes)))).ok());
  }
  Nominator nominator;
  const PodRef pod =
      stage_.objects().Pod({.name = "p", .requests = "\"cpu\":\"1\"", .spec = "\"priority\":5"});
  std::map<size_t, std::vector<PodRef>> nominated;
  for (size_t i = 0; i < 5; ++i) {
    const size_t node = Below(kNodes);
    const PodRef promised = i == 0 ? pod : RandomPod("q" + std::to_string(i), "");
    nominator.Add(promised, NodeName(node));
    nominated[node].push_back(promised);
  }

  const auto without = Verdicts(pod, Nominator());
  std::vector<std::string> expected = without;
  for (const auto& [node, pods] : nominated) {
    std::vector<PodRef> placed;
    for (const PodRef& promised : pods) {
      if (promised == pod || promised->view().priority < 5) continue;
      placed.push_back(WithNode(promised, stage_.table().arrays().nodes[node]->name, "2"));
      ASSERT_TRUE(stage_.cache().AddPod(placed.back()).ok());
    }
    const std::string with = Verdicts(pod, Nominator())[node];
    if (!with.ends_with(" fits")) expected[node] = with;
    for (const PodRef& each : placed) ASSERT_TRUE(stage_.cache().RemovePod(each->uid()).ok());
  }
  EXPECT_EQ(Verdicts(pod, nominator), expected);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RunFilterRandomClusterTest, ::testing::Range(0U, 300U));

}  // namespace
}  // namespace berth::host

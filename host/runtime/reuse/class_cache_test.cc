#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/runtime/reuse/reused_evaluation.h"
#include "tests/harness/class_cache_fixture.h"

namespace berth::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr PuppetDependence kOther{BERTH_DEPENDS_NODE_PODS | BERTH_DEPENDS_OTHER,
                                  BERTH_PART(LABELS)};

// --- rows ----------------------------------------------------------------------------------------

TEST_F(ClassCacheTest, NextPodAsksOnlyAboutChangedRows) {
  AddLimit("puppet.A", 2);
  AddScore("puppet.B", 50);
  EXPECT_EQ(Run("p"), "n0 50, n1 50, n2 50");
  EXPECT_THAT(Asked(), ElementsAre("A n0", "A n1", "A n2", "B n0", "B n1", "B n2"));
  EXPECT_EQ(Run("q"), "n0 50, n1 50, n2 50");
  EXPECT_THAT(Asked(), IsEmpty());
  Put("x", "n1");
  EXPECT_EQ(Run("r"), "n0 50, n1 49, n2 50");
  EXPECT_THAT(Asked(), ElementsAre("A n1", "B n1"));
  Put("y", "n1");
  EXPECT_EQ(Run("s"), "n0 50, n2 50");
  EXPECT_THAT(Asked(), ElementsAre("A n1")) << "A row that is not feasible is not scored.";
}

TEST_F(ClassCacheTest, DeclaredPartsDivideClasses) {
  AddLimit("puppet.A", 2);
  AddScore("puppet.B", 50);
  Run(MakePod("p", "x"));
  Asked();
  Run(MakePod("q", "y"));
  EXPECT_THAT(Asked(), IsSupersetOf({"A n0", "B n0"}));
  Run(MakePod("r", "x"));
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_EQ(cache_->class_count(), 2U);
}

TEST_F(ClassCacheTest, PodsThatDifferOnlyForScoreShareVerdicts) {
  AddLimit("puppet.A", 2, PuppetDependence{BERTH_DEPENDS_NODE_PODS, 0});
  AddScore("puppet.B", 50);
  Run(MakePod("p", "x"));
  Asked();
  Run(MakePod("q", "y"));
  EXPECT_THAT(Asked(), ElementsAre("B n0", "B n1", "B n2"));
  EXPECT_EQ(cache_->class_count(), 1U);
}

TEST_F(ClassCacheTest, PodsWithDifferentSkipsAreInDifferentClasses) {
  Puppet& a = AddLimit("puppet.A", 0);
  AddLimit("puppet.B", 2);
  EXPECT_EQ(Run("p"), "n0 puppet.A: full, n1 puppet.A: full, n2 puppet.A: full");
  a.pre_filter = [](auto&&...) { return BERTH_SKIP; };
  EXPECT_EQ(Run("q"), "n0 0, n1 0, n2 0");
  a.pre_filter = nullptr;
  EXPECT_EQ(Run("r"), "n0 puppet.A: full, n1 puppet.A: full, n2 puppet.A: full");
}

TEST_F(ClassCacheTest, NodesComeAndGo) {
  AddLimit("puppet.A", 1);
  AddScore("puppet.B", 50);
  Run();
  Asked();
  stage_.cache().SetNode(stage_.objects().Node({.name = "n3"}));
  EXPECT_EQ(Run(), "n0 50, n1 50, n2 50, n3 50");
  EXPECT_THAT(Asked(), ElementsAre("A n3", "B n3"));
  stage_.cache().RemoveNode("n1");
  EXPECT_EQ(Run(), "n0 50, n2 50, n3 50");
  EXPECT_THAT(Asked(), IsEmpty());
  Put("early", "n4");  // A pod whose node is not there yet.
  EXPECT_EQ(Run(), "n0 50, n2 50, n3 50");
  stage_.cache().SetNode(stage_.objects().Node({.name = "n4"}));
  Put("x", "n3");
  EXPECT_EQ(Run(), "n0 50, n2 50");
  stage_.cache().SetNode(stage_.objects().Node({.name = "n5"}));
  EXPECT_EQ(Run(), "n0 50, n2 50, n5 50");
}

TEST_F(ClassCacheTest, ChangedNodeObjectIsChangeOfTheRow) {
  AddLimit("puppet.A", 1);
  Run();
  Asked();
  stage_.cache().SetNode(stage_.objects().Node({.name = "n2", .allocatable = "\"cpu\":\"9\""}));
  Run();
  EXPECT_THAT(Asked(), ElementsAre("A n2"));
}

// On both sides of the number of changes from which all rows are scored again.
TEST_F(ClassCacheTest, ManyChangesOfOneRowAreFound) {
  AddLimit("puppet.A", 200);
  AddScore("puppet.B", 90);
  for (const int changes : {1, 31, 32, 33, 64, 65, 1100}) {
    Run();
    for (int i = 0; i < changes; ++i) {
      stage_.cache().SetNode(stage_.objects().Node({.name = "n0"}));
    }
    Put("x" + std::to_string(changes), "n2");
    Run();  // Compares.
  }
}

// --- plugins that depend on more -----------------------------------------------------------------

TEST_F(ClassCacheTest, AsksUndeclaredFiltersAgainAboutPassingRows) {
  AddLimit("puppet.A", 1);
  AddLimit("puppet.B", 5, std::nullopt);
  Put("x", "n0");
  EXPECT_EQ(Run(), "n1 0, n2 0");
  Asked();
  EXPECT_EQ(Run(), "n1 0, n2 0");
  EXPECT_THAT(Asked(), ElementsAre("B n1", "B n2"));
}

// The plugin says which answers may differ.
TEST_F(ClassCacheTest, AsksTokenFiltersAboutTheRowsTheyName) {
  uint64_t version = 1;
  uint32_t result = BERTH_STALE_NONE;
  std::vector<uint32_t> stale;
  std::vector<uint64_t> tokens;
  AddLimit("puppet.A", 2);
  AddLimit("puppet.B", 2, kOther).changed = [&](uint64_t& token, const auto& put) {
    tokens.push_back(token);
    token = version;
    for (const uint32_t row : stale) put(row);
    return result;
  };
  Run();
  EXPECT_THAT(Asked(), IsSupersetOf({"A n0", "B n0", "B n1", "B n2"}));
  version = 2;
  Run();
  EXPECT_THAT(Asked(), IsEmpty());
  result = BERTH_STALE_ROWS;
  stale = {2, 0, 2, 77};  // Any order, several times, and a row that does not exist.
  Run();
  EXPECT_THAT(Asked(), ElementsAre("B n0", "B n2"));
  result = BERTH_STALE_ALL;
  Run();
  EXPECT_THAT(Asked(), ElementsAre("B n0", "B n1", "B n2"));
  result = BERTH_STALE_NONE;
  stale.clear();
  Put("x", "n1");
  Run();
  EXPECT_THAT(Asked(), ElementsAre("A n1", "B n1")) << "The row changed.";
  version = 0;
  Run();
  EXPECT_THAT(Asked(), IsEmpty());
  Run();
  EXPECT_THAT(Asked(), ElementsAre("B n0", "B n1", "B n2")) << "The last answers had no token.";
  EXPECT_THAT(tokens, ElementsAre(0, 1, 2, 2, 2, 2, 0));
}

// A plugin may pass rows in any order and as often as it likes, whatever it returns.
TEST_F(ClassCacheTest, EvaluatesNamedRowsWhateverThePluginReturns) {
  uint32_t result = BERTH_STALE_NONE;
  AddLimit("puppet.A", 2);
  AddLimit("puppet.B", 2, kOther).changed = [&](uint64_t& token, const auto& put) {
    token = 1;
    for (int i = 0; i < 300; ++i) put(static_cast<uint32_t>(2 - i % 2));
    return result;
  };
  constexpr uint32_t kAnswers[] = {BERTH_STALE_NONE, BERTH_STALE_ROWS, BERTH_STALE_ALL, 77};
  for (const uint32_t answer : kAnswers) {
    SCOPED_TRACE(answer);
    result = BERTH_STALE_NONE;
    Run();
    result = answer;
    Put("x" + std::to_string(answer), "n2");
    Asked();
    Run();
    EXPECT_THAT(Asked(), IsSupersetOf({"A n2", "B n1"}));
  }
}

TEST_F(ClassCacheTest, OrderOfAddedReasonsIsPartOfClass) {
  std::vector<const char*> texts = {"a", "b"};
  Puppet& a = AddLimit("puppet.A", 0);
  a.reasons.clear();
  a.pre_filter = [&](const berth_cycle&, const berth_nodes&, berth_pre_filter_out& out,
                     berth_status*) {
    for (const char* text : texts) out.add_reason(&out, AsStr(text));
    return BERTH_SUCCESS;
  };
  EXPECT_EQ(Run(), "n0 puppet.A: a, n1 puppet.A: a, n2 puppet.A: a");
  texts = {"b", "a"};
  EXPECT_EQ(Run(), "n0 puppet.A: b, n1 puppet.A: b, n2 puppet.A: b");
}

// A column of objects that nothing watched may have other values when PreScore binds it again.
TEST_F(ClassCacheTest, RowsThatChangeInPreScoreAreScoredAgain) {
  AddLimit("puppet.A", 2);
  int64_t base = 50;
  Puppet& b = AddScore("puppet.B", 0);
  b.score = [&](const berth_cycle&, const berth_block& block, int64_t* out, berth_status*) {
    ForEachSelected(block, [&](uint32_t i) { out[i] = base; });
    return BERTH_SUCCESS;
  };
  EXPECT_EQ(Run(), "n0 50, n1 50, n2 50");
  b.pre_score = [&](auto&&...) {
    base = 60;
    stage_.cache().SetNode(stage_.objects().Node({.name = "n1"}));
    return BERTH_SUCCESS;
  };
  EXPECT_EQ(Run(), "n0 60, n1 60, n2 60");
}

TEST_F(ClassCacheTest, FilterWithATokenChangesWhatIsFeasible) {
  size_t limit = 9;
  uint32_t result = BERTH_STALE_NONE;
  Puppet& b = AddLimit("puppet.A", 0, kOther);
  b.changed = [&](uint64_t& token, const auto&) {
    token = 1;
    return result;
  };
  b.filter = [&](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                 berth_status*) {
    ForEachSelected(block, [&](uint32_t i) {
      const bool fits = block.rows[i] < limit;
      out.codes[i] = fits ? BERTH_SUCCESS : BERTH_PENDING;
      out.reasons[i] = fits ? 0 : 1;
    });
    return BERTH_SUCCESS;
  };
  AddScore("puppet.B", 50);
  EXPECT_EQ(Run(), "n0 50, n1 50, n2 50");
  result = BERTH_STALE_ALL;
  limit = 1;
  EXPECT_EQ(Run(), "n0 50");
  limit = 0;
  EXPECT_EQ(Run(), "n0 puppet.A: full, n1 puppet.A: full, n2 puppet.A: full");
  limit = 2;
  Asked();
  EXPECT_EQ(Run(), "n0 50, n1 50");
  EXPECT_THAT(Asked(), ElementsAre("B n0", "B n1")) << "Rows that were not feasible meanwhile.";
}

// The verdict is that of the first plugin in the order of the profile, also where a reused verdict
// of a later plugin is known.
TEST_F(ClassCacheTest, AsksAFilterAboutRowsRejectedLater) {
  AddLimit("puppet.A", 2, std::nullopt);
  AddLimit("puppet.B", 1);
  Put("x", "n0");
  Put("y", "n0");
  Put("z", "n1");
  Put("w", "n2");
  EXPECT_EQ(Run(), "n0 puppet.A: full, n1 puppet.B: full, n2 puppet.B: full");
  EXPECT_THAT(Asked(), ElementsAre("B n0", "B n1", "B n2", "A n0", "A n1", "A n2"));
  EXPECT_EQ(Run(), "n0 puppet.A: full, n1 puppet.B: full, n2 puppet.B: full");
  EXPECT_THAT(Asked(), ElementsAre("A n0", "A n1", "A n2"));
}

TEST_F(ClassCacheTest, ScoreThatDependsOnMoreIsAskedAgain) {
  AddLimit("puppet.A", 2);
  AddScore("puppet.B", 50);
  AddScore("puppet.C", 30, kOther);
  EXPECT_EQ(Run(), "n0 80, n1 80, n2 80");
  Asked();
  Put("x", "n1");
  EXPECT_EQ(Run(), "n0 80, n1 78, n2 80");
  EXPECT_THAT(Asked(), ElementsAre("A n1", "B n1", "C n0", "C n1", "C n2"));
}

// --- signatures ----------------------------------------------------------------------------------

TEST_F(ClassCacheTest, TheSignatureIsPartOfTheClass) {
  uint64_t high = 1;
  berth_code code = BERTH_SUCCESS;
  AddLimit("puppet.A", 2).sign = [&](const berth_cycle&, berth_signature& signature) {
    signature = {.low = 7, .high = high};
    return code;
  };
  AddLimit("puppet.B", 2);
  Run();
  Asked();
  Run();
  EXPECT_THAT(Asked(), IsEmpty());
  high = 2;
  Run();
  EXPECT_THAT(Asked(), IsSupersetOf({"A n0", "B n0"}));
  code = BERTH_SKIP;  // The answers of this plugin are not reused in this cycle.
  Run();
  Asked();
  Run();
  EXPECT_THAT(Asked(), ElementsAre("A n0", "A n1", "A n2"));
  EXPECT_EQ(cache_->class_count(), 3U);
}

// --- failures ------------------------------------------------------------------------------------

TEST_F(ClassCacheTest, AFailureIsReportedAsWithoutReuse) {
  Puppet& a = AddLimit("puppet.A", 2);
  AddScore("puppet.B", 50);
  Run();
  const auto filter = std::exchange(a.filter, [](auto&&...) { return BERTH_ERROR; });
  Put("x", "n1");
  EXPECT_EQ(Run(), "Error: running \"puppet.A\" filter plugin: plugin returned Error");
  EXPECT_EQ(cache_->class_count(), 0U);
  a.filter = filter;
  EXPECT_EQ(Run(), "n0 50, n1 49, n2 50");
}

// Another plugin before it rejects the row, so that a pass over all nodes never asks the plugin.
TEST_F(ClassCacheTest, FailureOnARowRejectedEarlierIsNone) {
  AddLimit("puppet.A", 1, std::nullopt);
  Puppet& b = AddLimit("puppet.B", 2);
  b.filter = [](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                berth_status*) {
    ForEachSelected(block, [&](uint32_t i) {
      out.codes[i] = block.pods[i].count == 0 ? BERTH_SUCCESS : BERTH_ERROR;
      out.reasons[i] = 1;
    });
    return BERTH_SUCCESS;
  };
  Put("x", "n1");
  EXPECT_EQ(Run(), "n0 0, n2 0");
}

TEST_F(ClassCacheTest, AFaultIsCountedOnce) {
  AddLimit("puppet.A", 2).filter = [](auto&&...) { return BERTH_SUCCESS; };  // No verdict.
  EXPECT_THAT(Run(), ::testing::StartsWith("Error: "));
  EXPECT_THAT(stage_.Faults(), ::testing::SizeIs(1));
}

TEST_F(ClassCacheTest, ReusedScoreOutOfRangeIsAnError) {
  AddLimit("puppet.A", 2);
  AddScore("puppet.B", 101);
  EXPECT_THAT(Run(), ::testing::HasSubstr("invalid score 101"));
  EXPECT_EQ(cache_->class_count(), 0U);
}

// --- what is not reused --------------------------------------------------------------------------

TEST_F(ClassCacheTest, AsksUndeclaredFiltersAboutAllRowsPassedEarlier) {
  AddLimit("puppet.A", 2, std::nullopt).is_serial = true;
  AddLimit("puppet.B", 1);
  Put("x", "n0");
  Run();
  Asked();
  EXPECT_EQ(Run(), "n1 0, n2 0");
  EXPECT_THAT(Asked(), ElementsAre("A n0", "A n1", "A n2"));
}

TEST_F(ClassCacheTest, OnlyWhatFollowsWholeFiltersIsAskedAgain) {
  AddLimit("puppet.A", 2);
  AddWhole("puppet.B", [](size_t) { return true; });
  AddLimit("puppet.C", 2);
  AddScore("puppet.D", 50);
  Run();
  EXPECT_THAT(Asked(), ElementsAre("A n0", "A n1", "A n2", "B n0", "B n1", "B n2", "C n0", "C n1",
                                   "C n2", "D n0", "D n1", "D n2"));
  Put("x", "n1");
  Put("y", "n1");
  EXPECT_EQ(Run(), "n0 50, n2 50");
  EXPECT_THAT(Asked(), ElementsAre("A n1", "B n0", "B n2", "C n0", "C n2", "D n0", "D n2"));
  EXPECT_EQ(cache_->class_count(), 1U);
}

TEST_F(ClassCacheTest, VerdictsAroundAWholeFilterAreReported) {
  AddLimit("puppet.A", 2);
  AddWhole("puppet.B", [](size_t pods) { return pods > 0; });
  AddLimit("puppet.C", 1);
  for (const char* pod : {"x", "y"}) Put(pod, "n1");
  Put("z", "n2");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Run(), "n0 puppet.B: alone, n1 puppet.A: full, n2 puppet.C: full");
  }
  EXPECT_THAT(Asked(),
              ElementsAre("A n0", "A n1", "A n2", "B n0", "B n2", "C n2", "B n0", "B n2", "C n2"));
}

// A verdict on a node with nominated pods stands, also if the class rejects the node.
TEST_F(ClassCacheTest, NominatedPodsCountBeforeAWholeFilter) {
  AddLimit("puppet.A", 1);
  AddWhole("puppet.B", [](size_t pods) { return pods > 0; });
  Put("x", "n1");
  nominator_.Add(MakePod("y"), "n0");
  nominator_.Add(MakePod("z"), "n1");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Run(), "n0 puppet.A: full, n1 puppet.A: full, n2 puppet.B: alone");
  }
}

TEST_F(ClassCacheTest, NothingIsReusedAfterAWholeFilter) {
  AddWhole("puppet.A", [](size_t) { return true; });
  AddLimit("puppet.B", 2);
  for (int i = 0; i < 2; ++i) {
    Run();
    EXPECT_THAT(Asked(), ElementsAre("A n0", "A n1", "A n2", "B n0", "B n1", "B n2"));
  }
  EXPECT_EQ(cache_->class_count(), 0U);
}

TEST_F(ClassCacheTest, AFailedWholeFilterFailsTheAttemptOnly) {
  AddLimit("puppet.A", 2);
  bool fails = false;
  AddWhole(
      "puppet.B", [&](size_t) { return true; }, [&] { return fails; });
  Run();
  fails = true;
  EXPECT_THAT(Run(), HasSubstr("puppet.B"));
  fails = false;
  Asked();
  EXPECT_EQ(Run(), "n0 0, n1 0, n2 0");
  EXPECT_THAT(Asked(), ElementsAre("B n0", "B n1", "B n2")) << "the class is kept";
}

TEST_F(ClassCacheTest, NothingIsReusedWithoutMemory) {
  options_.bytes = 0;
  AddLimit("puppet.A", 2);
  for (int i = 0; i < 2; ++i) {
    Run();
    EXPECT_THAT(Asked(), ElementsAre("A n0", "A n1", "A n2"));
  }
}

TEST_F(ClassCacheTest, ClassIsKeptFromItsSecondPodOn) {
  options_.sightings = 2;
  AddLimit("puppet.A", 2);
  Run(MakePod("p", "x"));
  Run(MakePod("q", "y"));
  EXPECT_EQ(cache_->class_count(), 0U);
  Run(MakePod("r", "x"));
  EXPECT_EQ(cache_->class_count(), 1U);
  Asked();
  Run(MakePod("s", "x"));
  EXPECT_THAT(Asked(), IsEmpty());
}

// --- memory --------------------------------------------------------------------------------------

class ClassCacheMemoryTest : public ClassCacheTest {
 protected:
  ClassCacheMemoryTest() {
    AddLimit("puppet.A", 2);
    AddScore("puppet.B", 50);
    Run();
    options_.bytes = cache_->bytes() * 7 / 2;  // Room for three classes.
    cache_.reset();
  }
  void RunLabel(const std::string& label) {
    Run(MakePod("p", label));
    EXPECT_LE(cache_->bytes(), options_.bytes);
  }
  bool IsKept(const std::string& label) {
    Asked();
    Run(MakePod("p", label));
    return Asked().empty();
  }
};

TEST_F(ClassCacheMemoryTest, DropsTheLeastRecentlyUsedClass) {
  for (const char* label : {"a", "b", "c"}) RunLabel(label);
  ASSERT_EQ(cache_->class_count(), 3U);
  for (int i = 0; i < 20; ++i) {
    RunLabel("c");
    RunLabel("a");
  }
  RunLabel("d");
  EXPECT_EQ(cache_->class_count(), 3U);
  EXPECT_TRUE(IsKept("d"));
  EXPECT_TRUE(IsKept("a"));
  EXPECT_TRUE(IsKept("c"));
  EXPECT_FALSE(IsKept("b"));
}

TEST_F(ClassCacheMemoryTest, KeepsClassesInUseBeyondTheLimit) {
  for (int round = 0; round < 5; ++round) {
    for (const char* label : {"a", "b", "c", "d", "e"}) RunLabel(label);
  }
  int kept = 0;
  for (const char* label : {"a", "b", "c", "d", "e"}) kept += IsKept(label) ? 1 : 0;
  EXPECT_EQ(kept, 3);
}

}  // namespace
}  // namespace berth::host

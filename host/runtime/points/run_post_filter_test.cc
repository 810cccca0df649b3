#include "host/runtime/points/run_post_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RunPostFilterTest : public ::testing::Test {
 protected:
  // `nominates`: a node, or null for no nomination.
  static void Play(Puppet& puppet, const ScriptedAnswer& given, const char* nominates = nullptr) {
    puppet.post_filter = [given, nominates](const berth_cycle&, const berth_nodes&,
                                            const berth_verdicts&, berth_post_filter_out& out,
                                            berth_status* status) {
      EXPECT_EQ(out.mode, uint32_t{BERTH_NOMINATE_KEEP});
      if (nominates != nullptr) out.nominate(&out, AsStr(nominates));
      return Report(given, status);
    };
  }
  // Returns the codes by row, with "a" for an absent one: "2.6.3a".
  static std::string TextOfVerdicts(const berth_verdicts& verdicts) {
    std::string text;
    for (uint32_t row = 0; row < verdicts.count; ++row) {
      if (row > 0) text += '.';
      text += std::to_string(verdicts.codes[row]);
      if (verdicts.absent[row] != 0) text += 'a';
    }
    return text;
  }
  // Runs PostFilter and returns the verdicts that the plugin receives, as "<verdicts> of <nodes>".
  std::string Seen(const PreFilterResult& pre_filter, const Filtered& filtered) {
    std::string seen;
    stage_.Add("puppet.A", {Point::kPostFilter}).post_filter =
        [&seen](const berth_cycle&, const berth_nodes& all, const berth_verdicts& verdicts,
                berth_post_filter_out&, berth_status*) {
          seen = TextOfVerdicts(verdicts) + " of " + std::to_string(all.n_nodes);
          return BERTH_SUCCESS;
        };
    stage_.Build();
    RunPostFilter(stage_.Begin(), pre_filter, filtered);
    return seen;
  }

  Stage stage_;
};

struct PostFilterCase {
  const char* description;
  ScriptedAnswer given;
  const char* status;
  bool is_last;       // No later plugin is called.
  bool overrides;     // The result nominates n2.
  const char* fault;  // Empty: no fault.
};

TEST_F(RunPostFilterTest, EveryAnswer) {
  const PostFilterCase kTable[] = {
      {"success", {BERTH_SUCCESS, {"victims"}}, "Success: victims", true, true, ""},
      {"unresolvable",
       {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {"no"}},
       "UnschedulableAndUnresolvable: no",
       true,
       true,
       ""},
      {"ask another", {BERTH_UNSCHEDULABLE, {"no"}}, "Unschedulable: no, b", false, true, ""},
      {"ask another, pending",
       {BERTH_PENDING, {"later"}},
       "Unschedulable: later, b",
       false,
       true,
       ""},
      {"failed", {BERTH_ERROR, {"boom", "bang"}}, "Error: boom, bang", true, false, ""},
      {"failed without a word", {BERTH_ERROR}, "Error: plugin returned Error", true, false, ""},
      {"gave up", {BERTH_CANCELLED}, "Error: plugin returned Cancelled", true, false, ""},
      {"threw",
       {BERTH_BUG, {"a bug"}},
       "Error: a bug",
       true,
       false,
       "puppet.A PostFilter exception"},
      {"code of Permit",
       {BERTH_WAIT},
       "Error: plugin returned Wait",
       true,
       false,
       "puppet.A PostFilter bad code"},
      {"code of Bind",
       {BERTH_SKIP},
       "Error: plugin returned Skip",
       true,
       false,
       "puppet.A PostFilter bad code"},
      {"unknown code",
       {255},
       "Error: plugin returned Unknown",
       true,
       false,
       "puppet.A PostFilter bad code"},
  };
  for (const PostFilterCase& row : kTable) {
    SCOPED_TRACE(row.description);
    Stage stage;
    Play(stage.Add("puppet.A", {Point::kPostFilter}), row.given, "n2");
    bool next_was_called = false;
    stage.Add("puppet.B", {Point::kPostFilter}).post_filter =
        [&](const berth_cycle&, const berth_nodes&, const berth_verdicts&, berth_post_filter_out&,
            berth_status* status) {
          next_was_called = true;
          return Report({BERTH_UNSCHEDULABLE, {"b"}}, status);
        };
    stage.Build();
    const PostFilterResult result = RunPostFilter(stage.Begin(), {}, {});
    EXPECT_EQ(TextOf(result.status), row.status);
    EXPECT_EQ(stage.PluginName(result.status.plugin), "puppet.A");
    EXPECT_EQ(next_was_called, !row.is_last);
    EXPECT_EQ(result.overrides, row.overrides);
    EXPECT_EQ(result.node, row.overrides ? "n2" : "");
    EXPECT_EQ(Join(stage.Faults(), ", "), row.fault);
  }
}

struct Nomination {
  const char* description;
  ScriptedAnswer answer_of_b;
  const char* by_a;  // Null: no nomination.
  const char* by_b;
  bool overrides;
  const char* node;
};

TEST_F(RunPostFilterTest, WhichNominationCounts) {
  const Nomination kTable[] = {
      {"no plugin nominates", {BERTH_UNSCHEDULABLE}, nullptr, nullptr, false, ""},
      {"the only nomination", {BERTH_UNSCHEDULABLE}, "n0", nullptr, true, "n0"},
      {"the last nomination", {BERTH_UNSCHEDULABLE}, "n0", "n1", true, "n1"},
      {"an empty node removes the nomination", {BERTH_UNSCHEDULABLE}, "n0", "", true, ""},
      {"the nomination of the plugin that succeeds", {BERTH_SUCCESS}, "n0", "n1", true, "n1"},
      {"success without a nomination keeps the old one", {BERTH_SUCCESS}, "n0", nullptr, false, ""},
      {"unresolvable without a nomination keeps the old one",
       {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE},
       "n0",
       nullptr,
       false,
       ""},
      {"an error discards the nominations", {BERTH_ERROR}, "n0", "n1", false, ""},
  };
  for (const Nomination& row : kTable) {
    SCOPED_TRACE(row.description);
    Stage stage;
    Play(stage.Add("puppet.A", {Point::kPostFilter}), {BERTH_UNSCHEDULABLE}, row.by_a);
    Play(stage.Add("puppet.B", {Point::kPostFilter}), row.answer_of_b, row.by_b);
    stage.Build();
    const PostFilterResult result = RunPostFilter(stage.Begin(), {}, {});
    EXPECT_EQ(result.overrides, row.overrides);
    EXPECT_EQ(result.node, row.node);
  }
}

TEST_F(RunPostFilterTest, ARejectionOfAllNamesTheFirstPlugin) {
  Play(stage_.Add("puppet.A", {Point::kPostFilter}), {BERTH_UNSCHEDULABLE, {"a", "b"}});
  Play(stage_.Add("puppet.B", {Point::kPostFilter}), {BERTH_UNSCHEDULABLE});
  Play(stage_.Add("puppet.C", {Point::kPostFilter}), {BERTH_UNSCHEDULABLE, {"c"}});
  stage_.Build();
  const PostFilterResult result = RunPostFilter(stage_.Begin(), {}, {});
  EXPECT_EQ(TextOf(result.status), "Unschedulable: a, b, c");
  EXPECT_EQ(stage_.PluginName(result.status.plugin), "puppet.A");
}

TEST_F(RunPostFilterTest, AQuarantinedPluginIsSkipped) {
  Play(stage_.Add("puppet.A", {Point::kPostFilter}), {BERTH_SUCCESS}, "n0");
  Play(stage_.Add("puppet.B", {Point::kPostFilter}), {BERTH_UNSCHEDULABLE, {"b"}});
  stage_.Build();
  stage_.Quarantine("puppet.A");
  const PostFilterResult result = RunPostFilter(stage_.Begin(), {}, {});
  EXPECT_EQ(TextOf(result.status), "Unschedulable: b");
  EXPECT_EQ(stage_.PluginName(result.status.plugin), "puppet.B");
  EXPECT_FALSE(result.overrides);
}

// --- verdicts ------------------------------------------------------------------------------------

TEST_F(RunPostFilterTest, ShowsTheVerdictsOfFilter) {
  constexpr RejectedRow kRejected[] = {{2, {1, 0, BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE}},
                                       {0, {1, 0, BERTH_UNSCHEDULABLE}},
                                       {1, {1, 0, BERTH_PENDING}}};
  EXPECT_EQ(Seen({}, {.rejected = kRejected}), "2.6.3 of 3");
}

TEST_F(RunPostFilterTest, MarksNodesThatNoFilterSaw) {
  constexpr RejectedRow kRejected[] = {{1, {1, 0, BERTH_UNSCHEDULABLE}}};
  EXPECT_EQ(Seen({}, {.rejected = kRejected}), "3a.2.3a of 3");
}

TEST_F(RunPostFilterTest, ShowsTheRejectionOfPreFilter) {
  const PreFilterResult pre_filter{.status = {BERTH_UNSCHEDULABLE, 1, {"no"}}};
  EXPECT_EQ(Seen(pre_filter, {}), "2a.2a.2a of 3");
}

TEST_F(RunPostFilterTest, ShowsNoVerdictForRowWithoutANode) {
  stage_.table().RemoveNode("n1");
  constexpr RejectedRow kRejected[] = {{0, {1, 0, BERTH_UNSCHEDULABLE}},
                                       {2, {1, 0, BERTH_UNSCHEDULABLE}}};
  EXPECT_EQ(Seen({}, {.rejected = kRejected}), "2.0a.2 of 2");
}

TEST_F(RunPostFilterTest, ShowsSuccessForFeasibleRows) {
  constexpr RejectedRow kRejected[] = {{0, {1, 0, BERTH_UNSCHEDULABLE}},
                                       {1, {1, 0, BERTH_UNSCHEDULABLE}}};
  Selection feasible;
  feasible.Append(0, 3, std::array<uint32_t, 1>{2});
  EXPECT_EQ(Seen({}, {.feasible = &feasible, .rejected = kRejected}), "2.2.0 of 3");
}

TEST_F(RunPostFilterTest, WithoutPluginsItRejectsWithoutAReason) {
  stage_.Build();
  const PostFilterResult result = RunPostFilter(stage_.Begin(), {}, {});
  EXPECT_EQ(TextOf(result.status), "Unschedulable");
  EXPECT_FALSE(result.overrides);
  EXPECT_THAT(stage_.log, IsEmpty());
}

}  // namespace
}  // namespace berth::host

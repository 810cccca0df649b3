#include "host/runtime/run_post_filter.h"

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
  // Returns the verdicts that the plugin sees of an attempt that `prepare` has filled in.
  template <class F>
  std::string Seen(F&& prepare) {
    std::string seen;
    stage_.Add("puppet.A", {Point::kPostFilter}).post_filter =
        [&seen](const berth_cycle&, const berth_nodes& all, const berth_verdicts& verdicts,
                berth_post_filter_out&, berth_status*) {
          seen = TextOfVerdicts(verdicts) + " of " + std::to_string(all.n_nodes);
          return BERTH_SUCCESS;
        };
    stage_.Build();
    Attempt& attempt = stage_.Begin();
    prepare(attempt);
    RunPostFilter(attempt);
    return seen;
  }

  Stage stage_;
};

struct PostFilterCase {
  const char* says;
  ScriptedAnswer given;
  const char* status;
  bool is_last;       // No later plugin is called.
  bool overrides;     // The result nominates n2.
  const char* fault;  // Empty: no fault.
};

TEST_F(RunPostFilterTest, EveryAnswer) {
  const PostFilterCase kTable[] = {
      {"made room", {BERTH_SUCCESS, {"victims"}}, "Success: victims", true, true, ""},
      {"hopeless",
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
      {"nobody's code",
       {255},
       "Error: plugin returned Unknown",
       true,
       false,
       "puppet.A PostFilter bad code"},
  };
  for (const PostFilterCase& row : kTable) {
    SCOPED_TRACE(row.says);
    Stage stage;
    Play(stage.Add("puppet.A", {Point::kPostFilter}), row.given, "n2");
    bool next_was_asked = false;
    stage.Add("puppet.B", {Point::kPostFilter}).post_filter =
        [&](const berth_cycle&, const berth_nodes&, const berth_verdicts&, berth_post_filter_out&,
            berth_status* status) {
          next_was_asked = true;
          return Report({BERTH_UNSCHEDULABLE, {"b"}}, status);
        };
    stage.Build();
    const PostFilterResult result = RunPostFilter(stage.Begin());
    EXPECT_EQ(TextOf(result.status), row.status);
    EXPECT_EQ(stage.PluginName(result.status.plugin), "puppet.A");
    EXPECT_EQ(next_was_asked, !row.is_last);
    EXPECT_EQ(result.overrides, row.overrides);
    EXPECT_EQ(result.node, row.overrides ? "n2" : "");
    EXPECT_EQ(Join(stage.Faults(), ", "), row.fault);
  }
}

struct Nomination {
  const char* says;
  ScriptedAnswer said_by_b;
  const char* by_a;  // Null: no nomination.
  const char* by_b;
  bool overrides;
  const char* node;
};

TEST_F(RunPostFilterTest, WhichNominationCounts) {
  const Nomination kTable[] = {
      {"nobody's", {BERTH_UNSCHEDULABLE}, nullptr, nullptr, false, ""},
      {"the only one", {BERTH_UNSCHEDULABLE}, "n0", nullptr, true, "n0"},
      {"the last one", {BERTH_UNSCHEDULABLE}, "n0", "n1", true, "n1"},
      {"none at all is a nomination too", {BERTH_UNSCHEDULABLE}, "n0", "", true, ""},
      {"that of who succeeds", {BERTH_SUCCESS}, "n0", "n1", true, "n1"},
      {"who succeeds and says nothing keeps what is", {BERTH_SUCCESS}, "n0", nullptr, false, ""},
      {"who ends it and says nothing keeps what is",
       {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE},
       "n0",
       nullptr,
       false,
       ""},
      {"nobody's after an error", {BERTH_ERROR}, "n0", "n1", false, ""},
  };
  for (const Nomination& row : kTable) {
    SCOPED_TRACE(row.says);
    Stage stage;
    Play(stage.Add("puppet.A", {Point::kPostFilter}), {BERTH_UNSCHEDULABLE}, row.by_a);
    Play(stage.Add("puppet.B", {Point::kPostFilter}), row.said_by_b, row.by_b);
    stage.Build();
    const PostFilterResult result = RunPostFilter(stage.Begin());
    EXPECT_EQ(result.overrides, row.overrides);
    EXPECT_EQ(result.node, row.node);
  }
}

TEST_F(RunPostFilterTest, ARejectionOfAllNamesTheFirstPlugin) {
  Play(stage_.Add("puppet.A", {Point::kPostFilter}), {BERTH_UNSCHEDULABLE, {"a", "b"}});
  Play(stage_.Add("puppet.B", {Point::kPostFilter}), {BERTH_UNSCHEDULABLE});
  Play(stage_.Add("puppet.C", {Point::kPostFilter}), {BERTH_UNSCHEDULABLE, {"c"}});
  stage_.Build();
  const PostFilterResult result = RunPostFilter(stage_.Begin());
  EXPECT_EQ(TextOf(result.status), "Unschedulable: a, b, c");
  EXPECT_EQ(stage_.PluginName(result.status.plugin), "puppet.A");
}

TEST_F(RunPostFilterTest, AQuarantinedPluginIsSkipped) {
  Play(stage_.Add("puppet.A", {Point::kPostFilter}), {BERTH_SUCCESS}, "n0");
  Play(stage_.Add("puppet.B", {Point::kPostFilter}), {BERTH_UNSCHEDULABLE, {"b"}});
  stage_.Build();
  stage_.Quarantine("puppet.A");
  const PostFilterResult result = RunPostFilter(stage_.Begin());
  EXPECT_EQ(TextOf(result.status), "Unschedulable: b");
  EXPECT_EQ(stage_.PluginName(result.status.plugin), "puppet.B");
  EXPECT_FALSE(result.overrides);
}

// --- verdicts ------------------------------------------------------------------------------------

TEST_F(RunPostFilterTest, ShowsTheVerdictsOfFilter) {
  EXPECT_EQ(Seen([](Attempt& attempt) {
              attempt.verdicts[0] = {1, 0, BERTH_UNSCHEDULABLE};
              attempt.verdicts[1] = {1, 0, BERTH_PENDING};
              attempt.verdicts[2] = {1, 0, BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE};
            }),
            "2.6.3 of 3");
}

TEST_F(RunPostFilterTest, MarksNodesThatNoFilterSaw) {
  EXPECT_EQ(Seen([&](Attempt& attempt) {
              attempt.some_rows.AssignRows(attempt.table(), std::array<Row, 1>{1});
              attempt.candidates = &attempt.some_rows;
              attempt.verdicts[0] = {1, 0, BERTH_UNSCHEDULABLE};  // Left from an earlier attempt.
              attempt.verdicts[1] = {1, 0, BERTH_UNSCHEDULABLE};
            }),
            "3a.2.3a of 3");
}

TEST_F(RunPostFilterTest, ShowsTheRejectionOfPreFilter) {
  EXPECT_EQ(Seen([](Attempt& attempt) {
              attempt.pre_filter_rejection = PluginStatus{BERTH_UNSCHEDULABLE, 1, {"no"}};
              attempt.verdicts[0] = {1, 0, BERTH_PENDING};  // Left from an earlier attempt.
            }),
            "2a.2a.2a of 3");
}

TEST_F(RunPostFilterTest, ShowsNoVerdictForARowWithoutANode) {
  stage_.table().RemoveNode("n1");
  EXPECT_EQ(Seen([](Attempt& attempt) {
              attempt.verdicts[0] = {1, 0, BERTH_UNSCHEDULABLE};
              attempt.verdicts[1] = {1, 0, BERTH_UNSCHEDULABLE};  // Left from an earlier attempt.
              attempt.verdicts[2] = {1, 0, BERTH_UNSCHEDULABLE};
            }),
            "2.0a.2 of 2");
}

TEST_F(RunPostFilterTest, ShowsSuccessForFeasibleRows) {
  EXPECT_EQ(Seen([](Attempt& attempt) {
              for (RowVerdict& verdict : attempt.verdicts) verdict = {1, 0, BERTH_UNSCHEDULABLE};
              attempt.feasible.Append(0, 3, std::array<uint32_t, 1>{2});
            }),
            "2.2.0 of 3");
}

TEST_F(RunPostFilterTest, WithoutPluginsItRejectsWithoutAReason) {
  stage_.Build();
  const PostFilterResult result = RunPostFilter(stage_.Begin());
  EXPECT_EQ(TextOf(result.status), "Unschedulable");
  EXPECT_FALSE(result.overrides);
  EXPECT_THAT(stage_.log, IsEmpty());
}

}  // namespace
}  // namespace berth::host

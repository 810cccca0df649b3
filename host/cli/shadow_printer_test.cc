#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/cli/output.h"
#include "host/process/shadow/shadow_run.h"

namespace berth::host {
namespace {

std::vector<ShadowDecision> SampleShadowDecisions() {
  return {
      {412'000'000, "default/a-17", "node-3", "node-9", ShadowVerdict::kTie, 412, 412, "both 412"},
      {1'020'999'999,
       "default/b-2",
       "node-1",
       "node-4",
       ShadowVerdict::kRejected,
       {},
       {},
       "NodeResourcesFit: Insufficient cpu"},
      {1'500'000'000, "default/b-3", "node-1", "node-1", ShadowVerdict::kSame, 7, 7, ""},
      {2'000'000'000,
       "a-long-namespace/a-very-long-name-of-a-pod",
       "node-1",
       "",
       ShadowVerdict::kError,
       {},
       {},
       "boom"}};
}

ShadowSummary SampleShadowSummary() {
  ShadowSummary summary;
  summary.totals.by_verdict = {1'204, 790, 6, 0, 0, 0, 0};
  summary.took_ns = 600'500'000'000;
  return summary;
}

std::string PrintShadow(LiveOutput::Options options) {
  std::ostringstream out;
  ShadowPrinter printer(out, options);
  for (const ShadowDecision& decision : SampleShadowDecisions()) {
    EXPECT_TRUE(printer.Print(decision));
  }
  EXPECT_TRUE(printer.PrintTotals(SampleShadowSummary()));
  return out.str();
}

TEST(ShadowPrinter, PrintsATable) {
  const std::string expected =
      "TIME       VERDICT    POD                        THEIRS       OURS         WHY\n"
      "0.412      tie        default/a-17               node-3       node-9       both 412\n"
      "1.021      rejected   default/b-2                node-1       node-4       "
      "NodeResourcesFit: Insufficient cpu\n"
      "1.500      same       default/b-3                node-1       node-1\n"
      "2.000      error      a-long-namespace/a-very-long-name-of-a-pod   node-1       "
      "             boom\n"
      "2,000 pods judged: 1,204 same, 790 tie, 6 order: 100.00 % agreement. 0 unexplained.\n";
  EXPECT_EQ(PrintShadow({}), expected);
}

TEST(ShadowPrinter, WrapsToTheTerminal) {
  std::ostringstream out;
  ShadowPrinter printer(out, {.width = 100});
  EXPECT_TRUE(printer.Print(SampleShadowDecisions()[1]));
  EXPECT_EQ(out.str(),
            "TIME       VERDICT    POD                        THEIRS       OURS         WHY\n"
            "1.021      rejected   default/b-2                node-1       node-4       "
            "NodeResourcesFit:\n" +
                std::string(75, ' ') + "Insufficient cpu\n");
}

TEST(ShadowPrinter, ReplacesControlCharacters) {
  std::ostringstream out;
  ShadowPrinter printer(out, {});
  EXPECT_TRUE(printer.Print({.time_ns = 0,
                             .pod = "default/\x1b[2J",
                             .theirs = "n\n",
                             .ours = "",
                             .verdict = ShadowVerdict::kError,
                             .why = "a\tb"}));
  EXPECT_EQ(out.str().find('\x1b'), std::string::npos);
  EXPECT_EQ(out.str().find('\t'), std::string::npos);
}

TEST(ShadowPrinter, PrintsObjects) {
  const std::string json =
      R"({"time":0.412,"verdict":"tie","pod":"default/a-17","theirs":"node-3","ours":"node-9",)"
      R"("theirTotal":412,"ourTotal":412,"why":"both 412"})";
  const std::string totals =
      R"({"judged":2000,"same":1204,"tie":790,"order":6,"sampled":0,"score":0,"rejected":0,)"
      R"("error":0,"agreement":100.0,"unexplained":0,"unseen":0,"hurried":0,"refused":0,)"
      R"("seconds":600.5,"emulatedVersion":"1.37"})";
  const std::string text = PrintShadow({.format = OutputFormat::kJson});
  EXPECT_EQ(text.substr(0, text.find('\n')), json);
  EXPECT_EQ(text.substr(text.rfind('\n', text.size() - 2) + 1), totals + "\n");
  const std::string yaml = PrintShadow({.format = OutputFormat::kYaml});
  EXPECT_TRUE(yaml.starts_with("---\ntime: 0.412\nverdict: tie\n")) << yaml;
  EXPECT_NE(yaml.find("\n---\njudged: 2000\n"), std::string::npos) << yaml;
}

TEST(ShadowPrinter, ReportsAnOutputThatFails) {
  std::ostringstream out;
  ShadowPrinter printer(out, {});
  out.setstate(std::ios::badbit);
  EXPECT_FALSE(printer.Print(SampleShadowDecisions()[0]));
  EXPECT_FALSE(printer.Flush());
  EXPECT_FALSE(printer.PrintTotals(SampleShadowSummary()));
}

TEST(ShadowTotalsText, Sentences) {
  struct Case {
    const char* name;
    ShadowTotals totals;
    size_t refused;
    const char* expected;
  };
  const std::vector<Case> table = {
      {"no pod", {}, 0, "0 pods judged.\n"},
      {"one pod",
       {.by_verdict = {1}},
       0,
       "1 pod judged: 1 same: 100.00 % agreement. 0 unexplained.\n"},
      {"almost all",
       {.by_verdict = {99'999, 0, 0, 0, 0, 1, 0}},
       0,
       "100,000 pods judged: 99,999 same, 1 rejected: 99.99 % agreement. 1 unexplained.\n"
       "Berth decided as kube-scheduler 1.36: compare with the version that placed the pods (see "
       "--emulated-version).\n"},
      {"every verdict",
       {.by_verdict = {1, 1, 1, 1, 1, 1, 1}},
       0,
       "7 pods judged: 1 same, 1 tie, 1 order, 1 sampled, 1 score, 1 rejected, 1 error: 42.85 % "
       "agreement. 3 unexplained.\n"
       "Berth decided as kube-scheduler 1.36: compare with the version that placed the pods (see "
       "--emulated-version).\n"},
      {"notes",
       {.by_verdict = {1}, .unseen = 2, .hurried = 1},
       3,
       "1 pod judged: 1 same: 100.00 % agreement. 0 unexplained.\n"
       "2 pods had a node when first seen and could not be judged.\n"
       "1 pod could be judged only in the order in which the bindings arrived, because berth was "
       "late.\n"
       "3 requests of plugins to change the cluster had to be refused.\n"},
  };
  for (const Case& each : table) {
    ShadowSummary summary;
    summary.emulated_version = {1, 36};
    summary.totals = each.totals;
    summary.refused = each.refused;
    EXPECT_EQ(ShadowTotalsText(summary), each.expected) << each.name;
  }
}

}  // namespace
}  // namespace berth::host

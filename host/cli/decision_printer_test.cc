#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cli/output.h"
#include "host/process/assemble/decision_reporter.h"

namespace berth::host {
namespace {

const std::vector<DecisionLine>& SampleLines() {
  static const std::vector<DecisionLine> lines = {
      {0, DecisionType::kBound, "default/web-0", "node-a", ""},
      {1'500'000'000, DecisionType::kRefused, "default/web-1", "",
       "0/2 nodes are available: 2 Insufficient cpu."},
      {1'999'999'999, DecisionType::kRefused, "default/web-2", "node-a", "rejected"},
      {3'600'000'000'000, DecisionType::kError, "default/web-3", "", "boom"},
      {3'600'000'000'000, DecisionType::kError, "default/web-3", "node-b", "boom"},
      {3'600'000'000'000, DecisionType::kSkipped, "default/web-4", "", "going"},
      {3'600'000'000'000, DecisionType::kWaiting, "default/web-5", "node-a", ""},
      {3'600'000'000'000, DecisionType::kGated, "default/web-6", "",
       "waiting for scheduling gates: [a b]"},
  };
  return lines;
}

std::string Print(const std::vector<DecisionLine>& lines, LiveOutput::Options options) {
  std::ostringstream out;
  DecisionPrinter printer(out, options);
  for (const DecisionLine& line : lines) printer.Print(line);
  return out.str();
}

TEST(DecisionPrinterTest, PrintsATable) {
  EXPECT_EQ(Print(SampleLines(), {}),
            R"(      TIME   POD                        DECISION
    0.000s   default/web-0              bound to node-a
    1.500s   default/web-1              refused: 0/2 nodes are available: 2 Insufficient cpu.
    1.999s   default/web-2              refused on node-a: rejected
 3600.000s   default/web-3              error: boom
 3600.000s   default/web-3              error on node-b: boom
 3600.000s   default/web-4              skipped: going
 3600.000s   default/web-5              waits for permission to be bound to node-a
 3600.000s   default/web-6              gated: waiting for scheduling gates: [a b]
)");
}

TEST(DecisionPrinterTest, LeavesOutRepeatedLinesInTables) {
  DecisionLine again = SampleLines()[1];
  again.is_repeated = true;
  EXPECT_EQ(Print({SampleLines()[1], again}, {}), Print({SampleLines()[1]}, {}));
  EXPECT_EQ(Print({again}, {.format = OutputFormat::kJson}),
            Print({SampleLines()[1]}, {.format = OutputFormat::kJson}));
}

TEST(DecisionPrinterTest, WidensTheColumnOfPods) {
  const std::string longer(30, 'x');
  EXPECT_EQ(Print({{100'000'000'000'000, DecisionType::kBound, longer, "n", ""},
                   {0, DecisionType::kBound, "a\x1b[31m\xc3\xa4", "n", ""}},
                  {}),
            "      TIME   POD                              DECISION\n"
            "100000.000s   " +
                longer +
                "   bound to n\n"
                "    0.000s   a?[31m\xc3\xa4" +
                std::string(23, ' ') + "   bound to n\n");
}

TEST(DecisionPrinterTest, WrapsToTheTerminal) {
  const std::string text = Print({SampleLines()[1]}, {.width = 66});
  EXPECT_THAT(text, ::testing::HasSubstr("refused: 0/2 nodes are\n" + std::string(40, ' ') +
                                         "available: 2 Insufficient\n"));
}

TEST(DecisionPrinterTest, PrintsJsonLines) {
  EXPECT_EQ(
      Print({SampleLines()[0], SampleLines()[1], {1, DecisionType::kGated, "a/b", "", "\xff"}},
            {.format = OutputFormat::kJson}),
      R"({"time":0.0,"type":"Bound","pod":"default/web-0","node":"node-a"}
{"time":1.5,"type":"Refused","pod":"default/web-1","message":)"
      R"("0/2 nodes are available: 2 Insufficient cpu."}
{"time":1e-09,"type":"Gated","pod":"a/b","message":")"
      "\xef\xbf\xbd\"}\n");
}

TEST(DecisionPrinterTest, PrintsYamlDocuments) {
  EXPECT_EQ(Print({SampleLines()[0]}, {.format = OutputFormat::kYaml}),
            "---\ntime: 0.0\ntype: Bound\npod: default/web-0\nnode: node-a\n");
}

}  // namespace
}  // namespace berth::host

// Tests the result files of berth-bench, their comparison, and the command line.
#include "tests/bench/workloads/results.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/bench/workloads/bench_command.h"
#include "tests/bench/workloads/compare.h"
#include "tests/harness/json_page.h"

namespace berth::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns a measurement with `rate` decisions per second, on one CPU.
Measurement Sample(const std::string& workload, double rate) {
  Measurement sample{.workload = workload,
                     .test_case = "SchedulingBasic",
                     .nodes = 5000,
                     .images = 50,
                     .init_pods = 1000,
                     .pods = 10000,
                     .bound = 10000,
                     .seconds = 1.25,
                     .cpu_seconds = 1.2};
  sample.pods_per_second = sample.decisions_per_second = rate;
  sample.cpu_us_per_decision = 1e6 / rate;
  sample.placed = {.count = 10000,
                   .p50_ns = 80000,
                   .p99_ns = 120000,
                   .max_ns = 900000,
                   .cpu_p50_ns = 79000,
                   .cpu_p99_ns = 90000,
                   .allocations = 12.5,
                   .allocated_bytes = 4096};
  sample.refused = {.count = 7, .p50_ns = 40000};
  sample.load_seconds = 0.5;
  sample.peak_rss_bytes = 40000000;
  sample.decisions_per_second_of_runs = {rate, rate};
  sample.cpu_us_per_decision_of_runs = {1e6 / rate, 1e6 / rate};
  return sample;
}

Results SampleResults(std::vector<Measurement> measurements) {
  return {.conditions = {.cpu = "Some CPU",
                         .cpus = 2,
                         .compiler = "GCC 12.2.0",
                         .build = "Release",
                         .profiles = {"default"}},
          .measurements = std::move(measurements)};
}

std::string ReadError(const nlohmann::json& json) {
  const auto read = ResultsFrom(json.dump(), "a.json");
  return read.ok() ? "" : std::string(read.status().message());
}

// ---- Results ------------------------------------------------------------------------------------

TEST(ResultsTest, RoundTripThroughJson) {
  Results results = SampleResults({Sample("W1", 8000), Sample("W5", 4000)});
  results.measurements[1].placed.allocations.reset();
  const std::string text = ToJson(results).dump();
  const auto read = ResultsFrom(text, "a.json");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ToJson(*read).dump(), text);
}

TEST(ResultsTest, ErrorsNameTheFieldAndTheExpectedValue) {
  const nlohmann::json good = ToJson(SampleResults({Sample("W1", 8000), Sample("W5", 4000)}));
  const struct {
    const char* pointer;
    nlohmann::json value;
    std::string expected;
  } rows[] = {
      {"/berthBench", 2, "berthBench: expected 1, as written by `berth-bench --output json`"},
      {"/conditions", 3, "conditions: found 3, expected an object"},
      {"/conditions/cpus", -1,
       "conditions.cpus: found -1, expected a whole number from 0 to 4294967295"},
      {"/conditions/cpus", 4294967296,
       "conditions.cpus: found 4294967296, expected a whole number from 0 to 4294967295"},
      {"/conditions/cpus", 4294967295, ""},
      {"/conditions/profiles",
       {1},
       "conditions.profiles: found an array, expected an array of strings"},
      {"/results", "none", "results: expected an array"},
      {"/results/1/nodes", "many",
       "results[1].nodes: found \"many\", expected a whole number from 0 to 4294967295"},
      {"/results/1/nodes", 10.0,
       "results[1].nodes: found 10.0, expected a whole number from 0 to 4294967295"},
      {"/results/0/placed/p50Ns", 18446744073709551615U,
       "results[0].placed.p50Ns: found 18446744073709551615, expected a whole number from 0 to "
       "1e18"},
      {"/results/0/placed/p50Ns", 1000000000000000000, ""},
      {"/results/0/seconds", -0.5,
       "results[0].seconds: found -0.5, expected a number from 0 to 1e18"},
      {"/results/0/placed/allocations", 1e300,
       "results[0].placed.allocations: found 1e+300, expected a number from 0 to 1e18, or null"},
      {"/results/0/placed/allocations", nullptr, ""},
      {"/results/0/decisionsPerSecondOfRuns",
       {"x"},
       "results[0].decisionsPerSecondOfRuns: found an array, expected an array of numbers from 0 "
       "to 1e18"},
      {"/results/0", 1, "results[0]: found 1, expected an object"},
      {"/results/1/workload", "W1",
       "results[1].workload: found W1 a second time, expected each workload once"},
      {"/results/1/case", {{"a", 1}}, "results[1].case: found an object, expected a string"},
      {"/results/1/nodes", std::string(5000, 'x'),
       "results[1].nodes: found \"" + std::string(59, 'x') +
           "..., expected a whole number from 0 to 4294967295"},
  };
  for (const auto& row : rows) {
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(row.pointer)] = row.value;
    EXPECT_EQ(ReadError(bad), row.expected.empty() ? "" : "a.json: " + row.expected) << row.pointer;
  }
  const auto not_json = ResultsFrom("{", "a.json");
  ASSERT_FALSE(not_json.ok());
  EXPECT_EQ(not_json.status().message(), "a.json: this is not JSON");
}

TEST(ResultsTest, DeepNestingIsReportedAsAnError) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  const auto read = ResultsFrom(
      R"({"berthBench":1,"conditions":{"cpu":)" + deep + R"(},"results":[]})", "a.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().message(), "a.json: conditions.cpu: found an array, expected a string");
}

TEST(ResultsTest, EveryMissingFieldIsReported) {
  const nlohmann::json good = ToJson(SampleResults({Sample("W1", 8000)}));
  for (const std::string place : {"/results/0", "/results/0/placed", "/conditions"}) {
    const nlohmann::json::json_pointer pointer(place);
    for (const auto& [key, value] : good[pointer].items()) {
      nlohmann::json bad = good;
      bad[pointer].erase(key);
      EXPECT_THAT(ReadError(bad), HasSubstr("." + key + ": missing")) << place;
    }
  }
}

TEST(ResultsTest, TheJsonHasTheFieldsOfThePage) {
  Results results = SampleResults({Sample("W1", 8000), Sample("W5", 4000)});
  results.measurements[1].placed.allocations.reset();
  auto page = berth::testing::JsonPage::Open("berth-bench");
  EXPECT_THAT(page.Compare(ToJson(results)), IsEmpty());
  EXPECT_THAT(page.Unseen(), IsEmpty());

  const auto comparison = Compare(SampleResults({Sample("W1", 1)}), "a.json", results, "b.json");
  ASSERT_TRUE(comparison.ok());
  page = berth::testing::JsonPage::Open("berth-bench compare");
  EXPECT_THAT(page.Compare(ToJson(*comparison)), IsEmpty());
  EXPECT_THAT(page.Unseen(), IsEmpty());
}

TEST(ResultsTest, TableShowsFailedAttemptsInASeparateRow) {
  Measurement none = Sample("W1", 8000);
  none.refused = {};
  std::string table;
  AppendTable(SampleResults({none}), std::nullopt, table);
  EXPECT_THAT(table, HasSubstr("80.0 us"));
  EXPECT_EQ(table.find("refused"), std::string::npos);
  AppendTable(SampleResults({Sample("W1", 8000)}), std::nullopt, table);
  EXPECT_THAT(table, HasSubstr("  refused"));
  EXPECT_THAT(table, HasSubstr("40.0 us"));
}

// ---- Comparing ----------------------------------------------------------------------------------

TEST(CompareTest, ReturnsRatiosOfCommonWorkloads) {
  const auto comparison = Compare(SampleResults({Sample("W1", 8000), Sample("W5", 4000)}), "a.json",
                                  SampleResults({Sample("W1", 16000), Sample("W11", 1)}), "b.json");
  ASSERT_TRUE(comparison.ok()) << comparison.status().message();
  ASSERT_EQ(comparison->workloads.size(), 1U);
  EXPECT_EQ(comparison->workloads[0].workload, "W1");
  EXPECT_EQ(comparison->workloads[0].decisions_per_second.ratio(), 2);
  EXPECT_EQ(comparison->workloads[0].peak_rss_bytes.ratio(), 1);
  EXPECT_THAT(comparison->remarks, ElementsAre("W5 is not in b.json", "W11 is not in a.json"));
  std::string table;
  AppendTable(*comparison, std::nullopt, table);
  EXPECT_THAT(table, HasSubstr("8,000 -> 16,000 (2.00x)"));
  EXPECT_THAT(table, HasSubstr("W5 is not in b.json"));
}

TEST(CompareTest, RemarksDifferentConditions) {
  const Results before = SampleResults({Sample("W1", 8000)});
  Results after = before;
  after.conditions.build = "Debug";
  const auto comparison = Compare(before, "a.json", after, "b.json");
  ASSERT_TRUE(comparison.ok());
  EXPECT_THAT(comparison->remarks,
              ElementsAre("The times are not comparable, because the conditions of a.json and "
                          "b.json differ: build (\"Release\", \"Debug\")"));
}

TEST(CompareTest, RemarksDifferentDecisions) {
  const Results before = SampleResults({Sample("W1", 8000)});
  Results after = before;
  after.measurements[0].bound = 0;
  const auto comparison = Compare(before, "a.json", after, "b.json");
  ASSERT_TRUE(comparison.ok());
  EXPECT_THAT(comparison->remarks,
              ElementsAre("W1: the decisions differ: 10,000 pods bound and 7 failed attempts in "
                          "a.json, 0 pods bound and 7 failed attempts in b.json"));
}

TEST(CompareTest, RejectsDifferentSizesAndNoCommonWorkload) {
  const Results before = SampleResults({Sample("W1", 8000)});
  Results after = before;
  after.measurements[0].nodes = 50;
  const auto other_size = Compare(before, "a.json", after, "b.json");
  ASSERT_FALSE(other_size.ok());
  EXPECT_EQ(
      other_size.status().message(),
      "W1: 5,000 nodes with 50 images, 1,000 initial and 10,000 measured pods in a.json, 50 "
      "nodes with 50 images, 1,000 initial and 10,000 measured pods in b.json: only workloads "
      "of the same size can be compared");
  const auto nothing = Compare(before, "a.json", SampleResults({Sample("W5", 1)}), "b.json");
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.status().message(), "a.json and b.json have no workload in common");
}

TEST(CompareTest, HasNoRatioIfTheFirstIsZero) {
  EXPECT_EQ((Change{.before = 2, .after = 5}).ratio(), 2.5);
  EXPECT_EQ((Change{.before = 0, .after = 0}).ratio(), 1);
  EXPECT_EQ((Change{.before = 0, .after = 5}).ratio(), std::nullopt);
}

TEST(CompareTest, ReportsRegressions) {
  const auto worse = [](const Measurement& after, double max_slowdown) {
    const auto comparison =
        Compare(SampleResults({Sample("W1", 1000)}), "a", SampleResults({after}), "b");
    return Regressions(*comparison, max_slowdown);
  };
  EXPECT_THAT(worse(Sample("W1", 1000), 1), IsEmpty());
  EXPECT_THAT(worse(Sample("W1", 800), 1.25), IsEmpty());
  EXPECT_THAT(worse(Sample("W1", 2000), 1), IsEmpty());
  EXPECT_THAT(worse(Sample("W1", 799), 1.25),
              ElementsAre("W1 uses more than 1.25 times the CPU time per decision"));
  Measurement binds_fewer = Sample("W1", 1000);
  --binds_fewer.bound;
  EXPECT_THAT(worse(binds_fewer, 2), ElementsAre("W1 binds fewer pods than before"));
}

TEST(CompareTest, ReportsAMissingWorkloadAsRegression) {
  const auto comparison = Compare(SampleResults({Sample("W1", 1000), Sample("W5", 1000)}), "a",
                                  SampleResults({Sample("W1", 1000), Sample("W11", 1)}), "b");
  ASSERT_TRUE(comparison.ok());
  EXPECT_THAT(Regressions(*comparison, 2), ElementsAre("W5 is missing in the second file"));
}

TEST(FormatTest, ChoosesTheUnit) {
  EXPECT_EQ(FormatNs(0), "0 ns");
  EXPECT_EQ(FormatNs(9999), "9,999 ns");
  EXPECT_EQ(FormatNs(10000), "10.0 us");
  EXPECT_EQ(FormatNs(9999000), "9999.0 us");
  EXPECT_EQ(FormatNs(12345678), "12.35 ms");
  EXPECT_EQ(FormatBytes(41300000), "41.3 MB");
}

// ---- The command --------------------------------------------------------------------------------

struct CommandResult {
  int exit_status = 0;
  std::string out;
  std::string err;
};

CommandResult RunBench(const std::vector<std::string>& args) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  host::CommandEnvironment env{.in = in,
                               .out = out,
                               .err = err,
                               .executable = EXECUTABLE,
                               .temporary_directory = ::testing::TempDir(),
                               .steady_ns = [] { return int64_t{0}; },
                               .wall_ns = [] { return int64_t{0}; },
                               .out_width = std::nullopt};
  const int exit_status = RunBenchCommand(args, env);
  return {exit_status, out.str(), err.str()};
}

std::string WriteFile(const std::string& name, const std::string& text) {
  std::string path = ::testing::TempDir() + "/berth_bench_" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(BenchCommandTest, MeasuresAndComparesTheResults) {
  const std::vector<std::string> tiny = {"W1",     "W4/2", "--nodes",  "10", "--init-pods", "3",
                                         "--pods", "20",   "--repeat", "2",  "--output",    "json"};
  const CommandResult result = RunBench(tiny);
  ASSERT_EQ(result.exit_status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_EQ(json["results"].size(), 2U);
  EXPECT_EQ(json["results"][0]["bound"], 20);
  EXPECT_EQ(json["results"][1]["workload"], "W4/2");
  EXPECT_EQ(json["results"][1]["cpuUsPerDecisionOfRuns"].size(), 2U);
  EXPECT_GT(json["results"][1]["peakRssBytes"], 1 << 20);
  const std::string path = WriteFile("same.json", result.out);
  const CommandResult compared = RunBench({"compare", path, path, "--max-slowdown", "1"});
  EXPECT_EQ(compared.exit_status, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("(1.00x)"));
}

TEST(BenchCommandTest, FailsIfAWorkloadIsSlowerThanAllowed) {
  const std::string before =
      WriteFile("before.json", ToJson(SampleResults({Sample("W1", 2000)})).dump());
  const std::string after =
      WriteFile("after.json", ToJson(SampleResults({Sample("W1", 1000)})).dump());
  EXPECT_EQ(RunBench({"compare", before, after}).exit_status, 0);
  const CommandResult result =
      RunBench({"compare", before, after, "--max-slowdown", "1.5", "-o", "json"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.err, HasSubstr("berth-bench: W1 uses more than 1.50 times the CPU time"));
  EXPECT_EQ(nlohmann::json::parse(result.out)["workloads"][0]["decisionsPerSecond"]["ratio"], 0.5);
}

TEST(BenchCommandTest, ShowsOtherWorkloadsIfOneCannotBeMeasured) {
  // The only node is too small for the initial pods of W1.
  const CommandResult result = RunBench({"W1", "W11", "--nodes", "1", "--init-pods", "100",
                                         "--pods", "1", "--repeat", "1", "-o", "json"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.err, HasSubstr("berth-bench: W1: 40 of the 100 initial pods"));
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_EQ(json["results"].size(), 1U);
  EXPECT_EQ(json["results"][0]["workload"], "W11");
}

TEST(BenchCommandTest, MeasuresWorkloadOnceIfItIsNamedTwice) {
  const CommandResult result = RunBench({"W4/2", "W4", "W4/2", "--nodes", "3", "--init-pods", "0",
                                         "--pods", "2", "--repeat", "1", "-o", "json"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["results"].size(), 4U);
}

TEST(BenchCommandTest, ReportsBadInput) {
  const std::string results =
      WriteFile("one.json", ToJson(SampleResults({Sample("W1", 2000)})).dump());
  const struct {
    std::vector<std::string> args;
    std::string expected;
  } rows[] = {
      {{"W3"}, "berth-bench: there is no workload \"W3\" (see berth-bench --help)"},
      {{"compre", results, results}, "did you mean compare?"},
      {{"W1", "compare", results, results}, "compare does not measure"},
      {{"--nodes", "7", "compare", results, results},
       "expected no workload or option before it, found --nodes"},
      {{"compare", results, results, "--max-slowdown", "nan"}, "expected a number from 1 to 1e6"},
      {{"compare", results, results, "--max-slowdown", "0.9"}, "expected a number from 1 to 1e6"},
      {{"--repeat", "0"}, "--repeat"},
      {{"--nodes", "many"}, "--nodes"},
      {{"--profile", "./absent.toml", "W1"}, "absent.toml"},
      {{"compare", results}, "after is required"},
      {{"compare", results, "/absent.json"}, "/absent.json: No such file"},
      {{"compare", results, WriteFile("bad.json", "[]")}, "bad.json: berthBench"},
  };
  for (const auto& row : rows) {
    const CommandResult result = RunBench(row.args);
    EXPECT_EQ(result.exit_status, 2) << row.expected;
    EXPECT_THAT(result.err, HasSubstr(row.expected));
    EXPECT_THAT(result.out, IsEmpty());
  }
}

TEST(BenchCommandTest, HelpListsExamplesAndWorkloads) {
  const CommandResult result = RunBench({"--help"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.out, HasSubstr("berth-bench compare before.json after.json"));
  EXPECT_THAT(result.out, HasSubstr("W4/512    AlternatingSignatures, 512 classes"));
}

}  // namespace
}  // namespace berth::bench

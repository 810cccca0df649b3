// The file of a run is read as it was written, and two are compared.
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

namespace berth::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Decides `rate` pods per second, on one CPU.
Measurement Sample(const std::string& workload, double rate) {
  Measurement sample{.workload = workload,
                     .test_case = "SchedulingBasic",
                     .nodes = 5000,
                     .init_pods = 1000,
                     .pods = 10000,
                     .decisions = 10000,
                     .bound = 9999,
                     .refused = 1,
                     .seconds = 1.25,
                     .cpu_seconds = 1.2};
  sample.pods_per_second = sample.decisions_per_second = rate;
  sample.cpu_us_per_decision = 1e6 / rate;
  sample.decision_p50_ns = 80000;
  sample.decision_p99_ns = 120000;
  sample.decision_max_ns = 900000;
  sample.allocations_per_decision = 12.5;
  sample.allocated_bytes_per_decision = 4096;
  sample.load_seconds = 0.5;
  sample.peak_rss_bytes = 40000000;
  sample.pods_per_second_of_runs = {rate, rate};
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

std::string Reading(const nlohmann::json& json) {
  const auto read = ResultsFrom(json.dump(), "a.json");
  return read.ok() ? "" : std::string(read.status().message());
}

// ---- Results ------------------------------------------------------------------------------------

TEST(ResultsTest, AreReadAsTheyWereWritten) {
  Results results = SampleResults({Sample("W1", 8000), Sample("W5", 4000)});
  results.measurements[1].allocations_per_decision.reset();
  const std::string text = ToJson(results).dump();
  const auto read = ResultsFrom(text, "a.json");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ToJson(*read).dump(), text);
}

TEST(ResultsTest, SayWhereTheyAreWrong) {
  const nlohmann::json good = ToJson(SampleResults({Sample("W1", 8000), Sample("W5", 4000)}));
  const auto with = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(pointer)] = value;
    return Reading(bad);
  };
  EXPECT_EQ(with("/berthBench", 2),
            "a.json: berthBench: expected 1, as `berth-bench --output json` has it");
  EXPECT_EQ(with("/conditions", 3), "a.json: conditions.cpu: expected a string");
  EXPECT_EQ(with("/conditions/cpus", -1), "a.json: conditions.cpus: expected a number");
  EXPECT_EQ(with("/conditions/profiles", {1}),
            "a.json: conditions.profiles: expected an array of strings");
  EXPECT_EQ(with("/results", "none"), "a.json: results: expected an array");
  EXPECT_EQ(with("/results/1/nodes", "many"),
            R"(a.json: results[1]: nodes: found "many", expected a number)");
  EXPECT_EQ(
      with("/results/0/podsPerSecondOfRuns", {"x"}),
      R"(a.json: results[0]: podsPerSecondOfRuns: found ["x"], expected an array of numbers)");
  EXPECT_EQ(with("/results/0", 1), "a.json: results[0]: found 1, expected {...}");
  const auto not_json = ResultsFrom("{", "a.json");
  ASSERT_FALSE(not_json.ok());
  EXPECT_EQ(not_json.status().message(), "a.json: this is not JSON");
}

TEST(ResultsTest, MissNothing) {
  const nlohmann::json good = ToJson(SampleResults({Sample("W1", 8000)}));
  for (const auto& [key, value] : good["results"][0].items()) {
    nlohmann::json bad = good;
    bad["results"][0].erase(key);
    EXPECT_THAT(Reading(bad), HasSubstr("results[0]: " + key + ": found missing")) << key;
  }
  for (const auto& [key, value] : good["conditions"].items()) {
    nlohmann::json bad = good;
    bad["conditions"].erase(key);
    EXPECT_THAT(Reading(bad), HasSubstr("conditions." + key)) << key;
  }
}

// ---- Comparing ----------------------------------------------------------------------------------

TEST(CompareTest, GivesTheRatioOfWhatBothHave) {
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

TEST(CompareTest, ComparesTimesFromOtherConditionsWithARemark) {
  const Results before = SampleResults({Sample("W1", 8000)});
  Results after = before;
  after.conditions.build = "Debug";
  const auto comparison = Compare(before, "a.json", after, "b.json");
  ASSERT_TRUE(comparison.ok());
  ASSERT_EQ(comparison->remarks.size(), 1U);
  EXPECT_THAT(comparison->remarks[0], HasSubstr("different conditions"));
}

TEST(CompareTest, RefusesAnotherSizeAndNothingInCommon) {
  const Results before = SampleResults({Sample("W1", 8000)});
  Results after = before;
  after.measurements[0].nodes = 50;
  const auto other_size = Compare(before, "a.json", after, "b.json");
  ASSERT_FALSE(other_size.ok());
  EXPECT_EQ(other_size.status().message(),
            "W1: 5,000 nodes, 1,000 and 10,000 pods in a.json, 50 nodes, 1,000 and 10,000 pods in "
            "b.json: these are different workloads");
  const auto nothing = Compare(before, "a.json", SampleResults({Sample("W5", 1)}), "b.json");
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.status().message(), "a.json and b.json have no workload in common");
}

TEST(CompareTest, HasNoRatioWhereThereWasNothing) {
  EXPECT_EQ((Change{.before = 2, .after = 5}).ratio(), 2.5);
  EXPECT_EQ((Change{.before = 0, .after = 0}).ratio(), 1);
  EXPECT_EQ((Change{.before = 0, .after = 5}).ratio(), std::nullopt);
}

TEST(CompareTest, FindsWhatBecameSlowerThanAllowed) {
  const auto slower = [](double after, double max_slowdown) {
    const auto comparison = Compare(SampleResults({Sample("W1", 1000)}), "a",
                                    SampleResults({Sample("W1", after)}), "b");
    return SlowerThan(*comparison, max_slowdown);
  };
  EXPECT_THAT(slower(1000, 1), IsEmpty());
  EXPECT_THAT(slower(800, 1.25), IsEmpty());
  EXPECT_THAT(slower(799, 1.25), ElementsAre("W1"));
  EXPECT_THAT(slower(2000, 1), IsEmpty());
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

struct Answer {
  int exit_status = 0;
  std::string out;
  std::string err;
};

Answer Ask(const std::vector<std::string>& args) {
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

TEST(BenchCommandTest, MeasuresAndComparesWhatItMeasured) {
  const std::vector<std::string> tiny = {"W1",     "W4/2", "--nodes",  "10", "--init-pods", "3",
                                         "--pods", "20",   "--repeat", "2",  "--output",    "json"};
  const Answer answer = Ask(tiny);
  ASSERT_EQ(answer.exit_status, 0) << answer.err;
  const auto json = nlohmann::json::parse(answer.out);
  ASSERT_EQ(json["results"].size(), 2U);
  EXPECT_EQ(json["results"][0]["bound"], 20);
  EXPECT_EQ(json["results"][1]["workload"], "W4/2");
  EXPECT_EQ(json["results"][1]["podsPerSecondOfRuns"].size(), 2U);
  EXPECT_GT(json["results"][1]["peakRssBytes"], 1 << 20);
  const std::string path = WriteFile("same.json", answer.out);
  const Answer compared = Ask({"compare", path, path, "--max-slowdown", "1"});
  EXPECT_EQ(compared.exit_status, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("(1.00x)"));
}

TEST(BenchCommandTest, FailsWhereAWorkloadBecameSlower) {
  const std::string before =
      WriteFile("before.json", ToJson(SampleResults({Sample("W1", 2000)})).dump());
  const std::string after =
      WriteFile("after.json", ToJson(SampleResults({Sample("W1", 1000)})).dump());
  EXPECT_EQ(Ask({"compare", before, after}).exit_status, 0);
  const Answer answer = Ask({"compare", before, after, "--max-slowdown", "1.5", "-o", "json"});
  EXPECT_EQ(answer.exit_status, 1);
  EXPECT_THAT(answer.err, HasSubstr("W1 is slower"));
  EXPECT_EQ(nlohmann::json::parse(answer.out)["workloads"][0]["decisionsPerSecond"]["ratio"], 0.5);
}

TEST(BenchCommandTest, SaysWhatIsWrong) {
  const std::string results =
      WriteFile("one.json", ToJson(SampleResults({Sample("W1", 2000)})).dump());
  const struct {
    std::vector<std::string> args;
    std::string expected;
  } rows[] = {
      {{"W3"}, "there is no workload \"W3\""},
      {{"--repeat", "0"}, "--repeat"},
      {{"--nodes", "many"}, "--nodes"},
      {{"--profile", "./absent.toml", "W1"}, "absent.toml"},
      {{"compare", results}, "after is required"},
      {{"compare", results, "/absent.json"}, "/absent.json: No such file"},
      {{"compare", results, WriteFile("bad.json", "[]")}, "bad.json: berthBench"},
  };
  for (const auto& row : rows) {
    const Answer answer = Ask(row.args);
    EXPECT_EQ(answer.exit_status, 2) << row.expected;
    EXPECT_THAT(answer.err, HasSubstr(row.expected));
    EXPECT_THAT(answer.out, IsEmpty());
  }
}

TEST(BenchCommandTest, Teaches) {
  const Answer answer = Ask({"--help"});
  EXPECT_EQ(answer.exit_status, 0);
  EXPECT_THAT(answer.out, HasSubstr("berth-bench compare before.json after.json"));
}

}  // namespace
}  // namespace berth::bench

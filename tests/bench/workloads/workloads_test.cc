// Tests the workloads and the measuring of attempts. No test compares measured times of two runs.
#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/bench/workloads/allocations.h"
#include "tests/bench/workloads/measure.h"
#include "tests/bench/workloads/measurement.h"
#include "tests/bench/workloads/workload.h"

namespace berth::bench {
namespace {

using host::Result;
using host::Status;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Calls MeasureApart with a clock that never reaches the time limit.
Result<Measurement> MeasureWithoutLimit(const std::function<Result<Measurement>()>& measure) {
  return MeasureApart(measure, [] { return int64_t{0}; });
}

// ---- Workloads ----------------------------------------------------------------------------------

std::vector<std::string> NamesOf(std::span<const Workload> workloads) {
  std::vector<std::string> names;
  for (const Workload& workload : workloads) names.emplace_back(workload.name);
  return names;
}

TEST(WorkloadsTest, AreFoundByNameAndByFamily) {
  EXPECT_THAT(NamesOf(WorkloadsNamed("W1")), ElementsAre("W1"));
  EXPECT_THAT(NamesOf(WorkloadsNamed("W11")), ElementsAre("W11"));
  EXPECT_THAT(NamesOf(WorkloadsNamed("W4/16")), ElementsAre("W4/16"));
  EXPECT_THAT(NamesOf(WorkloadsNamed("W4")), ElementsAre("W4/2", "W4/16", "W4/64", "W4/512"));
  EXPECT_THAT(NamesOf(WorkloadsNamed("W6")), ElementsAre("W6/hard", "W6/soft"));
  EXPECT_THAT(NamesOf(WorkloadsNamed("W")), ElementsAre());
  EXPECT_THAT(NamesOf(WorkloadsNamed("")), ElementsAre());
}

TEST(WorkloadsTest, HaveTheDeclaredNumberOfPodClasses) {
  const auto without_name = [](std::string json) {
    const size_t spec = json.find("\"spec\"");
    return json.substr(spec);
  };
  for (const Workload& workload : Workloads()) {
    std::set<std::string> classes;
    for (uint32_t i = 0; i < workload.pods; ++i) {
      classes.insert(without_name(PodJson(workload, workload.init_pods + i)));
    }
    EXPECT_EQ(classes.size(), workload.classes) << workload.name;
  }
}

TEST(WorkloadsTest, InitialAndMeasuredPodsUseTheirOwnTemplates) {
  const Workload& unschedulable = WorkloadsNamed("W11").front();
  EXPECT_THAT(PodJson(unschedulable, unschedulable.init_pods - 1), HasSubstr(R"("cpu":"9000m")"));
  EXPECT_THAT(PodJson(unschedulable, unschedulable.init_pods), HasSubstr(R"("cpu":"100m")"));
  EXPECT_THAT(PodJson(WorkloadsNamed("W5").front(), 0), HasSubstr("nodeAffinity"));
}

// Returns the pod with this index, as JSON.
nlohmann::json PodOf(const Workload& workload, uint32_t index) {
  return nlohmann::json::parse(PodJson(workload, index));
}

// A pod with a term of its own must match it, or the workload measures nothing.
TEST(WorkloadsTest, TermsSelectTheLabelOfTheirOwnPods) {
  const struct {
    const char* workload;
    const char* term;  // A JSON pointer below the spec.
    const char* key;
  } cases[] = {
      {"W6/hard", "/topologySpreadConstraints/0", "topology.kubernetes.io/zone"},
      {"W6/soft", "/topologySpreadConstraints/0", "topology.kubernetes.io/zone"},
      {"W7", "/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0",
       "kubernetes.io/hostname"},
      {"W8", "/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0",
       "topology.kubernetes.io/zone"},
      {"W9", "/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0",
       "kubernetes.io/hostname"},
  };
  for (const auto& c : cases) {
    const Workload& workload = WorkloadsNamed(c.workload).front();
    const nlohmann::json pod = PodOf(workload, workload.init_pods);
    const nlohmann::json term = pod["spec"].at(nlohmann::json::json_pointer(c.term));
    EXPECT_EQ(term["topologyKey"], c.key) << c.workload;
    EXPECT_EQ(term["labelSelector"]["matchLabels"], pod["metadata"]["labels"]) << c.workload;
  }
  EXPECT_EQ(PodOf(WorkloadsNamed("W6/hard").front(),
                  5000)["spec"]["topologySpreadConstraints"][0]["whenUnsatisfiable"],
            "DoNotSchedule");
  EXPECT_EQ(PodOf(WorkloadsNamed("W6/soft").front(),
                  5000)["spec"]["topologySpreadConstraints"][0]["whenUnsatisfiable"],
            "ScheduleAnyway");
}

TEST(WorkloadsTest, PodsAreInNamespacesThatTheirTermsSelect) {
  for (const char* name : {"W7", "W8", "W9"}) {
    const Workload& workload = WorkloadsNamed(name).front();
    std::set<std::string> namespaces;
    for (const std::string& json : NamespacesJson(workload)) {
      const auto ns = nlohmann::json::parse(json);
      EXPECT_EQ(ns["metadata"]["labels"]["team"], "devops") << name;
      namespaces.insert(ns["metadata"]["name"]);
    }
    std::set<std::string> used;
    for (uint32_t i = 0; i < workload.init_pods + workload.pods; ++i) {
      used.insert(PodOf(workload, i)["metadata"]["namespace"]);
    }
    EXPECT_EQ(used, namespaces) << name;
  }
  EXPECT_EQ(NamespacesJson(WorkloadsNamed("W6").front()).size(), 0U);
}

TEST(WorkloadsTest, SpreadsNodesOverZonesUnlessOneIsSet) {
  EXPECT_THAT(NodeJson(WorkloadsNamed("W1").front(), 4), HasSubstr("zone2"));
  EXPECT_THAT(NodeJson(WorkloadsNamed("W5").front(), 4), HasSubstr("zone1"));
}

TEST(WorkloadsTest, OneNodeInTenHoldsImageOfPods) {
  Workload workload = WorkloadsNamed("W1").front();
  const auto images_of = [&](uint32_t node) {
    return nlohmann::json::parse(NodeJson(workload, node))["status"]["images"];
  };
  const auto pod = nlohmann::json::parse(PodJson(workload, 0));
  const std::string wanted = pod["spec"]["containers"][0]["image"];
  uint32_t holders = 0;
  for (uint32_t node = 0; node < 100; ++node) {
    const auto images = images_of(node);
    EXPECT_EQ(images.size(), 50U);
    std::set<std::string> names;
    for (const auto& image : images) {
      for (const auto& name : image["names"]) names.insert(name);
    }
    EXPECT_EQ(names.size(), 100U);
    holders += names.contains(wanted) ? 1 : 0;
  }
  EXPECT_EQ(holders, 10U);
  workload.images = 0;
  EXPECT_EQ(images_of(0).size(), 0U);
}

// ---- Measuring ----------------------------------------------------------------------------------

// Returns the default profile with the plugins of this build.
const host::ProfileSet& DefaultProfile() {
  static const host::ProfileSet* const set = [] {
    host::ProfileRequest request;
    request.plugin_directories = {PLUGIN_DIR};
    request.executable = EXECUTABLE;
    request.libraries = host::MakeLibraryStore(::testing::TempDir(), [] { return int64_t{0}; });
    auto loaded = host::LoadProfiles(request);
    if (!loaded.ok()) ADD_FAILURE() << loaded.status().message();
    return new host::ProfileSet(std::move(loaded).value());
  }();
  return *set;
}

Workload Small(std::string_view name) {
  Workload workload = WorkloadsNamed(name).front();
  workload.nodes = 12;
  workload.init_pods = workload.init_pods == 0 ? 0 : 5;
  workload.pods = 30;
  return workload;
}

Measurement Measured(const Workload& workload) {
  const auto found = Measure(workload, DefaultProfile());
  if (!found.ok()) {
    ADD_FAILURE() << workload.name << ": " << found.status().message();
    return {};
  }
  return *found;
}

TEST(MeasureTest, CountsOnlyMeasuredPods) {
  for (const std::string_view name :
       {"W1", "W2", "W4/2", "W4/512", "W5", "W6/hard", "W6/soft", "W8"}) {
    const Measurement found = Measured(Small(name));
    EXPECT_EQ(found.workload, name);
    EXPECT_EQ(found.bound, 30U) << name;
    EXPECT_EQ(found.placed.count, 30U) << name;
    EXPECT_EQ(found.refused.count, 0U) << name;
  }
}

TEST(MeasureTest, SeparatesFailedFromSuccessfulAttempts) {
  const Measurement found = Measured(Small("W11"));
  EXPECT_EQ(found.bound, 30U);
  EXPECT_EQ(found.placed.count, 30U);
  EXPECT_EQ(found.refused.count, 5U);
  EXPECT_GT(found.refused.p50_ns, 0);
}

TEST(MeasureTest, TimesOfAttemptsAreConsistent) {
  const Measurement found = Measured(Small("W1"));
  EXPECT_GT(found.placed.p50_ns, 0);
  EXPECT_LE(found.placed.p50_ns, found.placed.p99_ns);
  EXPECT_LE(found.placed.p99_ns, found.placed.max_ns);
  EXPECT_LE(found.placed.cpu_p50_ns, found.placed.cpu_p99_ns);
  EXPECT_LE(static_cast<double>(found.placed.max_ns) / 1e9, found.seconds);
  EXPECT_GT(found.load_seconds, 0);
  EXPECT_DOUBLE_EQ(found.pods_per_second * found.seconds, 30);
  EXPECT_DOUBLE_EQ(found.cpu_us_per_decision * 30, found.cpu_seconds * 1e6);
  EXPECT_EQ(found.placed.allocations.has_value(), CountsAllocations());
  EXPECT_EQ(found.refused.allocations, std::nullopt);
}

TEST(MeasureTest, EqualRunsAllocateEqually) {
  if (!CountsAllocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
  Measured(Small("W1"));  // Makes the allocations that happen once per process.
  const Measurement first = Measured(Small("W1"));
  const Measurement second = Measured(Small("W1"));
  EXPECT_GT(*first.placed.allocations, 0);
  EXPECT_EQ(first.placed.allocations, second.placed.allocations);
  EXPECT_EQ(first.placed.allocated_bytes, second.placed.allocated_bytes);
}

TEST(MeasureTest, AcceptsWorkloadsWithoutPodsOrNodes) {
  Workload workload = Small("W1");
  workload.pods = 0;
  const Measurement no_pods = Measured(workload);
  EXPECT_EQ(no_pods.placed.count + no_pods.refused.count, 0U);
  EXPECT_EQ(no_pods.placed.p99_ns, 0);
  EXPECT_EQ(no_pods.cpu_us_per_decision, 0);
  workload.pods = 3;
  workload.nodes = workload.init_pods = 0;
  const Measurement no_nodes = Measured(workload);
  EXPECT_EQ(no_nodes.bound, 0U);
  EXPECT_EQ(no_nodes.refused.count, 3U);
}

TEST(MeasureTest, FailsIfInitialPodsDoNotFit) {
  Workload workload = Small("W1");
  workload.init_template = PodTemplate::kTooLarge;
  const auto found = Measure(workload, DefaultProfile());
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().message(),
            "0 of the 5 initial pods fit on the 12 nodes: use more nodes or fewer initial pods");
}

TEST(AllocationsTest, AreCountedWithTheirBytes) {
  if (!CountsAllocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
  // Volatile pointers prevent the compiler from removing the calls.
  void* (*const volatile allocate)(size_t) = std::malloc;
  void* (*const volatile allocate_clear)(size_t, size_t) = std::calloc;
  void* (*const volatile reallocate)(void*, size_t) = std::realloc;
  void* (*const volatile align)(size_t, size_t) = std::aligned_alloc;
  int (*const volatile posix_align)(void**, size_t, size_t) = posix_memalign;
  const Allocations before = AllocationsOfThread();
  void* plain = reallocate(allocate(100), 300);
  void* clear = allocate_clear(3, 7);
  void* aligned = align(64, 128);
  void* also_aligned = nullptr;
  const int bad_alignment = posix_align(&also_aligned, 3, 1000);
  const int good_alignment = posix_align(&also_aligned, 4096, 50);
  const auto made = std::make_unique<std::string>(1000, 'x');
  const Allocations after = AllocationsOfThread();
  EXPECT_EQ(bad_alignment, EINVAL);
  EXPECT_EQ(good_alignment, 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(aligned) % 64, 0U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(also_aligned) % 4096, 0U);
  EXPECT_EQ(after.count - before.count, 7U);
  EXPECT_EQ(after.bytes - before.bytes, 100 + 300 + 21 + 128 + 50 + sizeof(std::string) + 1001);
  for (void* memory : {plain, clear, aligned, also_aligned}) std::free(memory);
}

TEST(AllocationsTest, AreCountedInEveryLibrary) {
  if (!CountsAllocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
  Dl_info ours{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&AllocationsOfThread), &ours), 0);
  for (const char* name :
       {"malloc", "calloc", "realloc", "memalign", "aligned_alloc", "posix_memalign"}) {
    Dl_info found{};
    ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, name), &found), 0) << name;
    EXPECT_EQ(found.dli_fbase, ours.dli_fbase) << name;
  }
}

// ---- Measuring in a child process ---------------------------------------------------------------

TEST(MeasureApartTest, ReturnsTheMeasurementAndThePeakMemory) {
  const auto with_memory = [](size_t bytes) {
    return MeasureWithoutLimit([bytes] {
      const std::vector<char> memory(bytes, 'x');
      Measurement measurement{.workload = "W1"};
      measurement.nodes = static_cast<uint32_t>(memory.back());
      return Result<Measurement>(measurement);
    });
  };
  const auto small = with_memory(1);
  const auto large = with_memory(64 << 20);
  ASSERT_TRUE(small.ok()) << small.status().message();
  ASSERT_TRUE(large.ok()) << large.status().message();
  EXPECT_EQ(large->workload, "W1");
  EXPECT_EQ(large->nodes, static_cast<uint32_t>('x'));
  EXPECT_GT(small->peak_rss_bytes, 0U);
  EXPECT_GT(large->peak_rss_bytes, small->peak_rss_bytes + (48 << 20));
}

TEST(MeasureApartTest, ReturnsTheErrorOfTheMeasurement) {
  const auto failed = MeasureWithoutLimit(
      [] { return Result<Measurement>(Status::Internal("no node \x80 fits")); });
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.status().message(), HasSubstr("no node"));
  const auto thrown = MeasureWithoutLimit(
      []() -> Result<Measurement> { throw std::runtime_error("out of \x80 it"); });
  ASSERT_FALSE(thrown.ok());
  EXPECT_THAT(thrown.status().message(), HasSubstr("out of"));
}

TEST(MeasureApartTest, ReportsHowAProcessWithoutAResultEnded) {
  const auto aborted = MeasureWithoutLimit([]() -> Result<Measurement> { std::abort(); });
  ASSERT_FALSE(aborted.ok());
  EXPECT_THAT(aborted.status().message(), HasSubstr("was ended by SIGABRT"));
  const auto left = MeasureWithoutLimit([]() -> Result<Measurement> { std::_Exit(3); });
  ASSERT_FALSE(left.ok());
  EXPECT_THAT(left.status().message(), HasSubstr("exit status 3"));
  const auto silent = MeasureWithoutLimit([]() -> Result<Measurement> { std::_Exit(0); });
  ASSERT_FALSE(silent.ok());
  EXPECT_THAT(silent.status().message(), HasSubstr("returned no result"));
}

// ---- Numbers ------------------------------------------------------------------------------------

TEST(PercentileTest, UsesTheNearestRank) {
  const struct {
    std::vector<int64_t> values;
    double percent;
    int64_t expected;
  } rows[] = {
      {{}, 50, 0},           {{7}, 50, 7},           {{7}, 99, 7},
      {{2, 1}, 50, 1},       {{2, 1}, 51, 2},        {{3, 1, 2}, 50, 2},
      {{4, 3, 2, 1}, 75, 3}, {{4, 3, 2, 1}, 100, 4}, {{5, 4, 3, 2, 1}, 0.1, 1},
  };
  for (const auto& row : rows) {
    std::vector<int64_t> values = row.values;
    EXPECT_EQ(Percentile(values, row.percent), row.expected) << row.percent;
  }
}

TEST(MedianTest, ReturnsMiddleRunOrTheLowerOfTwo) {
  const auto median = [](const std::vector<double>& rates) {
    std::vector<Measurement> runs;
    for (const double rate : rates) {
      runs.push_back({.workload = std::to_string(rate)});
      runs.back().decisions_per_second = rate;
      runs.back().cpu_us_per_decision = 10 * rate;
    }
    const Measurement found = MedianOf(std::move(runs));
    EXPECT_EQ(found.decisions_per_second_of_runs, rates);
    EXPECT_EQ(found.cpu_us_per_decision_of_runs.size(), rates.size());
    EXPECT_EQ(found.cpu_us_per_decision, 10 * *std::ranges::min_element(rates));
    EXPECT_EQ(found.workload, std::to_string(found.decisions_per_second));
    return found.decisions_per_second;
  };
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({5, 4}), 4);
  EXPECT_EQ(median({5, 1, 4}), 4);
}

}  // namespace
}  // namespace berth::bench

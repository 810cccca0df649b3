// Tests every check of the kit with a plugin that violates it: the kit must report the violation.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(PluginUnderTest, FilterReturnsVerdictsPerNode) {
  const SampleLibrary library(CorrectFilter());
  PluginUnderTest plugin(library.entry(), ThreeNodes());
  const struct {
    const char* name;
    int64_t cpu_milli;
    std::vector<std::string> fitting;
  } cases[] = {
      {"exactly enough cpu on a", 600, {"a", "b"}},
      {"one thousandth more", 601, {"b"}},
      {"no request", 0, {"a", "b", "c"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(plugin.Filter(MakePod("p").CpuMilli(c.cpu_milli)).Fitting(), c.fitting);
  }
  const FilterResult result = plugin.Filter(MakePod("p").CpuMilli(601));
  EXPECT_EQ(result.On("b"), Success());
  EXPECT_EQ(result.On("a"), Unschedulable("no room"));
  EXPECT_EQ(result.On("d").code, BERTH_ERROR);
}

TEST(PluginUnderTest, ScoreReturnsRawAndNormalizedScores) {
  const SampleLibrary library(CorrectScore());
  PluginUnderTest plugin(library.entry(), ThreeNodes());
  const ScoreResult result = plugin.Score(MakePod("p").CpuMilli(50));
  EXPECT_EQ(result.raw, (std::map<std::string, int64_t>{{"a", 550}, {"b", 1950}, {"c", 0}}));
  EXPECT_EQ(result.normalized, (std::map<std::string, int64_t>{{"a", 28}, {"b", 100}, {"c", 0}}));
  EXPECT_FALSE(result.skipped);
}

TEST(PluginUnderTest, ReportsNothingForCorrectPlugins) {
  EXPECT_THAT(FilterFindings(CorrectFilter()), IsEmpty());
  EXPECT_THAT(FilterFindings(CorrectState()), IsEmpty());
  EXPECT_THAT(ScoreFindings(CorrectScore()), IsEmpty());
}

TEST(PluginUnderTest, FollowsChangesOfTheCluster) {
  const Parts parts = CorrectState();
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), ThreeNodes());
  EXPECT_EQ(plugin.Filter(SmallPod()).On("a"), Success());
  plugin.AddPod(MakePod("second").Priority(1), "b");
  EXPECT_EQ(plugin.Filter(SmallPod()).On("a"), Unschedulable("no room"));
  plugin.RemovePod("second", "b");
  EXPECT_EQ(plugin.Filter(SmallPod()).On("a"), Success());
  plugin.RemoveNode("a");
  EXPECT_EQ(plugin.Filter(SmallPod()).Fitting(), (std::vector<std::string>{"b", "c"}));
}

TEST(PluginUnderTest, AChangedNodeKeepsItsPods) {
  const SampleLibrary library(CorrectFilter());
  PluginUnderTest plugin(library.entry(), ThreeNodes());
  plugin.ChangeNode(MakeNode("a").CpuMilli(1001));
  using Names = std::vector<std::string>;
  EXPECT_EQ(plugin.Filter(MakePod("p").CpuMilli(601)).Fitting(), (Names{"a", "b"}));
  EXPECT_EQ(plugin.Filter(MakePod("p").CpuMilli(602)).Fitting(), (Names{"b"}));
}

TEST(Outputs, ReportsAWriteAfterTheBlock) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    for (uint32_t i = 0; i <= block->count; ++i) Reject(out, i, false);
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(
      FilterFindings(parts),
      Contains(AllOf(HasSubstr("writes codes[3], outside the block of 3"), HasSubstr("kOutputs"))));
}

TEST(Outputs, ReportsAWriteBeforeTheBlock) {
  const auto parts = WithScore([](void*, const berth_cycle*, const berth_block* block,
                                  berth_score_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { out->scores[i] = 0; });
    out->scores[-1] = 0;
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(ScoreFindings(parts),
              Contains(HasSubstr("writes scores[-1], outside the block of 3")));
}

TEST(Outputs, ReportsAnUnwrittenCode) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) {
      if (i + 1 != block->count) Reject(out, i, false);
    });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("leaves the code of index 2 (node \"c\") unwritten")));
}

TEST(Outputs, ReportsAnUnwrittenScore) {
  const auto parts = WithScore([](void*, const berth_cycle*, const berth_block* block,
                                  berth_score_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) {
      if (i != 1) out->scores[i] = 0;
    });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(ScoreFindings(parts),
              Contains(HasSubstr("leaves the score of index 1 (node \"b\") unwritten")));
}

TEST(Outputs, ReportsUnwrittenReasons) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { out->codes[i] = BERTH_UNSCHEDULABLE; });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("leaves the reasons of index 0 (node \"a\") unwritten")));
}

TEST(Outputs, ReportsAWriteToAnUnselectedIndex) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    for (uint32_t i = 0; i < block->count; ++i) Reject(out, i, false);
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts), Contains(AllOf(HasSubstr("none selected writes index 0"),
                                                    HasSubstr("which is not selected"))));
}

TEST(Codes, ReportsAnUnknownCode) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { out->codes[i] = 77, out->reasons[i] = 1; });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("code 77 for node \"a\" is not a valid verdict of Filter")));
}

TEST(Codes, ReportsSkipAsAVerdict) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { out->codes[i] = BERTH_SKIP, out->reasons[i] = 1; });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("Skip for node \"a\" is not a valid verdict of Filter")));
}

TEST(Codes, ReportsAReasonOutsideTheTable) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block,
                 [&](uint32_t i) { out->codes[i] = BERTH_UNSCHEDULABLE, out->reasons[i] = 2; });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("reason bit 1 for node \"a\", but the reason table has 1")));
}

TEST(Codes, ReportsARejectionWithoutAReason) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block,
                 [&](uint32_t i) { out->codes[i] = BERTH_UNSCHEDULABLE, out->reasons[i] = 0; });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("Unschedulable for node \"a\" has no reason")));
}

TEST(Codes, ReportsAPreFilterRejectionWithoutAReason) {
  Parts parts = CorrectFilter();
  parts.pre_filter = {sizeof(berth_pre_filter), 0,
                      [](void*, const berth_cycle*, const berth_nodes*, berth_pre_filter_out*,
                         berth_status*) noexcept -> berth_code { return BERTH_UNSCHEDULABLE; },
                      nullptr, nullptr};
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("PreFilter returns Unschedulable without a reason")));
}

TEST(Codes, ReportsAScoreAbove100) {
  Parts parts = CorrectScore();
  parts.score.normalize_mode = BERTH_NORMALIZE_NONE;
  EXPECT_THAT(ScoreFindings(parts),
              Contains(HasSubstr("node \"a\" has 0 after normalisation")).Times(0));
  EXPECT_THAT(
      ScoreFindings(parts),
      Contains(HasSubstr("node \"b\" has 1400 after normalisation, but only 0..100 is allowed")));
}

TEST(Blocks, ReportsDependenceOnTheBlockIndex) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { Reject(out, i, i % 2 == 1); });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(AllOf(HasSubstr("in blocks of 1"), HasSubstr("in one block"),
                             HasSubstr("kBlocks"))));
}

TEST(Blocks, ReportsIgnoringTheStride) {
  const auto parts = WithFilter([](void*, const berth_cycle* cycle, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    const auto* alloc = static_cast<const int64_t*>(block->columns[0].data);
    EachSelected(block,
                 [&](uint32_t i) { Reject(out, i, cycle->pod->request->milli_cpu > alloc[i]); });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts), Contains(HasSubstr("kBlocks")));
}

TEST(Blocks, ReportsReadingUnselectedNodes) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < block->count; ++i) {
      least = std::min(least, Cell<int64_t>(block, 0, i));
    }
    EachSelected(block, [&](uint32_t i) { Reject(out, i, least < 0); });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(AllOf(HasSubstr("every second selected"), HasSubstr("kBlocks"))));
}

TEST(Concurrency, ReportsDependenceOnOtherBlocks) {
  static std::atomic<int> inside{0};
  Parts parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                              berth_filter_out* out, berth_status*) noexcept -> berth_code {
    bool met = ++inside > 1;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (!met && block->count == 64 && std::chrono::steady_clock::now() < until) met = inside > 1;
    EachSelected(block, [&](uint32_t i) { Reject(out, i, met); });
    --inside;
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(AllOf(HasSubstr("threads at the same time"), HasSubstr("kConcurrency"))));
  parts.filter.flags = BERTH_FILTER_SERIAL;
  EXPECT_THAT(FilterFindings(parts), IsEmpty());
}

TEST(Repeat, ReportsChangingResults) {
  static int turn = 0;
  const auto parts = WithScore([](void*, const berth_cycle*, const berth_block* block,
                                  berth_score_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { out->scores[i] = turn; });
    ++turn;
    return BERTH_SUCCESS;
  });
  Parts serial = parts;
  serial.score.flags = BERTH_SCORE_SERIAL;
  EXPECT_THAT(ScoreFindings(serial),
              Contains(AllOf(HasSubstr("called again"), HasSubstr("kRepeat"))));
}

// As in the host, whatever the objects of the cluster are.
TEST(Columns, OptionalColumnOfAnUndeclaredKindIsEmpty) {
  static constexpr berth_column_request kRack = {
      sizeof kRack, BERTH_COLUMN_OPTIONAL, "object:example.com/v1/Rack", BERTH_TYPE_OBJECT, 0};
  static const berth_columns* columns = nullptr;
  static bool binds = false;
  static uint32_t index = 0;
  static std::atomic<bool> has_data = false;
  Parts parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                              berth_filter_out* out, berth_status*) noexcept -> berth_code {
    if (block->columns[index].data != nullptr) has_data = true;
    EachSelected(block, [&](uint32_t i) { Reject(out, i, false); });
    return BERTH_SUCCESS;
  });
  parts.pre_filter.struct_size = sizeof parts.pre_filter;
  parts.pre_filter.pre_filter = [](void*, const berth_cycle* cycle, const berth_nodes*,
                                   berth_pre_filter_out*, berth_status*) noexcept -> berth_code {
    if (binds) {
      EXPECT_EQ(columns->bind(SampleLibrary::host(), cycle, &kRack, &index), BERTH_SUCCESS);
    }
    return BERTH_SUCCESS;
  };
  parts.create = [](const berth_host* host, const berth_value*, berth_status*) {
    const void* service = nullptr;
    host->get_service(host, BERTH_SERVICE_COLUMNS, &service);
    columns = static_cast<const berth_columns*>(service);
    return berth_code{BERTH_SUCCESS};
  };
  for (const bool is_bound : {true, false}) {
    for (const bool is_declared : {true, false}) {
      SCOPED_TRACE(is_bound);
      SCOPED_TRACE(is_declared);
      Parts one = parts;
      binds = is_bound;
      index = static_cast<uint32_t>(one.columns.size());
      if (!is_bound) one.columns.push_back(kRack);
      if (is_declared) one.kinds = {"example.com/v1/Rack"};
      has_data = false;
      Scenario scenario = ThreeNodes();
      scenario.objects = {MakeObject("example.com/v1/Rack", "", "a")};
      EXPECT_THAT(FilterFindings(one, std::move(scenario)), IsEmpty());
      EXPECT_EQ(has_data, is_declared);
    }
  }
}

TEST(Threads, ReportsColumnBindingInFilter) {
  static const berth_columns* columns = nullptr;
  Parts parts = WithFilter([](void*, const berth_cycle* cycle, const berth_block* block,
                              berth_filter_out* out, berth_status*) noexcept -> berth_code {
    uint32_t index = 0;
    const berth_column_request pods = {sizeof pods, 0, "alloc.pods", BERTH_TYPE_I64, 0};
    columns->bind(SampleLibrary::host(), cycle, &pods, &index);
    EachSelected(block, [&](uint32_t i) { Reject(out, i, false); });
    return BERTH_SUCCESS;
  });
  parts.create = [](const berth_host* host, const berth_value*, berth_status*) {
    const void* service = nullptr;
    host->get_service(host, BERTH_SERVICE_COLUMNS, &service);
    columns = static_cast<const berth_columns*>(service);
    return berth_code{BERTH_SUCCESS};
  };
  EXPECT_THAT(
      FilterFindings(parts),
      Contains(
          "Sample: calls columns.bind from Filter [block], but it may be called only under [cycle] "
          "[kThreads]"));
}

TEST(Threads, ReportsGetServiceAfterCreate) {
  Parts parts = CorrectState();
  parts.pre_filter.pre_filter = [](void*, const berth_cycle*, const berth_nodes*,
                                   berth_pre_filter_out*, berth_status*) noexcept -> berth_code {
    SampleLibrary::Service(BERTH_SERVICE_LOG);
    return BERTH_SUCCESS;
  };
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("calls get_service from PreFilter [cycle]")));
}

TEST(Shape, ReportsAColumnOfAnotherType) {
  Parts parts = CorrectFilter();
  parts.columns[1].type = BERTH_TYPE_U32;
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("column \"req.cpu\" has another type in the catalogue")));
}

TEST(Shape, ReportsPointsThatAreNotNamed) {
  Parts parts = CorrectFilter();
  parts.hidden_points = {BERTH_POINT_FILTER};
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr(
                  "get_point returns berth.filter/1, which berth_plugin_info does not name")));
}

TEST(Shape, ReportsAddPodWithoutRemovePod) {
  Parts parts = CorrectState();
  parts.pre_filter.remove_pod = nullptr;
  EXPECT_THAT(FilterFindings(parts), Contains(HasSubstr("one of AddPod and RemovePod")));
}

TEST(Without, SwitchesOneCheckOff) {
  Parts parts = CorrectFilter();
  parts.filter.dependence = &kOnNode;
  Scenario scenario = ThreeNodes();
  scenario.without = {Check::kDependence};
  EXPECT_THAT(FilterFindings(parts, scenario), IsEmpty());
  scenario.without = {Check::kBlocks};
  EXPECT_THAT(FilterFindings(parts, scenario), Not(IsEmpty()));
}

TEST(Observer, IsNotifiedAroundEveryCall) {
  struct Counter final : CallObserver {
    void OnBegin(const char* function) override { ++begun[function]; }
    void OnEnd(const char* function) override { ++ended[function]; }
    std::map<std::string, int> begun;
    std::map<std::string, int> ended;
  } counter;
  Scenario scenario = ThreeNodes();
  scenario.observer = &counter;
  scenario.without = {Check::kConcurrency};
  EXPECT_THAT(FilterFindings(CorrectFilter(), scenario), IsEmpty());
  EXPECT_GT(counter.begun["Filter"], 0);
  EXPECT_GT(counter.begun["create"], 0);
  EXPECT_EQ(counter.begun, counter.ended);
}

}  // namespace
}  // namespace berth::testing

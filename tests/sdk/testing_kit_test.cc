// Each promise of the contract, broken by a plugin of its own: the kit must say which.
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
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
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Scenario ThreeNodes() {
  return {.nodes = {MakeNode("a").CpuMilli(1000).UsedCpuMilli(400),
                    MakeNode("b").CpuMilli(2000).Label("zone", "z1"),
                    MakeNode("c").CpuMilli(100).Pod(MakePod("old").CpuMilli(50).Priority(1))}};
}

PodSpec SmallPod() { return MakePod("web").CpuMilli(600).Label("app", "web"); }

std::vector<std::string> FilterFindings(const Parts& parts, Scenario setup = ThreeNodes()) {
  return Findings(parts, std::move(setup),
                  [](PluginUnderTest& plugin) { plugin.Filter(SmallPod()); });
}

std::vector<std::string> ScoreFindings(const Parts& parts) {
  return Findings(parts, ThreeNodes(), [](PluginUnderTest& plugin) { plugin.Score(SmallPod()); });
}

// A sound plugin but for its Filter; `dependence` as SoundFilter has it unless given.
Parts WithFilter(berth_code (*filter)(void*, const berth_cycle*, const berth_block*,
                                      berth_filter_out*, berth_status*) noexcept,
                 const berth_dependence* dependence = nullptr) {
  Parts parts = SoundFilter();
  parts.filter.filter = filter;
  parts.filter.dependence = dependence;
  return parts;
}

Parts WithScore(berth_code (*score)(void*, const berth_cycle*, const berth_block*, int64_t*,
                                    berth_status*) noexcept,
                const berth_dependence* dependence = nullptr) {
  Parts parts = SoundScore();
  parts.score.score = score;
  parts.score.dependence = dependence;
  return parts;
}

constexpr berth_dependence kOnNode{sizeof(berth_dependence), BERTH_DEPENDS_NODE,
                                   BERTH_PART(REQUESTS), nullptr, nullptr};
constexpr berth_dependence kOnNodePods{sizeof(berth_dependence), BERTH_DEPENDS_NODE_PODS,
                                       BERTH_PART(REQUESTS), nullptr, nullptr};

TEST(PluginUnderTest, FilterAnswersPerNode) {
  const SampleLibrary library(SoundFilter());
  PluginUnderTest plugin(library.entry(), ThreeNodes());
  const struct {
    const char* name;
    int64_t cpu_milli;
    std::vector<std::string> fitting;
  } cases[] = {
      {"fits where just enough is left", 600, {"a", "b"}},
      {"one milli more", 601, {"b"}},
      {"nothing at all", 0, {"a", "b", "c"}},
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

TEST(PluginUnderTest, ScoreAnswersRawAndNormalized) {
  const SampleLibrary library(SoundScore());
  PluginUnderTest plugin(library.entry(), ThreeNodes());
  const ScoreResult result = plugin.Score(MakePod("p").CpuMilli(50));
  EXPECT_EQ(result.raw, (std::map<std::string, int64_t>{{"a", 550}, {"b", 1950}, {"c", 0}}));
  EXPECT_EQ(result.normalized, (std::map<std::string, int64_t>{{"a", 28}, {"b", 100}, {"c", 0}}));
  EXPECT_FALSE(result.skipped);
}

TEST(PluginUnderTest, SoundPluginsAreFoundSound) {
  EXPECT_THAT(FilterFindings(SoundFilter()), IsEmpty());
  EXPECT_THAT(FilterFindings(SoundState()), IsEmpty());
  EXPECT_THAT(ScoreFindings(SoundScore()), IsEmpty());
}

TEST(PluginUnderTest, FollowsTheCluster) {
  const Parts parts = SoundState();
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

TEST(Outputs, WritingTooFar) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    for (uint32_t i = 0; i <= block->count; ++i) Refuse(out, i, false);
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(
      FilterFindings(parts),
      Contains(AllOf(HasSubstr("writes codes[3], outside the block of 3"), HasSubstr("kOutputs"))));
}

TEST(Outputs, WritingBefore) {
  const auto parts = WithScore([](void*, const berth_cycle*, const berth_block* block, int64_t* out,
                                  berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { out[i] = 0; });
    out[-1] = 0;
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(ScoreFindings(parts),
              Contains(HasSubstr("writes scores[-1], outside the block of 3")));
}

TEST(Outputs, LeavingOneUnwritten) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) {
      if (i + 1 != block->count) Refuse(out, i, false);
    });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("leaves the code of index 2 (node \"c\") unwritten")));
}

TEST(Outputs, LeavingAScoreUnwritten) {
  const auto parts = WithScore([](void*, const berth_cycle*, const berth_block* block, int64_t* out,
                                  berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) {
      if (i != 1) out[i] = 0;
    });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(ScoreFindings(parts),
              Contains(HasSubstr("leaves the score of index 1 (node \"b\") unwritten")));
}

TEST(Outputs, LeavingReasonsUnwritten) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { out->codes[i] = BERTH_UNSCHEDULABLE; });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("leaves the reasons of index 0 (node \"a\") unwritten")));
}

TEST(Outputs, WritingWhatIsNotSelected) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    for (uint32_t i = 0; i < block->count; ++i) Refuse(out, i, false);
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts), Contains(AllOf(HasSubstr("none selected writes index 0"),
                                                    HasSubstr("which is not selected"))));
}

TEST(Codes, OutOfRange) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { out->codes[i] = 77, out->reasons[i] = 1; });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("code 77 for node \"a\" is no verdict of Filter")));
}

TEST(Codes, SkipIsNoVerdict) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { out->codes[i] = BERTH_SKIP, out->reasons[i] = 1; });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("Skip for node \"a\" is no verdict of Filter")));
}

TEST(Codes, ReasonOutsideTheTable) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block,
                 [&](uint32_t i) { out->codes[i] = BERTH_UNSCHEDULABLE, out->reasons[i] = 2; });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("reason bit 1 for node \"a\", and the reason table has 1")));
}

TEST(Codes, RefusalWithoutAReason) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block,
                 [&](uint32_t i) { out->codes[i] = BERTH_UNSCHEDULABLE, out->reasons[i] = 0; });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("Unschedulable for node \"a\" has no reason")));
}

TEST(Codes, PreFilterRefusesWithoutAReason) {
  Parts parts = SoundFilter();
  parts.pre_filter = {sizeof(berth_pre_filter), 0,
                      [](void*, const berth_cycle*, const berth_nodes*, berth_pre_filter_out*,
                         berth_status*) noexcept -> berth_code { return BERTH_UNSCHEDULABLE; },
                      nullptr, nullptr};
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("PreFilter answers Unschedulable without a reason")));
}

TEST(Codes, ScoreBeyondAHundred) {
  Parts parts = SoundScore();
  parts.score.normalize_mode = BERTH_NORMALIZE_NONE;
  EXPECT_THAT(ScoreFindings(parts),
              Contains(HasSubstr("node \"a\" has 0 after normalisation")).Times(0));
  EXPECT_THAT(
      ScoreFindings(parts),
      Contains(HasSubstr("node \"b\" has 1400 after normalisation, and 0..100 is allowed")));
}

TEST(Blocks, AnsweringByIndex) {
  const auto parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { Refuse(out, i, i % 2 == 1); });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(AllOf(HasSubstr("in blocks of 1"), HasSubstr("in one block"),
                             HasSubstr("kBlocks"))));
}

TEST(Blocks, TakingColumnsForDense) {
  const auto parts = WithFilter([](void*, const berth_cycle* cycle, const berth_block* block,
                                   berth_filter_out* out, berth_status*) noexcept -> berth_code {
    const auto* alloc = static_cast<const int64_t*>(block->columns[0].data);
    EachSelected(block,
                 [&](uint32_t i) { Refuse(out, i, cycle->pod->request->milli_cpu > alloc[i]); });
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts), Contains(HasSubstr("kBlocks")));
}

TEST(Concurrency, MindingOtherBlocks) {
  static std::atomic<int> inside{0};
  Parts parts = WithFilter([](void*, const berth_cycle*, const berth_block* block,
                              berth_filter_out* out, berth_status*) noexcept -> berth_code {
    bool met = ++inside > 1;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (!met && block->count == 64 && std::chrono::steady_clock::now() < until) met = inside > 1;
    EachSelected(block, [&](uint32_t i) { Refuse(out, i, met); });
    --inside;
    return BERTH_SUCCESS;
  });
  EXPECT_THAT(FilterFindings(parts),
              Contains(AllOf(HasSubstr("threads at once"), HasSubstr("kConcurrency"))));
  parts.filter.flags = BERTH_FILTER_SERIAL;
  EXPECT_THAT(FilterFindings(parts), IsEmpty());
}

TEST(Repeat, AnsweringByTurns) {
  static int turn = 0;
  const auto parts = WithScore([](void*, const berth_cycle*, const berth_block* block, int64_t* out,
                                  berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) { out[i] = turn; });
    ++turn;
    return BERTH_SUCCESS;
  });
  Parts serial = parts;
  serial.score.flags = BERTH_SCORE_SERIAL;
  EXPECT_THAT(ScoreFindings(serial),
              Contains(AllOf(HasSubstr("asked again"), HasSubstr("kRepeat"))));
}

TEST(Threads, BindingAColumnInFilter) {
  static const berth_columns* columns = nullptr;
  Parts parts = WithFilter([](void*, const berth_cycle* cycle, const berth_block* block,
                              berth_filter_out* out, berth_status*) noexcept -> berth_code {
    uint32_t index = 0;
    columns->bind(SampleLibrary::host(), cycle, ToAbi("alloc.pods"), &index);
    EachSelected(block, [&](uint32_t i) { Refuse(out, i, false); });
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
          "Sample: calls columns.bind from Filter [block], which may be called under [cycle] alone "
          "[kThreads]"));
}

TEST(Threads, LookingForAServiceLater) {
  Parts parts = SoundState();
  parts.pre_filter.pre_filter = [](void*, const berth_cycle*, const berth_nodes*,
                                   berth_pre_filter_out*, berth_status*) noexcept -> berth_code {
    SampleLibrary::Service(BERTH_SERVICE_LOG);
    return BERTH_SUCCESS;
  };
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("calls get_service from PreFilter [cycle]")));
}

TEST(WhatIf, StateWithoutAddPod) {
  Parts parts = SoundState();
  parts.pre_filter.add_pod = nullptr;
  parts.pre_filter.remove_pod = nullptr;
  const auto findings = Findings(parts, ThreeNodes(), [](PluginUnderTest& plugin) {
    plugin.AddPod(MakePod("second").Priority(1), "b");
    plugin.Filter(SmallPod());
  });
  EXPECT_THAT(findings,
              Contains(AllOf(HasSubstr("after RemovePod of second"), HasSubstr("kWhatIf"))));
}

TEST(WhatIf, AddPodThatDoesNothing) {
  Parts parts = SoundState();
  parts.pre_filter.add_pod = [](void*, const berth_cycle*, const berth_pod*, const berth_block*,
                                uint32_t,
                                berth_status*) noexcept -> berth_code { return BERTH_SUCCESS; };
  const auto findings = Findings(
      parts, ThreeNodes(), [](PluginUnderTest& plugin) { plugin.Filter(SmallPod().Priority(1)); });
  EXPECT_THAT(findings,
              Contains(HasSubstr(
                  "node \"a\": after AddPod of web-twin Success, where the cluster is really "
                  "so Unschedulable: \"no room\"")));
}

TEST(Dependence, OnLabelsThatAreNotDeclared) {
  const auto parts = WithFilter(
      [](void*, const berth_cycle* cycle, const berth_block* block, berth_filter_out* out,
         berth_status*) noexcept -> berth_code {
        EachSelected(block,
                     [&](uint32_t i) { Refuse(out, i, cycle->pod->meta->labels.count > 1); });
        return BERTH_SUCCESS;
      },
      &kOnNodePods);
  EXPECT_THAT(
      FilterFindings(parts),
      ElementsAre(
          AllOf(HasSubstr("depends on the pod's LABELS, which dependence.pod_parts does not name"),
                HasSubstr("node \"a\": Success, then Unschedulable: \"no room\""))));
}

TEST(Dependence, OnAPartThatAnotherPodOfTheTestHas) {
  const auto parts = WithFilter(
      [](void*, const berth_cycle* cycle, const berth_block* block, berth_filter_out* out,
         berth_status*) noexcept -> berth_code {
        const berth_array& gates = cycle->pod->scheduling_gates;
        const bool held = gates.count != 0 && FromAbi(*BERTH_AT(berth_str, gates, 0)) == "hold";
        EachSelected(block, [&](uint32_t i) { Refuse(out, i, held); });
        return BERTH_SUCCESS;
      },
      &kOnNodePods);
  EXPECT_THAT(FilterFindings(parts), IsEmpty());
  const auto findings = Findings(parts, ThreeNodes(), [](PluginUnderTest& plugin) {
    plugin.Filter(MakePod("held").Gate("hold"));
    plugin.Filter(SmallPod());
  });
  EXPECT_THAT(findings, Contains(AllOf(HasSubstr("pod default/web depends on the pod's GATES"),
                                       HasSubstr("as in pod default/held"))));
}

TEST(Dependence, OnPodsWhereOnlyTheNodeIsDeclared) {
  Parts parts = SoundFilter();
  parts.filter.dependence = &kOnNode;
  EXPECT_THAT(FilterFindings(parts), Contains(AllOf(HasSubstr("depends on the pods on nodes, which "
                                                              "dependence.cluster does not name"),
                                                    HasSubstr("kDependence"))));
}

TEST(Dependence, OnPodsOfOtherNodes) {
  Parts parts = SoundState();
  parts.filter.dependence = &kOnNodePods;
  const auto findings = Findings(
      parts, ThreeNodes(), [](PluginUnderTest& plugin) { plugin.Filter(SmallPod().Priority(1)); });
  EXPECT_THAT(findings, Contains(HasSubstr("depends on the pods on other nodes")));
}

TEST(Dependence, OfAScore) {
  const auto parts = WithScore(
      [](void*, const berth_cycle* cycle, const berth_block* block, int64_t* out,
         berth_status*) noexcept -> berth_code {
        EachSelected(
            block, [&](uint32_t i) { out[i] = static_cast<int64_t>(cycle->pod->meta->name.len); });
        return BERTH_SUCCESS;
      },
      &kOnNode);
  EXPECT_THAT(ScoreFindings(parts),
              ElementsAre(HasSubstr("Score of pod default/web depends on the pod's IDENTITY")));
}

TEST(Dependence, WhatASignatureCoversIsDeclared) {
  constexpr auto kNameLength = [](void*, const berth_cycle* cycle, const berth_block* block,
                                  int64_t* out, berth_status*) noexcept -> berth_code {
    EachSelected(block,
                 [&](uint32_t i) { out[i] = static_cast<int64_t>(cycle->pod->meta->name.len); });
    return BERTH_SUCCESS;
  };
  static constexpr berth_dependence kSigned{
      sizeof(berth_dependence), BERTH_DEPENDS_NODE, 0,
      [](void*, const berth_cycle* cycle, uint64_t* signature) noexcept -> berth_code {
        *signature = cycle->pod->meta->name.len;
        return BERTH_SUCCESS;
      },
      nullptr};
  EXPECT_THAT(ScoreFindings(WithScore(kNameLength, &kSigned)), IsEmpty());
}

TEST(Slots, WritingThemInFilter) {
  Parts parts = SoundState();
  parts.slots = {{sizeof(berth_slot), 8, 8, 0, "sample.counter/1", nullptr, nullptr, nullptr}};
  parts.pre_filter = {};
  parts.filter.flags = BERTH_FILTER_SERIAL;
  parts.filter.filter = [](void*, const berth_cycle* cycle, const berth_block* block,
                           berth_filter_out* out, berth_status*) noexcept -> berth_code {
    ++*static_cast<int64_t*>(cycle->slots[0]);
    EachSelected(block, [&](uint32_t i) { Refuse(out, i, false); });
    return BERTH_SUCCESS;
  };
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr(
                  "slot \"sample.counter/1\": Filter changes it, and cycle state is read-only")));
}

TEST(Slots, WritingBeyondThem) {
  Parts parts = SoundState();
  parts.slots[0] = {sizeof(berth_slot),
                    8,
                    8,
                    0,
                    "sample.small/1",
                    [](void* at) noexcept { static_cast<int64_t*>(at)[1] = 0; },
                    nullptr,
                    nullptr};
  parts.pre_filter = {};
  parts.filter = SoundFilter().filter;
  parts.columns = SoundFilter().columns;
  EXPECT_THAT(FilterFindings(parts), Contains(AllOf(HasSubstr("slot \"sample.small/1\""),
                                                    HasSubstr("writes outside its 8 bytes"))));
}

TEST(Slots, SharingACloneWithTheOriginal) {
  using Shared = std::shared_ptr<int64_t>;
  Parts parts = SoundState();
  parts.slots[0].size = sizeof(Shared);
  parts.slots[0].construct = [](void* at) noexcept { new (at) Shared(new int64_t(0)); };
  parts.slots[0].clone = [](void* to, const void* from) noexcept -> berth_code {
    new (to) Shared(*static_cast<const Shared*>(from));
    return BERTH_SUCCESS;
  };
  parts.slots[0].destroy = [](void* at) noexcept { static_cast<Shared*>(at)->~Shared(); };
  const auto findings = Findings(
      parts, ThreeNodes(), [](PluginUnderTest& plugin) { plugin.Filter(SmallPod().Priority(1)); });
  EXPECT_THAT(
      findings,
      Contains(AllOf(HasSubstr("AddPod of web-twin on cloned slots changes what the originals say"),
                     HasSubstr("kSlots"))));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Leaks, SlotThatIsNotFreed) {
  Parts parts = SoundState();
  parts.slots[0].destroy = [](void*) noexcept {};
  EXPECT_THAT(FilterFindings(parts),
              Contains(AllOf(
                  HasSubstr("construct, clone and destroy of slot \"sample.count/1\" leaves about"),
                  HasSubstr("kLeaks"))));
}

TEST(Leaks, InstanceThatIsNotFreed) {
  Parts parts = SoundFilter();
  parts.create = [](const berth_host*, const berth_value*, berth_status*) {
    static std::vector<std::unique_ptr<int64_t>> kept;
    kept.push_back(std::make_unique<int64_t>(0));
    return berth_code{BERTH_SUCCESS};
  };
  EXPECT_THAT(FilterFindings(parts), Contains(HasSubstr("create and destroy leaves about")));
}
#endif

TEST(Shape, ColumnsOfAnotherType) {
  Parts parts = SoundFilter();
  parts.columns[1].type = BERTH_TYPE_U32;
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr("column \"req.cpu\" has another type in the catalogue")));
}

TEST(Shape, PointsThatAreNotNamed) {
  Parts parts = SoundFilter();
  parts.hidden_points = {BERTH_POINT_FILTER};
  EXPECT_THAT(
      FilterFindings(parts),
      Contains(HasSubstr("get_point knows berth.filter/1, which berth_plugin_info does not name")));
}

TEST(Shape, OneOfAddPodAndRemovePod) {
  Parts parts = SoundState();
  parts.pre_filter.remove_pod = nullptr;
  EXPECT_THAT(FilterFindings(parts), Contains(HasSubstr("one of AddPod and RemovePod")));
}

TEST(Without, SwitchesOneCheckOff) {
  Parts parts = SoundFilter();
  parts.filter.dependence = &kOnNode;
  Scenario setup = ThreeNodes();
  setup.without = {Check::kDependence};
  EXPECT_THAT(FilterFindings(parts, setup), IsEmpty());
  setup.without = {Check::kBlocks};
  EXPECT_THAT(FilterFindings(parts, setup), Not(IsEmpty()));
}

}  // namespace
}  // namespace berth::testing

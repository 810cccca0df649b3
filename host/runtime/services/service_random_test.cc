// The service berth.random/1.
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plan/instance_host.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/services/test_find_service.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RandomServiceTest : public ::testing::Test {
 protected:
  void Build(Stage& stage) {
    stage.Add("puppet.A", {Point::kPermit});
    stage.Add("puppet.B", {Point::kPermit});
    stage.Build();
  }
  // Calls the service within a call that has the plugin's own cycle, as `cycle` or not.
  static uint64_t Next(Stage& stage, const std::string& plugin, const berth_cycle* cycle,
                       Point point = Point::kPermit) {
    const PlannedPlugin& planned =
        *std::ranges::find(stage.plan().plugins(), plugin, &PlannedPlugin::name);
    const berth_host* host = planned.host->abi();
    const PluginCall call(*planned.host,
                          {.point = point, .cycle = CycleOf(stage, stage.attempt(), plugin)});
    return FindService<berth_random>(host, BERTH_SERVICE_RANDOM)->next(host, cycle);
  }
  // Returns the cycle of the plugin in the attempt.
  static const berth_cycle* CycleOf(const Stage& stage, Attempt& attempt,
                                    const std::string& plugin) {
    const auto& plugins = stage.plan().plugins();
    const auto found = std::ranges::find(plugins, plugin, &PlannedPlugin::name);
    return attempt.cycle(static_cast<uint32_t>(found - plugins.begin())).abi();
  }
};

TEST_F(RandomServiceTest, SeedAttemptAndPluginDetermineTheNumbers) {
  Stage stage;
  Build(stage);
  const auto numbers_of = [&](const std::string& plugin, uint64_t seed, uint64_t id) {
    stage.services().seed = seed;
    Attempt& attempt = stage.Begin();
    attempt.End();
    attempt.Begin(stage.objects().Pod({.name = "p"}), id);
    std::vector<uint64_t> numbers;
    for (int i = 0; i < 3; ++i) {
      numbers.push_back(Next(stage, plugin, CycleOf(stage, attempt, plugin)));
    }
    attempt.End();
    return numbers;
  };
  struct Case {
    const char* plugin;
    uint64_t seed;
    uint64_t id;
  };
  const Case kTable[] = {
      {"puppet.A", 7, 5}, {"puppet.A", 7, 6}, {"puppet.A", 8, 5}, {"puppet.B", 7, 5}};
  std::set<uint64_t> all;
  for (const Case& c : kTable) {
    const auto numbers = numbers_of(c.plugin, c.seed, c.id);
    all.insert(numbers.begin(), numbers.end());
    EXPECT_EQ(numbers_of(c.plugin, c.seed, c.id), numbers) << "a replay gives the same";
  }
  EXPECT_EQ(all.size(), 12U) << "no two of them are equal";
}

TEST_F(RandomServiceTest, AWhatIfContinuesTheSequence) {
  Stage stage;
  Build(stage);
  Attempt& attempt = stage.Begin();
  PluginCycle& original = attempt.cycle(0);
  PluginCycle what_if(original.plugin(), stage.table());
  what_if.BeginWhatIf(original, attempt.state().of(0), BERTH_CYCLE_WHAT_IF);
  const uint64_t first = original.NextRandom();
  const uint64_t second = what_if.NextRandom();
  const uint64_t third = original.NextRandom();
  EXPECT_EQ(std::set({first, second, third}).size(), 3U);
  const uint64_t id = original.abi()->id;
  const PodRef pod = attempt.pod();
  attempt.End();
  attempt.Begin(pod, id);
  const std::vector<uint64_t> again = {original.NextRandom(), original.NextRandom(),
                                       original.NextRandom()};
  EXPECT_THAT(again, ElementsAre(first, second, third));
  attempt.End();
}

TEST_F(RandomServiceTest, MisuseIsAFaultAndGivesZero) {
  Stage stage;
  Build(stage);
  Attempt& attempt = stage.Begin();
  const berth_cycle* a = CycleOf(stage, attempt, "puppet.A");
  EXPECT_NE(Next(stage, "puppet.A", a), 0U);
  EXPECT_THAT(stage.Faults(), IsEmpty());
  EXPECT_EQ(Next(stage, "puppet.B", a), 0U) << "the cycle of another instance";
  EXPECT_EQ(Next(stage, "puppet.A", nullptr), 0U);
  const berth_cycle copy = *a;
  EXPECT_EQ(Next(stage, "puppet.A", &copy), 0U) << "a copy";
  EXPECT_EQ(Next(stage, "puppet.A", a, Point::kFilter), 0U) << "[block]";
  EXPECT_EQ(Next(stage, "puppet.A", a, Point::kPreEnqueue), 0U) << "[queue]";
  std::thread([&] { EXPECT_EQ(Next(stage, "puppet.A", a), 0U) << "another thread"; }).join();
  EXPECT_EQ(stage.Faults().size(), 6U);
  attempt.End();
}

}  // namespace
}  // namespace berth::host

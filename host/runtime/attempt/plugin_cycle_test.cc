#include "host/runtime/attempt/plugin_cycle.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/runtime/attempt/attempt.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

// Binds a column for each number in an attempt of its own, and returns its data by number.
std::map<int, const void*> DataOfColumns(Attempt& attempt, const std::vector<int>& numbers) {
  PluginCycle& cycle = attempt.cycle(0);
  cycle.set_binding_allowed(true);
  std::map<int, uint32_t> places;
  for (const int number : numbers) {
    const std::string name = "label:r" + std::to_string(number);
    const Result<uint32_t> place = cycle.BindColumn(name, BERTH_TYPE_ID, /*optional=*/false);
    EXPECT_TRUE(place.ok()) << place.status().ToString();
    if (place.ok()) places[number] = *place;
    EXPECT_EQ(cycle.BindColumn(name, BERTH_TYPE_ID, false).value(), places[number]) << number;
  }
  std::vector<berth_column> columns;
  const berth_block block = cycle.BlockFor(0, 1, {}, columns);
  std::map<int, const void*> data;
  for (const auto& [number, place] : places) {
    EXPECT_LT(place, block.n_columns) << number;
    if (place < block.n_columns) data[number] = block.columns[place].data;
  }
  attempt.End();
  return data;
}

// The places of one attempt must not be those of the attempt before.
TEST(PluginCycleTest, ManyColumnsHaveTheirPlacesInEveryAttempt) {
  Stage stage;
  stage.Add("puppet.A", {Point::kPreFilter});
  stage.Build();
  std::vector<int> ascending;
  std::vector<int> descending;
  for (int i = 0; i < 100; ++i) {
    ascending.push_back(i);
    descending.push_back(99 - i);
  }
  const auto first = DataOfColumns(stage.Begin(), ascending);
  std::set<const void*> different;
  for (const auto& [number, data] : first) different.insert(data);
  EXPECT_EQ(different.size(), 100U);
  EXPECT_EQ(DataOfColumns(stage.Begin(), descending), first);
  EXPECT_EQ(DataOfColumns(stage.Begin(), {99, 50, 0}),
            (std::map<int, const void*>{{0, first.at(0)}, {50, first.at(50)}, {99, first.at(99)}}));
}

// Reserve and Permit read a column after the pod was placed, and its data may have moved then.
TEST(PluginCycleTest, BlockHasTheAmountsOfAPlacedPod) {
  Stage stage;
  stage.Add("puppet.A", {Point::kPreFilter});
  stage.Build();
  const Row row = stage.table().SetNode(stage.objects().Node({.name = "a"}));
  Attempt& attempt = stage.Begin();
  PluginCycle& cycle = attempt.cycle(0);
  cycle.set_binding_allowed(true);
  const uint32_t place = cycle.BindColumn("req:acme.io/gpu", BERTH_TYPE_I64, false).value();
  const auto requested = [&] {
    std::vector<berth_column> columns;
    const berth_block block = cycle.BlockFor(row, 1, {}, columns);
    return *static_cast<const int64_t*>(block.columns[place].data);
  };
  EXPECT_EQ(requested(), 0);
  stage.table().AddPod(
      row, stage.objects().Pod({.name = "p", .node = "a", .requests = R"("acme.io/gpu":"3")"}));
  EXPECT_EQ(requested(), 3);
  attempt.End();
}

}  // namespace
}  // namespace berth::host

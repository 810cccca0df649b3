#include "host/api/resource_list.h"

#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/objects.h"

namespace berth::host {
namespace {

TEST(ClassifyResource, ClassifiesByName) {
  struct Case {
    const char* name;
    ResourceClass expected;
  };
  const std::string long_name(63, 'a');
  const std::string too_long(64, 'a');
  const std::string full_name = "example.com/" + long_name;
  const std::string over_name = "example.com/" + too_long;
  const Case cases[] = {
      {"cpu", ResourceClass::kCpu},
      {"memory", ResourceClass::kMemory},
      {"ephemeral-storage", ResourceClass::kEphemeralStorage},
      {"pods", ResourceClass::kPods},
      {"hugepages-2Mi", ResourceClass::kHugePages},
      {"attachable-volumes-aws-ebs", ResourceClass::kScalar},
      {"nvidia.com/gpu", ResourceClass::kScalar},
      {"kubernetes.io/batch-cpu", ResourceClass::kScalar},
      {"node.kubernetes.io/x", ResourceClass::kScalar},
      {"storage", ResourceClass::kIgnored},
      {"gpu", ResourceClass::kIgnored},
      {"", ResourceClass::kIgnored},
      {"requests.example.com/gpu", ResourceClass::kIgnored},
      {"example.com/", ResourceClass::kIgnored},
      {"/gpu", ResourceClass::kIgnored},
      {"Example.com/gpu", ResourceClass::kIgnored},
      {"example..com/gpu", ResourceClass::kIgnored},
      {"example.-com/gpu", ResourceClass::kIgnored},
      {"example.com/a/b", ResourceClass::kIgnored},
      {"example.com/-a", ResourceClass::kIgnored},
      {full_name.c_str(), ResourceClass::kScalar},
      {over_name.c_str(), ResourceClass::kIgnored},
  };
  for (const Case& c : cases) EXPECT_EQ(ClassifyResource(c.name), c.expected) << c.name;
}

constexpr Quantity Milli(int32_t milli) { return {milli / 1000, milli % 1000 * 1'000'000}; }

TEST(ResourceSum, MergesByName) {
  constexpr ResourceKey kX = ScalarKey(3);
  constexpr ResourceKey kY = ScalarKey(4);
  ResourceSum a;
  a.Set(kY, Milli(7500));
  a.Set(BERTH_PRESENT_CPU, Milli(5500));
  ResourceSum b;
  b.Set(kX, Milli(2000));
  b.Set(BERTH_PRESENT_CPU, Milli(3500));
  b.Set(kY, Milli(1250));
  b.Set(BERTH_PRESENT_PODS, Milli(0));
  const auto expect = [](const ResourceSum& sum, std::vector<ResourceAmount> amounts) {
    EXPECT_TRUE(SameAmounts(sum.amounts(), amounts));
  };

  ResourceSum sum;
  sum.Assign(a.amounts());
  sum.Add(b.amounts());
  expect(sum, {{BERTH_PRESENT_CPU, Milli(9000)},
               {BERTH_PRESENT_PODS, Milli(0)},
               {kX, Milli(2000)},
               {kY, Milli(8750)}});
  sum.Assign(a.amounts());
  sum.Max(b.amounts());
  expect(sum, {{BERTH_PRESENT_CPU, Milli(5500)},
               {BERTH_PRESENT_PODS, Milli(0)},
               {kX, Milli(2000)},
               {kY, Milli(7500)}});
  sum.Assign(a.amounts());
  sum.Set(b.amounts());
  expect(sum, {{BERTH_PRESENT_CPU, Milli(3500)},
               {BERTH_PRESENT_PODS, Milli(0)},
               {kX, Milli(2000)},
               {kY, Milli(1250)}});
  sum.Assign(b.amounts());
  sum.Fill(a.amounts());
  expect(sum, {b.amounts().begin(), b.amounts().end()});
  sum.Assign({});
  sum.Fill(a.amounts());
  expect(sum, {a.amounts().begin(), a.amounts().end()});
  EXPECT_FALSE(SameAmounts(a.amounts(), b.amounts()));
}

TEST(ResourceSum, FindsAmountsByKey) {
  ResourceSum sum;
  sum.Set(BERTH_PRESENT_MEMORY, Milli(0));
  sum.Add(ScalarKey(1), Milli(1500));
  EXPECT_EQ(sum.Find(BERTH_PRESENT_CPU), nullptr);
  ASSERT_NE(sum.Find(BERTH_PRESENT_MEMORY), nullptr);
  EXPECT_EQ(*sum.Find(BERTH_PRESENT_MEMORY), Milli(0));
  ASSERT_NE(sum.Find(ScalarKey(1)), nullptr);
  EXPECT_EQ(*sum.Find(ScalarKey(1)), Milli(1500));
  EXPECT_EQ(sum.Find(ScalarKey(2)), nullptr);
  sum.Clear();
  EXPECT_EQ(sum.Find(BERTH_PRESENT_MEMORY), nullptr);
}

TEST(RoundUp, SetsTheFieldOfEachResource) {
  Arena arena;
  EXPECT_EQ(RoundUp({}, arena), &kNoResources);
  const ResourceAmount amounts[] = {{BERTH_PRESENT_CPU, Quantity(1, 1)},
                                    {BERTH_PRESENT_MEMORY, Quantity(2, 1)},
                                    {BERTH_PRESENT_EPHEMERAL_STORAGE, Quantity(3, 0)},
                                    {BERTH_PRESENT_PODS, Quantity()},
                                    {ScalarKey(5), Quantity(4, 999'999'999)},
                                    {ScalarKey(9), Quantity()}};
  const berth_resources* all = RoundUp(amounts, arena);
  EXPECT_EQ(all->struct_size, sizeof(berth_resources));
  EXPECT_EQ(all->present, 15u);
  EXPECT_EQ(all->milli_cpu, 1001);
  EXPECT_EQ(all->memory, 3);
  EXPECT_EQ(all->ephemeral_storage, 3);
  EXPECT_EQ(all->pods, 0);
  const auto scalars = Elements<berth_quantity>(all->scalars);
  ASSERT_EQ(scalars.size(), 2u);
  EXPECT_EQ(scalars[0].name, 5u);
  EXPECT_EQ(scalars[0].value, 5);
  EXPECT_EQ(scalars[1].name, 9u);
  EXPECT_EQ(scalars[1].value, 0);

  const berth_resources* one = RoundUp(std::span(amounts).subspan(5), arena);
  EXPECT_EQ(one->present, 0u);
  EXPECT_EQ(one->scalars.count, 1u);
  EXPECT_FALSE(SameResources(*one, *all));
  EXPECT_TRUE(SameResources(*one, *RoundUp(std::span(amounts).subspan(5), arena)));
}

}  // namespace
}  // namespace berth::host

#include "host/base/keyed_set.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/split_mix.h"

namespace berth::host {
namespace {

struct Item {
  std::shared_ptr<const std::string> name;
  int number = 0;
};
struct NameOf {
  std::string_view operator()(const Item& item) const { return *item.name; }
};
using Items = KeyedSet<Item, NameOf>;

Item MakeItem(const std::string& name, int number) {
  return {std::make_shared<const std::string>(name), number};
}

TEST(KeyedSetTest, FindsValuesByTheirKeys) {
  Items items;
  EXPECT_TRUE(items.empty());
  EXPECT_EQ(items.Find("a"), nullptr);
  const auto [a, is_new] = items.Add(MakeItem("a", 1));
  EXPECT_TRUE(is_new);
  items.Add(MakeItem("b", 2));
  EXPECT_EQ(items.size(), 2U);
  EXPECT_EQ(items.Find("a"), a);
  EXPECT_EQ(std::as_const(items).Find("b")->number, 2);
  EXPECT_EQ(items.Find("c"), nullptr);
}

TEST(KeyedSetTest, KeepsTheFirstValueOfAKey) {
  Items items;
  Item* const first = items.Add(MakeItem("a", 1)).first;
  const auto [found, is_new] = items.Add(MakeItem("a", 2));
  EXPECT_FALSE(is_new);
  EXPECT_EQ(found, first);
  EXPECT_EQ(found->number, 1);
  EXPECT_EQ(items.size(), 1U);
}

TEST(KeyedSetTest, ReplacesAValueByOneWithEqualKey) {
  Items items;
  Item* const item = items.Add(MakeItem("a", 1)).first;
  *item = MakeItem("a", 2);  // The text of the first key is freed.
  for (int i = 0; i < 1000; ++i) items.Add(MakeItem(std::to_string(i), i));
  ASSERT_NE(items.Find("a"), nullptr);
  EXPECT_EQ(items.Find("a")->number, 2);
}

// Every step is compared with a map: searches must find each value wherever additions, removals and
// the growth of the table have moved it.
TEST(KeyedSetTest, AgreesWithAMapAfterEveryStep) {
  Items items;
  std::map<std::string, int> expected;
  SplitMix64 random(1);
  // The number of values grows to about 2000 and shrinks to none, twice.
  for (int step = 0; step < 24000; ++step) {
    const bool grows = step % 12000 < 6000;
    const std::string name = std::to_string(random.Next() % 3000);
    const bool has_it = expected.contains(name);
    if (grows ? random.Next() % 4 != 0 : random.Next() % 4 == 0) {
      ASSERT_EQ(items.Add(MakeItem(name, step)).second, !has_it) << step;
      expected.emplace(name, step);
    } else {
      // Usually a value that is there.
      const auto found = expected.lower_bound(name);
      const std::string taken = found != expected.end() ? found->first : name;
      const auto item = items.TakeIfAny(taken);
      ASSERT_EQ(item.has_value(), found != expected.end()) << step;
      if (!item.has_value()) continue;
      ASSERT_EQ(item->number, found->second) << step;
      expected.erase(found);
    }
    ASSERT_EQ(items.size(), expected.size());
    if (step % 500 != 0) continue;
    for (int i = 0; i < 3000; ++i) {
      const Item* const item = items.Find(std::to_string(i));
      const auto found = expected.find(std::to_string(i));
      ASSERT_EQ(item != nullptr, found != expected.end()) << step << ": " << i;
      if (item == nullptr) continue;
      ASSERT_EQ(item->number, found->second) << step << ": " << i;
    }
  }
}

TEST(KeyedSetTest, TakesValuesOut) {
  Items items;
  items.Add(MakeItem("a", 1));
  items.Add(MakeItem("b", 2));
  EXPECT_EQ(items.Take("a").number, 1);
  EXPECT_EQ(items.Find("a"), nullptr);
  EXPECT_EQ(items.size(), 1U);
  EXPECT_FALSE(items.TakeIfAny("a").has_value());
  const auto b = items.TakeIfAny("b");
  ASSERT_TRUE(b.has_value());
  EXPECT_EQ(b->number, 2);
  items.Add(*b);
  items.Clear();
  EXPECT_EQ(items.Find("b"), nullptr);
  EXPECT_TRUE(items.empty());
}

TEST(KeyedSetDeathTest, TakesOnlyWhatItHas) {
  Items items;
  EXPECT_DEATH(items.Take("a"), "has_value");
}

TEST(KeyedSetTest, VisitsEachValueOnce) {
  Items items;
  std::vector<int> expected;
  for (int i = 0; i < 100; ++i) {
    items.Add(MakeItem(std::to_string(i), i));
    expected.push_back(i);
  }
  std::vector<int> found;
  std::as_const(items).ForEach([&](const Item& item) { found.push_back(item.number); });
  std::ranges::sort(found);
  EXPECT_EQ(found, expected);
  items.ForEach([](Item& item) { ++item.number; });
  EXPECT_EQ(items.Find("7")->number, 8);
}

TEST(KeyedSetTest, DistinguishesBothPartsOfAPair) {
  struct Object {
    std::string ns;
    std::string name;
  };
  struct PlaceOf {
    std::pair<std::string_view, std::string_view> operator()(const Object& object) const {
      return {object.ns, object.name};
    }
  };
  KeyedSet<Object, PlaceOf> objects;
  objects.Add({"a", "b"});
  EXPECT_NE(objects.Find({"a", "b"}), nullptr);
  EXPECT_EQ(objects.Find({"b", "a"}), nullptr);
  EXPECT_EQ(objects.Find({"", "ab"}), nullptr);
}

}  // namespace
}  // namespace berth::host

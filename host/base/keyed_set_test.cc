#include "host/base/keyed_set.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

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

TEST(KeyedSetTest, AValueMayBeReplacedByOneWithAnEqualKey) {
  Items items;
  Item* const item = items.Add(MakeItem("a", 1)).first;
  *item = MakeItem("a", 2);  // The text of the first key is freed.
  for (int i = 0; i < 1000; ++i) items.Add(MakeItem(std::to_string(i), i));
  ASSERT_EQ(items.Find("a"), item) << "the value does not move when the table grows";
  EXPECT_EQ(item->number, 2);
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

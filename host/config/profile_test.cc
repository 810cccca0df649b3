#include "host/config/profile.h"

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(ProfileArgsTest, PartWithoutAPlaceHasItsAncestors) {
  ProfileArgs args;
  args.places[""] = {"a.toml", 1, 1};
  args.places["/strategy"] = {"a.toml", 2, 1};
  EXPECT_EQ(args.PlaceOf("").line, 1u);
  EXPECT_EQ(args.PlaceOf("/other").line, 1u);
  EXPECT_EQ(args.PlaceOf("/strategy").line, 2u);
  EXPECT_EQ(args.PlaceOf("/strategy/resources/0/weight").line, 2u);
  EXPECT_EQ(args.PlaceOf("/strategyOther").line, 1u);
  EXPECT_EQ(ProfileArgs().PlaceOf("/strategy").line, 0u);
}

TEST(ProfileTest, APluginIsEnabledByDefault) {
  ProfilePlugin plugin;
  EXPECT_TRUE(plugin.is_enabled());
  plugin.enabled = {false, {}};
  EXPECT_FALSE(plugin.is_enabled());
}

TEST(ProfileTest, SchedulerNamesHaveNoSpacesAndControlCharacters) {
  for (const char* name : {"a", "default-scheduler", "Team_A/v1.2", "ä"}) {
    EXPECT_TRUE(IsSchedulerName(name)) << name;
  }
  for (const char* name : {"", " ", "a b", " a", "a ", "a\tb", "a\n", "\x01", "a\x1f", "a\x7f"}) {
    EXPECT_FALSE(IsSchedulerName(name)) << name;
  }
}

TEST(ProfileTest, FindsByName) {
  Profile profile;
  EXPECT_EQ(profile.Find("NodeName"), nullptr);
  profile.plugins.resize(2);
  profile.plugins[0].name = {"NodePorts", {}};
  profile.plugins[1].name = {"NodeName", {}};
  EXPECT_EQ(profile.Find("NodeName"), &profile.plugins[1]);
}

TEST(ProfileTest, EqualityIgnoresPlaces) {
  Profile a;
  a.plugins.resize(1);
  a.plugins[0].weight = {2, {"a.toml", 2, 1}};
  Profile b = a;
  b.file = "b.toml";
  b.plugins[0].weight->place = {"b.toml", 7, 1};
  EXPECT_EQ(a, b);
  b.plugins[0].weight->value = 3;
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace berth::host

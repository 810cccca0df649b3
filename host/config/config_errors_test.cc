#include "host/config/config_errors.h"

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(ConfigErrorTest, FormatsPlaceKeyAndText) {
  struct Case {
    ConfigError error;
    const char* text;
  };
  const Case cases[] = {
      {{{"a.toml", 12, 3}, "weight", "expected 1, found 2"},
       "a.toml:12: weight: expected 1, found 2"},
      {{{"a.toml", 0, 0}, "weight", "wrong"}, "a.toml: weight: wrong"},
      {{{"a.toml", 7, 0}, "", "wrong"}, "a.toml:7: wrong"},
      {{{}, "weight", "wrong"}, "weight: wrong"},
      {{{}, "", "wrong"}, "wrong"},
  };
  for (const Case& c : cases) EXPECT_EQ(c.error.ToString(), c.text);
}

TEST(ConfigErrorsTest, NoErrorsAreSuccess) { EXPECT_TRUE(ConfigErrors().ToStatus().ok()); }

TEST(ConfigErrorsTest, SortsWithinAFileAndOmitsDuplicates) {
  ConfigErrors errors;
  errors.Add({"b.toml", 9, 1}, "x", "late");
  errors.Add({"a.toml", 5, 1}, "x", "other file");
  errors.Add({"b.toml", 2, 8}, "x", "right");
  errors.Add({"b.toml", 2, 1}, "x", "left");
  errors.Add({"b.toml", 9, 4}, "x", "late");
  errors.Expected({"b.toml", 0, 0}, "", "a file", "none");
  EXPECT_EQ(errors.size(), 6u);
  EXPECT_EQ(errors.ToStatus(), Status::InvalidArgument("b.toml: expected a file, found none\n"
                                                       "b.toml:2: x: left\n"
                                                       "b.toml:2: x: right\n"
                                                       "b.toml:9: x: late\n"
                                                       "a.toml:5: x: other file"));
}

}  // namespace
}  // namespace berth::host

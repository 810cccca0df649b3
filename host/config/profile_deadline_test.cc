// The key `deadline` of [[plugins]].
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/config/profile_reader.h"

namespace berth::host {
namespace {

using DeadlineFiles = std::map<std::string, std::string>;

Profile ReadDeadlines(const DeadlineFiles& files, ConfigErrors& errors) {
  ProfileFiles from;
  from.read = [&files](const std::string& path) -> Result<std::string> { return files.at(path); };
  return ReadProfile("p/a.toml", from, errors).value_or(Profile());
}

TEST(ProfileDeadlineTest, IsInheritedAndReplaced) {
  ConfigErrors errors;
  const Profile profile = ReadDeadlines({{"base.toml",
                                          "[[plugins]]\nname = \"A\"\ndeadline = \"5s\"\n"
                                          "[[plugins]]\nname = \"B\"\ndeadline = \"6s\"\n"
                                          "[[plugins]]\nname = \"C\"\n"},
                                         {"p/a.toml",
                                          "extends = \"../base.toml\"\n"
                                          "[[plugins]]\nname = \"A\"\nweight = 2\n"
                                          "[[plugins]]\nname = \"B\"\ndeadline = \"1ns\"\n"}},
                                        errors);
  ASSERT_TRUE(errors.empty()) << errors.ToStatus().message();
  EXPECT_EQ(profile.plugins[0].deadline_ns->value, 5 * kSecond);
  EXPECT_EQ(profile.plugins[0].deadline_ns->place.ToString(), "base.toml:3");
  EXPECT_EQ(profile.plugins[1].deadline_ns->value, 1);
  EXPECT_EQ(profile.plugins[1].deadline_ns->place.ToString(), "p/a.toml:7");
  EXPECT_FALSE(profile.plugins[2].deadline_ns.has_value());
}

TEST(ProfileDeadlineTest, MustBeAboveZeroAndWithinAYear) {
  const std::string no_duration =
      "deadline: expected a duration above 0, such as \"1.5s\" or \"2m\", found ";
  const struct {
    const char* value;
    std::string error;
  } cases[] = {
      {"\"1ns\"", ""},
      {"\"0\"", no_duration + "\"0\""},
      {"\"-5s\"", no_duration + "\"-5s\""},
      {"\"five\"", no_duration + "\"five\""},
      {"5", no_duration + "5"},
      {"\"8760h\"", ""},
      {"\"8760h0m1s\"",
       "deadline: expected a duration of at most 8760h, a year, found \"8760h0m1s\""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.value);
    ConfigErrors errors;
    ReadDeadlines({{"p/a.toml", std::string("[[plugins]]\nname = \"A\"\ndeadline = ") + c.value}},
                  errors);
    EXPECT_EQ(errors.ToStatus().message(),
              c.error.empty() ? "" : "p/a.toml:3: plugin \"A\": " + c.error);
  }
}

}  // namespace
}  // namespace berth::host

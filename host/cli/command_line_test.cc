#include "host/cli/command_line.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns the error of the command line; "" if there is none.
std::string Parse(std::vector<std::string> args, ClusterAccessFlags& flags) {
  CLI::App app;
  AddClusterAccess(app, "[none]", flags);
  std::reverse(args.begin(), args.end());
  try {
    app.parse(std::move(args));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

struct Streams {
  CommandEnvironment Environment() {
    return {.in = in,
            .out = out,
            .err = out,
            .executable = "",
            .temporary_directory = "",
            .steady_ns = [] { return int64_t{7}; },
            .wall_ns = [] { return int64_t{9}; },
            .out_width = std::nullopt};
  }

  std::istringstream in;
  std::ostringstream out;
};

TEST(ClusterAccessFlagsTest, BecomeARequest) {
  ClusterAccessFlags flags;
  ASSERT_EQ(Parse({}, flags), "");
  EXPECT_EQ(flags.first_given(), "");
  EXPECT_EQ(AccessRequestOf(flags).kubeconfig, "");
  EXPECT_FALSE(AccessRequestOf(flags).allow_plain_http);

  ASSERT_EQ(Parse({"--kubeconfig", "file", "--context=prod", "--allow-plain-http"}, flags), "");
  const AccessRequest request = AccessRequestOf(flags);
  EXPECT_EQ(request.kubeconfig, "file");
  EXPECT_EQ(request.context, "prod");
  EXPECT_EQ(request.server, "");
  EXPECT_TRUE(request.allow_plain_http);
}

TEST(ClusterAccessFlagsTest, TheFirstGivenFlagIsNamed) {
  struct Case {
    std::vector<std::string> args;
    const char* name;
  };
  const Case cases[] = {{{"--allow-plain-http"}, "--allow-plain-http"},
                        {{"--allow-plain-http", "--context", "c"}, "--context"},
                        {{"--context", "c", "--kubeconfig", "f"}, "--kubeconfig"}};
  for (const Case& c : cases) {
    ClusterAccessFlags flags;
    ASSERT_EQ(Parse(c.args, flags), "");
    EXPECT_EQ(flags.first_given(), c.name);
  }
}

// A script whose variable is not set must not reach another cluster.
TEST(ClusterAccessFlagsTest, EmptyValuesAreRefused) {
  ClusterAccessFlags flags;
  EXPECT_EQ(Parse({"--kubeconfig", ""}, flags),
            "--kubeconfig: expected the path of a file, found an empty text");
  EXPECT_EQ(Parse({"--context", ""}, flags),
            "--context: expected the name of a context, found an empty text");
  EXPECT_THAT(Parse({"--kubeconfig="}, flags), HasSubstr("--kubeconfig"));
}

TEST(ClusterAccessFlagsTest, TheHelpTellsWhatIsUsedOtherwise) {
  CLI::App app;
  ClusterAccessFlags flags;
  AddClusterAccess(app, "[$KUBECONFIG]", flags);
  EXPECT_THAT(app.help(), HasSubstr("[$KUBECONFIG]"));
  EXPECT_THAT(app.help(), HasSubstr("[its current-context]"));
  EXPECT_THAT(app.help(), HasSubstr("--allow-plain-http"));
}

TEST(ReadNumberTest, ReadsDecimalDigits) {
  const struct {
    const char* text;
    uint64_t max;
    std::optional<uint64_t> number;  // Nullopt: an error.
  } cases[] = {
      {"0", 100, 0},
      {"8", 100, 8},
      {"010", 100, 10},
      {"08", 100, 8},
      {"100", 100, 100},
      {"000000000000000000000000000007", 100, 7},
      {"18446744073709551615", UINT64_MAX, UINT64_MAX},
      {"101", 100, {}},
      {"18446744073709551616", UINT64_MAX, {}},
      {"0x10", 100, {}},
      {"0b1", 100, {}},
      {"0o7", 100, {}},
      {"1e1", 100, {}},
      {"1.0", 100, {}},
      {"-1", 100, {}},
      {"-0", 100, {}},
      {"+1", 100, {}},
      {" 1", 100, {}},
      {"1 ", 100, {}},
      {"1_0", 100, {}},
      {"1,0", 100, {}},
      {"ten", 100, {}},
      {"", 100, {}},
  };
  for (const auto& c : cases) {
    const Result<uint64_t> number = ReadNumber(c.text, c.max);
    ASSERT_EQ(number.ok(), c.number.has_value()) << c.text;
    if (number.ok()) {
      EXPECT_EQ(*number, *c.number) << c.text;
    } else {
      EXPECT_EQ(number.status().message(), "expected a whole number from 0 to " +
                                               std::to_string(c.max) +
                                               " in decimal digits, found " + Quoted(c.text));
    }
  }
}

// Calls `visit` for each command with its name, "berth plugin list", and each of its options.
void ForEachOption(const CLI::App& app, const std::vector<std::string>& names,
                   const std::function<void(const std::vector<std::string>& names,
                                            const CLI::Option& option)>& visit) {
  for (const CLI::Option* option : app.get_options()) visit(names, *option);
  for (const CLI::App* command : app.get_subcommands({})) {
    std::vector<std::string> longer = names;
    longer.push_back(command->get_name());
    ForEachOption(*command, longer, visit);
  }
}

// Returns the error of the arguments; "" if there is none.
std::string ParseAll(std::vector<std::string> args) {
  Execution execute;
  CLI::App app;
  AddCommands(app, execute);
  std::reverse(args.begin(), args.end());
  try {
    app.parse(std::move(args));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(AddCommandsTest, AllNumbersAreDecimal) {
  Execution execute;
  CLI::App app;
  AddCommands(app, execute);
  size_t count = 0;
  ForEachOption(app, {}, [&](const std::vector<std::string>& names, const CLI::Option& option) {
    if (option.get_type_name() != "N") return;
    ++count;
    const auto error_of = [&](const char* text) {
      std::vector<std::string> args = names;
      args.push_back(option.get_name() + "=" + text);
      return ParseAll(args);
    };
    for (const char* bad : {"0x10", "1e3", "-1", "+1", "1.5", "ten", "99999999999999999999"}) {
      EXPECT_THAT(error_of(bad), HasSubstr(option.get_name() + ": expected a whole number from 0"));
    }
    for (const char* good : {"010", "0", "100"}) {
      EXPECT_THAT(error_of(good), Not(HasSubstr(option.get_name()))) << good;
    }
  });
  EXPECT_GE(count, 6U);
}

TEST(AddCommandsTest, FlagsTakeOnlyWordsAndNumbers) {
  Execution execute;
  CLI::App app;
  AddCommands(app, execute);
  size_t count = 0;
  ForEachOption(app, {}, [&](const std::vector<std::string>& names, const CLI::Option& option) {
    if (option.get_expected_min() > 0 || option.get_name() == "--help") return;
    ++count;
    for (const char* bad : {"maybe", "0x1", "1x", "-1", "1e1", "99999999999999999999"}) {
      std::vector<std::string> args = names;
      args.push_back(option.get_name() + "=" + bad);
      EXPECT_THAT(ParseAll(args), HasSubstr(option.get_name() + ": expected true"));
    }
  });
  EXPECT_GE(count, 10U);
}

TEST(UserAgentTest, NamesTheProgramAndTheMachine) {
  EXPECT_THAT(UserAgent(), ::testing::MatchesRegex("berth/[0-9.]+ .linux/[a-z0-9]+."));
}

TEST(AccessEnvironmentTest, ReadsTheVariablesOfTheCommand) {
  Streams streams;
  CommandEnvironment env = streams.Environment();
  env.variables = {"KUBECONFIG=/a:/b", "KUBECONFIG=/second", "KUBE=x=y", "EMPTY=", "NO_VALUE"};
  const AccessEnvironment access = AccessEnvironmentOf(env);
  env.variables.clear();
  EXPECT_EQ(access.variable("KUBECONFIG"), "/a:/b");
  EXPECT_EQ(access.variable("KUBE"), "x=y");
  EXPECT_EQ(access.variable("EMPTY"), "");
  EXPECT_EQ(access.variable("NO_VALUE"), std::nullopt);
  EXPECT_EQ(access.variable("KUBECON"), std::nullopt);
  EXPECT_EQ(access.read_file("/nowhere").status().code(), ErrorCode::kNotFound);
}

TEST(CredentialsEnvironmentTest, RunsProgramsWithTheClockOfTheCommand) {
  Streams streams;
  CommandEnvironment env = streams.Environment();
  env.variables = {"A=1"};
  const Credentials::Environment credentials = CredentialsEnvironmentOf(env);
  EXPECT_EQ(credentials.steady_ns(), 7);
  EXPECT_EQ(credentials.wall_ns(), 9);
  EXPECT_EQ(credentials.variables, std::vector<std::string>{"A=1"});
  const auto result = credentials.run({.program = "/bin/sh",
                                       .arguments = {"-c", "echo $A"},
                                       .environment = credentials.variables,
                                       .limit_ns = kSecond});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->output, "1\n");
}

}  // namespace
}  // namespace berth::host

#include "host/cli/command_line.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

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

// Every key of the configuration files with every type of TOML value.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/config/args_schema.h"
#include "host/config/config_value.h"
#include "host/config/host_config.h"
#include "host/config/profile_reader.h"
#include "host/config/toml_document.h"

namespace berth::host {
namespace {

struct TomlValue {
  std::string toml;
  std::string found;            // In messages.
  std::string as_integer = "";  // What follows where an integer is expected.
};

const std::vector<TomlValue>& TomlValues() {
  static const std::vector<TomlValue> values = {
      {"7", "7"},
      {"1e1", "the number 1e1", ", which is not written as an integer; write 10"},
      {"1.5", "the number 1.5"},
      {"1e300", "the number 1e300"},
      {"inf", "the number inf"},
      {"-inf", "the number -inf"},
      {"nan", "the number nan"},
      {"true", "true"},
      {"\"five\"", "\"five\""},
      {"\"\"", "\"\""},
      {"\"5s\"", "\"5s\""},
      {"1979-05-27", "the date 1979-05-27"},
      {"07:32:00", "the time 07:32:00"},
      {"1979-05-27T07:32:00", "the date with a time 1979-05-27T07:32:00"},
      {"1979-05-27T07:32:00Z", "the date with a time 1979-05-27T07:32:00Z"},
      {"[]", "an empty array"},
      {"[\"five\"]", "an array"},
      {"{}", "a table"},
  };
  return values;
}

struct Key {
  std::string before;  // The lines above the key.
  std::string key;
  std::string name;  // In messages.
  std::string expected;
  std::vector<std::string> accepted;  // The values that are valid.
  bool is_integer = false;
};

// Returns the line of `text` on which the next character is.
size_t LineAfter(const std::string& text) {
  return 1 + static_cast<size_t>(std::ranges::count(text, '\n'));
}

// Reads each key with each value. `read`: reads a text and returns its errors.
template <class Read>
void CheckKeys(const std::vector<Key>& keys, Read read) {
  for (const Key& key : keys) {
    for (const TomlValue& value : TomlValues()) {
      const std::string text = key.before + key.key + " = " + value.toml + "\n";
      if (std::ranges::count(key.accepted, value.toml) > 0) {
        EXPECT_EQ(read(text), "") << text;
        continue;
      }
      EXPECT_EQ(read(text), "f.toml:" + std::to_string(LineAfter(key.before)) + ": " + key.name +
                                ": expected " + key.expected + ", found " + value.found +
                                (key.is_integer ? value.as_integer : ""))
          << text;
    }
  }
}

std::string ReadHost(const std::string& text) {
  ConfigErrors errors;
  static_cast<void>(ReadHostConfig(text, "f.toml", errors));
  return std::string(errors.ToStatus().message());
}

constexpr std::string_view kPositive = "a duration above 0, such as \"1.5s\" or \"2m\"";

Key Duration(const std::string& table, const std::string& key) {
  return {"[" + table + "]\n", key, table + "." + key, std::string(kPositive), {"\"5s\""}};
}

TEST(HostFileTypesTest, EachKeyGetsOneMessagePerValue) {
  const std::string seconds = "a whole number from 1 to 31536000";
  std::vector<Key> keys = {
      {"", "profiles", "profiles", "an array of paths or names of profiles", {"[]", "[\"five\"]"}},
      {"", "pluginDirs", "pluginDirs", "an array of folders", {"[]", "[\"five\"]"}},
      {"", "podInitialBackoffSeconds", "podInitialBackoffSeconds", seconds, {"7"}, true},
      {"podInitialBackoffSeconds = 1\n",
       "podMaxBackoffSeconds",
       "podMaxBackoffSeconds",
       seconds,
       {"7"},
       true},
      {"", "logLevel", "logLevel", "one of trace, debug, info, warning, error", {}},
      Duration("deadlines", "call"),
      Duration("deadlines", "postFilter"),
      Duration("deadlines", "bind"),
      Duration("quarantine", "window"),
      {"[quarantine]\n",
       "faults",
       "quarantine.faults",
       "a whole number from 0 to 1000000",
       {"7"},
       true},
      {"[serving]\n",
       "address",
       "serving.address",
       "an IP address and a port, such as \"127.0.0.1:10251\", or \"\"",
       {"\"five\"", "\"\"", "\"5s\""}},
      {"[logging]\n", "format", "logging.format", "\"text\" or \"json\"", {}},
      {"",
       "parallelism",
       "parallelism",
       "1 or no such key, because this version schedules on one thread",
       {}},
      {"",
       "extenders",
       "extenders",
       "no such key, because extenders are not supported; use a plugin instead",
       {}},
  };
  for (const std::string table :
       {"deadlines", "quarantine", "leaderElection", "clientConnection", "serving", "logging"}) {
    keys.push_back({"", table, table, "a table", {"{}"}});
  }
  CheckKeys(keys, ReadHost);
}

TEST(HostFileTypesTest, ClusterKeysGetOneMessagePerValue) {
  const std::string election = "[leaderElection]\n";
  const std::string connection = "[clientConnection]\n";
  const std::vector<std::string> name = {"\"five\"", "\"5s\""};
  CheckKeys(
      {
          {election, "leaderElect", "leaderElection.leaderElect", "true or false", {"true"}},
          {election + "leaseDuration = \"15s\"\nretryPeriod = \"1s\"\n",
           "renewDeadline",
           "leaderElection.renewDeadline",
           std::string(kPositive),
           {"\"5s\""}},
          {election + "renewDeadline = \"3s\"\nretryPeriod = \"1s\"\n",
           "leaseDuration",
           "leaderElection.leaseDuration",
           std::string(kPositive),
           {"\"5s\""}},
          Duration("leaderElection", "retryPeriod"),
          {election,
           "stallLimit",
           "leaderElection.stallLimit",
           "a duration, such as \"1.5s\", \"2m\" or \"0s\"",
           {"\"5s\""}},
          {election, "resourceLock", "leaderElection.resourceLock", "\"leases\"", {}},
          {election, "resourceName", "leaderElection.resourceName", "the name of a Lease", name},
          {election, "resourceNamespace", "leaderElection.resourceNamespace",
           "the name of a namespace", name},
          {connection, "kubeconfig", "clientConnection.kubeconfig", "the path of a kubeconfig",
           name},
          {connection,
           "qps",
           "clientConnection.qps",
           "a number from 0 to 100000",
           {"7", "1e1", "1.5"}},
          {connection + "qps = 1\n",
           "burst",
           "clientConnection.burst",
           "a whole number from 0 to 1000000",
           {"7"},
           true},
          {connection,
           "connections",
           "clientConnection.connections",
           "a whole number from 1 to 1024",
           {"7"},
           true},
      },
      ReadHost);
}

// Reads a profile of one file, which has a plugin P if the text names none.
std::string ReadProfileText(const std::string& text) {
  ConfigErrors errors;
  const ProfileFiles files = {
      .read = [&](const std::string& path) -> Result<std::string> {
        if (path == "f.toml") return text;
        return std::string("[[plugins]]\nname = \"five\"\n[[plugins]]\nname = \"5s\"\n");
      },
      .shipped_folder = "shipped",
      .shipped_names = {},
      .searched = {}};
  static_cast<void>(ReadProfile("f.toml", files, errors));
  return std::string(errors.ToStatus().message());
}

TEST(ProfileTypesTest, EachKeyGetsOneMessagePerValue) {
  const std::string plugin = "extends = \"base\"\n[[plugins]]\nname = \"P\"\n";
  const std::string context = "plugin \"P\": ";
  const std::vector<std::string> name = {"\"five\"", "\"5s\""};
  const std::vector<Key> keys = {
      {"", "schedulerName", "schedulerName", std::string(kExpectedSchedulerName), name},
      {"", "extends", "extends", "the path or name of a profile", name},
      {"", "order", "order", "a table", {"{}"}},
      {"extends = \"base\"\n[order]\n",
       "Filter",
       "order.Filter",
       "an array of names of plugins",
       {"[]", "[\"five\"]"}},
      {"[[plugins]]\n", "name", "plugins: name", "the name of a plugin", name},
      {plugin, "enabled", context + "enabled", "true or false", {"true"}},
      {plugin, "weight", context + "weight", "a whole number of at least 0", {"7"}, true},
      {plugin,
       "deadline",
       context + "deadline",
       "a duration above 0, such as \"1.5s\" or \"2m\"",
       {"\"5s\""}},
      {plugin, "library", context + "library", "the path of a library", name},
      {plugin, "before", context + "before", "the name of a plugin", name},
      {plugin, "after", context + "after", "the name of a plugin", name},
      {plugin, "args", context + "args", "a table", {"{}"}},
  };
  CheckKeys(keys, ReadProfileText);
}

// The wrong value stands in an array: each element gets a message of its own.
TEST(ProfileTypesTest, NamesWrongElementsOfArrays) {
  for (const TomlValue& value : TomlValues()) {
    if (value.toml == "\"five\"" || value.toml == "\"5s\"") continue;
    EXPECT_EQ(ReadHost("profiles = [\"a\",\n" + value.toml + "]"),
              "f.toml:2: profiles: expected an array of paths or names of profiles, found an array "
              "with " +
                  value.found);
    if (value.toml == "{}") continue;
    EXPECT_EQ(ReadProfileText("plugins = [\n" + value.toml + "]"),
              "f.toml:2: plugins: expected a table, [[plugins]], found " + value.found);
  }
}

// Returns the errors of the argument `a` with this value and schema.
std::string ReadArgument(const std::string& schema, const std::string& toml) {
  ConfigErrors errors;
  const auto root = ParseToml("a = " + toml + "\n", "f.toml", errors);
  if (!root.has_value()) return "not TOML";
  const ProfileArgs args = ToArgs(*root, "plugin \"P\": ", errors);
  const auto whole = nlohmann::json::parse(
      R"({"type":"object","required":["a"],"properties":{"a":)" + schema + "}}");
  CheckArgs(whole, args, "plugin \"P\": ", {"f.toml", 9, 0}, errors);
  return std::string(errors.ToStatus().message());
}

TEST(ArgumentTypesTest, EachTypeGetsOneMessagePerValue) {
  const std::string dates = "a string, number, boolean, array or table";
  const struct {
    std::string schema;
    std::string expected;
    std::vector<std::string> accepted;
  } cases[] = {
      {R"({"type":"integer","minimum":0,"maximum":9})", "a whole number from 0 to 9", {"7"}},
      {R"({"type":"number"})", "a number", {"7", "1e1", "1.5", "1e300"}},
      {R"({"type":"string"})", "a string", {"\"five\"", "\"\"", "\"5s\""}},
      {R"({"type":"boolean"})", "true or false", {"true"}},
      {R"({"type":"array"})", "an array", {"[]", "[\"five\"]"}},
      {R"({"type":"object"})", "a table", {"{}"}},
      {R"({"enum":["five",2]})", "one of \"five\", 2", {"\"five\""}},
  };
  for (const auto& c : cases) {
    for (const TomlValue& value : TomlValues()) {
      SCOPED_TRACE(c.schema + " " + value.toml);
      std::string message = "f.toml:1: plugin \"P\": args.a: expected ";
      const bool is_time = value.found.starts_with("the date") || value.found.starts_with("the t");
      const bool is_finite = value.toml.find("inf") == std::string::npos && value.toml != "nan";
      std::string found = value.found;
      if (value.toml == "[]") found = "an array of 0";
      if (value.toml == "[\"five\"]") found = "an array of 1";
      if (c.schema.find("integer") != std::string::npos) found += value.as_integer;
      if (std::ranges::count(c.accepted, value.toml) > 0) {
        message = "";
      } else if (is_time) {
        message += dates + ", found " + found;
      } else if (!is_finite) {
        message += "a finite number, found " + found;
      } else {
        message += c.expected + ", found " + found;
      }
      EXPECT_EQ(ReadArgument(c.schema, value.toml), message);
    }
  }
}

// A profile that replaces an argument replaces its text in messages too.
TEST(ArgumentTypesTest, MergingReplacesTheTextOfNumbers) {
  ConfigErrors errors;
  const auto args = [&](const std::string& toml) {
    return ToArgs(*ParseToml(toml, "f.toml", errors), "", errors);
  };
  std::vector<ProfilePlugin> plugins;
  ProfilePlugin base;
  base.name.value = "P";
  base.args = args("a = 1e1\nb = [1e2]\nc = {d = 1e3, e = 1e4}\n");
  ProfilePlugin over = base;
  over.args = args("a = 2.5\nb = 5\nc = {d = 1}\n");
  MergePlugin(plugins, base);
  MergePlugin(plugins, over);
  using Texts = std::map<std::string, std::string, std::less<>>;
  EXPECT_EQ(plugins.front().args.texts, (Texts{{"/a", "2.5"}, {"/c/e", "1e4"}}));
}

}  // namespace
}  // namespace berth::host

// Runs `berth plugin check` in this process, for the tests of this folder.
#ifndef BERTH_TESTS_PLUGIN_CHECK_RUN_CHECK_H_
#define BERTH_TESTS_PLUGIN_CHECK_RUN_CHECK_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/cli/command.h"

namespace berth::host {

using Json = nlohmann::json;

struct Outcome {
  int exit_status = -1;
  std::string out;
  std::string err;
};

inline int64_t SteadyNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline Outcome RunBerth(const std::vector<std::string>& args,
                        const std::function<int64_t()>& steady_ns = SteadyNs) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  CommandEnvironment env{.in = in,
                         .out = out,
                         .err = err,
                         .executable = "",
                         .temporary_directory = ::testing::TempDir(),
                         .steady_ns = steady_ns,
                         .wall_ns = [] { return int64_t{0}; },
                         .out_width = {}};
  const int exit_status = RunCommand(args, env);
  return {exit_status, out.str(), err.str()};
}

inline std::string Broken(const std::string& name) {
  return std::string(BERTH_BROKEN) + "/lib" + name + ".so";
}

// Returns "promise: text" for every finding.
inline std::vector<std::string> Findings(const Json& report) {
  std::vector<std::string> texts;
  const auto add = [&texts](const Json& findings) {
    for (const Json& finding : findings) {
      texts.push_back(finding["promise"].get<std::string>() + ": " +
                      finding["text"].get<std::string>());
    }
  };
  add(report["findings"]);
  for (const Json& plugin : report["plugins"]) add(plugin["findings"]);
  return texts;
}

}  // namespace berth::host

#endif  // BERTH_TESTS_PLUGIN_CHECK_RUN_CHECK_H_

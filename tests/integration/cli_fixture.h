// The fixture of the tests of commands: a cluster, a temporary folder and a fake environment.
#ifndef BERTH_TESTS_INTEGRATION_CLI_FIXTURE_H_
#define BERTH_TESTS_INTEGRATION_CLI_FIXTURE_H_

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/cli/command.h"

namespace berth::host {

using Json = nlohmann::json;

inline constexpr const char* kSmall = BERTH_SOURCE_DIR "/examples/clusters/small.yaml";

// Two nodes. The pod "small" of the tests fits on both, "large" only on b, "huge" on neither.
inline constexpr const char* kNodes = R"(
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: b}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "10"}}
)";

// The beginning of log lines of `berth replay` at the wall-clock time of the tests.
inline const std::string kNow = "2023-11-14T22:13:20.000Z ";

inline std::string PodOf(const std::string& name, const std::string& cpu,
                         const std::string& more = "") {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec:\n" + more +
         "  containers:\n    - name: c\n      resources: {requests: {cpu: \"" + cpu + "\"}}\n";
}

class CliTest : public ::testing::Test {
 protected:
  CliTest() : folder_(::testing::TempDir() + "berth_cli_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~CliTest() override { std::filesystem::remove_all(folder_); }

  struct Outcome {
    int exit_status = -1;
    std::string out;
    std::string err;

    Json json() const { return Json::parse(out); }
  };

  // Fills the folder "plugins" with links to the default plugins; `replaced`, the name of a
  // library, is a link to `library` instead.
  void LinkPlugins(const std::string& replaced, const std::string& library) const {
    const std::filesystem::path folder = folder_ + "/plugins";
    std::filesystem::create_directories(folder);
    for (const auto& file : std::filesystem::directory_iterator(BERTH_BINARY_DIR "/plugins")) {
      const std::string name = file.path().filename();
      if (file.path().extension() != ".so") continue;
      std::filesystem::create_symlink(
          name == replaced ? std::filesystem::path(library) : file.path(), folder / name);
    }
  }

  Outcome Run(const std::vector<std::string>& args, const std::string& input = "") {
    std::istringstream in(input);
    std::ostringstream out;
    Outcome outcome = RunTo(out, args, in);
    outcome.out = out.str();
    return outcome;
  }

  // Runs a command with this output and input. `out` of the outcome is empty.
  Outcome RunTo(std::ostream& out, const std::vector<std::string>& args, std::istream& in) {
    std::ostringstream err;
    std::atomic<int64_t> now_ns = 0;
    CommandEnvironment env{.in = in,
                           .out = out,
                           .err = err,
                           .executable = executable_,
                           .temporary_directory = folder_,
                           .steady_ns = [&now_ns] { return now_ns += 1000; },
                           .wall_ns = [this] { return wall_ns_; },
                           .out_width = width_,
                           .err_is_terminal = false};
    if (steady_ns_) env.steady_ns = steady_ns_;
    env.boot_ns = env.steady_ns;
    env.out_is_live = true;
    env.in_descriptor = in_descriptor_;
    env.requests = requests_source_;
    const int exit_status = RunCommand(args, env);
    return {exit_status, "", err.str()};
  }

  std::string File(const std::string& name, const std::string& text) {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  const std::string folder_;
  std::string executable_ = BERTH_BINARY_DIR "/berth";
  TerminalWidth width_;
  int64_t wall_ns_ = 1'700'000'000'000'000'000;  // 2023-11-14T22:13:20Z
  std::function<int64_t()> steady_ns_;           // Empty: each call is a microsecond later.
  int in_descriptor_ = -1;
  SubscribeToRequests requests_source_;  // Empty: the command gets no requests.
};

}  // namespace berth::host

#endif  // BERTH_TESTS_INTEGRATION_CLI_FIXTURE_H_

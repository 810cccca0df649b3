// The fixture of the tests that run `berth replay` with a stream from a file.
#ifndef BERTH_TESTS_INTEGRATION_RUN_CLI_FIXTURE_H_
#define BERTH_TESTS_INTEGRATION_RUN_CLI_FIXTURE_H_

#include <string>
#include <vector>

#include "tests/integration/cli_fixture.h"
#include "tests/integration/stream_lines.h"

namespace berth::host {

class RunCliTest : public CliTest {
 protected:
  // Runs in virtual time, with a stream from a file and JSON output.
  Outcome Play(const std::string& events, std::vector<std::string> more = {}) {
    std::vector<std::string> args = {
        "replay", "--events", File("e.jsonl", events), "--time", "virtual", "--output", "json"};
    args.insert(args.end(), more.begin(), more.end());
    return Run(args);
  }
  std::vector<std::string> DecisionsOf(const std::string& events) {
    const Outcome run = Play(events);
    EXPECT_NE(run.exit_status, 2) << run.err;
    return Decisions(run.out);
  }
};

inline constexpr const char* kNoCpu = "0/1 nodes are available: 1 Insufficient cpu.";

}  // namespace berth::host

#endif  // BERTH_TESTS_INTEGRATION_RUN_CLI_FIXTURE_H_

// The command line of berth-bench.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_BENCH_COMMAND_H_
#define BERTH_TESTS_BENCH_WORKLOADS_BENCH_COMMAND_H_

#include <span>
#include <string>

#include "host/cli/command.h"

namespace berth::bench {

// Runs berth-bench. `args` does not contain the program's name.
// Returns:  the exit status: 0 success; 1 a workload could not be measured, or is worse than
//           allowed; 2 bad input.
// REQUIRES: the process has only one thread, because it forks.
int RunBenchCommand(std::span<const std::string> args, host::CommandEnvironment& env);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_BENCH_COMMAND_H_

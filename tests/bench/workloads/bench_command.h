// The command line of berth-bench.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_BENCH_COMMAND_H_
#define BERTH_TESTS_BENCH_WORKLOADS_BENCH_COMMAND_H_

#include <span>
#include <string>

#include "host/cli/command.h"

namespace berth::bench {

// `args` without the program's own name.
// Returns: the exit status: 0 done; 1 not all could be measured, or it became worse than allowed; 2
//          bad input.
// REQUIRES: the process has one thread; it forks.
int RunBenchCommand(std::span<const std::string> args, host::CommandEnvironment& env);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_BENCH_COMMAND_H_

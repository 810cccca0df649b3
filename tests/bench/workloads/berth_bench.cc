// The main function of berth-bench.
#include "host/cli/program.h"
#include "tests/bench/workloads/bench_command.h"

int main(int argc, char** argv) {
  return berth::host::RunProgram(argc, argv, "berth-bench", berth::bench::RunBenchCommand);
}

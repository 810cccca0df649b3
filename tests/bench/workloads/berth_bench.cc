// Wiring: the process around berth-bench.
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/workloads/bench_command.h"

namespace {

template <class Clock>
int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

berth::host::TerminalWidth WidthOf(int descriptor) {
  winsize size{};
  if (isatty(descriptor) == 0 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return std::nullopt;
  }
  return size.ws_col;
}

int Run(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  berth::host::CommandEnvironment env{
      .in = std::cin,
      .out = std::cout,
      .err = std::cerr,
      .executable = std::filesystem::read_symlink("/proc/self/exe").string(),
      .temporary_directory = std::filesystem::temp_directory_path().string(),
      .steady_ns = NowNs<std::chrono::steady_clock>,
      .wall_ns = NowNs<std::chrono::system_clock>,
      .out_width = WidthOf(STDOUT_FILENO),
      .err_is_terminal = isatty(STDERR_FILENO) != 0};
  return berth::bench::RunBenchCommand(args, env);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 1) return berth::host::kExitBadInput;
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "berth-bench: " << error.what() << std::endl;
  }
  return berth::host::kExitBadInput;
}

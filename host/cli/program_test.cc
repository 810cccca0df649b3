#include "host/cli/program.h"

#include <unistd.h>

#include <array>
#include <new>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "host/base/file_descriptor.h"

namespace berth::host {
namespace {

// Returns what the program prints on standard error when its command throws.
template <class Error>
std::string ErrorOf(const Error& error) {
  std::string name = "berth";
  std::array<char*, 2> argv = {name.data(), nullptr};
  // A program keeps the standard output for its process; later tests print to it too.
  const FileDescriptor output(::dup(STDOUT_FILENO));
  ::testing::internal::CaptureStderr();
  const int exit_status = RunProgram(
      1, argv.data(), "berth",
      [&error](std::span<const std::string>, CommandEnvironment&) -> int { throw error; });
  EXPECT_EQ(exit_status, kExitBadInput);
  EXPECT_EQ(::dup2(output.get(), STDOUT_FILENO), STDOUT_FILENO);
  return ::testing::internal::GetCapturedStderr();
}

TEST(ProgramTest, ReportsExceptions) {
  EXPECT_EQ(ErrorOf(std::runtime_error("the disk is gone")), "berth: the disk is gone\n");
  EXPECT_EQ(ErrorOf(std::bad_alloc()), "berth: out of memory\n");
}

}  // namespace
}  // namespace berth::host

#include "host/process/assemble/input_files.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "host/api/manifest.h"

namespace berth::host {
namespace {

class InputFilesTest : public ::testing::Test {
 protected:
  InputFilesTest() : path_(::testing::TempDir() + "berth_input_files.yaml") {}
  ~InputFilesTest() override { std::remove(path_.c_str()); }

  void Write(const std::string& text) { std::ofstream(path_) << text; }

  const std::string path_;
  std::istringstream in_;
};

TEST_F(InputFilesTest, ReadsAFileWithPadding) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{300'000}}) {
    Write(std::string(size, 'x'));
    const auto text = ReadInput(path_, in_);
    ASSERT_TRUE(text.ok()) << text.status().message();
    EXPECT_EQ(*text, std::string(size, 'x'));
    EXPECT_GE(text->capacity(), size + kManifestPadding);
  }
}

TEST_F(InputFilesTest, ReadsStandardInput) {
  in_.str("kind: Node\n");
  const auto text = ReadInput("-", in_);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "kind: Node\n");
  EXPECT_EQ(InputName("-"), "standard input");
  EXPECT_EQ(InputName("a.json"), "a.json");
}

TEST_F(InputFilesTest, NamesTheFileThatCannotBeRead) {
  const auto missing = ReadInput("no/such/file.json", in_);
  EXPECT_EQ(missing.status(), Status::NotFound("no/such/file.json: No such file or directory"));
  const auto folder = ReadInput(::testing::TempDir(), in_);
  EXPECT_EQ(folder.status(), Status::InvalidArgument(::testing::TempDir() + ": Is a directory"));
}

}  // namespace
}  // namespace berth::host

// A folder for the files of one test.
#ifndef BERTH_TESTS_HARNESS_TEMPORARY_FOLDER_H_
#define BERTH_TESTS_HARNESS_TEMPORARY_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "host/base/assert.h"

namespace berth::host {

// Created empty, with mode 0700 and a name of its own; removed with its content by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = ::testing::TempDir() + "berth-test-XXXXXX";
    BERTH_ASSERT(::mkdtemp(pattern.data()) != nullptr);
    path_ = std::filesystem::canonical(pattern).string();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  // Absolute and without symbolic links.
  const std::string& path() const { return path_; }
  std::string At(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_TEMPORARY_FOLDER_H_

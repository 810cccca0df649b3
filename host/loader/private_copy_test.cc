#include "host/loader/private_copy.h"

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/temporary_folder.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kMemoryFile = "/proc/self/fd/";

// What copies have written and discarded, and which write fails.
struct CopyLog {
  std::vector<std::string> written;
  std::vector<std::string> discarded;
  size_t failing_write = 0;  // Counted from 1; every later write fails too. 0 for none.
};

class FakeCopies final : public PrivateCopies {
 public:
  FakeCopies(std::string prefix, CopyLog& log) : prefix_(std::move(prefix)), log_(log) {}

  LoadResult<std::string> Write(const std::string& digest, std::span<const std::byte>) override {
    log_.written.push_back(digest);
    if (log_.failing_write != 0 && log_.written.size() >= log_.failing_write) {
      return MakeLoadError(LoadErrorCode::kCopyFailed, "", prefix_ + " is full");
    }
    return prefix_ + "/" + digest;
  }
  void Discard(const std::string& path) override { log_.discarded.push_back(path); }

 private:
  const std::string prefix_;
  CopyLog& log_;
};

class FallbackCopiesTest : public ::testing::Test {
 protected:
  FallbackCopiesTest()
      : copies_(
            "/tmp/here",
            [this]() -> LoadResult<std::unique_ptr<PrivateCopies>> {
              ++opened_;
              return std::unique_ptr<PrivateCopies>(
                  std::make_unique<FakeCopies>("directory", directory_));
            },
            std::make_unique<FakeCopies>("memory", memory_)) {}

  // Returns the path of the copy, or the error.
  std::string Write(const std::string& digest) {
    const auto path = copies_.Write(digest, {});
    return path.ok() ? *path : path.error().ToString();
  }

  CopyLog directory_;
  CopyLog memory_;
  int opened_ = 0;
  FallbackCopies copies_;
};

TEST_F(FallbackCopiesTest, OpensTheDirectoryAtTheFirstWrite) {
  EXPECT_EQ(opened_, 0);
  EXPECT_EQ(Write("a"), "directory/a");
  EXPECT_EQ(Write("b"), "directory/b");
  EXPECT_EQ(opened_, 1);
  EXPECT_THAT(memory_.written, IsEmpty());
}

TEST_F(FallbackCopiesTest, WritesToMemoryFromTheFirstFailureOn) {
  directory_.failing_write = 2;
  EXPECT_EQ(Write("a"), "directory/a");
  EXPECT_EQ(Write("b"), "memory/b");
  EXPECT_EQ(Write("c"), "memory/c");
  EXPECT_THAT(directory_.written, ElementsAre("a", "b"));
  copies_.Discard("memory/b");
  EXPECT_THAT(directory_.discarded, ElementsAre("memory/b"));
  EXPECT_THAT(memory_.discarded, ElementsAre("memory/b"));
}

TEST_F(FallbackCopiesTest, NamesTheDirectoryBothCausesAndTheRemedy) {
  directory_.failing_write = 1;
  memory_.failing_write = 2;
  EXPECT_EQ(Write("a"), "memory/a");
  EXPECT_EQ(Write("b"),
            "a private copy of the library is required, but cannot be made: in the directory "
            "/tmp/here: directory is full; in memory: memory is full; set TMPDIR to a directory "
            "that can be written, has free space and allows execution [copy-failed]");
}

// The directories of users that cannot hold copies.
class CopyToDirectoryOrMemoryTest : public ::testing::Test {
 protected:
  // Returns the path of a copy, or the error.
  static std::string CopyTo(const std::string& directory) {
    const auto copies = CopyToDirectoryOrMemory(directory);
    const std::vector<std::byte> bytes(10);
    const auto path = copies->Write(std::string(64, 'a'), bytes);
    if (!path.ok()) return path.error().ToString();
    EXPECT_EQ(std::filesystem::file_size(*path), 10u);
    return *path;
  }

  const TemporaryFolder folder_;
};

TEST_F(CopyToDirectoryOrMemoryTest, UsesTheDirectoryIfItCan) {
  EXPECT_THAT(CopyTo(folder_.path()), StartsWith(folder_.path() + "/"));
}

TEST_F(CopyToDirectoryOrMemoryTest, UsesMemoryOtherwise) {
  const std::string open = folder_.At("open");
  ASSERT_EQ(::mkdir(open.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
  std::ofstream(folder_.At("file")) << "x";
  const struct {
    const char* name;
    std::string directory;
  } cases[] = {
      {"an empty name", ""},
      {"a missing directory", folder_.At("absent")},
      {"a file", folder_.At("file")},
      {"a directory below a file", folder_.At("file/below")},
      {"a directory that others can write", open},
      {"a directory that nobody can write", "/proc"},
  };
  for (const auto& c : cases) EXPECT_THAT(CopyTo(c.directory), StartsWith(kMemoryFile)) << c.name;
}

// The errors of the real places.
TEST_F(CopyToDirectoryOrMemoryTest, ReportsTheCauseOfTheSystem) {
  const auto reason = [](const std::string& directory) {
    CopyLog memory{.written = {}, .discarded = {}, .failing_write = 1};
    FallbackCopies copies(
        directory, [directory] { return CopyToDirectory(directory); },
        std::make_unique<FakeCopies>("memory", memory));
    const auto path = copies.Write("a", {});
    return path.ok() ? *path : path.error().found;
  };
  const std::string absent = folder_.At("absent");
  EXPECT_THAT(reason(absent),
              HasSubstr("in the directory " + absent + ": " + absent +
                        ": No such file or directory; in memory: memory is full; set TMPDIR"));
  std::ofstream(folder_.At("file")) << "x";
  EXPECT_THAT(reason(folder_.At("file")), HasSubstr("/file: Not a directory; in memory"));
  EXPECT_THAT(reason("/proc"), HasSubstr("/proc: no directory can be created in it: "));
}

}  // namespace
}  // namespace berth::host

#include "host/loader/trusted_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/temporary_folder.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

class ReadTrustedFileTest : public ::testing::Test {
 protected:
  ReadTrustedFileTest() { WriteFile("file", "content"); }

  std::string At(const std::string& name) const { return folder_.At(name); }
  void WriteFile(const std::string& name, const std::string& text) const {
    std::ofstream(At(name)) << text;
    ::chmod(At(name).c_str(), 0644);
  }
  void MakeDirectory(const std::string& name) const {
    ASSERT_EQ(::mkdir(At(name).c_str(), 0755), 0);
  }
  void Link(const std::string& target, const std::string& name) const {
    ASSERT_EQ(::symlink(target.c_str(), At(name).c_str()), 0);
  }
  static std::string Text(const LoadResult<TrustedFile>& file) {
    if (!file.ok()) return file.error().ToString();
    return {reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size()};
  }

 private:
  const TemporaryFolder folder_;
};

TEST_F(ReadTrustedFileTest, ReturnsTheContentAndTheResolvedPath) {
  MakeDirectory("sub");
  Link("../file", "sub/relative");
  Link(At("sub"), "absolute");
  for (const char* name :
       {"file", "./file", "sub/../file", "sub/relative", "absolute/relative", "sub//../file"}) {
    const LoadResult<TrustedFile> file = ReadTrustedFile(At(name), {});
    ASSERT_EQ(Text(file), "content") << name;
    EXPECT_EQ(file->path, At("file")) << name;
  }
}

TEST_F(ReadTrustedFileTest, ReadsAnEmptyFile) {
  WriteFile("empty", "");
  const LoadResult<TrustedFile> file = ReadTrustedFile(At("empty"), {});
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->bytes.empty());
}

TEST_F(ReadTrustedFileTest, ResolvesRelativePathsFromTheWorkingDirectory) {
  const std::string relative = std::filesystem::proximate(At("file")).string();
  EXPECT_EQ(Text(ReadTrustedFile(relative, {})), "content");
}

TEST_F(ReadTrustedFileTest, ReportsAMissingFile) {
  Link("nowhere", "dangling");
  for (const char* name : {"absent", "absent/file", "file/below", "dangling"}) {
    const LoadResult<TrustedFile> file = ReadTrustedFile(At(name), {});
    ASSERT_FALSE(file.ok()) << name;
    EXPECT_EQ(file.error().code, LoadErrorCode::kNotFound) << name;
    EXPECT_EQ(file.error().path, At(name));
  }
  EXPECT_EQ(ReadTrustedFile("", {}).error().code, LoadErrorCode::kNotFound);
}

TEST_F(ReadTrustedFileTest, RejectsALoopOfLinks) {
  Link("b", "a");
  Link("a", "b");
  EXPECT_EQ(ReadTrustedFile(At("a"), {}).error().code, LoadErrorCode::kUnreadable);
}

TEST_F(ReadTrustedFileTest, RejectsAFileThatIsNotRegular) {
  MakeDirectory("sub");
  ASSERT_EQ(::mkfifo(At("pipe").c_str(), 0600), 0);
  for (const std::string& path :
       {At("sub"), At("sub/.."), At("pipe"), std::string("/dev/null"), std::string("/")}) {
    const LoadResult<TrustedFile> file = ReadTrustedFile(path, {});
    ASSERT_FALSE(file.ok()) << path;
    EXPECT_EQ(file.error().code, LoadErrorCode::kNotARegularFile) << file.error().ToString();
  }
}

TEST_F(ReadTrustedFileTest, RejectsAFileThatOthersCanWrite) {
  for (const mode_t mode : {0664u, 0646u, 0777u}) {
    ASSERT_EQ(::chmod(At("file").c_str(), mode), 0);
    const LoadResult<TrustedFile> file = ReadTrustedFile(At("file"), {});
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().code, LoadErrorCode::kWritableByOthers);
  }
  ASSERT_EQ(::chmod(At("file").c_str(), 0664), 0);
  EXPECT_THAT(Text(ReadTrustedFile(At("file"), {})),
              HasSubstr("expected file " + At("file") +
                        " to be writable by its owner alone (chmod go-w), found mode 0664"));
}

TEST_F(ReadTrustedFileTest, RejectsADirectoryThatOthersCanWrite) {
  MakeDirectory("sub");
  WriteFile("sub/file", "content");
  ASSERT_EQ(::chmod(At("sub").c_str(), 0775), 0);
  EXPECT_THAT(Text(ReadTrustedFile(At("sub/file"), {})),
              HasSubstr("directory " + At("sub") + " to be writable by its owner alone"));
  // The rule also applies to a directory that the path only passes through.
  EXPECT_FALSE(ReadTrustedFile(At("sub/../file"), {}).ok());
}

TEST_F(ReadTrustedFileTest, AcceptsStickyBitOnlyOnDirectoriesOfRoot) {
  MakeDirectory("sub");
  WriteFile("sub/file", "content");
  ASSERT_EQ(::chmod(At("sub").c_str(), 01777), 0);
  EXPECT_EQ(ReadTrustedFile(At("sub/file"), {}).ok(), ::geteuid() == 0);
}

TEST_F(ReadTrustedFileTest, SkipsTheChecksWhenCheckOwnerIsFalse) {
  ASSERT_EQ(::chmod(At("file").c_str(), 0666), 0);
  TrustOptions options;
  options.check_owner = false;
  EXPECT_EQ(Text(ReadTrustedFile(At("file"), options)), "content");
}

TEST_F(ReadTrustedFileTest, TrustsTheNamedOwners) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change the owner of a file";
  ASSERT_EQ(::chown(At("file").c_str(), 65534, 65534), 0);
  EXPECT_THAT(Text(ReadTrustedFile(At("file"), {})), HasSubstr("found user 65534 [wrong-owner]"));
  TrustOptions options;
  options.owners = {65534};
  EXPECT_EQ(Text(ReadTrustedFile(At("file"), options)), "content");
}

TEST_F(ReadTrustedFileTest, RejectsALinkOfAnUntrustedOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change the owner of a link";
  Link("file", "link");
  EXPECT_EQ(Text(ReadTrustedFile(At("link"), {})), "content");
  ASSERT_EQ(::lchown(At("link").c_str(), 65534, 65534), 0);
  EXPECT_EQ(ReadTrustedFile(At("link"), {}).error().code, LoadErrorCode::kWrongOwner);
}

TEST_F(ReadTrustedFileTest, ReadsUpToTheLimit) {
  TrustOptions options;
  options.max_bytes = 7;
  EXPECT_EQ(Text(ReadTrustedFile(At("file"), options)), "content");
  options.max_bytes = 6;
  EXPECT_EQ(ReadTrustedFile(At("file"), options).error().code, LoadErrorCode::kTooLarge);
}

TEST_F(ReadTrustedFileTest, ResolveTrustedDirectoryAppliesTheSameRules) {
  MakeDirectory("sub");
  Link("sub", "link");
  EXPECT_EQ(*ResolveTrustedDirectory(At("link"), {}), At("sub"));
  EXPECT_EQ(*ResolveTrustedDirectory("/", {}), "/");
  EXPECT_EQ(ResolveTrustedDirectory(At("file"), {}).error().code, LoadErrorCode::kNotFound);
  ASSERT_EQ(::chmod(At("sub").c_str(), 0777), 0);
  EXPECT_EQ(ResolveTrustedDirectory(At("link"), {}).error().code, LoadErrorCode::kWritableByOthers);
}

}  // namespace
}  // namespace berth::host

#include <cerrno>
#include <ostream>
#include <sstream>
#include <streambuf>

#include <gtest/gtest.h>

#include "host/cli/output.h"

namespace berth::host {
namespace {

// A file on a full disk: every flush fails with ENOSPC, and the next failure has another errno.
class FullDisk final : public std::streambuf {
 public:
  int flushes() const { return flushes_; }

 private:
  int overflow(int character) override { return character; }
  int sync() override {
    errno = ++flushes_ == 1 ? ENOSPC : EIO;
    return -1;
  }

  int flushes_ = 0;
};

TEST(LiveOutputTest, WritesDocumentsInBothFormats) {
  std::ostringstream json, yaml;
  EXPECT_TRUE(
      LiveOutput(json, {.format = OutputFormat::kJson}).WriteDocument({{"a", 1}, {"b", "c"}}));
  EXPECT_EQ(json.str(), "{\"a\":1,\"b\":\"c\"}\n");
  EXPECT_TRUE(
      LiveOutput(yaml, {.format = OutputFormat::kYaml}).WriteDocument({{"a", 1}, {"b", "c"}}));
  EXPECT_EQ(yaml.str(), "---\na: 1\nb: c\n");
}

TEST(LiveOutputTest, FlushesAfterEachTextOnlyIfLive) {
  FullDisk disk;
  std::ostream out(&disk);
  LiveOutput later(out, {.is_live = false});
  EXPECT_TRUE(later.Write("a"));
  EXPECT_EQ(disk.flushes(), 0);
  LiveOutput live(out, {});
  EXPECT_FALSE(live.Write("a"));
  EXPECT_EQ(disk.flushes(), 1);
}

TEST(LiveOutputTest, KeepsTheFirstError) {
  FullDisk disk;
  std::ostream out(&disk);
  LiveOutput output(out, {.is_live = false});
  EXPECT_EQ(output.error(), 0);
  EXPECT_FALSE(output.Flush());
  EXPECT_EQ(output.error(), ENOSPC);
  out.clear();
  EXPECT_FALSE(output.Flush());
  EXPECT_EQ(output.error(), ENOSPC);
}

}  // namespace
}  // namespace berth::host

#include "host/base/descriptor_buffer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "host/base/file_descriptor.h"

namespace berth::host {
namespace {

constexpr size_t kBufferBytes = 16 << 10;

class DescriptorBufferTest : public ::testing::Test {
 protected:
  DescriptorBufferTest() : path_(::testing::TempDir() + "berth-descriptor-XXXXXX") {
    file_ = FileDescriptor(::mkstemp(path_.data()));
  }
  ~DescriptorBufferTest() override { ::unlink(path_.c_str()); }

  std::string Written() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path_;
  FileDescriptor file_;
};

TEST_F(DescriptorBufferTest, WritesTextOfEverySizeInOrder) {
  for (const size_t size :
       {size_t{0}, size_t{1}, kBufferBytes - 1, kBufferBytes, kBufferBytes + 1, 3 * kBufferBytes}) {
    SCOPED_TRACE(size);
    ASSERT_EQ(::ftruncate(file_.get(), 0), 0);
    ASSERT_EQ(::lseek(file_.get(), 0, SEEK_SET), 0);
    DescriptorBuffer buffer(file_.get());
    std::ostream out(&buffer);
    const std::string text(size, 'x');
    out << 'a' << text << 'b' << text;
    for (size_t i = 0; i < size; ++i) out.put('c');
    EXPECT_TRUE(out.flush());
    EXPECT_EQ(Written(), "a" + text + "b" + text + std::string(size, 'c'));
  }
}

TEST_F(DescriptorBufferTest, WritesWhenItIsFlushedOrDestroyed) {
  {
    DescriptorBuffer buffer(file_.get());
    std::ostream out(&buffer);
    out << "one";
    EXPECT_EQ(Written(), "");
    out.flush();
    EXPECT_EQ(Written(), "one");
    out << "two";
    EXPECT_EQ(Written(), "one");
  }
  EXPECT_EQ(Written(), "onetwo");
}

TEST_F(DescriptorBufferTest, AFailedWriteMakesTheStreamBad) {
  const FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  for (const int descriptor : {full.get(), -1}) {
    SCOPED_TRACE(descriptor);
    for (const size_t size : {size_t{1}, kBufferBytes + 1}) {
      DescriptorBuffer buffer(descriptor);
      std::ostream out(&buffer);
      out << std::string(size, 'x');
      EXPECT_FALSE(out.flush());
    }
    DescriptorBuffer unused(descriptor);
    EXPECT_TRUE(std::ostream(&unused).flush()) << "nothing was written";
  }
}

}  // namespace
}  // namespace berth::host

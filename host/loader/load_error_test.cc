#include "host/loader/load_error.h"

#include <set>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(LoadErrorName, IsDistinctForEveryCode) {
  std::set<std::string_view> names;
  for (uint8_t code = 0; code < kLoadErrorCodes; ++code) {
    const std::string_view name = LoadErrorName(static_cast<LoadErrorCode>(code));
    EXPECT_NE(name, "unknown") << static_cast<int>(code);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), name.npos) << name;
  }
  EXPECT_EQ(LoadErrorName(static_cast<LoadErrorCode>(kLoadErrorCodes)), "unknown");
  EXPECT_EQ(LoadErrorName(LoadErrorCode::kNotFound), "not-found");
  EXPECT_EQ(LoadErrorName(LoadErrorCode::kProbeFailed), "probe-failed");
  EXPECT_EQ(LoadErrorName(LoadErrorCode::kTooManyReasons), "too-many-reasons");
}

TEST(LoadError, NamesFilePluginExpectedAndFound) {
  LoadError error{LoadErrorCode::kAbiMajor, "/p/libx.so", "X", "ABI version 1", "version 2", {}};
  EXPECT_EQ(error.ToString(),
            "/p/libx.so: plugin \"X\": expected ABI version 1, found version 2 [abi-major]");
  error.plugin.clear();
  EXPECT_EQ(error.ToString(), "/p/libx.so: expected ABI version 1, found version 2 [abi-major]");
  error.path.clear();
  EXPECT_EQ(error.ToString(), "expected ABI version 1, found version 2 [abi-major]");
}

TEST(LoadError, PrintsASentenceWithoutExpectedAndFound) {
  const LoadError error{LoadErrorCode::kProbeFailed, "/p/libx.so", "", "", "the library hangs", {}};
  EXPECT_EQ(error.ToString(), "/p/libx.so: the library hangs [probe-failed]");
}

TEST(LoadError, ListsEveryArgumentError) {
  const LoadError error{LoadErrorCode::kBadArguments,
                        "/p/libx.so",
                        "X",
                        "valid arguments",
                        "2 errors",
                        {{"/weight", "expected 1 to 100, found 0"}, {"", "unknown"}}};
  EXPECT_EQ(error.ToString(),
            "/p/libx.so: plugin \"X\": /weight: expected 1 to 100, found 0; unknown "
            "[bad-arguments]");
}

TEST(LoadError, ToStatusKeepsTheMessage) {
  const LoadError error{LoadErrorCode::kUnknownPlugin, "", "X", "a plugin", "none", {}};
  EXPECT_EQ(error.ToStatus().code(), ErrorCode::kNotFound);
  EXPECT_EQ(error.ToStatus().message(), error.ToString());
}

TEST(LoadResult, HoldsEitherAValueOrAnError) {
  const LoadResult<std::string> value(std::string("v"));
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, "v");
  EXPECT_EQ(value->size(), 1u);
  const LoadResult<std::string> error(LoadError{LoadErrorCode::kNoNote, "", "", "", "", {}});
  ASSERT_FALSE(error.ok());
  EXPECT_EQ(error.error().code, LoadErrorCode::kNoNote);
}

TEST(LoadResultDeathTest, FailsAssertionWhenTheWrongAlternativeIsRead) {
  const LoadResult<std::string> value(std::string("v"));
  EXPECT_DEATH((void)value.error(), "assertion failed");
  const LoadResult<std::string> error(LoadError{LoadErrorCode::kNoNote, "", "", "a", "b", {}});
  EXPECT_DEATH((void)error.value(), "expected a, found b");
}

}  // namespace
}  // namespace berth::host

#include "host/base/status.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

static_assert(sizeof(Status) == sizeof(void*));

Result<std::unique_ptr<int32_t>> MakeNumber(bool succeed) {
  if (!succeed) return Status::NotFound("no number");
  return std::make_unique<int32_t>(42);
}

TEST(Status, DefaultIsSuccessWithoutMessage) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kOk);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.ToString(), "Ok");
  EXPECT_EQ(status, Status::Ok());
}

TEST(Status, EachFactorySetsItsCodeAndName) {
  const struct {
    Status status;
    ErrorCode code;
    std::string text;
  } kCases[] = {
      {Status::InvalidArgument("m"), ErrorCode::kInvalidArgument, "InvalidArgument: m"},
      {Status::NotFound("m"), ErrorCode::kNotFound, "NotFound: m"},
      {Status::AlreadyExists("m"), ErrorCode::kAlreadyExists, "AlreadyExists: m"},
      {Status::Conflict("m"), ErrorCode::kConflict, "Conflict: m"},
      {Status::OutOfRange("m"), ErrorCode::kOutOfRange, "OutOfRange: m"},
      {Status::Unsupported("m"), ErrorCode::kUnsupported, "Unsupported: m"},
      {Status::PermissionDenied("m"), ErrorCode::kPermissionDenied, "PermissionDenied: m"},
      {Status::Unavailable("m"), ErrorCode::kUnavailable, "Unavailable: m"},
      {Status::Internal("m"), ErrorCode::kInternal, "Internal: m"},
  };
  for (const auto& c : kCases) {
    EXPECT_FALSE(c.status.ok());
    EXPECT_EQ(c.status.code(), c.code);
    EXPECT_EQ(c.status.message(), "m");
    EXPECT_EQ(c.status.ToString(), c.text);
  }
}

TEST(Status, ACopyIsIndependentOfItsSource) {
  Status first = Status::NotFound("pod a");
  const Status copy = first;
  first = Status::Conflict("pod b");
  EXPECT_EQ(copy, Status::NotFound("pod a"));
  EXPECT_EQ(first, Status::Conflict("pod b"));
  const Status& self = first;
  first = self;
  EXPECT_EQ(first, Status::Conflict("pod b"));
}

TEST(Status, AnnotatePrefixesErrorsAndLeavesSuccessAlone) {
  const Status inner = Status::NotFound("node n1");
  EXPECT_EQ(inner.Annotate("bind"), Status::NotFound("bind: node n1"));
  EXPECT_EQ(inner, Status::NotFound("node n1"));
  EXPECT_EQ(Status::NotFound("x").Annotate("b").Annotate("a").message(), "a: b: x");
  EXPECT_TRUE(Status::Ok().Annotate("bind").ok());
}

TEST(Result, HoldsAValueThatCanBeMovedOut) {
  Result<std::unique_ptr<int32_t>> result = MakeNumber(true);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result.status().ok());
  EXPECT_EQ(**result, 42);
  const std::unique_ptr<int32_t> taken = std::move(result).value();
  EXPECT_EQ(*taken, 42);
}

TEST(Result, HoldsTheError) {
  const Result<std::unique_ptr<int32_t>> result = MakeNumber(false);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status(), Status::NotFound("no number"));
}

TEST(Result, OperatorsReturnTheValue) {
  Result<std::string> result(std::string("berth"));
  EXPECT_EQ(result->size(), 5U);
  *result += "s";
  result.value() += "!";
  EXPECT_EQ(std::as_const(result).value(), "berths!");
}

TEST(ResultDeathTest, ReadingValueOfErrorFailsAssertionWithError) {
  const Result<std::string> result(Status::NotFound("node n1"));
  EXPECT_DEATH((void)result.value(), "Result::ok\\(\\): NotFound: node n1");
}

TEST(ResultDeathTest, ConstructionFromSuccessFailsAnAssertion) {
  EXPECT_DEATH((void)Result<std::string>(Status::Ok()), "assertion failed");
}

}  // namespace
}  // namespace berth::host

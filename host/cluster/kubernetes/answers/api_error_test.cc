#include "host/cluster/kubernetes/answers/api_error.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

HttpResponse Answer(uint32_t http_status, std::string body = "") {
  HttpResponse response;
  response.delivery = Delivery::kAnswered;
  response.head.http_status = http_status;
  response.body = std::move(body);
  return response;
}

TEST(ReadServerStatus, ReadsItsFields) {
  const ServerStatus status = ReadServerStatus(
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
          "message":"Timeout: Too large resource version: 9, current: 3","reason":"Timeout",
          "details":{"causes":[3,{"message":"m"},{"reason":"ResourceVersionTooLarge"},
                               {"reason":"Other"}],
                     "retryAfterSeconds":1},
          "code":504})");
  EXPECT_EQ(status.code, 504U);
  EXPECT_EQ(status.reason, "Timeout");
  EXPECT_EQ(status.message, "Timeout: Too large resource version: 9, current: 3");
  EXPECT_EQ(status.cause, "ResourceVersionTooLarge");
  EXPECT_EQ(status.retry_after_seconds, 1);
}

TEST(ReadServerStatus, IsEmptyForWhatItCannotRead) {
  const std::string bodies[] = {"",
                                "upstream connect error",
                                "<html></html>",
                                "[]",
                                "null",
                                "{",
                                R"({"kind":"Status")",
                                R"({"kind":"Pod","code":404,"reason":"NotFound"})",
                                R"({"code":404,"reason":"NotFound"})",
                                R"({"kind":7,"code":404,"reason":"NotFound"})",
                                std::string(200, '[') + std::string(200, ']'),
                                std::string("\xff\xfe")};
  for (const std::string& body : bodies) {
    SCOPED_TRACE(body);
    const ServerStatus status = ReadServerStatus(body);
    EXPECT_EQ(status.code, 0U);
    EXPECT_EQ(status.reason, "");
    EXPECT_EQ(status.message, "");
    EXPECT_EQ(status.cause, "");
    EXPECT_EQ(status.retry_after_seconds, 0);
  }
}

TEST(ReadServerStatus, SkipsFieldsOfOtherTypes) {
  const struct {
    const char* field;
    uint32_t code;
    int64_t retry_after_seconds;
  } cases[] = {{R"("code":999)", 999, 0},
               {R"("code":1000)", 0, 0},
               {R"("code":-404)", 0, 0},
               {R"("code":404.5)", 0, 0},
               {R"("code":"404")", 0, 0},
               {R"("details":null)", 0, 0},
               {R"("details":{"causes":{},"retryAfterSeconds":2147483647})", 0, 2147483647},
               {R"("details":{"causes":[],"retryAfterSeconds":2147483648})", 0, 0},
               {R"("details":{"retryAfterSeconds":-1})", 0, 0},
               {R"("details":{"retryAfterSeconds":18446744073709551615})", 0, 0}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.field);
    const ServerStatus status = ReadServerStatus(
        std::string(R"({"kind":"Status","reason":5,"message":[],)").append(c.field).append("}"));
    EXPECT_EQ(status.code, c.code);
    EXPECT_EQ(status.retry_after_seconds, c.retry_after_seconds);
    EXPECT_EQ(status.reason, "");
    EXPECT_EQ(status.message, "");
    EXPECT_EQ(status.cause, "");
  }
}

TEST(StatusOf, ConvertsEachHttpStatus) {
  const struct {
    uint32_t http_status;
    const char* reason;
    ErrorCode code;
  } cases[] = {
      {200, "", ErrorCode::kOk},
      {201, "", ErrorCode::kOk},
      {299, "", ErrorCode::kOk},
      {302, "", ErrorCode::kUnsupported},
      {400, "BadRequest", ErrorCode::kInvalidArgument},
      {401, "Unauthorized", ErrorCode::kPermissionDenied},
      {403, "Forbidden", ErrorCode::kPermissionDenied},
      {404, "NotFound", ErrorCode::kNotFound},
      {405, "MethodNotAllowed", ErrorCode::kUnsupported},
      {406, "NotAcceptable", ErrorCode::kUnsupported},
      {408, "", ErrorCode::kUnavailable},
      {409, "AlreadyExists", ErrorCode::kAlreadyExists},
      {409, "Conflict", ErrorCode::kConflict},
      {409, "", ErrorCode::kConflict},
      {410, "Expired", ErrorCode::kOutOfRange},
      {413, "RequestEntityTooLarge", ErrorCode::kOutOfRange},
      {415, "UnsupportedMediaType", ErrorCode::kUnsupported},
      {418, "", ErrorCode::kInvalidArgument},
      {422, "Invalid", ErrorCode::kInvalidArgument},
      {429, "TooManyRequests", ErrorCode::kUnavailable},
      {500, "InternalError", ErrorCode::kInternal},
      {501, "", ErrorCode::kInternal},
      {502, "", ErrorCode::kUnavailable},
      {503, "ServiceUnavailable", ErrorCode::kUnavailable},
      {504, "Timeout", ErrorCode::kUnavailable},
      {599, "", ErrorCode::kInternal},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.http_status);
    const std::string body = std::string(R"({"kind":"Status","message":"why","reason":")")
                                 .append(c.reason)
                                 .append("\"}");
    const Status status = StatusOf(Answer(c.http_status, body));
    EXPECT_EQ(status.code(), c.code);
    EXPECT_EQ(status.message(), c.code == ErrorCode::kOk ? "" : "why");
  }
}

TEST(StatusOf, NamesHttpStatusIfServerSendsNoMessage) {
  EXPECT_EQ(StatusOf(Answer(502, "bad gateway")).message(),
            "the server responded with 502 Bad Gateway");
  EXPECT_EQ(StatusOf(Answer(502, "<html>")).message(),
            "the server responded with 502 Bad Gateway and an HTML page, not with a Status of "
            "Kubernetes: perhaps a proxy or another server has answered");
  EXPECT_EQ(StatusOf(Answer(404, R"({"kind":"Status","message":""})")).message(),
            "the server responded with 404 Not Found");
  EXPECT_EQ(StatusOf(Answer(599)).message(), "the server responded with 599");
}

TEST(StatusOf, IsErrorOfARequestWithoutAnAnswer) {
  HttpResponse response;
  response.status = Status::Unavailable("connection refused");
  EXPECT_EQ(StatusOf(response), Status::Unavailable("connection refused"));
}

TEST(ApiResponseOf, KeepsTheAnswer) {
  HttpResponse response = Answer(429, "busy");
  response.head.retry_after_ns = 2 * kSecond;
  response.head.content_type = "text/plain";
  const ApiResponse answer = ApiResponseOf(std::move(response));
  EXPECT_EQ(answer.status, Status::Unavailable("the server responded with 429 Too Many Requests"));
  EXPECT_EQ(answer.http_status, 429U);
  EXPECT_EQ(answer.retry_after_ns, 2 * kSecond);
  EXPECT_EQ(answer.content_type, "text/plain");
  EXPECT_EQ(answer.body, "busy");

  const ApiResponse success = ApiResponseOf(Answer(200, "{}"));
  EXPECT_TRUE(success.status.ok());
  EXPECT_EQ(success.http_status, 200U);
  EXPECT_EQ(success.body, "{}");
}

TEST(ApiResponseOf, HasOnlyErrorIfServerDidNotRespond) {
  // The head arrived, but the body exceeded a limit: the answer must not look complete.
  HttpResponse response = Answer(200, "part");
  response.status = Status::OutOfRange("too large");
  const ApiResponse answer = ApiResponseOf(std::move(response));
  EXPECT_EQ(answer.status, Status::OutOfRange("too large"));
  EXPECT_EQ(answer.http_status, 0U);
  EXPECT_EQ(answer.body, "");
}

TEST(RetryClassOf, DependsOnTheHttpStatus) {
  const struct {
    uint32_t http_status;
    int64_t retry_after_ns;
    RetryClass expected;
  } cases[] = {{400, 0, RetryClass::kFinal},       {401, 0, RetryClass::kFinal},
               {403, 0, RetryClass::kFinal},       {404, 0, RetryClass::kFinal},
               {408, 0, RetryClass::kUnknown},     {409, kSecond, RetryClass::kFinal},
               {410, 0, RetryClass::kFinal},       {422, 0, RetryClass::kFinal},
               {429, 0, RetryClass::kNotExecuted}, {429, kSecond, RetryClass::kNotExecuted},
               {500, 0, RetryClass::kUnknown},     {500, kSecond, RetryClass::kUnknown},
               {502, 0, RetryClass::kUnknown},     {503, 0, RetryClass::kUnknown},
               {503, 1, RetryClass::kNotExecuted}, {504, kSecond, RetryClass::kUnknown},
               {599, 0, RetryClass::kUnknown}};
  for (const auto& c : cases) {
    HttpResponse response = Answer(c.http_status);
    response.head.retry_after_ns = c.retry_after_ns;
    EXPECT_EQ(RetryClassOf(response), c.expected) << c.http_status << " " << c.retry_after_ns;
  }
}

TEST(RetryClassOf, DependsOnDeliveryIfThereIsNoAnswer) {
  const struct {
    Delivery delivery;
    RetryClass expected;
  } cases[] = {{Delivery::kNotSent, RetryClass::kNotExecuted},
               {Delivery::kUnknown, RetryClass::kUnknown},
               {Delivery::kAnswered, RetryClass::kUnknown}};  // An answer that exceeds a limit.
  for (const auto& c : cases) {
    HttpResponse response;
    response.status = Status::Unavailable("lost");
    response.delivery = c.delivery;
    EXPECT_EQ(RetryClassOf(response), c.expected) << static_cast<int>(c.delivery);
  }
}

TEST(WatchErrors, AreRecognized) {
  const struct {
    uint32_t http_status;
    const char* status;
    bool is_expired;
    bool is_too_large;
  } cases[] = {
      {410, "", true, false},
      {410, R"("reason":"Gone","code":410)", true, false},
      {410, R"("reason":"Expired","code":410)", true, false},
      {200, R"("reason":"Expired","code":410)", true, false},
      {200, R"("reason":"Expired")", true, false},
      {200, R"("code":410)", true, false},
      {200, R"("reason":"InternalError","code":500)", false, false},
      {504, R"("reason":"Timeout","code":504)", false, false},
      {504, R"("code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]})", false,
       true},
      {200, R"("code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]})", false,
       true},
      {500, R"("code":500,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]})", false,
       false},
      {404, "", false, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::to_string(c.http_status) + " " + c.status);
    const std::string fields = *c.status == '\0' ? "" : std::string(",") + c.status;
    const ServerStatus status = ReadServerStatus(R"({"kind":"Status")" + fields + "}");
    EXPECT_EQ(IsExpired(c.http_status, status), c.is_expired);
    EXPECT_EQ(IsVersionTooLarge(c.http_status, status), c.is_too_large);
  }
}

TEST(RefusesInitialEvents, For400And422) {
  for (const uint32_t http_status : {400U, 422U}) EXPECT_TRUE(RefusesInitialEvents(http_status));
  for (const uint32_t http_status : {200U, 401U, 403U, 404U, 410U, 423U, 500U}) {
    EXPECT_FALSE(RefusesInitialEvents(http_status)) << http_status;
  }
}

}  // namespace
}  // namespace berth::host

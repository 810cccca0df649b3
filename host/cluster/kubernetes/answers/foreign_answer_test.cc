#include "host/cluster/kubernetes/answers/foreign_answer.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

HttpHead Head(uint32_t http_status, std::string content_type = "application/json",
              std::string content_encoding = "", std::string location = "") {
  HttpHead head;
  head.http_status = http_status;
  head.content_type = std::move(content_type);
  head.content_encoding = std::move(content_encoding);
  head.location = std::move(location);
  return head;
}

TEST(DescribeForeignBodyTest, NamesWhatIsNotJson) {
  const struct {
    const char* name;
    HttpHead head;
    std::string body;
    std::string found;
  } cases[] = {
      {"JSON", Head(200), R"({"kind":"NodeList"})", ""},
      {"JSON of another media type", Head(200, "text/plain"), "{}", ""},
      {"no body yet", Head(200), "", ""},
      {"a text", Head(200, "text/plain"), "ok", ""},
      {"the identity", Head(200, "application/json", "identity"), "{}", ""},
      {"Content-Encoding", Head(200, "application/json", "gzip"), "", "a body in gzip"},
      {"another encoding", Head(200, "application/json", " BR"), "x", "a body in br"},
      {"the beginning of gzip", Head(200), "\x1f\x8b\x08", "a body in gzip"},
      {"almost gzip", Head(200), "\x1f\x8c\x08", ""},
      {"the media type of HTML", Head(200, "Text/HTML; charset=utf-8"), "", "an HTML page"},
      {"the text of HTML", Head(200), "\n <!DOCTYPE html><html><body>", ""},
      {"the beginning of HTML", Head(200), "<!DOCTYPE html>\n<html><body>", "an HTML page"},
      {"XML", Head(200), "<?xml version=\"1.0\"?>\n<a/>", "an XML document"},
      {"the media type of protobuf", Head(200, "application/vnd.kubernetes.protobuf;stream=watch"),
       "", "protobuf of Kubernetes"},
      {"the beginning of protobuf", Head(200), std::string("k8s\0\n\x0a", 6),
       "protobuf of Kubernetes"},
      {"almost protobuf", Head(200), "k8s ok", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(DescribeForeignBody(c.head, c.body), c.found) << c.name;
}

TEST(CheckAnswerTest, FailsOnlyForForeignAnswers) {
  const std::string other =
      "; a proxy, a login page or another server has answered: use the address of the API server "
      "itself";
  const std::string changed =
      "; a proxy in front of the API server changes requests or answers: correct it, or use the "
      "address of the API server itself";
  const std::string tls =
      "expected an answer of an API server without TLS, found a server that expects TLS; use "
      "https:// in the URL of the server";
  const struct {
    HttpHead head;
    std::string body;
    Status status;
  } cases[] = {
      {Head(200), "{}", {}},
      {Head(201), "", {}},
      {Head(200, "text/plain"), "ok", {}},
      {Head(200, "text/html"), "<html>",
       Status::InvalidArgument("expected JSON, found an HTML page" + other)},
      {Head(200, "application/json", "gzip"), "x",
       Status::InvalidArgument("expected JSON, found a body in gzip" + changed)},
      {Head(201, "application/vnd.kubernetes.protobuf"), "x",
       Status::InvalidArgument("expected JSON, found protobuf of Kubernetes" + changed)},
      // The status decides about errors.
      {Head(404, "text/html"), "<html>", {}},
      {Head(503, "text/html", "gzip"), "x", {}},
      {Head(400), "Client sent another request", {}},
      {Head(400, ""), "Client sent an HTTP request to an HTTPS server.\n",
       Status::InvalidArgument(tls)},
      {Head(400, "text/html"), "<title>400 The plain HTTP request was sent to HTTPS port</title>",
       Status::InvalidArgument(tls)},
      {Head(400, "text/html"), "You're speaking plain HTTP to an SSL-enabled server port.",
       Status::InvalidArgument(tls)},
      {Head(403), "Client sent an HTTP request to an HTTPS server.\n", {}},
  };
  for (const auto& c : cases) EXPECT_EQ(CheckAnswer(c.head, c.body), c.status) << c.body;
}

// The parts of a URL that may hold secrets do not reach a log.
TEST(CheckAnswerTest, RedirectionsNameTheirLocationWithoutSecrets) {
  const struct {
    std::string location;
    std::string shown;
  } cases[] = {
      {"https://login.example/start", " to \"https://login.example/start\""},
      {"https://login.example:8443", " to \"https://login.example:8443\""},
      {"https://user:SECRET@login.example/start", " to \"https://login.example/start\""},
      {"https://SECRET@a@login.example", " to \"https://login.example\""},
      {"//user:SECRET@login.example/", " to \"//login.example/\""},
      {"https://login.example/a@b", " to \"https://login.example/a@b\""},
      {"https://login.example/?token=SECRET", " to \"https://login.example/\""},
      {"https://login.example?next=//SECRET@x", " to \"https://login.example\""},
      {"/login#id_token=SECRET", " to \"/login\""},
      {"https://login.example/a\x1b[2J", " to \"https://login.example/a\\x1b[2J\""},
      {"", ""},
  };
  for (const auto& c : cases) {
    for (const uint32_t http_status : {301U, 302U, 303U, 307U, 308U}) {
      const Status status = CheckAnswer(Head(http_status, "text/html", "", c.location), "<html>");
      EXPECT_EQ(status, Status::Unsupported(
                            "expected an answer of an API server, found the redirection " +
                            std::to_string(http_status) + c.shown +
                            ", which is not followed; use the address of the API server itself"));
      EXPECT_THAT(status.message(), Not(HasSubstr("SECRET")));
    }
  }
}

}  // namespace
}  // namespace berth::host

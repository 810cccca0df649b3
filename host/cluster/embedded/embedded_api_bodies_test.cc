// Tests of malformed paths and bodies: each request is answered with an error and changes nothing.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cluster/json_body.h"
#include "tests/harness/embedded_api_fixture.h"

namespace berth::host {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Deep(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

class BodiesTest : public EmbeddedApiTest {
 protected:
  BodiesTest() {
    AddPod("p");
    AddNode("n");
    Send("POST", kClaims, Claim("c"));
  }

  // Returns the verb and the path of every request that has a body.
  std::vector<std::pair<std::string, std::string>> Writes() const {
    return {{"POST", kClaims},
            {"PUT", std::string(kClaims) + "/c"},
            {"PATCH", std::string(kClaims) + "/c"},
            {"DELETE", std::string(kClaims) + "/c"},
            {"POST", "/api/v1/namespaces/default/pods"},
            {"PUT", "/api/v1/namespaces/default/pods/p"},
            {"PATCH", "/api/v1/namespaces/default/pods/p/status"},
            {"DELETE", "/api/v1/namespaces/default/pods/p"},
            {"POST", "/api/v1/nodes"},
            {"PUT", "/api/v1/nodes/n"}};
  }
};

TEST_F(BodiesTest, BodyThatIsNotObjectIsBadRequest) {
  for (const auto& [verb, path] : Writes()) {
    for (const char* body : {"[]", "1", "\"x\"", "null", "{", "{}{}", "{\"a\":\"\xff\"}",
                             "{\"a\":1e999}", "{\"a\":\"\\ud800\"}"}) {
      EXPECT_EQ(Send(verb, path, body), "400 BadRequest: the body is not a JSON object")
          << verb << path << body;
    }
  }
}

TEST_F(BodiesTest, LimitsDepthAndSize) {
  for (const auto& [verb, path] : Writes()) {
    for (const size_t depth : {size_t{101}, size_t{1'000'000}}) {
      const std::string deep = "{\"a\":" + Deep(depth) + "}";
      EXPECT_THAT(Send(verb, path, deep), StartsWith("400 BadRequest: the body has more than 100"))
          << verb << path;
    }
    const std::string large = R"({"a":")" + std::string(kMaxBodyBytes, 'x') + R"("})";
    EXPECT_EQ(Send(verb, path, large),
              "413 RequestEntityTooLarge: Request entity too large: limit is 3145728");
  }
}

TEST_F(BodiesTest, MetadataOfWrongTypeIsABadRequest) {
  const std::pair<const char*, const char*> kKinds[] = {
      {kClaims, R"("kind":"PersistentVolumeClaim","apiVersion":"v1")"},
      {"/api/v1/namespaces/default/pods", R"("kind":"Pod","apiVersion":"v1")"},
      {"/api/v1/nodes", R"("kind":"Node","apiVersion":"v1")"}};
  for (const auto& [path, kind] : kKinds) {
    for (const char* metadata : {"\"x\"", "1", "[]", "[{}]", "true"}) {
      EXPECT_EQ(Send("POST", path, std::string("{") + kind + ",\"metadata\":" + metadata + "}"),
                std::string("400 BadRequest: /metadata: expected an object, found ") + metadata)
          << path << metadata;
    }
    for (const char* metadata :
         {R"({"name":1})", R"({"name":["x"]})", R"({"name":"x","namespace":1})",
          R"({"name":"x","labels":"x"})", R"({"name":"x","uid":{}})", "{}", "null"}) {
      EXPECT_THAT(Send("POST", path, std::string("{") + kind + ",\"metadata\":" + metadata + "}"),
                  ContainsRegex("^4(00 BadRequest|22 Invalid): .*metadata"))
          << path << metadata;
    }
    EXPECT_THAT(Send("POST", path, std::string("{") + kind + "}"),
                ContainsRegex("^4(00 BadRequest|22 Invalid): .*metadata"));
  }
}

TEST_F(BodiesTest, RejectsOtherFieldsOfTheWrongType) {
  const std::string pods = "/api/v1/namespaces/default/pods";
  for (const char* body :
       {R"({"kind":1,"apiVersion":"v1","metadata":{"name":"x"}})",
        R"({"kind":"Pod","apiVersion":["v1"],"metadata":{"name":"x"}})",
        R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"},"spec":[]})",
        R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"},"spec":{"containers":{}}})"}) {
    EXPECT_THAT(Send("POST", pods, body), StartsWith("400 BadRequest: ")) << body;
  }
  EXPECT_EQ(cluster_.FindPod("default", "x"), nullptr);
}

TEST_F(BodiesTest, RejectsMergePatchThatMakesAnObjectInvalid) {
  const std::string path = std::string(kClaims) + "/c";
  const std::string before = Send("GET", path);
  for (const char* patch : {R"({"metadata":null})", R"({"metadata":"x"})", R"({"metadata":[]})",
                            R"({"metadata":{"name":null}})", R"({"metadata":{"name":1}})",
                            R"({"metadata":{"namespace":1}})", R"({"kind":null})", R"({"kind":1})",
                            R"({"apiVersion":"v2"})"}) {
    EXPECT_THAT(Send("PATCH", path, patch), StartsWith("400 BadRequest: ")) << patch;
  }
  EXPECT_EQ(Send("GET", path), before);
}

TEST_F(BodiesTest, AnObjectThatTheClusterRejectsIsInvalid) {
  const std::string pod = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},)"
                          R"("spec":{"nodeName":"n"}})";
  EXPECT_EQ(Send("PUT", "/api/v1/namespaces/default/pods/p", pod),
            R"(422 Invalid: Pod "p" is invalid: spec.nodeName: Forbidden: pod updates may not )"
            "change it");
}

TEST_F(BodiesTest, ReplacesInvalidUtf8InErrors) {
  const std::string answer = Send("GET", std::string(kClaims) + "/\xff\xfe");
  EXPECT_THAT(answer, StartsWith("404 NotFound: persistentvolumeclaims \"\xef\xbf\xbd"));
  EXPECT_THAT(Send("GET", "/\xff"), StartsWith("404 NotFound: "));
  EXPECT_THAT(Send("GET", std::string(kClaims) + "?\xff=1"), HasSubstr("\xef\xbf\xbd"));
}

TEST_F(BodiesTest, RejectsStatusPatchWithFieldsOfWrongType) {
  const std::string path = "/api/v1/namespaces/default/pods/p/status";
  for (const char* patch :
       {R"({"status":{"conditions":[{"type":"PodScheduled","status":"True","reason":1}]}})",
        R"({"status":{"conditions":[{"type":"PodScheduled","status":"True","message":{}}]}})",
        R"({"status":{"conditions":[{"type":1,"status":"True"}]}})",
        R"({"status":{"conditions":[null]}})", R"({"metadata":null})", R"({"status":null})"}) {
    EXPECT_THAT(Send("PATCH", path, patch, kStrategicMergePatch), StartsWith("400 BadRequest: "))
        << patch;
  }
  EXPECT_EQ(cluster_.FindPod("default", "p")->view().conditions.count, 0U);
}

}  // namespace
}  // namespace berth::host

// Shared by the tests of the embedded cluster's REST interface: a fixture that sends requests.
#ifndef BERTH_TESTS_HARNESS_EMBEDDED_API_FIXTURE_H_
#define BERTH_TESTS_HARNESS_EMBEDDED_API_FIXTURE_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/cluster/embedded/embedded_api.h"
#include "tests/harness/embedded_fixture.h"

namespace berth::host {

class EmbeddedApiTest : public EmbeddedTest {
 public:
  static constexpr const char* kNodes = "/apis/storage.k8s.io/v1/csinodes";
  static constexpr const char* kClaims = "/api/v1/namespaces/default/persistentvolumeclaims";

 protected:
  explicit EmbeddedApiTest(const DecodeOptions& options = {}) : EmbeddedTest(options) {}

  // Sends a request and returns the response, or the Status object of an error as a text such as
  // "404 NotFound: message".
  std::string Send(const std::string& verb, const std::string& path, const std::string& body = "",
                   std::string_view content_type = {}) {
    const ApiResponse answer = api_.Serve(
        {.verb = verb, .path = path, .body = body, .content_type = std::string(content_type)});
    EXPECT_EQ(answer.content_type, kJson);
    if (answer.status.ok()) {
      EXPECT_EQ(answer.http_status, verb == "POST" ? 201U : 200U);
      return answer.body;
    }
    const auto json = nlohmann::json::parse(answer.body, nullptr, false);
    if (!json.is_object() || json.value("kind", "") != "Status") return "no Status object";
    EXPECT_EQ(answer.http_status, json.value("code", 0U));
    return std::to_string(json.value("code", 0)) + " " + json.value("reason", "") + ": " +
           json.value("message", "");
  }
  static std::string CsiNode(const std::string& name, const std::string& rest = "") {
    return R"({"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":")" + name +
           R"(","uid":"uid-)" + name + R"(","creationTimestamp":"2026-01-01T00:00:00Z"})" + rest +
           "}";
  }
  // Returns a CSINode as the cluster returns it.
  static std::string CsiNodeAt(const std::string& name, const std::string& version,
                               const std::string& rest = "") {
    return R"({"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":")" + name +
           R"(","uid":"uid-)" + name + R"(","creationTimestamp":"2026-01-01T00:00:00Z",)" +
           R"("resourceVersion":")" + version + "\"}" + rest + "}";
  }
  std::string Claim(const std::string& name, const std::string& ns = "") {
    return R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":")" + name +
           '"' + (ns.empty() ? "" : R"(,"namespace":")" + ns + '"') + "}}";
  }

  void AddNode(const std::string& name) {
    EXPECT_TRUE(cluster_.Create(MakeNode(name)).ok()) << name;
  }

  EmbeddedApi api_{cluster_, decoder_};
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_EMBEDDED_API_FIXTURE_H_

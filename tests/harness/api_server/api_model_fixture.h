// Fixture of the tests of ApiModel and of the transports in front of it.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_API_MODEL_FIXTURE_H_
#define BERTH_TESTS_HARNESS_API_SERVER_API_MODEL_FIXTURE_H_

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/interner.h"
#include "host/base/json_text.h"
#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/harness/api_server/api_model.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {

// A stream whose parts are recorded: "head", the bytes, "end" or "end: <error>" or "end 410".
class RecordingStreamSink final : public StreamSink {
 public:
  void OnHead(const HttpHead& head) override {
    EXPECT_EQ(head.http_status, 200u);
    heads += 1;
  }
  void OnBytes(std::string_view part) override {
    EXPECT_EQ(heads, 1);
    bytes += part;
    ++parts;
  }
  void OnEnd(HttpResponse response) override {
    EXPECT_TRUE(end.empty());
    end = !response.status.ok() ? response.status.ToString()
                                : std::to_string(response.head.http_status);
    body = response.body;
  }

  int heads = 0;
  int parts = 0;
  std::string bytes;
  std::string end;
  std::string body;
};

class ApiModelTest : public ::testing::Test {
 protected:
  static constexpr const char* kPods = "/api/v1/namespaces/default/pods";
  static constexpr const char* kActive =
      "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

  static std::string PodText(const std::string& name, const std::string& rest = "") {
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
           R"(","namespace":"default","uid":"u-)" + name +
           R"(","labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}]})" + rest + "}";
  }
  static std::string NodeText(const std::string& name) {
    return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"("}})";
  }
  static std::string BindingText(const std::string& name, const std::string& uid,
                                 const std::string& node) {
    return R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":")" +
           uid + R"("},"target":{"kind":"Node","name":")" + node + "\"}}";
  }
  static HttpRequest Get(std::string target) {
    return {.verb = "GET", .target = std::move(target)};
  }

  void Start(ApiModel::Options options = {}) {
    model_ = std::make_unique<ApiModel>(cluster_, decoder_, std::move(options));
  }
  HttpResponse Send(const std::string& verb, const std::string& target,
                    const std::string& body = "", std::string_view type = kJson) {
    return model_->Serve({.verb = verb,
                          .target = target,
                          .body = body,
                          .content_type = body.empty() ? std::string_view() : type});
  }
  // Returns the status, and for an error its reason and message.
  std::string Outcome(const std::string& verb, const std::string& target,
                      const std::string& body = "", std::string_view type = kJson) {
    const HttpResponse response = Send(verb, target, body, type);
    const std::string code = std::to_string(response.head.http_status);
    if (response.is_success()) return code;
    const auto json = ParseJson(response.body);
    EXPECT_EQ(json.value("code", 0u), response.head.http_status);
    return code + " " + json.value("reason", "") + ": " + json.value("message", "");
  }
  void CreatePod(const std::string& name) {
    ASSERT_EQ(Outcome("POST", kPods, PodText(name)), "201");
  }
  void CreateNode(const std::string& name) {
    ASSERT_EQ(Outcome("POST", "/api/v1/nodes", NodeText(name)), "201");
  }
  // Returns the names in a list, and "+" if it continues.
  std::string Names(const HttpResponse& response) {
    const auto json = ParseJson(response.body);
    if (!json.contains("items")) return response.body;
    std::string names;
    for (const auto& item : json["items"]) {
      names += item["metadata"].value("name", "") + "@" +
               item["metadata"].value("resourceVersion", "") + " ";
    }
    continue_ = json["metadata"].value("continue", "");
    version_ = json["metadata"].value("resourceVersion", "");
    return names + (continue_.empty() ? "" : "+");
  }
  // Returns the types, names and versions of the lines of a watch: "ADDED a@1 BOOKMARK @2 ".
  static std::string Lines(const std::string& text) {
    std::string lines;
    size_t begin = 0;
    while (begin < text.size()) {
      const size_t end = text.find('\n', begin);
      const auto json = ParseJson(text.substr(begin, end - begin));
      begin = end == text.npos ? text.size() : end + 1;
      if (json.is_discarded() || !json.contains("type")) return lines + "(no event)";
      const auto& object = json["object"];
      lines += json.value("type", "") + " ";
      if (json["type"] == "ERROR") {
        lines += std::to_string(object.value("code", 0)) + " ";
        continue;
      }
      const auto& metadata = object["metadata"];
      lines += metadata.value("name", "") + "@" + metadata.value("resourceVersion", "") +
               (metadata.contains("annotations") ? "(end) " : " ");
    }
    return lines;
  }

  TestClock clock_;
  Interner interner_;
  Decoder decoder_{interner_};
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 100, .serve = nullptr}};
  VirtualExecutor executor_{clock_};
  std::unique_ptr<ApiModel> model_;
  std::string continue_;
  std::string version_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_API_MODEL_FIXTURE_H_

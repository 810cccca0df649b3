#include "host/cluster/kubernetes/watch/live_objects.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/cluster/client.h"
#include "tests/harness/scripted_transport.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kCore =
    R"({"kind":"APIResourceList","groupVersion":"v1","resources":[
    {"name":"pods","namespaced":true,"kind":"Pod","verbs":["list","watch"]},
    {"name":"nodes","namespaced":false,"kind":"Node","verbs":["list","watch"]},
    {"name":"services","namespaced":true,"kind":"Service","verbs":["list","watch"]}]})";
constexpr const char* kClaims =
    R"({"kind":"APIResourceList","groupVersion":"resource.k8s.io/v1beta1","resources":[
    {"name":"resourceclaims","namespaced":true,"kind":"ResourceClaim","verbs":["list"]}]})";
constexpr const char* kForbidden =
    R"({"kind":"Status","message":"services is forbidden: User \"u\" cannot list","code":403})";

class LiveReaderTest : public ::testing::Test {
 protected:
  static std::string ListOf(const std::string& items, const std::string& token = "") {
    return R"({"kind":"SomeList","metadata":{"resourceVersion":"9","continue":")" + token +
           R"("},"items":[)" + items + "]}";
  }
  static std::string Item(const std::string& ns, const std::string& name) {
    return R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns + R"("}})";
  }

  void Start(std::vector<std::string> kinds) {
    LiveRequest request;
    request.kinds = std::move(kinds);
    request.needed_by = [](std::string_view) { return "the plugin P"; };
    request.progress = [this](std::string_view kind, size_t count) {
      progress_.push_back(std::string(kind) + " " + std::to_string(count));
    };
    reader_ =
        LiveReader::Create(interner_, DecodeOptions(), transport_, executor_, std::move(request));
    reader_->Start([this](Result<LiveObjects> objects) { result_ = std::move(objects); });
  }
  // Answers the question about v1, and the lists of pods and nodes with nothing.
  void AnswerCore() {
    transport_.Answer(0, 200, kCore);
    transport_.Answer(0, 200, ListOf(""));
    transport_.Answer(0, 200, ListOf(""));
  }
  // Returns the keys of the objects, or the error.
  std::vector<std::string> Objects() {
    executor_.RunAll();
    if (!result_) return {"not done"};
    if (!result_->ok()) return {result_->status().ToString()};
    std::vector<std::string> keys;
    for (const AnyObject& object : (*result_)->objects) {
      keys.push_back(std::string(KindOf(object)) + " " + Base(object).Key());
    }
    return keys;
  }

  TestClock clock_;
  VirtualExecutor executor_{clock_};
  ScriptedTransport transport_{executor_};
  Interner interner_;
  std::unique_ptr<LiveReader> reader_;
  std::optional<Result<LiveObjects>> result_;
  std::vector<std::string> progress_;
};

TEST_F(LiveReaderTest, ReadsPodsNodesAndDeclaredKindsInOrder) {
  Start({"v1/Service", "v1/Node"});
  EXPECT_THAT(transport_.open(), ElementsAre("GET /api/v1"));
  transport_.Answer(0, 200, kCore);
  EXPECT_THAT(transport_.open(),
              ElementsAre("GET /api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus."
                          "phase%21%3DFailed&limit=500"));
  transport_.Answer(0, 200, ListOf(Item("b", "p1"), "token"));
  transport_.Answer(0, 200, ListOf(Item("a", "p2")));
  EXPECT_THAT(transport_.open(), ElementsAre("GET /api/v1/nodes?limit=500"));
  transport_.Answer(0, 200, ListOf(R"({"metadata":{"name":"n1"}})"));
  EXPECT_THAT(transport_.open(), ElementsAre("GET /api/v1/services?limit=500"));
  transport_.Answer(0, 200, ListOf(Item("a", "s")));
  EXPECT_FALSE(result_.has_value());
  EXPECT_THAT(Objects(), ElementsAre("v1/Pod a/p2", "v1/Pod b/p1", "v1/Node n1", "v1/Service a/s"));
  EXPECT_THAT((*result_)->warnings, IsEmpty());
  EXPECT_THAT(progress_, ElementsAre("v1/Pod 2", "v1/Node 1", "v1/Service 1"));
  EXPECT_THAT(transport_.open(), IsEmpty());
}

TEST_F(LiveReaderTest, ReadsTheFirstVersionThatIsServed) {
  Start({"resource.k8s.io/v1|v1beta1|v1alpha1/ResourceClaim"});
  AnswerCore();
  EXPECT_THAT(transport_.open(), ElementsAre("GET /apis/resource.k8s.io/v1"));
  transport_.Answer(0, 404, "{}");
  EXPECT_THAT(transport_.open(), ElementsAre("GET /apis/resource.k8s.io/v1beta1"));
  transport_.Answer(0, 200, kClaims);
  EXPECT_THAT(transport_.open(),
              ElementsAre("GET /apis/resource.k8s.io/v1beta1/resourceclaims?limit=500"));
  transport_.Answer(0, 200, ListOf(Item("a", "c")));
  EXPECT_THAT(Objects(), ElementsAre("resource.k8s.io/v1beta1/ResourceClaim a/c"));
}

TEST_F(LiveReaderTest, WarnsOfWhatItLeavesOut) {
  Start({"example.com/v1/Absent", "v1/Service"});
  transport_.Answer(0, 200, kCore);
  transport_.Answer(0, 200, ListOf(R"({"metadata":{"name":"p","namespace":"a"},"spec":7})"));
  transport_.Answer(0, 200, ListOf(""));
  transport_.Answer(0, 404, "{}");
  transport_.Answer(0, 403, kForbidden);
  EXPECT_THAT(Objects(), IsEmpty());
  const std::vector<std::string>& warnings = (*result_)->warnings;
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_TRUE(warnings[0].starts_with("v1/Pod a/p: /spec: ")) << warnings[0];
  EXPECT_EQ(warnings[1],
            "example.com/v1/Absent is not served by the server; it is needed by the plugin P");
  EXPECT_EQ(warnings[2],
            "cannot list services (needed by the plugin P): the user \"u\" may not. Add this rule "
            "to one of its roles: {apiGroups: [\"\"], resources: [services], verbs: [get, list, "
            "watch]}");
}

TEST_F(LiveReaderTest, WarnsOfUnreadableValuesOfBoundPods) {
  const std::string part = R"({"metadata":{"namespace":"a","name":")";
  Start({});
  transport_.Answer(0, 200, kCore);
  transport_.Answer(0, 200,
                    ListOf(part + R"(bound"},"spec":{"nodeName":"n1","priority":"high"}},)" + part +
                           R"(pending"},"spec":{"priority":"high"}})"));
  transport_.Answer(0, 200, ListOf(""));
  EXPECT_THAT(Objects(), ElementsAre("v1/Pod a/bound"));
  EXPECT_THAT((*result_)->warnings,
              ElementsAre("v1/Pod a/bound: /spec/priority: expected an integer, found \"high\" "
                          "(counts as absent)",
                          "v1/Pod a/pending: /spec/priority: expected an integer, found \"high\""));
}

TEST_F(LiveReaderTest, EndsWithFirstErrorThatMayChangeDecisions) {
  struct Case {
    const char* name;
    int answers;           // The number of good answers before the error.
    uint32_t http_status;  // 0: no connection.
    const char* error;
  };
  const std::vector<Case> cases = {
      {"no connection", 0, 0, "Unavailable: /api/v1: connection refused"},
      {"discovery is denied", 0, 403, "PermissionDenied: /api/v1: text"},
      {"pods are denied", 1, 403,
       "PermissionDenied: cannot list pods (needed by the plugin P): text. Add this rule to one of "
       "its roles: {apiGroups: [\"\"], resources: [pods], verbs: [get, list, watch]}"},
      {"nodes fail", 2, 500, "Internal: list v1/Node: text"},
      {"another kind fails", 3, 500, "Internal: list v1/Service: text"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    result_.reset();
    Start({"v1/Service"});
    for (int i = 0; i < c.answers; ++i) transport_.Answer(0, 200, i == 0 ? kCore : ListOf(""));
    if (c.http_status == 0) {
      transport_.Lose(0, Delivery::kNotSent);
    } else {
      transport_.Answer(0, c.http_status, R"({"kind":"Status","message":"text"})");
    }
    EXPECT_THAT(Objects(), ElementsAre(c.error));
    EXPECT_THAT(transport_.open(), IsEmpty());
  }
}

TEST_F(LiveReaderTest, EndsWhenTheTransportIsClosed) {
  Start({});
  transport_.Answer(0, 200, kCore);
  transport_.Close();
  EXPECT_THAT(Objects(), ElementsAre("Unavailable: list v1/Pod: the transport was closed"));
}

}  // namespace
}  // namespace berth::host

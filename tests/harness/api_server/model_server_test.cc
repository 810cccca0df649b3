#include "tests/harness/api_server/model_server.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/api_server/transport_fixture.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

class ModelServerTest : public TransportTest {
 protected:
  void Serve(ModelServer::Options options = {}) {
    server_ = std::make_unique<ModelServer>(std::move(options));
    const bool is_tls = server_->Kubeconfig().find("https") != std::string::npos;
    Connect((is_tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(server_->port()),
            is_tls ? Tls() : nullptr);
  }
  ~ModelServerTest() override { Disconnect(); }

  static std::string NodeNamed(const std::string& name) {
    return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"("}})";
  }

  std::unique_ptr<ModelServer> server_;
};

TEST_F(ModelServerTest, AnswersRequestsOnOneConnection) {
  Serve();
  server_->Create(NodeNamed("a"));
  EXPECT_THAT(Get("/version").body, HasSubstr("v1.37"));
  EXPECT_THAT(Get("/api/v1/nodes?limit=1").body, HasSubstr(R"("name":"a")"));
  const HttpResponse made = Send(
      {.verb = "POST", .target = "/api/v1/nodes", .body = NodeNamed("b"), .content_type = kJson});
  EXPECT_EQ(made.head.http_status, 201u);
  EXPECT_EQ(Get("/api/v1/nodes/c").head.http_status, 404u);
  server_->Do([](EmbeddedCluster& cluster, ApiModel& model) {
    EXPECT_NE(cluster.FindNode("b"), nullptr);
    EXPECT_EQ(model.served().size(), 4u);
  });
}

TEST_F(ModelServerTest, SendsChangesToAWatchUntilItStops) {
  Serve();
  RecordingSink sink;
  Open({.verb = "GET", .target = "/api/v1/nodes?watch=true&resourceVersion=0"}, sink);
  EXPECT_EQ(sink.WaitForHead().http_status, 200u);
  server_->Create(NodeNamed("a"));
  EXPECT_THAT(sink.WaitForBytes(10), HasSubstr(R"({"type":"ADDED","object":{"kind":"Node",)"));
  server_->Stop();
  EXPECT_FALSE(sink.WaitForEnd().status.ok());
  server_->Start();
  EXPECT_EQ(Get("/version").head.http_status, 200u);
}

TEST_F(ModelServerTest, EndsAWatchInOrderAfterItsTime) {
  Serve();
  RecordingSink sink;
  Open({.verb = "GET", .target = "/api/v1/nodes?watch=true&resourceVersion=0&timeoutSeconds=1"},
       sink);
  EXPECT_TRUE(sink.WaitForEnd().status.ok());
}

TEST_F(ModelServerTest, WaitsForAChangeThatARequestMakes) {
  Serve();
  const auto has_node = [](EmbeddedCluster& cluster, ApiModel&) {
    return cluster.FindNode("a") != nullptr;
  };
  EXPECT_FALSE(server_->WaitFor(has_node, kMillisecond));
  std::thread writer([this] { server_->Create(NodeNamed("a")); });
  EXPECT_TRUE(server_->WaitFor(has_node, kMinute));
  writer.join();
}

TEST_F(ModelServerTest, WritesAKubeconfigThatTheClientReads) {
  for (const bool is_tls : {true, false}) {
    ModelServer::Options options;
    options.socket.tls = is_tls;
    Serve(std::move(options));
    EXPECT_THAT(server_->Kubeconfig(),
                HasSubstr((is_tls ? "\"https" : "\"http") + std::string("://127.0.0.1:") +
                          std::to_string(server_->port()) + "\""));
    EXPECT_EQ(Get("/readyz").body, "ok");
    Disconnect();
  }
}

}  // namespace
}  // namespace berth::host

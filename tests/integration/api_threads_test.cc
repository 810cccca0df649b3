// Plugins that bind from threads of a pool, with the scheduling loop and a cluster that only one
// thread may use.
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/decode.h"
#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/scheduling_loop.h"
#include "host/guard/bind_pool.h"
#include "tests/harness/forwarding_client.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

// Forwards to a cluster and checks that every call comes on the thread that created this client.
class OneThread final : public ForwardingClient {
 public:
  explicit OneThread(EmbeddedCluster& cluster) : cluster_(cluster) {}

 private:
  Client target() override {
    EXPECT_EQ(std::this_thread::get_id(), scheduling_thread_);
    return cluster_;
  }

  EmbeddedCluster& cluster_;
  const std::thread::id scheduling_thread_ = std::this_thread::get_id();
};

class Bound final : public DecisionSink {
 public:
  void OnBound(const PodRef&, std::string_view) override { ++count; }
  size_t count = 0;
};

TEST(ApiThreads, BlockingPluginBindsThroughApiServiceFromPool) {
  constexpr size_t kPods = 100;
  Stage stage;
  Puppet& puppet = stage.Add("puppet.Slow", {Point::kBind});
  puppet.bind = [&](const berth_binding& binding, berth_done done, berth_status*) {
    return puppet.api->bind(puppet.host, &binding, done);
  };
  stage.CompleteProfile();
  TestClock clock;
  ThreadWaker waker;
  TestObjects objects;
  Decoder decoder(objects.interner());
  EmbeddedCluster cluster({.clock = clock, .max_events = 1000, .serve = nullptr});
  const auto add = [&](const std::string& json) {
    auto object = decoder.Decode(json);
    ASSERT_TRUE(object.ok()) << object.status().ToString();
    ASSERT_TRUE(cluster.Create(*std::move(object)).ok());
  };
  add(TestObjects::Json(TestNode{.name = "n1"}));
  for (size_t i = 0; i < kPods; ++i) {
    add(TestObjects::Json(
        TestPod{.name = "p" + std::to_string(i),
                .spec = "\"schedulerName\":\"" + stage.spec().scheduler_name + "\""}));
  }
  OneThread client(cluster);
  Bound bound;
  BindPool pool(4);
  SchedulingLoop::Options options;
  options.clock = &clock;
  options.sink = &bound;
  options.waker = &waker;
  options.pool = &pool;
  const PlanSpec spec = stage.spec();
  auto loop = SchedulingLoop::Create(objects.interner(), client, Stage::catalog(),
                                     std::span(&spec, 1), std::move(options));
  ASSERT_TRUE(loop.ok()) << loop.status().ToString();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (bound.count < kPods && std::chrono::steady_clock::now() < end) {
    const bool did = cluster.Deliver() > 0;
    if (!(*loop)->Step() && !did) waker.Wait(1'000'000);
  }
  EXPECT_EQ(bound.count, kPods);
  EXPECT_EQ(cluster.FindPod("default", "p7")->node_name(), "n1");
}

}  // namespace
}  // namespace berth::host

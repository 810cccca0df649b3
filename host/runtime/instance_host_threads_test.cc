// Service calls from a thread that a plugin left running after its instance was destroyed: they
// must do nothing.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/runtime/done.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/metric_store.h"
#include "tests/harness/stage.h"
#include "tests/harness/test_pool.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The services that a plugin looks up in create() and keeps.
struct Kept {
  explicit Kept(const berth_host* of) : host(of) {
    Find(BERTH_SERVICE_LOG, log);
    Find(BERTH_SERVICE_STRINGS, strings);
    Find(BERTH_SERVICE_COLUMNS, columns);
    Find(BERTH_SERVICE_METRICS, metrics);
    Find(BERTH_SERVICE_OBJECTS, objects);
    Find(BERTH_SERVICE_REFS, refs);
    Find(BERTH_SERVICE_RANDOM, random);
    Find(BERTH_SERVICE_TIMER, timer);
    Find(BERTH_SERVICE_API, api);
    Find(BERTH_SERVICE_COMPLETION, completion);
  }
  template <class T>
  void Find(const char* id, const T*& service) {
    const void* found = nullptr;
    EXPECT_EQ(host->get_service(host, id, &found), BERTH_SUCCESS) << id;
    service = static_cast<const T*>(found);
  }

  const berth_host* host;
  const berth_log* log;
  const berth_strings* strings;
  const berth_columns* columns;
  const berth_metrics* metrics;
  const berth_objects* objects;
  const berth_refs* refs;
  const berth_random* random;
  const berth_timer* timer;
  const berth_api* api;
  const berth_completion* completion;
};

void ExpectNothing(const Kept& kept) {
  const berth_host* host = kept.host;
  const berth_str text = AsStr("text");
  const auto answer = [](void*, const berth_api_result*) noexcept { ADD_FAILURE() << "answered"; };
  EXPECT_EQ(*kept.log->level, uint32_t{BERTH_LOG_INFO});
  kept.log->log(host, BERTH_LOG_ERROR, text, nullptr, 0);
  host->fault(host, text);
  const void* service = nullptr;
  EXPECT_EQ(host->get_service(host, BERTH_SERVICE_LOG, &service), BERTH_NOT_FOUND);
  EXPECT_EQ(kept.strings->intern(host, text), BERTH_ID_NONE);
  EXPECT_EQ(kept.strings->find(host, text), BERTH_ID_NONE);
  EXPECT_EQ(kept.strings->text(host, 7).len, 0U);
  kept.strings->release(host, 7);
  const berth_pod pod{};
  EXPECT_EQ(kept.refs->retain(host, {BERTH_KIND_POD, 0, &pod}), BERTH_CANCELLED);
  kept.refs->release(host, {BERTH_KIND_POD, 0, &pod});
  EXPECT_EQ(kept.random->next(host, nullptr), 0U);
  uint64_t series = 0;
  EXPECT_EQ(kept.metrics->series(host, 0, nullptr, &series), BERTH_CANCELLED);
  kept.metrics->observe(host, 1, 1);
  EXPECT_EQ(kept.objects->get(host, AsStr("v1/Namespace"), text, text), nullptr);
  EXPECT_EQ(kept.timer->now_ns(host), 0);
  EXPECT_EQ(kept.timer->wall_ns(host), 0);
  uint64_t timer = 0;
  EXPECT_EQ(kept.timer->start(
                host, 0, [](void*) noexcept {}, nullptr, &timer),
            BERTH_CANCELLED);
  const auto run = [](void*, berth_code) noexcept { ADD_FAILURE() << "called"; };
  EXPECT_EQ(kept.timer->post(host, run, nullptr), BERTH_CANCELLED);
  EXPECT_EQ(kept.timer->cancel(host, 1), BERTH_CONFLICT);
  uint32_t index = 0;
  EXPECT_EQ(kept.columns->bind(host, nullptr, nullptr, &index), BERTH_CONFLICT);
  EXPECT_EQ(kept.api->bind(host, nullptr, {host, 1}), BERTH_CANCELLED);
  EXPECT_EQ(kept.api->patch_status(host, nullptr, answer, nullptr), BERTH_CANCELLED);
  EXPECT_EQ(kept.api->evict(host, nullptr, answer, nullptr), BERTH_CANCELLED);
  EXPECT_EQ(kept.api->event(host, nullptr), BERTH_CANCELLED);
  EXPECT_EQ(kept.api->request(host, nullptr, answer, nullptr), BERTH_CANCELLED);
}

TEST(InstanceHostTest, ServiceCallsDoNothingAfterItsEnd) {
  auto stage = std::make_unique<Stage>();
  TestClock clock;
  EmbeddedCluster cluster({.clock = clock, .max_events = 10, .serve = nullptr});
  MetricStore metrics;
  stage->services().client = &cluster;
  stage->services().metrics = &metrics;
  stage->services().timers = &stage->timers();
  stage->services().inbox = &stage->inbox();
  stage->services().log_level = BERTH_LOG_INFO;
  std::vector<berth_done> promises;
  stage->Add("puppet.A", {Point::kBind}).bind = [&](const berth_binding&, berth_done done,
                                                    berth_status*) {
    promises.push_back(done);
    return BERTH_PENDING;
  };
  stage->Build();
  const Kept kept(stage->HostOf("puppet.A").abi());
  {
    auto binding = stage->MakeBinding();
    AsyncCall call(*binding, stage->calls(), 0, Point::kBind, [](const PluginStatus&) {
      ADD_FAILURE() << "answered after the call was dropped";
    });
    call.Start();
  }
  const auto expect_nothing = [&] {
    const berth_outcome late{sizeof late, BERTH_SUCCESS, AsStr("late")};
    for (berth_done done : promises) kept.completion->complete(done, &late);
    ExpectNothing(kept);
  };
  stage->DestroyPlan();
  stage->lines.clear();
  expect_nothing();
  std::thread(expect_nothing).join();
  stage->Drain();
  EXPECT_THAT(stage->lines, IsEmpty());
  EXPECT_THAT(stage->Faults(), IsEmpty());
  stage.reset();  // Destroys everything that the services work on.
  expect_nothing();
  std::thread(expect_nothing).join();
}

// A thread calls services while the instance is being destroyed.
TEST(InstanceHostTest, AThreadMayCallServicesDuringDestruction) {
  for (int round = 0; round < 20; ++round) {
    auto stage = std::make_unique<Stage>();
    MetricStore metrics;
    stage->services().metrics = &metrics;
    stage->services().timers = &stage->timers();
    stage->services().inbox = &stage->inbox();
    std::atomic<Promises::Id> promise = 0;
    stage->Add("puppet.A", {Point::kBind}).bind = [&](const berth_binding&, berth_done done,
                                                      berth_status*) {
      promise = done.id;
      return BERTH_PENDING;
    };
    stage->Build();
    auto binding = stage->MakeBinding();
    auto call = std::make_unique<AsyncCall>(*binding, stage->calls(), 0, Point::kBind,
                                            [](const PluginStatus&) {});
    call->Start();
    const berth_host* host = stage->HostOf("puppet.A").abi();
    const auto find = [host](const char* id) {
      const void* found = nullptr;
      host->get_service(host, id, &found);
      return found;
    };
    const auto* strings = static_cast<const berth_strings*>(find(BERTH_SERVICE_STRINGS));
    const auto* log = static_cast<const berth_log*>(find(BERTH_SERVICE_LOG));
    const auto* timer = static_cast<const berth_timer*>(find(BERTH_SERVICE_TIMER));
    const auto* completion = static_cast<const berth_completion*>(find(BERTH_SERVICE_COMPLETION));
    ASSERT_TRUE(strings != nullptr && log != nullptr && timer != nullptr && completion != nullptr);
    std::atomic<bool> began = false;
    std::atomic<bool> is_over = false;
    std::thread thread([&] {
      while (!is_over) {
        strings->text(host, strings->intern(host, AsStr("rack")));
        log->log(host, *log->level == 0 ? 0 : *log->level - 1, AsStr("below"), nullptr, 0);
        timer->now_ns(host);
        const berth_outcome outcome{sizeof outcome, BERTH_SUCCESS, AsStr("x")};
        completion->complete({host, promise}, &outcome);
        timer->post(
            host, [](void*, berth_code) noexcept {}, nullptr);
        began = true;
      }
    });
    while (!began) std::this_thread::yield();
    call.reset();
    binding.reset();
    stage->DestroyPlan();
    stage.reset();
    is_over = true;
    thread.join();
  }
}

// The cluster outlives the instance that made requests, and its inbox.
TEST(InstanceHostTest, LateAnswersOfTheClusterAreDropped) {
  TestClock clock;
  EmbeddedCluster cluster({.clock = clock, .max_events = 10, .serve = [](const ApiRequest&) {
                             return ApiResponse{.http_status = 200, .body = "x"};
                           }});
  Inbox inbox(nullptr);
  auto stage = std::make_unique<Stage>();
  stage->services().client = &cluster;
  stage->services().inbox = &inbox;
  Puppet& puppet = stage->Add("puppet.A", {Point::kBind});
  stage->Build();
  std::vector<berth_code> answers;
  const auto answer = [](void* to, const berth_api_result* result) noexcept {
    static_cast<std::vector<berth_code>*>(to)->push_back(result->code);
  };
  berth_api_request request{};
  request.struct_size = sizeof request;
  request.verb = AsStr("GET");
  request.path = AsStr("/version");
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(puppet.api->request(puppet.host, &request, answer, &answers), BERTH_SUCCESS);
  }
  EXPECT_TRUE(cluster.DeliverOne());
  EXPECT_EQ(inbox.size(), 1U);
  stage.reset();
  EXPECT_THAT(answers, ElementsAre(BERTH_CANCELLED, BERTH_CANCELLED));
  cluster.Deliver();
  EXPECT_EQ(inbox.size(), 1U);
  EXPECT_EQ(answers.size(), 2U);
}

// One call of a plugin on a TestPool, with its binding.
struct PoolCalls {
  PoolCalls() { stage.calls().pool = &pool; }
  // Destroys the call and its binding, as their owner does when it stops waiting.
  void GiveUp() {
    call.reset();
    binding.reset();
  }
  void Start() {
    binding = stage.MakeBinding();
    call = std::make_unique<AsyncCall>(*binding, stage.calls(), plugin, Point::kBind,
                                       [](const PluginStatus&) {});
    call->Start();
  }

  Stage stage;
  uint32_t plugin = 0;
  TestPool pool;
  std::unique_ptr<Binding> binding;
  std::unique_ptr<AsyncCall> call;
};

void ExpectShown(const berth_binding& binding, const std::weak_ptr<const void>& kept) {
  ASSERT_FALSE(kept.expired());
  EXPECT_EQ(Text(binding.pod->meta->name), "p");
  EXPECT_EQ(*static_cast<int64_t*>(binding.slots[0]), 7);
}

// One call hangs and another is PENDING: the plugin's own threads may continue with the pending
// one.
TEST(InstanceHostTest, ABusyInstanceKeepsItsPendingBindings) {
  PoolCalls calls;
  const berth_binding* pending = nullptr;
  std::weak_ptr<const void> kept;
  Puppet& puppet = calls.stage.Add("puppet.Slow", {Point::kBind});
  puppet.has_slot = true;
  puppet.bind = [&](const berth_binding& binding, berth_done, berth_status*) {
    if (pending == nullptr) {
      pending = &binding;
      return BERTH_PENDING;
    }
    calls.GiveUp();
    calls.stage.DestroyPlan();
    ExpectShown(*pending, kept);
    return BERTH_SUCCESS;
  };
  calls.stage.Build();
  calls.Start();
  kept = calls.binding->Keep();
  calls.pool.RunOne();
  calls.GiveUp();
  calls.stage.Drain();
  calls.Start();
  calls.pool.RunOne();
  ExpectShown(*pending, kept);
}

// The call hangs when the destruction of the plan begins, and returns PENDING before it ends.
TEST(InstanceHostTest, ABindingThatBecomesPendingDuringDestructionIsKept) {
  PoolCalls calls;
  calls.plugin = 1;
  std::thread thread;
  std::atomic<const berth_binding*> shown = nullptr;
  std::atomic<bool> goes = false;
  calls.stage.Add("puppet.A", {Point::kPreBind}).destroy = [&] {
    goes = true;
    thread.join();
  };
  Puppet& puppet = calls.stage.Add("puppet.Slow", {Point::kBind});
  puppet.has_slot = true;
  puppet.bind = [&](const berth_binding& binding, berth_done, berth_status*) {
    shown = &binding;
    while (!goes) std::this_thread::yield();
    return BERTH_PENDING;
  };
  calls.stage.Build();
  calls.Start();
  const std::weak_ptr<const void> kept = calls.binding->Keep();
  thread = std::thread(calls.pool.Take());
  while (shown == nullptr) std::this_thread::yield();
  calls.GiveUp();
  calls.stage.DestroyPlan();
  calls.stage.Drain();
  ExpectShown(*shown, kept);
}

}  // namespace
}  // namespace berth::host

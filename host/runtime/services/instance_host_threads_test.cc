// Service calls from a thread that a plugin left running after its instance was destroyed: they
// must do nothing.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/selectors.h>

#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/plan/instance_host.h"
#include "host/runtime/services/metric_store.h"
#include "host/runtime/services/test_find_service.h"
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
    Find(BERTH_SERVICE_VALUES, values);
    Find(BERTH_SERVICE_SELECTORS, selectors);
  }
  template <class T>
  void Find(const char* id, const T*& service) {
    service = FindService<T>(host, id);
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
  const berth_values* values;
  const berth_selectors* selectors;
};

void ExpectNothing(const Kept& kept) {
  const berth_host* host = kept.host;
  const berth_str text = AsStr("text");
  const auto answer = [](void*, const berth_api_result*) noexcept { ADD_FAILURE() << "answered"; };
  EXPECT_EQ(*kept.log->level, uint32_t{BERTH_LOG_INFO});
  kept.log->log(host, BERTH_LOG_ERROR, text, nullptr, 0);
  host->fault(host, text);
  const void* service = nullptr;
  EXPECT_EQ(host->get_service(host, BERTH_SERVICE_LOG, &service), BERTH_CONFLICT);
  EXPECT_EQ(service, nullptr);
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
  const berth_object* object = nullptr;
  EXPECT_EQ(kept.objects->get(host, AsStr("v1/Namespace"), text, text, &object), BERTH_CONFLICT);
  EXPECT_EQ(object, nullptr);
  EXPECT_EQ(kept.metrics->define(host, nullptr, nullptr), BERTH_CONFLICT);
  EXPECT_EQ(kept.objects->list(host, AsStr("v1/Namespace"), text, nullptr, nullptr),
            BERTH_CONFLICT);
  EXPECT_EQ(kept.objects->served(host, AsStr("v1/Namespace")), BERTH_CONFLICT);
  EXPECT_EQ(kept.objects->watch(host, AsStr("v1/Namespace"), nullptr, nullptr), BERTH_CANCELLED);
  EXPECT_EQ(kept.values->parse(host, AsStr("1"), nullptr), nullptr);
  const berth_selector* selector = nullptr;
  EXPECT_EQ(kept.selectors->from_text(host, text, &selector, nullptr), BERTH_CANCELLED);
  EXPECT_EQ(selector, nullptr);
  EXPECT_EQ(kept.selectors->matches(host, nullptr, {}), 0);
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
    const berth_outcome late{sizeof late, BERTH_SUCCESS, {}};
    for (berth_done done : promises) kept.completion->complete(done, &late);
    ExpectNothing(kept);
  };
  stage->DestroyPlan();
  stage->lines().clear();
  expect_nothing();
  std::thread(expect_nothing).join();
  stage->Drain();
  EXPECT_THAT(stage->lines(), IsEmpty());
  EXPECT_THAT(stage->Faults(), IsEmpty());
  stage.reset();  // Destroys everything that the services work on.
  expect_nothing();
  std::thread(expect_nothing).join();
}

// Returns the handle of a series of a new metric. Called: within create().
uint64_t DefineSeries(const berth_host* host) {
  const void* found = nullptr;
  EXPECT_EQ(host->get_service(host, BERTH_SERVICE_METRICS, &found), BERTH_SUCCESS);
  const auto& metrics = *static_cast<const berth_metrics*>(found);
  const berth_metric metric{.struct_size = sizeof(metric),
                            .kind = BERTH_METRIC_COUNTER,
                            .name = AsStr("late_total"),
                            .help = AsStr("Counts."),
                            .label_names = nullptr,
                            .n_labels = 0,
                            .buckets = nullptr,
                            .n_buckets = 0};
  uint32_t index = 0;
  uint64_t series = 0;
  EXPECT_EQ(metrics.define(host, &metric, &index), BERTH_SUCCESS);
  EXPECT_EQ(metrics.series(host, index, nullptr, &series), BERTH_SUCCESS);
  return series;
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
    uint64_t series = 0;
    Puppet& puppet = stage->Add("puppet.A", {Point::kBind});
    puppet.create = [&] { series = DefineSeries(puppet.host); };
    puppet.bind = [&](const berth_binding&, berth_done done, berth_status*) {
      promise = done.id;
      return BERTH_PENDING;
    };
    stage->Build();
    auto binding = stage->MakeBinding();
    auto call = std::make_unique<AsyncCall>(*binding, stage->calls(), 0, Point::kBind,
                                            [](const PluginStatus&) {});
    call->Start();
    const berth_host* host = stage->HostOf("puppet.A").abi();
    const auto* strings = FindService<berth_strings>(host, BERTH_SERVICE_STRINGS);
    const auto* log = FindService<berth_log>(host, BERTH_SERVICE_LOG);
    const auto* timer = FindService<berth_timer>(host, BERTH_SERVICE_TIMER);
    const auto* completion = FindService<berth_completion>(host, BERTH_SERVICE_COMPLETION);
    const auto* observer = FindService<berth_metrics>(host, BERTH_SERVICE_METRICS);
    ASSERT_TRUE(strings != nullptr && log != nullptr && timer != nullptr && completion != nullptr &&
                observer != nullptr);
    ASSERT_NE(series, 0U);
    std::atomic<bool> began = false;
    std::atomic<bool> is_over = false;
    std::thread thread([&] {
      while (!is_over) {
        strings->text(host, strings->intern(host, AsStr("rack")));
        log->log(host, *log->level == 0 ? 0 : *log->level - 1, AsStr("below"), nullptr, 0);
        timer->now_ns(host);
        observer->observe(host, series, 1);
        const berth_outcome outcome{sizeof outcome, BERTH_SUCCESS, {}};
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

// The plugin implements the status that some services receive, so that add_reason may take long.
TEST(InstanceHostTest, StatusOfPluginDoesNotDelayTheEnd) {
  struct SlowStatus {
    berth_status abi{};
    std::atomic<bool> began = false;
    std::atomic<bool> is_over = false;
    bool was_over = false;

    static void Wait(berth_status* status, berth_str) noexcept {
      auto& self = *static_cast<SlowStatus*>(status->impl);
      self.began = true;
      for (int i = 0; i < 5000 && !self.is_over; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      self.was_over = self.is_over;
    }
  };
  for (const bool parses_value : {false, true}) {
    auto stage = std::make_unique<Stage>();
    stage->Add("puppet.A", {Point::kBind});
    stage->Build();
    const berth_host* host = stage->HostOf("puppet.A").abi();
    const auto* values = FindService<berth_values>(host, BERTH_SERVICE_VALUES);
    const auto* selectors = FindService<berth_selectors>(host, BERTH_SERVICE_SELECTORS);
    ASSERT_TRUE(values != nullptr && selectors != nullptr);
    SlowStatus status;
    status.abi.struct_size = sizeof(berth_status);
    status.abi.impl = &status;
    status.abi.add_reason = SlowStatus::Wait;
    std::thread thread([&] {
      const berth_selector* out = nullptr;
      if (parses_value) {
        EXPECT_EQ(values->parse(host, AsStr("{"), &status.abi), nullptr);
      } else {
        EXPECT_EQ(selectors->from_text(host, AsStr("a in"), &out, &status.abi), BERTH_BAD_ARGUMENT);
      }
    });
    while (!status.began) std::this_thread::yield();
    stage->DestroyPlan();
    status.is_over = true;
    thread.join();
    EXPECT_TRUE(status.was_over) << "the plan was destroyed while add_reason ran";
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
  void Start(Point point = Point::kBind) {
    binding = stage.MakeBinding();
    call = std::make_unique<AsyncCall>(*binding, stage.calls(), plugin, point,
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
TEST(InstanceHostTest, BindingThatBecomesPendingDuringDestructionIsKept) {
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

// The value, selector and text that an instance holds, and reads without a call of the host.
struct Reading {
  explicit Reading(const berth_host* host) : kept(host) {
    value = kept.values->parse(host, AsStr(R"({"rack":"r-value"})"), nullptr);
    EXPECT_EQ(kept.selectors->from_text(host, AsStr("zone=z-selector"), &selector, nullptr),
              BERTH_SUCCESS);
    text = kept.strings->text(host, kept.strings->intern(host, AsStr("t-interned")));
  }
  void Expect(const Interner& interner) const {
    EXPECT_EQ(Text(value->reader->as_string(value->reader->get(value, AsStr("rack")))), "r-value");
    const berth_id_pair labels[] = {{interner.Find("zone"), interner.Find("z-selector")}};
    EXPECT_TRUE(berth::Matches(selector, berth::Labels(berth_array{labels, 1, sizeof(labels[0])}),
                               interner));
    EXPECT_EQ(Text(text), "t-interned");
    EXPECT_NE(interner.Find("t-interned"), kNoId);
  }

  const Kept kept;
  const berth_value* value = nullptr;
  const berth_selector* selector = nullptr;
  berth_str text{};
};

// PreBind of puppet.Slow runs on a thread of its own when the destruction of the plan begins.
// `returns_early`: it returns before the host of puppet.Slow is retired, but threads of the plugin
// may go on. Afterwards the instance has ended although destroy() was not called, so that services
// answer as after destroy().
void TestReadingDuringDestruction(bool returns_early) {
  PoolCalls calls;
  calls.plugin = 1;
  calls.stage.services().timers = &calls.stage.timers();
  calls.stage.services().inbox = &calls.stage.inbox();
  MetricStore metrics;
  EmbeddedCluster cluster({.clock = calls.stage.clock(), .max_events = 10, .serve = nullptr});
  calls.stage.services().metrics = &metrics;
  calls.stage.services().client = &cluster;
  std::thread thread;
  std::atomic<const Reading*> shown = nullptr;
  std::atomic<bool> goes = false;
  std::vector<std::string> ends;
  calls.stage.Add("puppet.A", {Point::kPreBind}).destroy = [&] {
    if (!returns_early) return;
    goes = true;
    thread.join();
  };
  Puppet& puppet = calls.stage.Add("puppet.Slow", {Point::kPreBind});
  puppet.quiesce = [&] { ends.emplace_back("quiesce"); };
  puppet.destroy = [&] { ends.emplace_back("destroy"); };
  Interner& interner = calls.stage.objects().interner();
  std::unique_ptr<Reading> reading;
  puppet.pre_bind = [&](const berth_binding&, berth_done, berth_status*) {
    reading = std::make_unique<Reading>(puppet.host);
    shown = reading.get();
    while (!goes) std::this_thread::yield();
    reading->Expect(interner);
    if (!returns_early) ExpectNothing(reading->kept);
    return BERTH_SUCCESS;
  };
  calls.stage.Build();
  calls.Start(Point::kPreBind);
  thread = std::thread(calls.pool.Take());
  while (shown == nullptr) std::this_thread::yield();
  calls.GiveUp();
  calls.stage.DestroyPlan();
  shown.load()->Expect(interner);
  goes = true;
  if (!returns_early) thread.join();
  calls.stage.Drain();
  interner.Sweep();
  shown.load()->Expect(interner);
  calls.stage.lines().clear();
  const auto expect_nothing = [&] { ExpectNothing(shown.load()->kept); };
  expect_nothing();
  std::thread(expect_nothing).join();
  calls.stage.Drain();
  EXPECT_THAT(calls.stage.lines(), IsEmpty());
  EXPECT_THAT(calls.stage.Faults(), IsEmpty());
  EXPECT_THAT(ends, IsEmpty()) << "a call was in progress";
}

TEST(InstanceHostTest, AnAbandonedInstanceKeepsWhatItHolds) { TestReadingDuringDestruction(false); }

TEST(InstanceHostTest, AbandonsInstancesWithACallDuringDestruction) {
  TestReadingDuringDestruction(true);
}

}  // namespace
}  // namespace berth::host

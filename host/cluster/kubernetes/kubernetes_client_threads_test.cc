// Tests of KubernetesClient with real threads.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/interner.h"
#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/kubernetes_client.h"
#include "host/http/io_thread.h"
#include "tests/harness/client_threads_fixture.h"

namespace berth::host {
namespace {

// Answers on the thread of an executor. A watch of nodes has ten nodes and then an endless row of
// changes.
class AnsweringTransport final : public Transport {
 public:
  explicit AnsweringTransport(Executor& executor) : executor_(executor) {}

  void Send(HttpRequest request, Callback done) override {
    executor_.Post([request = std::move(request), done = std::move(done)] {
      HttpResponse response;
      const Status status = request.may_send ? request.may_send() : Status();
      if (!status.ok()) {
        response.status = status;
        return done(std::move(response));
      }
      response.delivery = Delivery::kAnswered;
      response.head.http_status = 200;
      response.body = request.target == "/api/v1"                 ? kNodeResources
                      : request.target == "/api/v1/nodes?limit=1" ? kCurrentVersion
                                                                  : "{}";
      done(std::move(response));
    });
  }

  std::unique_ptr<HttpStream> Open(HttpRequest, StreamSink& sink) override {
    auto state = std::make_shared<State>();
    state->sink = &sink;
    executor_.Post([&executor = executor_, state] { Begin(executor, state); });
    return std::make_unique<Stream>(std::move(state));
  }
  void Close() override {}

 private:
  // Used on the thread of the executor.
  struct State {
    StreamSink* sink = nullptr;  // Null when the stream was destroyed.
    int version = 100;
    bool is_paused = false;
  };
  class Stream final : public HttpStream {
   public:
    explicit Stream(std::shared_ptr<State> state) : state_(std::move(state)) {}
    ~Stream() override { state_->sink = nullptr; }
    void SetSilenceLimit(int64_t) override {}
    void SetPaused(bool is_paused) override { state_->is_paused = is_paused; }

   private:
    const std::shared_ptr<State> state_;
  };

  // Timers may run after the transport was destroyed.
  static void Begin(Executor& executor, const std::shared_ptr<State>& state) {
    HttpHead head;
    head.http_status = 200;
    if (state->sink != nullptr) state->sink->OnHead(head);
    std::string lines;
    for (int i = 0; i < 10; ++i) lines += NodeLine("ADDED", i, i + 1);
    if (state->sink != nullptr) state->sink->OnBytes(lines + EndOfInitialEvents(100));
    GoOn(executor, state);
  }
  static void GoOn(Executor& executor, const std::shared_ptr<State>& state) {
    if (state->sink == nullptr) return;
    if (!state->is_paused) {
      const int version = ++state->version;
      state->sink->OnBytes(NodeLine("MODIFIED", version % 10, version));
      if (state->sink == nullptr) return;
    }
    executor.StartTimer(executor.NowNs() + 100 * kMicrosecond,
                        [&executor, state] { GoOn(executor, state); });
  }

  Executor& executor_;
};

// A client with the threads of production, without sockets.
struct ThreadedClient {
  ThreadedClient() {
    fence.OpenUntil(BindFence::kForever);
    KubernetesClient::Options options;
    options.reads = {&read_transport, &read_io};
    options.writes = {&write_transport, &write_io};
    options.events = {&event_transport, &write_io};
    options.wall = &wall;
    options.fence = &fence;
    options.wake = [this] { ++wakes; };
    options.refresh_patience_ns = kHour;  // The watch is never quiet.
    client = std::make_unique<KubernetesClient>(interner, std::move(options), Log());
  }

  // Runs what was posted before, and what that posts.
  void Drain() {
    constexpr int kSteps = 10;  // More than an answer needs.
    for (IoThread* io : {&read_io, &write_io}) {
      for (int i = 0; i < kSteps; ++i) io->RunAndWait([] {});
    }
  }
  // Delivers until the sink has received `count` objects.
  void DeliverUntil(const OrderSink& sink, size_t count) {
    while (sink.count < count) {
      if (client->Deliver() == 0) std::this_thread::yield();
    }
  }

  Interner interner;
  TestClock wall;
  std::atomic<uint64_t> wakes = 0;
  BindFence fence{[] { return SteadyNs(); }};
  IoThread read_io{"read", SteadyNs};
  IoThread write_io{"write", SteadyNs};
  AnsweringTransport read_transport{read_io};
  AnsweringTransport write_transport{write_io};
  AnsweringTransport event_transport{write_io};
  std::unique_ptr<KubernetesClient> client;
};

TEST(KubernetesClientThreadsTest, AnswersEveryRequestOfSeveralThreadsOnce) {
  ThreadedClient threaded;
  OrderSink sink;
  auto watch = threaded.client->StartWatch(kNodeKind, sink);
  Requester requester(*threaded.client);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&requester] {
      for (int number = 0; number < 200; ++number) requester.SendAll(number);
    });
  }
  threaded.DeliverUntil(sink, 50);
  // The scheduling thread sweeps while the other thread decodes.
  threaded.interner.Sweep();
  for (std::thread& thread : threads) thread.join();
  while (requester.answered < requester.sent) std::this_thread::yield();
  EXPECT_TRUE(sink.is_synced);
  EXPECT_GT(threaded.wakes, 0u);
  threaded.client->Stop();
  watch.reset();
  EXPECT_EQ(requester.answered, requester.sent);
  EXPECT_EQ(threaded.client->pod_counts().bound, 400u);
}

TEST(KubernetesClientThreadsTest, StopAtAnyMomentAnswersEveryRequestOnce) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    std::mt19937_64 random(static_cast<uint64_t>(round));
    ThreadedClient threaded;
    OrderSink first, second;
    auto first_watch = threaded.client->StartWatch(kNodeKind, first);
    auto second_watch = threaded.client->StartWatch(kNodeKind, second);
    Requester requester(*threaded.client);
    std::atomic<bool> ends = false;
    std::thread thread([&] {
      for (int number = 0; !ends; ++number) {
        // A thread that never waits would fill the queues faster than they are emptied.
        while (!ends && requester.sent - requester.answered > 60) std::this_thread::yield();
        requester.SendAll(number);
      }
    });
    const int64_t end_ns = SteadyNs() + static_cast<int64_t>(random() % 5) * kMillisecond;
    while (SteadyNs() < end_ns) {
      threaded.client->Deliver();
      if (random() % 16 == 0) first_watch = threaded.client->StartWatch(kNodeKind, (first = {}));
      if (random() % 64 == 0) second_watch.reset();
    }
    threaded.client->Stop();
    const size_t seen = first.count + second.count;
    const uint64_t before = requester.answered;
    EXPECT_LE(before, requester.sent);
    ends = true;
    thread.join();
    threaded.Drain();
    EXPECT_EQ(requester.answered, requester.sent);
    EXPECT_EQ(threaded.client->Deliver(), 0u);
    EXPECT_EQ(first.count + second.count, seen);
    first_watch.reset();
    second_watch.reset();
    threaded.client.reset();
  }
}

TEST(KubernetesClientThreadsTest, RefreshEndsWhenChangesBeforeItWereDelivered) {
  ThreadedClient threaded;
  for (int i = 0; i < 20; ++i) {
    OrderSink sink;
    auto watch = threaded.client->StartWatch(kNodeKind, sink);
    size_t at_the_end = 0;
    const std::array kinds = {kNodeKind};
    threaded.client->Refresh(kinds, [&] { at_the_end = sink.count; });
    while (at_the_end == 0) {
      if (threaded.client->Deliver() == 0) std::this_thread::yield();
    }
    // Ten nodes, and the changes from 101 to 120.
    EXPECT_GE(at_the_end, 30u);
  }
  threaded.client->Stop();
}

}  // namespace
}  // namespace berth::host

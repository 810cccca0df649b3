// Measures the scheduling queue with up to 100,000 pods: pushing and popping, parking and
// activating, lanes, and events that help no pod or one of 500 shapes of pods.
#include <malloc.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "host/api/test_objects.h"
#include "host/base/clock.h"
#include "host/queue/scheduling_queue.h"

namespace berth::host {
namespace {

constexpr int64_t kShapes = 500;
constexpr PluginId kFit = 3;
constexpr PluginId kGates = 1;
constexpr PluginId kAffinity = 2;

// The order of PrioritySort: by priority, then by the time at which a pod entered the queue.
class ByPriority final : public QueueOrder {
 public:
  bool has_key() const override { return true; }
  SortKey KeyOf(const berth_queued& queued) const override {
    const uint32_t priority =
        __builtin_bswap32(~(static_cast<uint32_t>(queued.priority) ^ 0x80000000U));
    const uint64_t queued_ns = __builtin_bswap64(static_cast<uint64_t>(queued.queued_ns));
    SortKey key{};
    std::memcpy(key.data(), &priority, sizeof priority);
    std::memcpy(key.data() + sizeof priority, &queued_ns, sizeof queued_ns);
    return key;
  }
  bool Less(const berth_queued&, const berth_queued&) const override { return false; }
};

// The order of PrioritySort within lanes: pod i is in lane i modulo `lanes`. The lanes take turns;
// the plugin reads every lane, as one that compares them does.
class InLanes final : public QueueOrder {
 public:
  explicit InLanes(uint64_t lanes) : lanes_(lanes) {}
  bool has_key() const override { return true; }
  SortKey KeyOf(const berth_queued& queued) const override { return within_.KeyOf(queued); }
  bool Less(const berth_queued&, const berth_queued&) const override { return false; }
  bool has_lanes() const override { return true; }
  uint64_t LaneOf(const berth_queued& queued) const override {
    const std::string_view name = Text(queued.pod->meta->name);
    uint64_t number = 0;
    std::from_chars(name.data() + name.rfind('-') + 1, name.data() + name.size(), number);
    return number % lanes_;
  }
  size_t NextLane(std::span<const berth_lane> lanes) const override {
    uint64_t sum = 0;
    for (const berth_lane& lane : lanes) sum += lane.count;
    return (sum + ++turns_) % lanes.size();
  }

 private:
  const ByPriority within_;
  const uint64_t lanes_;
  mutable uint64_t turns_ = 0;
};

// The policy of SchedulingGates and NodeResourcesFit: a node that was added or grew helps a pod
// that fits on it.
class FitPolicy final : public QueuePolicy {
 public:
  std::optional<Gate> PreEnqueue(const PodRef& pod, const berth_queued&,
                                 std::optional<PluginId>) override {
    if (pod->view().scheduling_gates.count == 0) return std::nullopt;
    return Gate{.plugin = kGates, .reasons = {"gated"}};
  }
  std::span<const Interest> interests() const override { return interests_; }
  bool Hint(const Interest&, const berth_queued& queued, const berth_event& event) override {
    ++hints;
    if (event.after.kind != BERTH_KIND_NODE) return true;
    const auto* node = static_cast<const berth_node*>(event.after.object);
    const berth_resources& free = *node->allocatable;
    const berth_resources& wanted = *queued.pod->request;
    if (wanted.milli_cpu > free.milli_cpu || wanted.memory > free.memory) return false;
    for (const berth_quantity& scalar : Elements<berth_quantity>(wanted.scalars)) {
      if (scalar.value > AmountOf(free, scalar.name)) return false;
    }
    return true;
  }

  int64_t hints = 0;

 private:
  static int64_t AmountOf(const berth_resources& resources, berth_id name) {
    for (const berth_quantity& scalar : Elements<berth_quantity>(resources.scalars)) {
      if (scalar.name == name) return scalar.value;
    }
    return 0;
  }

  std::vector<Interest> interests_ = {
      {.plugin = kGates,
       .index = 0,
       .resource = BERTH_RESOURCE_TARGET_POD,
       .actions = BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED},
      {.plugin = kAffinity,
       .index = 0,
       .resource = BERTH_RESOURCE_ASSIGNED_POD,
       .actions = BERTH_ACTION_ADD},
      {.plugin = kFit,
       .index = 0,
       .resource = BERTH_RESOURCE_NODE,
       .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_ALLOCATABLE,
       .has_hint = true,
       .pod_parts = BERTH_PART(REQUESTS)},
      {.plugin = kFit,
       .index = 1,
       .resource = BERTH_RESOURCE_POD_ANY,
       .actions = BERTH_ACTION_DELETE | BERTH_ACTION_UPDATE_POD_SCALE_DOWN,
       .has_hint = true,
       .pod_parts = BERTH_PART(REQUESTS)},
  };
};

// A clock that advances by one nanosecond with each reading.
struct TickingClock final : Clock {
  int64_t NowNs() const override { return ++now_ns; }

  mutable int64_t now_ns = int64_t{1'700'000'000'000'000'000};
};

// A queue and its pods. A pod of shape s requests one device of kind s.
struct Bench {
  // `lanes`: 0 for an order without lanes.
  explicit Bench(int64_t pod_count, uint64_t lanes = 0) {
    if (lanes > 0) order = std::make_unique<InLanes>(lanes);
    for (int64_t i = 0; i < pod_count; ++i) {
      pods.push_back(
          objects.Pod({.name = "00000000-0000-4000-8000-" + std::to_string(100'000'000 + i),
                       .requests = R"("cpu":"100m","memory":"64Mi",)" + Device(i % kShapes, 1),
                       .spec = "\"priority\":" + std::to_string(i % 7)}));
    }
    queue = std::make_unique<SchedulingQueue>(policy, *order, clock, SchedulingQueue::Options());
  }

  static std::string Device(int64_t shape, int64_t amount) {
    return "\"acme.io/device-" + std::to_string(shape) + "\":\"" + std::to_string(amount) + '"';
  }

  void AddAll() {
    for (const PodRef& pod : pods) queue->Add(pod);
  }
  // Pops and rejects all active pods, then advances the clock past their backoffs.
  void ParkAll() {
    while (const QueuedEntity* entity = queue->Pop()) {
      queue->Return(entity->pod->uid(), {.plugins = {kFit}, .pending = {}});
    }
    clock.now_ns += int64_t{20'000'000'000};
  }
  // Returns the event of an added node with devices of one shape. No pod requests those of shape
  // -1.
  QueueEvent NodeEvent(int64_t shape) {
    return {.resource = BERTH_RESOURCE_NODE,
            .action = BERTH_ACTION_ADD,
            .before = NodeRef(),
            .after = objects.Node(
                {.name = "n" + std::to_string(shape),
                 .allocatable = R"("cpu":"64","memory":"256Gi",)" + Device(shape, 8)})};
  }

  TestObjects objects;
  std::vector<PodRef> pods;
  TickingClock clock;
  FitPolicy policy;
  std::unique_ptr<QueueOrder> order = std::make_unique<ByPriority>();
  std::unique_ptr<SchedulingQueue> queue;
};

template <class Work>
void Time(benchmark::State& state, Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  state.SetIterationTime(took.count());
}

void BM_Push(benchmark::State& state) {
  Bench bench(state.range(0));
  for (auto _ : state) {
    Time(state, [&] { bench.AddAll(); });
    for (const PodRef& pod : bench.pods) bench.queue->Remove(pod->uid());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Push)->Arg(1000)->Arg(100'000)->UseManualTime()->Unit(benchmark::kMicrosecond);

void BM_Pop(benchmark::State& state) {
  Bench bench(state.range(0));
  for (auto _ : state) {
    bench.AddAll();
    Time(state, [&] {
      while (const QueuedEntity* entity = bench.queue->Pop()) benchmark::DoNotOptimize(entity);
    });
    for (const PodRef& pod : bench.pods) bench.queue->Done(pod->uid());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Pop)->Arg(1000)->Arg(100'000)->UseManualTime()->Unit(benchmark::kMicrosecond);

// The steady state of a long queue: the first pod is scheduled, and another pod is added.
void BM_PopDonePush(benchmark::State& state) {
  Bench bench(state.range(0));
  bench.AddAll();
  for (auto _ : state) {
    const PodRef pod = bench.queue->Pop()->pod;
    bench.queue->Done(pod->uid());
    bench.queue->Add(pod);
  }
}
BENCHMARK(BM_PopDonePush)->Arg(1000)->Arg(100'000);

// Pops a pod, ends its attempt and adds it again, with range(0) pods in range(1) lanes.
void BM_PopDonePushInLanes(benchmark::State& state) {
  Bench bench(state.range(0), static_cast<uint64_t>(state.range(1)));
  bench.AddAll();
  for (auto _ : state) {
    const PodRef pod = bench.queue->Pop()->pod;
    bench.queue->Done(pod->uid());
    bench.queue->Add(pod);
  }
}
BENCHMARK(BM_PopDonePushInLanes)
    ->Args({1000, 1})
    ->Args({100'000, 1})
    ->Args({100'000, 10})
    ->Args({100'000, 1000})
    ->Args({100'000, 10'000});

// Of many parked pods, activates one, pops it, and parks it again.
void BM_ActivateAndPark(benchmark::State& state) {
  Bench bench(state.range(0));
  bench.AddAll();
  bench.ParkAll();
  size_t next = 0;
  for (auto _ : state) {
    const std::string_view uid = bench.pods[next]->uid();
    bench.queue->Activate(uid);
    benchmark::DoNotOptimize(bench.queue->Pop());
    bench.queue->Return(uid, {.plugins = {kFit}, .pending = {}});
    if (++next == bench.pods.size()) next = 0;
  }
}
BENCHMARK(BM_ActivateAndPark)->Arg(1000)->Arg(100'000);

void BM_EventThatHelpsNoPod(benchmark::State& state) {
  Bench bench(state.range(0));
  bench.AddAll();
  bench.ParkAll();
  const QueueEvent event = bench.NodeEvent(-1);
  bench.policy.hints = 0;
  for (auto _ : state) bench.queue->OnEvent(event);
  state.counters["hints"] = benchmark::Counter(static_cast<double>(bench.policy.hints),
                                               benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_EventThatHelpsNoPod)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

void BM_EventThatHelpsOneShape(benchmark::State& state) {
  Bench bench(state.range(0));
  const size_t before = mallinfo2().uordblks;
  bench.AddAll();
  bench.ParkAll();
  const size_t used = mallinfo2().uordblks - before;
  const QueueEvent event = bench.NodeEvent(7);
  bench.policy.hints = 0;
  int64_t requeued = 0;
  for (auto _ : state) {
    Time(state, [&] { bench.queue->OnEvent(event); });
    requeued += static_cast<int64_t>(bench.queue->CountIn(QueuePlace::kActive));
    bench.ParkAll();
  }
  const auto per_event = [](int64_t count) {
    return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kAvgIterations);
  };
  state.counters["hints"] = per_event(bench.policy.hints);
  state.counters["requeued"] = per_event(requeued);
  state.counters["bytes_per_pod"] = static_cast<double>(used) / static_cast<double>(state.range(0));
}
BENCHMARK(BM_EventThatHelpsOneShape)
    ->Arg(1000)
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

// Returns range(0) rejected pods to the queue after range(1) bindings of other pods happened while
// they were in flight. Only a plugin that did not reject the pods registered for these events.
void BM_ReturnAfterEvents(benchmark::State& state) {
  Bench bench(state.range(0));
  bench.AddAll();
  const QueueEvent event{.resource = BERTH_RESOURCE_ASSIGNED_POD,
                         .action = BERTH_ACTION_ADD,
                         .before = PodRef(),
                         .after = bench.objects.Pod({.name = "bound", .node = "n1"})};
  for (auto _ : state) {
    for (const PodRef& pod : bench.pods) bench.queue->Activate(pod->uid());
    while (const QueuedEntity* entity = bench.queue->Pop()) benchmark::DoNotOptimize(entity);
    for (int64_t i = 0; i < state.range(1); ++i) bench.queue->OnEvent(event);
    Time(state, [&] {
      for (const PodRef& pod : bench.pods) {
        bench.queue->Return(pod->uid(), {.plugins = {kFit}, .pending = {}});
      }
    });
  }
}
BENCHMARK(BM_ReturnAfterEvents)
    ->Args({100, 1000})
    ->Args({5000, 10'000})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::host

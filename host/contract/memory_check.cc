#include "host/contract/memory_check.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <berth/testing/attempt.h>
#include <berth/testing/call.h>
#include <berth/testing/queued.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

using testing::Cycle;
using testing::PodSpec;
using testing::Step;

constexpr uint64_t kFirstWindow = 16;
// A window without growth counts after this many calls, so that a rare leak is found.
constexpr uint64_t kMinCalls = 2048;
// The address space changes in large steps, also when nothing is leaked.
constexpr size_t kMappedStep = size_t{1} << 20;

// Measures one instance.
class MemoryCheck {
 public:
  MemoryCheck(testing::PluginUnderTest& plugin, const ContractCluster& cluster,
              const MemoryBudget& budget)
      : plugin_(plugin), cluster_(cluster), budget_(budget) {
    for (const PodSpec& pod : cluster.pods) pods_.emplace_back(pod, plugin.ids());
  }

  MemoryReport Run() {
    MeasureQueue();
    Measure("PreFilter", {}, [this] { NewCycle().PreFilter(); });
    MeasureBlocks(Step::kFilter);
    MeasureWhatIf();
    if (instance().post_filter) {
      Measure("PostFilter", {"PreFilter"}, [this] { Place().PostFilter(); });
    }
    MeasureScores();
    MeasurePlacement();
    MeasureChanges();
    return std::move(report_);
  }

 private:
  testing::Instance& instance() { return plugin_.instance(); }
  const std::string& node() const { return cluster_.nodes.front().name; }

  // Returns the pods in turn, so that each function is measured with all of them.
  size_t NextPod() { return next_pod_++ % pods_.size(); }
  Cycle NewCycle() { return Cycle(&instance(), &plugin_.table(), pods_[NextPod()]); }
  testing::Placement Place() { return plugin_.Place(cluster_.pods[NextPod()]); }

  bool Leaks(std::string_view function) const {
    return std::ranges::find(report_.leaks, function, &MemoryLeak::function) != report_.leaks.end();
  }

  // Measures `call`, unless one of the functions that it calls before leaks.
  void Measure(const char* function, const std::vector<std::string_view>& before,
               const std::function<void()>& call) {
    if (std::ranges::any_of(before, [this](std::string_view name) { return Leaks(name); })) return;
    const auto step = [&] {
      call();
      instance().services().Advance(kMinute);  // Timers that are due must not count.
      instance().services().ForgetRecords();
    };
    LeakSearch search = FindLeak(function, step, CurrentMemoryUse, budget_);
    if (search.leak.has_value()) report_.leaks.push_back(std::move(*search.leak));
    if (search.is_decided) return;
    report_.gaps.push_back("The time of the check was enough for " + std::to_string(search.calls) +
                           " calls of " + function + "; a leak is distinguished from a cache by " +
                           std::to_string(kMinCallsOfBudget) + " calls.");
  }

  void MeasureQueue() {
    const auto pod = [this] { return cluster_.pods[NextPod()]; };
    if (instance().pre_enqueue) Measure("PreEnqueue", {}, [&] { plugin_.PreEnqueue(pod()); });
    if (instance().queue_sort) MeasureQueueSort();
    if (instance().entity) Measure("Entity", {}, [&] { plugin_.Entity(pod()); });
    if (instance().enqueue_extensions) MeasureHints();
  }

  void MeasureQueueSort() {
    const auto sort = [this](const berth_queued& a, const berth_queued& b) { Sort(a, b); };
    Measure("QueueSort", {}, [&] { WithTwoQueued(sort); });
    if (instance().queue_sort->lane == nullptr) return;
    const auto select = [this](const berth_queued& a, const berth_queued& b) { SelectLane(a, b); };
    Measure("QueueSort's next", {}, [&] { WithTwoQueued(select); });
  }

  // Calls `use` for two pods in the queue, under [queue].
  void WithTwoQueued(const std::function<void(const berth_queued& a, const berth_queued& b)>& use) {
    const testing::PodHandle& first = pods_[NextPod()];
    const testing::PodHandle& second = pods_[NextPod()];
    const testing::CallScope scope(&instance().reporter(), "QueueSort", testing::kQueue);
    testing::WithQueued({.queued_ns = 1}, first, [&](const berth_queued& a) {
      testing::WithQueued({.queued_ns = 2}, second, [&](const berth_queued& b) { use(a, b); });
    });
  }

  void Sort(const berth_queued& a, const berth_queued& b) {
    const berth_queue_sort_2& sort = *instance().queue_sort;
    if (sort.key == nullptr) {
      sort.less(instance().self(), &a, &b);
      return;
    }
    testing::SortKey key;
    sort.key(instance().self(), &a, key.data());
    sort.key(instance().self(), &b, key.data());
  }

  void SelectLane(const berth_queued& a, const berth_queued& b) {
    const berth_queue_sort_2& sort = *instance().queue_sort;
    std::vector<berth_lane> lanes = {{sort.lane(instance().self(), &a), 1, &a},
                                     {sort.lane(instance().self(), &b), 1, &b}};
    if (lanes[0].lane == lanes[1].lane) {
      lanes.pop_back();
      lanes[0].count = 2;
    } else if (lanes[0].lane > lanes[1].lane) {
      std::swap(lanes[0], lanes[1]);
    }
    sort.next(instance().self(),
              {lanes.data(), static_cast<uint32_t>(lanes.size()), sizeof(berth_lane)});
  }

  void MeasureHints() {
    testing::HintCaller caller(&instance());
    struct HintCall {
      size_t pod;
      testing::EventView event;
    };
    std::vector<HintCall> calls;
    for (size_t i = 0; i < pods_.size(); ++i) {
      const PodSpec& pod = pods_[i].spec();
      for (const testing::EventSpec& event : MakeContractEvents(cluster_, pod)) {
        calls.push_back({i, {testing::HintCaller::SeenFrom(pod, event), plugin_.ids()}});
      }
    }
    size_t next = 0;
    Measure("a hint", {}, [&] {
      const HintCall& call = calls[next++ % calls.size()];
      for (uint32_t i = 0; i < caller.count(); ++i) {
        if (caller.interest(i).has_hint == 0 || !caller.IsFor(call.event.spec(), i)) continue;
        caller.Invoke(pods_[call.pod], call.event, i);
      }
    });
  }

  // Measures Filter or Score with the cycles of all pods that reach it.
  void MeasureBlocks(Step step) {
    if (step == Step::kFilter ? !instance().filter : !instance().score) return;
    const std::vector<std::unique_ptr<Cycle>> cycles = CyclesBefore(step);
    if (cycles.empty()) return;
    std::vector<std::unique_ptr<testing::Block>> blocks;
    blocks.reserve(cycles.size());
    for (const auto& cycle : cycles) blocks.push_back(testing::TableBlock(*cycle));
    size_t next = 0;
    Measure(testing::StepName(step), {}, [&] {
      const size_t i = next++ % cycles.size();
      testing::Evaluate(*cycles[i], *blocks[i], step, "");
    });
  }

  std::vector<std::unique_ptr<Cycle>> CyclesBefore(Step step) {
    std::vector<std::unique_ptr<Cycle>> cycles;
    for (const testing::PodHandle& pod : pods_) {
      auto cycle = std::make_unique<Cycle>(&instance(), &plugin_.table(), pod);
      testing::Answer answer = cycle->PreFilter();
      if (step == Step::kScore && (answer.ok() || answer.code == BERTH_SKIP)) {
        answer = cycle->PreScore();
      }
      if (answer.ok()) cycles.push_back(std::move(cycle));
    }
    return cycles;
  }

  // Measures AddPod and RemovePod on clones of the cycle state, as the host calls them.
  void MeasureWhatIf() {
    const auto& point = instance().pre_filter;
    if (!point || point->add_pod == nullptr || point->remove_pod == nullptr) return;
    const std::vector<std::unique_ptr<Cycle>> cycles = CyclesBefore(Step::kFilter);
    if (cycles.empty()) return;
    const testing::PodHandle guest(testing::CopyOf(cluster_.pods.front(), node()), plugin_.ids());
    size_t next = 0;
    Measure("AddPod and RemovePod", {}, [&] {
      const std::unique_ptr<Cycle> clone = cycles[next++ % cycles.size()]->CloneForWhatIf();
      if (clone == nullptr) return;
      const testing::Block block(plugin_.table(), clone->columns(), {0}, nullptr, {});
      for (const auto change : {point->add_pod, point->remove_pod}) {
        clone->Invoke("AddPod or RemovePod", testing::kCycle, [&](berth_status* status) {
          return change(instance().self(), clone->abi(), guest.get(), &block.view(), 0, status);
        });
      }
    });
  }

  void MeasureScores() {
    if (instance().pre_score) {
      Measure("PreScore", {"PreFilter"}, [this] {
        Cycle cycle = NewCycle();
        const testing::Answer answer = cycle.PreFilter();
        if (answer.ok() || answer.code == BERTH_SKIP) cycle.PreScore();
      });
    }
    MeasureBlocks(Step::kScore);
    if (!instance().score || instance().score->normalize == nullptr) return;
    const std::vector<std::unique_ptr<Cycle>> cycles = CyclesBefore(Step::kScore);
    if (cycles.empty()) return;
    size_t next = 0;
    Measure("normalize", {}, [&] {
      Cycle& cycle = *cycles[next++ % cycles.size()];
      const std::vector<uint32_t> rows = cycle.AllowedRows();
      std::vector<int64_t> scores(rows.size());
      for (size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<int64_t>(i);
      testing::Normalize(cycle, rows, &scores);
    });
  }

  void MeasurePlacement() {
    if (unreserves()) {
      Measure("Reserve and Unreserve", {"PreFilter"}, [this] {
        testing::Placement placement = Place();
        placement.Reserve(node());
        placement.Unreserve(node());
      });
    }
    if (instance().permit) {
      Measure("Permit", {"PreFilter", "Reserve and Unreserve"}, [&] {
        testing::Placement placement = Place();
        placement.Permit(node());
        if (unreserves()) placement.Unreserve(node());
      });
    }
    if (instance().attempt_failed) {
      Measure("AttemptFailed", {}, [this] { plugin_.FailAttempt(cluster_.pods.front()); });
    }
    if (instance().post_bind) {
      Measure("PostBind", {"PreFilter"}, [this] { Place().PostBind(node()); });
    }
    if (instance().pre_bind) {
      MeasureBinding("PreBind", [this](testing::Placement& placement) {
        placement.PreFlight(node());
        return placement.PreBind(node());
      });
    }
    if (instance().bind) {
      MeasureBinding("Bind",
                     [this](testing::Placement& placement) { return placement.Bind(node()); });
    }
  }

  bool unreserves() { return instance().reserve && instance().reserve->unreserve != nullptr; }

  // Calls the function that frees what the plugin keeps from PreBind and Bind. One of the two
  // follows every binding.
  void EndBinding(testing::Placement& placement) {
    if (unreserves()) {
      placement.Unreserve(node());
    } else if (instance().post_bind) {
      placement.PostBind(node());
    }
  }

  // A call whose promise is not completed at once is not measured, because the plugin may still use
  // the objects of the call. What the plugin posted or requested in the call is performed first.
  void MeasureBinding(const char* function,
                      const std::function<testing::Answer(testing::Placement&)>& call) {
    for (size_t i = 0; i < pods_.size(); ++i) {
      testing::Placement placement = Place();
      if (!Completes(placement, call)) {
        report_.gaps.push_back(std::string(function) +
                               " was not measured, because it completes later.");
        return;
      }
      EndBinding(placement);
    }
    Measure(function, {"PreFilter", "Reserve and Unreserve", "PostBind"}, [&] {
      testing::Placement placement = Place();
      Completes(placement, call);
      EndBinding(placement);
    });
  }

  // Returns whether the call completed, or the plugin's promise to complete it.
  bool Completes(testing::Placement& placement,
                 const std::function<testing::Answer(testing::Placement&)>& call) {
    if (call(placement).code != BERTH_PENDING) return true;
    instance().services().Advance(0);
    testing::Completion& completion = placement.completion();
    const std::lock_guard lock(completion.mutex);
    return completion.completed;
  }

  void MeasureChanges() {
    if (!instance().changes) return;
    Measure("change", {}, [this] {
      const PodSpec& pod = cluster_.pods[NextPod()];
      plugin_.AddPod(pod, node());
      plugin_.RemovePod(pod.name, node());
    });
  }

  testing::PluginUnderTest& plugin_;
  const ContractCluster& cluster_;
  const MemoryBudget& budget_;
  std::vector<testing::PodHandle> pods_;
  size_t next_pod_ = 0;
  MemoryReport report_;
};

}  // namespace

MemoryUse CurrentMemoryUse() {
  const struct mallinfo2 info = mallinfo2();
  MemoryUse use;
  use.heap = info.uordblks + info.hblkhd;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "re"),
                                                             &std::fclose);
  unsigned long pages = 0;
  if (file != nullptr && std::fscanf(file.get(), "%lu", &pages) == 1) {
    use.mapped = size_t{pages} * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  }
  return use;
}

bool CanMeasureHeap() {
  constexpr size_t kBytes = 4096;
  const size_t before = CurrentMemoryUse().heap;
  void* volatile piece = std::malloc(kBytes);
  const size_t after = CurrentMemoryUse().heap;
  std::free(piece);
  return after >= before + kBytes;
}

std::string ToString(const MemoryLeak& leak) {
  return leak.function + " leaks about " + std::to_string(leak.bytes_per_call) +
         " bytes each call, over " + std::to_string(leak.calls) + " calls";
}

LeakSearch FindLeak(const std::string& function, const std::function<void()>& call,
                    const std::function<MemoryUse()>& use, const MemoryBudget& budget) {
  const int64_t begin_ns = budget.steady_ns();
  Growth heap;
  Growth mapped;
  for (uint64_t i = 0; i < kFirstWindow; ++i) call();  // Allocations that happen once.
  uint64_t total = kFirstWindow;
  int windows = 0;
  for (uint64_t size = kFirstWindow;; size *= 2) {
    const MemoryUse before = use();
    for (uint64_t i = 0; i < size; ++i) call();
    const MemoryUse after = use();
    total += size;
    ++windows;
    heap.Add(before.heap, after.heap, size);
    mapped.Add(before.mapped, after.mapped, size, kMappedStep);
    const Growth& most = heap.windows >= mapped.windows ? heap : mapped;
    if (windows < kMinWindows) continue;
    const bool grows = most.windows >= kMinWindows;
    const MemoryLeak leak{function, grows ? most.amount / most.calls : 0, most.calls};
    if (grows && most.amount >= kMaxGrowth) return {.leak = leak, .calls = total};
    if (most.windows == 0 && total >= kMinCalls) return {.leak = std::nullopt, .calls = total};
    const bool is_late = budget.steady_ns() - begin_ns >= budget.ns;
    if (is_late && total < kMinCallsOfBudget) {
      return {.leak = std::nullopt, .calls = total, .is_decided = false};
    }
    if (!is_late && total < kMaxCalls) continue;
    return {.leak = grows ? std::optional(leak) : std::nullopt, .calls = total};
  }
}

MemoryReport CheckMemoryOfCalls(
    const std::function<std::unique_ptr<testing::PluginUnderTest>()>& create,
    const ContractCluster& cluster, const MemoryBudget& budget) {
  if (!CanMeasureHeap()) return {};
  const std::unique_ptr<testing::PluginUnderTest> plugin = create();
  return MemoryCheck(*plugin, cluster, budget).Run();
}

}  // namespace berth::host

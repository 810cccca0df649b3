#include "host/contract/memory_growth.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace berth::host {
namespace {

constexpr uint64_t kFirstWindow = 16;
// A window without growth counts after this many calls, so that a rare leak is found.
constexpr uint64_t kMinCalls = 2048;
// The address space changes in large steps, also when nothing is leaked.
constexpr size_t kMappedStep = size_t{1} << 20;

// The growth of one kind of memory over the windows so far.
class Growth {
 public:
  explicit Growth(size_t step) : step_(step) {}

  void Add(size_t before, size_t after, uint64_t calls) {
    const size_t bytes = after > before ? after - before : 0;
    if (bytes < calls || bytes < step_) {
      windows_ = 0;
      bytes_ = 0;
      calls_ = 0;
      return;
    }
    ++windows_;
    bytes_ += bytes;
    calls_ += calls;
  }

  int windows() const { return windows_; }  // The windows in a row that grew.
  size_t bytes() const { return bytes_; }
  uint64_t calls() const { return calls_; }

 private:
  const size_t step_;
  int windows_ = 0;
  size_t bytes_ = 0;
  uint64_t calls_ = 0;
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
  Growth heap(1);
  Growth mapped(kMappedStep);
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
    mapped.Add(before.mapped, after.mapped, size);
    const Growth& most = heap.windows() >= mapped.windows() ? heap : mapped;
    if (windows < kMinWindows) continue;
    const bool grows = most.windows() >= kMinWindows;
    const MemoryLeak leak{function, grows ? most.bytes() / most.calls() : 0, most.calls()};
    if (grows && most.bytes() >= kMaxGrowth) return {.leak = leak, .calls = total};
    if (most.windows() == 0 && total >= kMinCalls) return {.leak = std::nullopt, .calls = total};
    const bool is_late = budget.steady_ns() - begin_ns >= budget.ns;
    if (is_late && total < kMinCallsOfBudget) {
      return {.leak = std::nullopt, .calls = total, .is_decided = false};
    }
    if (!is_late && total < kMaxCalls) continue;
    return {.leak = grows ? std::optional(leak) : std::nullopt, .calls = total};
  }
}

}  // namespace berth::host

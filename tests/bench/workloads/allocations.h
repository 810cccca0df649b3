// Counts heap allocations.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_ALLOCATIONS_H_
#define BERTH_TESTS_BENCH_WORKLOADS_ALLOCATIONS_H_

#include <cstdint>

namespace berth::bench {

struct Allocations {
  // Calls of malloc, calloc, realloc, memalign, aligned_alloc and posix_memalign. `new` calls
  // malloc.
  uint64_t count = 0;
  uint64_t bytes = 0;  // The requested bytes.
};

// Returns the allocations of the calling thread since it started, by all libraries of the process,
// including plugins.
// Threading: any. Each thread has its own count.
Allocations AllocationsOfThread();

// Returns false under a sanitizer. Sanitizers replace the allocator, and nothing is counted.
bool CountsAllocations();

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_ALLOCATIONS_H_

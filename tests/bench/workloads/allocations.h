// How much is taken from the heap.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_ALLOCATIONS_H_
#define BERTH_TESTS_BENCH_WORKLOADS_ALLOCATIONS_H_

#include <cstdint>

namespace berth::bench {

struct Allocations {
  // Calls of malloc, calloc, realloc, memalign, aligned_alloc and posix_memalign; `new` is malloc.
  uint64_t count = 0;
  uint64_t bytes = 0;  // As asked for.
};

// Since the thread began, of every library of the process, plugins too.
// Threading: any; each thread has its own.
Allocations AllocationsOfThread();

// False under a sanitizer, which has an allocator of its own: then nothing is counted.
bool CountsAllocations();

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_ALLOCATIONS_H_

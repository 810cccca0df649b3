#include "tests/bench/workloads/allocations.h"

#include <cerrno>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BERTH_BENCH_COUNTS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BERTH_BENCH_COUNTS 0
#endif
#endif
#ifndef BERTH_BENCH_COUNTS
#define BERTH_BENCH_COUNTS 1
#endif

namespace berth::bench {
namespace {

thread_local Allocations allocations;

}  // namespace

Allocations AllocationsOfThread() { return allocations; }

bool CountsAllocations() { return BERTH_BENCH_COUNTS != 0; }

}  // namespace berth::bench

#if BERTH_BENCH_COUNTS

// If a program exports its own malloc, all its libraries use that instead of glibc's ("Replacing
// malloc" in glibc's manual). The __libc_ functions are glibc's own implementation.
#pragma GCC visibility push(default)
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  ++berth::bench::allocations.count;
  berth::bench::allocations.bytes += bytes;
  return __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) {
  ++berth::bench::allocations.count;
  berth::bench::allocations.bytes += count * bytes;
  return __libc_calloc(count, bytes);
}

void* realloc(void* memory, size_t bytes) {
  ++berth::bench::allocations.count;
  berth::bench::allocations.bytes += bytes;
  return __libc_realloc(memory, bytes);
}

void* memalign(size_t alignment, size_t bytes) {
  ++berth::bench::allocations.count;
  berth::bench::allocations.bytes += bytes;
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  void* found = memalign(alignment, bytes);
  if (found == nullptr) return ENOMEM;
  *memory = found;
  return 0;
}
}
#pragma GCC visibility pop

#endif

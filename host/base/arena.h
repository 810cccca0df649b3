// A bump allocator that holds the memory of one object and frees all of it at once.
#ifndef BERTH_HOST_BASE_ARENA_H_
#define BERTH_HOST_BASE_ARENA_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {

// The memory that an arena has taken from the heap.
class ArenaMemory {
 public:
  ArenaMemory() = default;
  ~ArenaMemory() { FreeAfter(nullptr); }
  ArenaMemory(const ArenaMemory&) = delete;
  ArenaMemory& operator=(const ArenaMemory&) = delete;
  ArenaMemory(ArenaMemory&& other) noexcept : last_(std::exchange(other.last_, nullptr)) {}
  ArenaMemory& operator=(ArenaMemory&& other) noexcept {
    ArenaMemory moved(std::move(other));
    std::swap(last_, moved.last_);
    return *this;
  }

 private:
  friend class Arena;

  // The beginning of a piece of memory; `size` bytes follow.
  struct alignas(std::max_align_t) Chunk {
    Chunk* before;  // The chunk that was added before this one.
    size_t size;
  };

  // Adds a chunk of `size` bytes, and returns the address of its first byte.
  std::byte* Add(size_t size) {
    last_ = ::new (::operator new(sizeof(Chunk) + size)) Chunk{last_, size};
    return Begin(last_);
  }
  // Frees the chunks that were added after `chunk`; all of them if it is null.
  void FreeAfter(const Chunk* chunk) {
    while (last_ != chunk) ::operator delete(std::exchange(last_, last_->before));
  }
  // Returns the chunk that was added first; null if there is none.
  Chunk* First() const {
    Chunk* chunk = last_;
    while (chunk != nullptr && chunk->before != nullptr) chunk = chunk->before;
    return chunk;
  }
  static std::byte* Begin(Chunk* chunk) { return reinterpret_cast<std::byte*>(chunk + 1); }

  Chunk* last_ = nullptr;
};

// Threading: one thread at a time uses the arena; any thread may read allocated memory.
// Lifetime: an allocation is valid until the arena is destroyed, reset or assigned to. Moving the
// arena keeps the addresses of its allocations. The arena runs no destructors, so it accepts only
// trivially destructible types.
class Arena {
 public:
  static constexpr size_t kDefaultFirstChunk = 1024;
  static constexpr size_t kMaxChunk = 256 * 1024;

  // The first chunk is allocated on first use. It has at least 64 bytes.
  explicit Arena(size_t first_chunk = kDefaultFirstChunk)
      : next_chunk_(std::max<size_t>(first_chunk, 64)) {}

  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  Arena(Arena&& other) noexcept { Swap(other); }
  Arena& operator=(Arena&& other) noexcept {
    Arena moved(std::move(other));
    Swap(moved);
    return *this;
  }
  ~Arena() = default;

  // Allocates `size` bytes and returns their address, which is never null. For a `size` of 0 the
  // address is valid, but not necessarily unique.
  // REQUIRES: `align` is a power of two.
  void* Allocate(size_t size, size_t align) {
    BERTH_ASSERT(std::has_single_bit(align));
    const uintptr_t at = (cursor_ + align - 1) & ~(uintptr_t{align} - 1);
    if (at < cursor_ || at > end_ || size > end_ - at) [[unlikely]] {
      return AllocateInNewChunk(size, align);
    }
    cursor_ = at + size;
    bytes_used_ += size;
    return reinterpret_cast<void*>(at);
  }

  template <class T, class... Args>
  T* New(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "an arena runs no destructors");
    return ::new (Allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }

  // Returns `count` value-initialised elements.
  template <class T>
  std::span<T> NewArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>, "an arena runs no destructors");
    if (count == 0) return {};
    BERTH_ASSERT(count <= std::numeric_limits<size_t>::max() / sizeof(T));
    T* first = static_cast<T*>(Allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(first, count);
    return {first, count};
  }

  // Returns a copy of the elements.
  template <class T>
  std::span<T> CopyArray(std::span<const T> source) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    if (source.empty()) return {};
    T* first = static_cast<T*>(Allocate(source.size_bytes(), alignof(T)));
    std::uninitialized_copy(source.begin(), source.end(), first);
    return {first, source.size()};
  }

  // Returns a copy of the text, without a terminating null byte.
  std::string_view CopyString(std::string_view text) {
    if (text.empty()) return {};
    char* copy = static_cast<char*>(Allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  // Invalidates every allocation, and keeps the first chunk for later allocations.
  void Reset() {
    ArenaMemory::Chunk* first = memory_.First();
    if (first == nullptr) return;
    memory_.FreeAfter(first);
    bytes_used_ = 0;
    bytes_reserved_ = first->size;
    cursor_ = reinterpret_cast<uintptr_t>(ArenaMemory::Begin(first));
    end_ = cursor_ + first->size;
  }

  // Returns the memory, with all allocations, and leaves the arena without memory.
  ArenaMemory TakeMemory() {
    cursor_ = end_ = 0;
    bytes_used_ = bytes_reserved_ = 0;
    return std::move(memory_);
  }

  // Returns the number of allocated bytes, without padding.
  size_t bytes_used() const { return bytes_used_; }
  // Returns the number of bytes for allocations that the arena has taken from the heap.
  size_t bytes_reserved() const { return bytes_reserved_; }

 private:
  __attribute__((noinline)) void* AllocateInNewChunk(size_t size, size_t align) {
    BERTH_ASSERT(size <= std::numeric_limits<size_t>::max() / 2 && align <= (size_t{1} << 30));
    const size_t needed = size + align - 1;
    const bool fits = needed <= next_chunk_;
    const size_t chunk = fits ? next_chunk_ : needed;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory_.Add(chunk));
    bytes_reserved_ += chunk;
    bytes_used_ += size;
    const uintptr_t at = (begin + align - 1) & ~(uintptr_t{align} - 1);
    // A large allocation gets a chunk of its own, and the current chunk keeps its free space.
    if (!fits && end_ != cursor_) return reinterpret_cast<void*>(at);
    cursor_ = at + size;
    end_ = begin + chunk;
    if (next_chunk_ < kMaxChunk) next_chunk_ = std::min(next_chunk_ * 2, kMaxChunk);
    return reinterpret_cast<void*>(at);
  }

  void Swap(Arena& other) noexcept {
    std::swap(cursor_, other.cursor_);
    std::swap(end_, other.end_);
    std::swap(next_chunk_, other.next_chunk_);
    std::swap(bytes_used_, other.bytes_used_);
    std::swap(bytes_reserved_, other.bytes_reserved_);
    std::swap(memory_, other.memory_);
  }

  uintptr_t cursor_ = 0;
  uintptr_t end_ = 0;
  size_t next_chunk_ = kDefaultFirstChunk;
  size_t bytes_used_ = 0;
  size_t bytes_reserved_ = 0;
  ArenaMemory memory_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_ARENA_H_

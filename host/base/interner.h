// Maps strings to small integer ids. Names, labels, taints and similar texts occur many times; the
// interner stores each distinct text once, so that comparing two texts is comparing two integers.
#ifndef BERTH_HOST_BASE_INTERNER_H_
#define BERTH_HOST_BASE_INTERNER_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/siphash.h>

#include "host/base/assert.h"

namespace berth::host {

using Id = uint32_t;

inline constexpr Id kNoId = 0;     // Stands for no text. Its text is empty and its hash is 0.
inline constexpr Id kEmptyId = 1;  // The id of the empty string, which is never freed.

// The interner counts references to ids: code that keeps an id holds a reference. When the count of
// an entry drops to 0, the entry stays, and Intern() may return it again under the same id, until
// Sweep() frees it. Only then may the id be assigned to another text.
//
// The hashes of texts have a key. Equal texts have equal hashes in two interners with equal keys.
//
// Threading: all methods may be called from any thread. Text() and Hash() take no lock.
// Lifetime: an id and its text are valid while a reference to the id is held. Without a reference
// they are valid until the next Sweep().
class Interner {
 public:
  // The key of interners in tests. RunProgram() creates a random one.
  static constexpr HashKey kFixedKey = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

  explicit Interner(const HashKey& key = kFixedKey);
  ~Interner();

  // Adds a reference to the id of `text` and returns the id.
  // Must not: be called with a text of 4 GiB or more.
  Id Intern(std::string_view text);

  // Returns the id of `text` without adding a reference; kNoId when the text is not interned.
  Id Find(std::string_view text) const;

  // AddRef adds a reference and Release removes one. Both do nothing for kNoId and kEmptyId.
  // REQUIRES: the caller holds a reference.
  void AddRef(Id id) {
    if (id <= kEmptyId) return;
    const uint32_t before = At(id).references.fetch_add(1, std::memory_order_relaxed);
    BERTH_ASSERT_MSG(before != 0 && before != UINT32_MAX, "id %u", id);
  }
  void Release(Id id) {
    if (id <= kEmptyId) return;
    // Sweep() loads the count with acquire order. With the release order here, every earlier use of
    // the text happens before Sweep() frees it.
    const uint32_t before = At(id).references.fetch_sub(1, std::memory_order_acq_rel);
    BERTH_ASSERT_MSG(before != 0, "id %u was released more often than interned", id);
    if (before == 1) unreferenced_.fetch_add(1, std::memory_order_relaxed);
  }

  // Returns the text of an id.
  // REQUIRES: the id is valid, see Lifetime above.
  std::string_view Text(Id id) const {
    const Entry& entry = At(id);
    return {entry.text, entry.size};
  }

  // Returns whether Text() may be called with this id: the id is one of the constants above, or was
  // assigned to a text at some time. Callers check ids of unknown origin with it, such as those
  // that a plugin passes.
  bool WasGivenOut(Id id) const {
    return id < next_id_.load(std::memory_order_relaxed) &&
           chunks_[PlaceOf(id).chunk].load(std::memory_order_acquire) != nullptr;
  }

  // Returns the hash of the id's text with key(); 0 for kNoId.
  uint64_t Hash(Id id) const { return At(id).hash; }
  const HashKey& key() const { return key_; }

  // Returns the number of stored texts, including the empty text and texts without a reference.
  size_t size() const { return size_.load(std::memory_order_relaxed); }

  // Returns the number of texts that Sweep() would free, so that the owner can decide whether a
  // sweep is worthwhile.
  size_t unreferenced() const {
    const int64_t count = unreferenced_.load(std::memory_order_relaxed);
    return count > 0 ? static_cast<size_t>(count) : 0;
  }

  // Frees the texts that have no reference and returns their number. Takes O(size()) time.
  // Called by the owner of the interner, while no code uses an id without holding a reference.
  size_t Sweep();

 private:
  struct Entry {
    const char* text = "";
    uint32_t size = 0;
    std::atomic<uint32_t> references{0};
    uint64_t hash = 0;
  };

  struct Slot {
    uint32_t tag = 0;  // The upper half of the hash.
    Id id = kNoId;     // kNoId when the slot is free.
  };

  // A part of the hash table with its own lock. It uses open addressing with linear probing, and is
  // at most 3/4 full.
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::vector<Slot> slots;
    size_t used = 0;
    std::vector<Id> free_ids;
  };

  static constexpr size_t kShards = 16;
  // Chunk k holds kFirstChunk << k entries. Entries never move, so readers need no lock.
  static constexpr uint32_t kFirstChunk = 1024;
  static constexpr size_t kChunks = 22;
  static constexpr uint64_t kMaxIds = ((uint64_t{1} << kChunks) - 1) * kFirstChunk;

  struct Place {
    size_t chunk;
    size_t offset;
  };
  static Place PlaceOf(Id id) {
    const uint64_t index = uint64_t{id} + kFirstChunk;
    const size_t chunk = static_cast<size_t>(std::bit_width(index)) - std::bit_width(kFirstChunk);
    return {chunk, static_cast<size_t>(index - (uint64_t{kFirstChunk} << chunk))};
  }

  Entry& At(Id id) const {
    const Place place = PlaceOf(id);
    return chunks_[place.chunk].load(std::memory_order_acquire)[place.offset];
  }

  uint64_t HashOf(std::string_view text) const;
  Shard& ShardOf(uint64_t hash) { return shards_[hash % kShards]; }
  const Shard& ShardOf(uint64_t hash) const { return shards_[hash % kShards]; }

  Id Lookup(const Shard& shard, std::string_view text, uint64_t hash) const;
  Id Add(Shard& shard, std::string_view text, uint64_t hash);
  Id NextId(Shard& shard);
  void Rehash(Shard& shard, size_t slots) const;
  static void InsertSlot(std::vector<Slot>& slots, Slot slot, uint64_t hash);

  const HashKey key_;
  std::array<std::atomic<Entry*>, kChunks> chunks_{};
  std::mutex grow_mutex_;
  std::atomic<uint64_t> next_id_{kEmptyId + 1};
  std::atomic<size_t> size_{1};
  std::atomic<int64_t> unreferenced_{0};
  std::array<Shard, kShards> shards_;
};

// A list of references that are released together. An object holds one beside its arena.
// Threading: one thread at a time; the destructor may run on any thread.
// Must not: outlive the interner.
class IdRefs {
 public:
  explicit IdRefs(Interner& interner) : interner_(&interner) {}
  ~IdRefs() { ReleaseAll(); }
  IdRefs(const IdRefs&) = delete;
  IdRefs& operator=(const IdRefs&) = delete;
  IdRefs(IdRefs&& other) noexcept
      : interner_(other.interner_), ids_(std::exchange(other.ids_, {})) {}
  IdRefs& operator=(IdRefs&& other) noexcept {
    if (this != &other) {
      ReleaseAll();
      interner_ = other.interner_;
      ids_ = std::exchange(other.ids_, {});
    }
    return *this;
  }

  // Interns `text`, keeps the reference, and returns the id.
  Id Intern(std::string_view text) {
    const Id id = interner_->Intern(text);
    Add(id);
    return id;
  }

  // Takes ownership of a reference that the caller holds.
  void Add(Id id) {
    if (id > kEmptyId) ids_.push_back(id);
  }

  size_t size() const { return ids_.size(); }
  Interner& interner() const { return *interner_; }

 private:
  void ReleaseAll() {
    for (const Id id : ids_) interner_->Release(id);
    ids_.clear();
  }

  Interner* interner_;
  std::vector<Id> ids_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_INTERNER_H_

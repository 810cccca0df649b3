// Strings as small numbers. Names, labels, taints and the like occur again and again; each distinct
// text is held once and named by an id, so that comparing is comparing integers.
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

#include "host/base/assert.h"

namespace berth::host {

using Id = uint32_t;

inline constexpr Id kNoId = 0;     // Names nothing. Its text is empty and its hash 0.
inline constexpr Id kEmptyId = 1;  // The empty string. Never freed.

// Ids are counted: who keeps an id keeps a reference. An entry whose count drops to 0 stays, and
// may be interned again under the same id, until Sweep() frees it; only then is its id given out
// anew.
//
// Threading: all functions from any thread. Text() and Hash() take no lock.
// Lifetime: an id, and the text it stands for, is valid while a reference to it is held; without
// one, until the next Sweep().
class Interner {
 public:
  Interner();
  ~Interner();
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

  // The id of `text`, with one more reference. Must not be given more than 4 GiB.
  Id Intern(std::string_view text);

  // The id of `text` without a reference; kNoId when nobody has interned it.
  Id Find(std::string_view text) const;

  // Adds or drops a reference. The caller holds one already. No-ops for kNoId and kEmptyId.
  void AddRef(Id id) {
    if (id <= kEmptyId) return;
    const uint32_t before = At(id).references.fetch_add(1, std::memory_order_relaxed);
    BERTH_ASSERT_MSG(before != 0 && before != UINT32_MAX, "id %u", id);
  }
  void Release(Id id) {
    if (id <= kEmptyId) return;
    // Released so that the sweeping thread, which acquires, sees every use of the text before it.
    const uint32_t before = At(id).references.fetch_sub(1, std::memory_order_acq_rel);
    BERTH_ASSERT_MSG(before != 0, "id %u was released more often than interned", id);
    if (before == 1) unreferenced_.fetch_add(1, std::memory_order_relaxed);
  }

  // The text of an id that the caller may use.
  std::string_view Text(Id id) const {
    const Entry& entry = At(id);
    return {entry.text, entry.size};
  }

  // Whether Text() may be asked at all: some text had, or has, this id. For ids of strangers.
  bool WasGivenOut(Id id) const {
    return id < next_id_.load(std::memory_order_relaxed) &&
           chunks_[PlaceOf(id).chunk].load(std::memory_order_acquire) != nullptr;
  }

  // HashBytes() of the text: equal in every process. 0 for kNoId.
  uint64_t Hash(Id id) const { return At(id).hash; }

  // How many texts are held, the empty one and those without a reference included.
  size_t size() const { return size_.load(std::memory_order_relaxed); }

  // How many texts Sweep() would free: tells the owner whether it pays.
  size_t unreferenced() const {
    const int64_t count = unreferenced_.load(std::memory_order_relaxed);
    return count > 0 ? static_cast<size_t>(count) : 0;
  }

  // Frees the texts without a reference and returns how many. Costs O(size()).
  // Called by the owner at a moment when nobody holds an id without a reference.
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
    Id id = kNoId;     // kNoId: free.
  };

  // A part of the table with a lock of its own: open addressing, linear probing, at most 3/4 full.
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::vector<Slot> slots;
    size_t used = 0;
    std::vector<Id> free_ids;
  };

  static constexpr size_t kShards = 16;
  // Chunk k holds kFirstChunk << k entries; entries never move, so readers need no lock.
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

  Shard& ShardOf(uint64_t hash) { return shards_[hash % kShards]; }
  const Shard& ShardOf(uint64_t hash) const { return shards_[hash % kShards]; }

  Id Lookup(const Shard& shard, std::string_view text, uint64_t hash) const;
  Id Add(Shard& shard, std::string_view text, uint64_t hash);
  Id NextId(Shard& shard);
  void Rehash(Shard& shard, size_t slots) const;
  static void InsertSlot(std::vector<Slot>& slots, Slot slot, uint64_t hash);

  std::array<std::atomic<Entry*>, kChunks> chunks_{};
  std::mutex grow_mutex_;
  std::atomic<uint64_t> next_id_{kEmptyId + 1};
  std::atomic<size_t> size_{1};
  std::atomic<int64_t> unreferenced_{0};
  std::array<Shard, kShards> shards_;
};

// A list of references that are dropped together: what an object holds besides its arena.
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

  // Interns `text` and keeps the reference.
  Id Intern(std::string_view text) {
    const Id id = interner_->Intern(text);
    Add(id);
    return id;
  }

  // Takes over a reference that the caller holds.
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

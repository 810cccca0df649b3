#include "host/base/interner.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace berth::host {
namespace {

constexpr size_t kFirstSlots = 64;

constexpr uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

// Returns the first slot to probe. The low four bits of the hash choose the shard, so the slot is
// taken from the bits above them.
constexpr size_t FirstSlot(uint64_t hash, size_t slots) { return (hash >> 4) & (slots - 1); }

const char* CopyText(std::string_view text) {
  char* copy = new char[text.size()];
  std::memcpy(copy, text.data(), text.size());
  return copy;
}

}  // namespace

Interner::Interner(const HashKey& key) : key_(key) {
  chunks_[0].store(new Entry[kFirstChunk], std::memory_order_release);
  const uint64_t hash = HashOf({});
  Entry& empty = At(kEmptyId);
  empty.hash = hash;
  empty.references.store(1, std::memory_order_relaxed);
  for (Shard& shard : shards_) shard.slots.resize(kFirstSlots);
  Shard& shard = ShardOf(hash);
  InsertSlot(shard.slots, {TagOf(hash), kEmptyId}, hash);
  shard.used = 1;
}

Interner::~Interner() {
  for (const Shard& shard : shards_) {
    for (const Slot& slot : shard.slots) {
      if (slot.id > kEmptyId) delete[] At(slot.id).text;
    }
  }
  for (std::atomic<Entry*>& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

uint64_t Interner::HashOf(std::string_view text) const {
  SipHash13 hash(key_);
  hash.Add(text);
  return hash.Finish();
}

Id Interner::Intern(std::string_view text) {
  const uint64_t hash = HashOf(text);
  Shard& shard = ShardOf(hash);
  const std::lock_guard lock(shard.mutex);
  const Id known = Lookup(shard, text, hash);
  if (known == kNoId) return Add(shard, text, hash);
  if (known == kEmptyId) return kEmptyId;
  const uint32_t before = At(known).references.fetch_add(1, std::memory_order_relaxed);
  BERTH_ASSERT(before != UINT32_MAX);
  if (before == 0) unreferenced_.fetch_sub(1, std::memory_order_relaxed);
  return known;
}

Id Interner::Find(std::string_view text) const {
  const uint64_t hash = HashOf(text);
  const Shard& shard = ShardOf(hash);
  const std::lock_guard lock(shard.mutex);
  return Lookup(shard, text, hash);
}

size_t Interner::Sweep() {
  size_t freed = 0;
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    size_t freed_here = 0;
    for (Slot& slot : shard.slots) {
      if (slot.id <= kEmptyId) continue;
      Entry& entry = At(slot.id);
      if (entry.references.load(std::memory_order_acquire) != 0) continue;
      delete[] entry.text;
      entry.text = "";
      entry.size = 0;
      entry.hash = 0;
      shard.free_ids.push_back(slot.id);
      slot = Slot{};
      ++freed_here;
    }
    if (freed_here == 0) continue;
    shard.used -= freed_here;
    // Empty slots would interrupt probe sequences, so the table is rebuilt. This also returns
    // memory after a peak.
    Rehash(shard, std::max(kFirstSlots, std::bit_ceil(shard.used * 2)));
    freed += freed_here;
  }
  size_.fetch_sub(freed, std::memory_order_relaxed);
  unreferenced_.fetch_sub(static_cast<int64_t>(freed), std::memory_order_relaxed);
  return freed;
}

Id Interner::Lookup(const Shard& shard, std::string_view text, uint64_t hash) const {
  const size_t mask = shard.slots.size() - 1;
  const uint32_t tag = TagOf(hash);
  for (size_t i = FirstSlot(hash, shard.slots.size());; i = (i + 1) & mask) {
    const Slot slot = shard.slots[i];
    if (slot.id == kNoId) return kNoId;
    if (slot.tag == tag && Text(slot.id) == text) return slot.id;
  }
}

Id Interner::Add(Shard& shard, std::string_view text, uint64_t hash) {
  BERTH_ASSERT(text.size() <= std::numeric_limits<uint32_t>::max());
  if ((shard.used + 1) * 4 > shard.slots.size() * 3) Rehash(shard, shard.slots.size() * 2);
  const Id id = NextId(shard);
  Entry& entry = At(id);
  entry.text = CopyText(text);
  entry.size = static_cast<uint32_t>(text.size());
  entry.hash = hash;
  entry.references.store(1, std::memory_order_release);
  InsertSlot(shard.slots, {TagOf(hash), id}, hash);
  ++shard.used;
  size_.fetch_add(1, std::memory_order_relaxed);
  return id;
}

Id Interner::NextId(Shard& shard) {
  if (!shard.free_ids.empty()) {
    const Id id = shard.free_ids.back();
    shard.free_ids.pop_back();
    return id;
  }
  const uint64_t next = next_id_.fetch_add(1, std::memory_order_relaxed);
  BERTH_ASSERT_MSG(next < kMaxIds, "out of string ids");
  const Id id = static_cast<Id>(next);
  std::atomic<Entry*>& chunk = chunks_[PlaceOf(id).chunk];
  if (chunk.load(std::memory_order_acquire) == nullptr) {
    const std::lock_guard lock(grow_mutex_);
    if (chunk.load(std::memory_order_relaxed) == nullptr) {
      const size_t entries = size_t{kFirstChunk} << PlaceOf(id).chunk;
      chunk.store(new Entry[entries], std::memory_order_release);
    }
  }
  return id;
}

void Interner::Rehash(Shard& shard, size_t slots) const {
  std::vector<Slot> table(slots);
  for (const Slot& slot : shard.slots) {
    if (slot.id != kNoId) InsertSlot(table, slot, At(slot.id).hash);
  }
  shard.slots = std::move(table);
}

void Interner::InsertSlot(std::vector<Slot>& slots, Slot slot, uint64_t hash) {
  const size_t mask = slots.size() - 1;
  size_t i = FirstSlot(hash, slots.size());
  while (slots[i].id != kNoId) i = (i + 1) & mask;
  slots[i] = slot;
}

}  // namespace berth::host

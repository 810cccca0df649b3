// Handles that the host gives to plugins and that stay harmless when they are used too late.
//
// A handle points at no object. It names an entry of a table and, by its offset from the start of
// the entry, the generation of the entry that is meant: each use of an entry is a new generation,
// and a handle of an earlier one is recognised. The Entry type is aligned to its number of
// generations, kGenerations, so that every address in it leads to its start.
#ifndef BERTH_HOST_RUNTIME_HANDLE_H_
#define BERTH_HOST_RUNTIME_HANDLE_H_

#include <cstddef>
#include <cstdint>

namespace berth::host {

// REQUIRES: `handle` is from HandleOf(), and the entry still exists.
template <class Entry, class Handle>
Entry& EntryOf(Handle* handle) {
  static_assert(alignof(Entry) == Entry::kGenerations);
  const size_t generation = reinterpret_cast<uintptr_t>(handle) % Entry::kGenerations;
  return *reinterpret_cast<Entry*>(reinterpret_cast<std::byte*>(handle) - generation);
}

// Returns the handle of the entry's present generation.
template <class Handle, class Entry>
Handle* HandleOf(Entry& entry) {
  return reinterpret_cast<Handle*>(reinterpret_cast<std::byte*>(&entry) +
                                   entry.generation % Entry::kGenerations);
}

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_HANDLE_H_

// Gives memory back to the system that the process needed once, such as that of its start.
#ifndef BERTH_HOST_PROCESS_RUN_UNUSED_MEMORY_H_
#define BERTH_HOST_PROCESS_RUN_UNUSED_MEMORY_H_

#include <cstddef>

namespace berth::host {

// Drops the process's pages of programs and libraries that are as they are in their files. A page
// that is used again is mapped again, which is a minor page fault while the file is in the page
// cache of the system.
//
// Most of these pages are read only when a process starts: by the dynamic linker, the set-up of
// OpenSSL, the parsers of configuration. They count as resident memory until they are dropped.
//
// Returns the number of mappings whose pages were dropped; 0 if /proc cannot be read.
// Threading: any. Other threads may run the code at the same time.
// Cost: about half a millisecond in a small process; the kernel visits every mapped page. Later
// the page faults.
size_t DropCleanPages();

// Drops clean pages and the free pages of the heap.
// Threading and cost: as DropCleanPages(); an allocation of another thread may wait meanwhile.
void ReleaseUnusedMemory();

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_RUN_UNUSED_MEMORY_H_

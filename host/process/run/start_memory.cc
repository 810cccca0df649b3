#include "host/process/run/start_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace berth::host {
namespace {

// A mapping of this process, as /proc/self/smaps describes it (man 5 proc).
struct Mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool is_read_only_file = false;
};

// Reads the first line of a mapping:
// "<begin>-<end> <permissions> <offset> <device> <inode> <path>".
// Returns nullopt for another line.
std::optional<Mapping> ReadHeader(std::string_view line) {
  Mapping mapping;
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, mapping.begin, 16);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, mapping.end, 16);
  if (second.ec != std::errc()) return std::nullopt;
  const std::string_view rest(second.ptr, end);
  const bool is_read_only = rest.starts_with(" r-xp ") || rest.starts_with(" r--p ");
  mapping.is_read_only_file = is_read_only && rest.find(" /") != rest.npos;
  return mapping;
}

// Returns true if the line says that the mapping has no pages that differ from the file: no
// relocated addresses, and no breakpoints of a debugger.
bool IsUnchanged(std::string_view line) {
  constexpr std::string_view kName = "Anonymous:";
  if (!line.starts_with(kName)) return false;
  const size_t digit = line.find_first_not_of(' ', kName.size());
  return digit != line.npos && line.substr(digit) == "0 kB";
}

}  // namespace

size_t DropCleanPages() {
  std::ifstream maps("/proc/self/smaps");
  Mapping mapping;
  size_t dropped = 0;
  for (std::string line; std::getline(maps, line);) {
    if (const auto header = ReadHeader(line)) {
      mapping = *header;
      continue;
    }
    if (!mapping.is_read_only_file || !IsUnchanged(line)) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel prints addresses as numbers.
    void* const begin = reinterpret_cast<void*>(mapping.begin);
    if (::madvise(begin, mapping.end - mapping.begin, MADV_DONTNEED) == 0) ++dropped;
  }
  return dropped;
}

void ReleaseUnusedMemory() {
  ::malloc_trim(0);
  DropCleanPages();
}

}  // namespace berth::host

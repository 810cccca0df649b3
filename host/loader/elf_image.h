// What an ELF shared object says of itself, read from its bytes alone: no code of it runs.
#ifndef BERTH_HOST_LOADER_ELF_IMAGE_H_
#define BERTH_HOST_LOADER_ELF_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "host/loader/load_error.h"

namespace berth::host {

// A symbol that the library defines and that others can find.
struct ElfSymbol {
  std::string_view name;
  bool is_data = false;  // An object, not a function nor thread-local nor resolved by code.
  uint64_t size = 0;     // bytes
};

// The parts of a 64-bit little-endian shared object for this machine that loading depends on, as
// the dynamic linker would find them. Bytes that contradict themselves are an error; no read ever
// leaves them, whatever they say.
// Format: System V ABI, chapters 4 and 5; DT_GNU_HASH as in glibc's elf/dl-lookup.c.
// Lifetime: everything borrows from the bytes that Parse() was given.
class ElfImage {
 public:
  // Errors: kNotElf, kWrongMachine, kNotSharedObject, kBadElf; `path` is left to the caller.
  static LoadResult<ElfImage> Parse(std::span<const std::byte> file);

  // DT_NEEDED: the libraries that it wants loaded with it.
  std::span<const std::string_view> needed() const { return needed_; }
  // DT_RPATH and DT_RUNPATH, one element per directory.
  std::span<const std::string_view> run_paths() const { return run_paths_; }
  // In the order of its symbol table.
  std::span<const ElfSymbol> exports() const { return exports_; }
  // Names that must come from elsewhere.
  std::span<const std::string_view> imports() const { return imports_; }
  // STB_GNU_UNIQUE symbols: one definition for the whole process, in spite of RTLD_LOCAL.
  uint64_t unique_symbols() const { return unique_symbols_; }

  // The descriptors of all notes with this name and type: those in PT_NOTE segments, or, when there
  // are none, those in note sections.
  std::vector<std::span<const std::byte>> FindNotes(std::string_view name, uint32_t type) const;

 private:
  friend class ElfReader;
  struct NoteArea {
    std::span<const std::byte> bytes;
    uint64_t alignment = 4;
  };

  std::vector<std::string_view> needed_;
  std::vector<std::string_view> run_paths_;
  std::vector<ElfSymbol> exports_;
  std::vector<std::string_view> imports_;
  uint64_t unique_symbols_ = 0;
  std::vector<NoteArea> note_segments_;
  std::vector<NoteArea> note_sections_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_ELF_IMAGE_H_

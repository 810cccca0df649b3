// Parses an ELF shared object from its bytes, without running any of its code.
#ifndef BERTH_HOST_LOADER_ELF_IMAGE_H_
#define BERTH_HOST_LOADER_ELF_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "host/loader/load_error.h"

namespace berth::host {

// A symbol that the library defines and that other libraries can find.
struct ElfSymbol {
  std::string_view name;
  bool is_data = false;  // An object: not a function, not thread-local, not an indirect function.
  uint64_t size = 0;     // In bytes.
};

// The parts of a 64-bit little-endian shared object for this machine that loading depends on, as
// the dynamic linker would find them. Inconsistent bytes are an error; no read ever leaves the
// given bytes, whatever they contain.
// Format: System V ABI, chapters 4 and 5; DT_GNU_HASH as in glibc's elf/dl-lookup.c.
// Lifetime: everything refers to the bytes that were passed to Parse().
class ElfImage {
 public:
  // Errors: kNotElf, kWrongMachine, kNotSharedObject, kBadElf; the caller sets `path`.
  static LoadResult<ElfImage> Parse(std::span<const std::byte> file);

  // Returns the DT_NEEDED entries: the libraries that are loaded with this one.
  std::span<const std::string_view> needed() const { return needed_; }
  // Returns the directories of DT_RPATH and DT_RUNPATH, one element per directory.
  std::span<const std::string_view> run_paths() const { return run_paths_; }
  // Returns the name by which other libraries need this one (DT_SONAME), or nothing.
  std::string_view soname() const { return soname_; }
  // Returns the exported symbols in the order of the symbol table.
  std::span<const ElfSymbol> exports() const { return exports_; }
  // Returns the names of the symbols that other libraries must define.
  std::span<const std::string_view> imports() const { return imports_; }
  // Returns the number of STB_GNU_UNIQUE symbols, which have one definition for the whole process,
  // in spite of RTLD_LOCAL.
  uint64_t unique_symbols() const { return unique_symbols_; }

  // Returns true if the dynamic linker makes the stacks of all threads executable when it loads the
  // library.
  bool executable_stack() const { return executable_stack_; }

  // Returns the descriptors of all notes with this name and type: those in PT_NOTE segments or, if
  // there are none, those in note sections.
  std::vector<std::span<const std::byte>> FindNotes(std::string_view name, uint32_t type) const;

 private:
  friend class ElfReader;
  struct NoteArea {
    std::span<const std::byte> bytes;
    uint64_t alignment = 4;
  };

  std::vector<std::string_view> needed_;
  std::vector<std::string_view> run_paths_;
  std::string_view soname_;
  std::vector<ElfSymbol> exports_;
  std::vector<std::string_view> imports_;
  uint64_t unique_symbols_ = 0;
  bool executable_stack_ = false;
  std::vector<NoteArea> note_segments_;
  std::vector<NoteArea> note_sections_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_ELF_IMAGE_H_

#include "host/loader/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace berth::host {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kHostMachine = EM_X86_64;
constexpr bool kExecutableStackByDefault = true;  // Without PT_GNU_STACK.
#elif defined(__aarch64__)
constexpr uint16_t kHostMachine = EM_AARCH64;
constexpr bool kExecutableStackByDefault = false;
#else
#error "the plugin boundary is 64-bit little-endian; name this machine's ELF number here"
#endif

// Longer than any name that a compiler emits. Limits the time spent on malicious symbol tables.
constexpr uint64_t kMaxNameBytes = 1u << 16;

std::string MachineName(uint16_t machine) {
  switch (machine) {
    case EM_386: return "i386";
    case EM_ARM: return "arm";
    case EM_X86_64: return "x86-64";
    case EM_AARCH64: return "aarch64";
    case EM_RISCV: return "riscv";
    case EM_PPC64: return "ppc64";
    case EM_S390: return "s390";
    default: return "machine " + std::to_string(machine);
  }
}

uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// Collects the matching notes of an area. A note consists of the sizes of name and descriptor, the
// type, the name and the descriptor; the last two are padded to the alignment.
void CollectNotes(std::span<const std::byte> area, uint64_t alignment, std::string_view name,
                  uint32_t type, std::vector<std::span<const std::byte>>* found) {
  const uint64_t unit = alignment == 8 ? 8 : 4;
  uint64_t at = 0;
  while (area.size() - at >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, area.data() + at, sizeof(header));
    const uint64_t name_at = at + sizeof(header);
    const uint64_t text_at = AlignUp(name_at + header.n_namesz, unit);
    if (text_at > area.size() || header.n_descsz > area.size() - text_at) return;
    const std::string_view note_name(reinterpret_cast<const char*>(area.data() + name_at),
                                     header.n_namesz);
    // The size of the name includes its terminating zero.
    const bool same_name = note_name.size() == name.size() + 1 && note_name.starts_with(name) &&
                           note_name.back() == '\0';
    if (same_name && header.n_type == type) {
      found->push_back(area.subspan(text_at, header.n_descsz));
    }
    at = AlignUp(text_at + header.n_descsz, unit);
    if (at > area.size()) return;
  }
}

}  // namespace

// Reads one file into an ElfImage, table by table. Offsets and counts in the file are not trusted:
// bytes are accessed only through Slice() and Read().
class ElfReader {
 public:
  explicit ElfReader(std::span<const std::byte> file) : file_(file) {}

  std::optional<LoadError> ReadAll(ElfImage* image) {
    if (auto error = ReadHeader()) return error;
    if (auto error = ReadSegments(image)) return error;
    if (auto error = ReadDynamic(image)) return error;
    if (auto error = ReadSymbols(image)) return error;
    ReadSections(image);
    return std::nullopt;
  }

 private:
  using Bytes = std::span<const std::byte>;

  std::optional<Bytes> Slice(uint64_t offset, uint64_t size) const {
    if (offset > file_.size() || size > file_.size() - offset) return std::nullopt;
    return file_.subspan(offset, size);
  }

  template <class T>
  std::optional<T> Read(uint64_t offset) const {
    const std::optional<Bytes> bytes = Slice(offset, sizeof(T));
    if (!bytes.has_value()) return std::nullopt;
    return Element<T>(*bytes, 0);
  }

  // Returns element `index` of a table that Slice() returned.
  template <class T>
  static T Element(Bytes table, uint64_t index) {
    T value;
    std::memcpy(&value, table.data() + index * sizeof(T), sizeof(T));
    return value;
  }

  static LoadError Bad(std::string expected, std::string found) {
    return MakeLoadError(LoadErrorCode::kBadElf, std::move(expected), std::move(found));
  }

  std::optional<LoadError> ReadHeader() {
    const std::optional<Bytes> identity = Slice(0, EI_NIDENT);
    if (!identity.has_value() || std::memcmp(identity->data(), ELFMAG, SELFMAG) != 0) {
      return MakeLoadError(LoadErrorCode::kNotElf, "an ELF file", "other content");
    }
    const auto byte_at = [&](size_t i) { return std::to_integer<uint8_t>((*identity)[i]); };
    if (byte_at(EI_CLASS) != ELFCLASS64) {
      return MakeLoadError(
          LoadErrorCode::kWrongMachine, "a 64-bit ELF file",
          byte_at(EI_CLASS) == ELFCLASS32 ? "a 32-bit one" : "an unknown ELF class");
    }
    if (byte_at(EI_DATA) != ELFDATA2LSB) {
      return MakeLoadError(LoadErrorCode::kWrongMachine, "a little-endian ELF file",
                           "a big-endian one");
    }
    const std::optional<Elf64_Ehdr> header = Read<Elf64_Ehdr>(0);
    if (!header.has_value()) return Bad("an ELF header of 64 bytes", "the end of the file");
    header_ = *header;
    if (header_.e_machine != kHostMachine) {
      return MakeLoadError(LoadErrorCode::kWrongMachine, MachineName(kHostMachine),
                           MachineName(header_.e_machine));
    }
    if (header_.e_type != ET_DYN) {
      const std::string found = header_.e_type == ET_REL    ? "an object file"
                                : header_.e_type == ET_EXEC ? "an executable"
                                : header_.e_type == ET_CORE ? "a core dump"
                                                            : "an unknown ELF type";
      return MakeLoadError(LoadErrorCode::kNotSharedObject, "a shared object", found);
    }
    return std::nullopt;
  }

  std::optional<LoadError> ReadSegments(ElfImage* image) {
    if (header_.e_phentsize != sizeof(Elf64_Phdr)) {
      return Bad("program headers of 56 bytes", std::to_string(header_.e_phentsize));
    }
    const std::optional<Bytes> table =
        Slice(header_.e_phoff, uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr));
    if (!table.has_value()) return Bad("program headers within the file", "the end of the file");
    image->executable_stack_ = kExecutableStackByDefault;
    for (uint64_t i = 0; i < header_.e_phnum; ++i) {
      const Elf64_Phdr segment = Element<Elf64_Phdr>(*table, i);
      if (segment.p_type == PT_GNU_STACK) {
        image->executable_stack_ = (segment.p_flags & PF_X) != 0;
      }
      if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC && segment.p_type != PT_NOTE) {
        continue;
      }
      const std::optional<Bytes> bytes = Slice(segment.p_offset, segment.p_filesz);
      if (!bytes.has_value()) {
        return Bad("segment " + std::to_string(i) + " within the file", "the end of the file");
      }
      if (segment.p_type == PT_LOAD) loads_.push_back(segment);
      if (segment.p_type == PT_DYNAMIC) dynamic_ = segment;
      if (segment.p_type == PT_NOTE) image->note_segments_.push_back({*bytes, segment.p_align});
    }
    if (!dynamic_.has_value()) {
      return MakeLoadError(LoadErrorCode::kNotSharedObject, "a shared object",
                           "no dynamic segment");
    }
    return std::nullopt;
  }

  // Returns the bytes of the file that are mapped at `address` of the loaded library, up to the end
  // of their segment.
  std::optional<Bytes> AtAddress(uint64_t address) const {
    for (const Elf64_Phdr& load : loads_) {
      if (address < load.p_vaddr || address - load.p_vaddr >= load.p_filesz) continue;
      const uint64_t skip = address - load.p_vaddr;
      return Slice(load.p_offset + skip, load.p_filesz - skip);
    }
    return std::nullopt;
  }

  std::optional<std::string_view> Name(uint64_t offset) const {
    if (offset >= names_.size()) return std::nullopt;
    const Bytes rest = names_.subspan(offset, std::min(names_.size() - offset, kMaxNameBytes));
    const void* end = std::memchr(rest.data(), 0, rest.size());
    if (end == nullptr) return std::nullopt;
    const char* begin = reinterpret_cast<const char*>(rest.data());
    return std::string_view(begin, static_cast<const char*>(end));
  }

  std::optional<LoadError> ReadDynamic(ElfImage* image) {
    const std::optional<Bytes> found = Slice(dynamic_->p_offset, dynamic_->p_filesz);
    const Bytes entries = found.value_or(Bytes{});
    std::optional<uint64_t> names_at;
    std::optional<uint64_t> symbols_at;
    uint64_t names_size = 0;
    for (uint64_t i = 0; i < entries.size() / sizeof(Elf64_Dyn); ++i) {
      const Elf64_Dyn entry = Element<Elf64_Dyn>(entries, i);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_STRTAB) names_at = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) names_size = entry.d_un.d_val;
      if (entry.d_tag == DT_SYMTAB) symbols_at = entry.d_un.d_ptr;
      if (entry.d_tag == DT_HASH) hash_ = entry.d_un.d_ptr;
      if (entry.d_tag == DT_GNU_HASH) gnu_hash_ = entry.d_un.d_ptr;
      if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0) {
        return MakeLoadError(LoadErrorCode::kNotSharedObject, "a shared object",
                             "a position-independent executable");
      }
    }
    if (names_at.has_value()) {
      const std::optional<Bytes> names = AtAddress(*names_at);
      if (!names.has_value() || names_size > names->size()) {
        return Bad("the dynamic string table within a segment", "an address or size outside");
      }
      names_ = names->first(names_size);
    }
    if (symbols_at.has_value()) {
      const std::optional<Bytes> symbols = AtAddress(*symbols_at);
      if (!symbols.has_value()) {
        return Bad("the dynamic symbol table within a segment", "an address outside");
      }
      symbols_ = *symbols;
    }
    return ReadDynamicNames(entries, image);
  }

  std::optional<LoadError> ReadDynamicNames(Bytes entries, ElfImage* image) {
    for (uint64_t i = 0; i < entries.size() / sizeof(Elf64_Dyn); ++i) {
      const Elf64_Dyn entry = Element<Elf64_Dyn>(entries, i);
      if (entry.d_tag == DT_NULL) break;
      const bool is_run_path = entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
      const bool is_soname = entry.d_tag == DT_SONAME;
      if (entry.d_tag != DT_NEEDED && !is_run_path && !is_soname) continue;
      const std::optional<std::string_view> name = Name(entry.d_un.d_val);
      if (!name.has_value()) {
        return Bad("the names of libraries and run paths within the string table",
                   "offset " + std::to_string(entry.d_un.d_val));
      }
      if (is_soname) {
        image->soname_ = *name;
        continue;
      }
      if (!is_run_path) {
        image->needed_.push_back(*name);
        continue;
      }
      std::string_view rest = *name;
      while (true) {
        const size_t colon = rest.find(':');
        image->run_paths_.push_back(rest.substr(0, colon));
        if (colon == std::string_view::npos) break;
        rest.remove_prefix(colon + 1);
      }
    }
    return std::nullopt;
  }

  // DT_HASH: nbucket, nchain, buckets, chains; there is one chain entry per symbol.
  std::optional<uint64_t> CountByHash() const {
    const std::optional<Bytes> table = AtAddress(*hash_);
    if (!table.has_value() || table->size() < 2 * sizeof(uint32_t)) return std::nullopt;
    return Element<uint32_t>(*table, 1);
  }

  // DT_GNU_HASH: bucket count, first hashed symbol, words of the bloom filter, shift; the filter;
  // the buckets; the chains. The last symbol ends the chain of the bucket with the highest start.
  std::optional<uint64_t> CountByGnuHash() const {
    const std::optional<Bytes> table = AtAddress(*gnu_hash_);
    if (!table.has_value() || table->size() < 4 * sizeof(uint32_t)) return std::nullopt;
    const uint64_t buckets = Element<uint32_t>(*table, 0);
    const uint64_t first = Element<uint32_t>(*table, 1);
    const uint64_t bloom_words = Element<uint32_t>(*table, 2);
    const uint64_t words = table->size() / sizeof(uint32_t);
    const uint64_t buckets_at = 4 + 2 * bloom_words;
    const uint64_t chains_at = buckets_at + buckets;
    if (chains_at > words) return std::nullopt;
    uint64_t last = 0;
    for (uint64_t i = 0; i < buckets; ++i) {
      last = std::max<uint64_t>(last, Element<uint32_t>(*table, buckets_at + i));
    }
    if (last < first) return first;
    for (uint64_t i = last - first; chains_at + i < words; ++i) {
      if ((Element<uint32_t>(*table, chains_at + i) & 1) != 0) return first + i + 1;
    }
    return std::nullopt;
  }

  // Counts the symbols of a library without a hash table, in which the dynamic linker finds none.
  uint64_t CountBySections() const {
    for (uint64_t i = 0; i < header_.e_shnum; ++i) {
      const std::optional<Elf64_Shdr> section =
          Read<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr));
      if (!section.has_value()) break;
      if (section->sh_type == SHT_DYNSYM) return section->sh_size / sizeof(Elf64_Sym);
    }
    return 0;
  }

  std::optional<LoadError> ReadSymbols(ElfImage* image) {
    uint64_t count = 0;
    constexpr const char* kOutside = "a table that ends outside";
    if (hash_.has_value()) {
      const std::optional<uint64_t> found = CountByHash();
      if (!found.has_value()) return Bad("the hash table within a segment", kOutside);
      count = *found;
    }
    if (gnu_hash_.has_value()) {
      const std::optional<uint64_t> found = CountByGnuHash();
      if (!found.has_value()) return Bad("the GNU hash table within a segment", kOutside);
      count = std::max(count, *found);
    }
    if (!hash_.has_value() && !gnu_hash_.has_value()) count = CountBySections();
    if (count > symbols_.size() / sizeof(Elf64_Sym)) {
      return Bad("a symbol table within a segment", std::to_string(count) + " symbols");
    }
    for (uint64_t i = 1; i < count; ++i) {
      if (auto error = AddSymbol(Element<Elf64_Sym>(symbols_, i), image)) return error;
    }
    return std::nullopt;
  }

  std::optional<LoadError> AddSymbol(const Elf64_Sym& symbol, ElfImage* image) {
    const uint8_t binding = ELF64_ST_BIND(symbol.st_info);
    const uint8_t type = ELF64_ST_TYPE(symbol.st_info);
    const uint8_t visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    if (binding != STB_GLOBAL && binding != STB_WEAK && binding != STB_GNU_UNIQUE) {
      return std::nullopt;
    }
    const std::optional<std::string_view> name = Name(symbol.st_name);
    if (!name.has_value()) {
      return Bad("symbol names within the string table",
                 "offset " + std::to_string(symbol.st_name));
    }
    if (binding == STB_GNU_UNIQUE) ++image->unique_symbols_;
    if (symbol.st_shndx == SHN_UNDEF) {
      image->imports_.push_back(*name);
    } else if (visibility == STV_DEFAULT || visibility == STV_PROTECTED) {
      image->exports_.push_back({*name, type == STT_OBJECT, symbol.st_size});
    }
    return std::nullopt;
  }

  // Section headers may be stripped or truncated; the search ends at the first invalid one.
  void ReadSections(ElfImage* image) {
    for (uint64_t i = 0; i < header_.e_shnum; ++i) {
      if (header_.e_shoff > file_.size()) return;
      const std::optional<Elf64_Shdr> section =
          Read<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr));
      if (!section.has_value()) return;
      if (section->sh_type != SHT_NOTE) continue;
      const std::optional<Bytes> bytes = Slice(section->sh_offset, section->sh_size);
      if (bytes.has_value()) image->note_sections_.push_back({*bytes, section->sh_addralign});
    }
  }

  Bytes file_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> loads_;
  std::optional<Elf64_Phdr> dynamic_;
  Bytes names_;
  Bytes symbols_;
  std::optional<uint64_t> hash_;      // The address of DT_HASH.
  std::optional<uint64_t> gnu_hash_;  // The address of DT_GNU_HASH.
};

LoadResult<ElfImage> ElfImage::Parse(std::span<const std::byte> file) {
  ElfImage image;
  if (auto error = ElfReader(file).ReadAll(&image)) return *std::move(error);
  return image;
}

std::vector<std::span<const std::byte>> ElfImage::FindNotes(std::string_view name,
                                                            uint32_t type) const {
  std::vector<std::span<const std::byte>> found;
  for (const auto* areas : {&note_segments_, &note_sections_}) {
    for (const NoteArea& area : *areas) {
      CollectNotes(area.bytes, area.alignment, name, type, &found);
    }
    if (!found.empty()) break;
  }
  return found;
}

}  // namespace berth::host

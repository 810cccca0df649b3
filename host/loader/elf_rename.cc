#include "host/loader/elf_rename.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

namespace berth::host {
namespace {

constexpr uint64_t kPageBytes = 0x10000;             // The largest page of the machines.
constexpr uint64_t kMaxAddress = uint64_t{1} << 46;  // Leaves room for the further segment.

uint64_t AlignUp(uint64_t value) { return (value + kPageBytes - 1) / kPageBytes * kPageBytes; }

// Edits one file in memory. ElfImage::Parse() has accepted the file: the program headers and the
// dynamic section lie within it, and the names within the string table.
class ElfRenamer {
 public:
  explicit ElfRenamer(std::span<const std::byte> file) : bytes_(file.begin(), file.end()) {
    header_ = Get<Elf64_Ehdr>(0);
    for (uint64_t i = 0; i < header_.e_phnum; ++i) {
      segments_.push_back(Get<Elf64_Phdr>(header_.e_phoff + i * sizeof(Elf64_Phdr)));
      if (segments_.back().p_type == PT_DYNAMIC) dynamic_ = segments_.back();
    }
  }

  LoadResult<std::vector<std::byte>> Run(const RenameNeeded& rename) {
    ReadNames();
    const size_t before = names_.size();
    RenameEntries(rename);
    RenameVersions(rename);
    if (names_.size() == before) return std::move(bytes_);
    return AppendSegment();
  }

 private:
  template <class T>
  T Get(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(value));
    return value;
  }
  template <class T>
  void Put(uint64_t offset, const T& value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(value));
  }

  // Returns where the file has what is mapped at `address`, if at least `size` bytes follow.
  std::optional<uint64_t> OffsetOf(uint64_t address, uint64_t size) const {
    for (const Elf64_Phdr& load : segments_) {
      if (load.p_type != PT_LOAD || address < load.p_vaddr) continue;
      const uint64_t skip = address - load.p_vaddr;
      if (skip < load.p_filesz && size <= load.p_filesz - skip) return load.p_offset + skip;
    }
    return std::nullopt;
  }

  // Calls `visit` with the offset of each entry of the dynamic section.
  template <class Visit>
  void ForEachEntry(const Visit& visit) {
    for (uint64_t i = 0; i < dynamic_.p_filesz / sizeof(Elf64_Dyn); ++i) {
      const uint64_t at = dynamic_.p_offset + i * sizeof(Elf64_Dyn);
      const Elf64_Dyn entry = Get<Elf64_Dyn>(at);
      if (entry.d_tag == DT_NULL) return;
      visit(at, entry);
    }
  }

  void ReadNames() {
    uint64_t address = 0;
    uint64_t size = 0;
    ForEachEntry([&](uint64_t, const Elf64_Dyn& entry) {
      if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) size = entry.d_un.d_val;
      if (entry.d_tag == DT_VERNEED) versions_at_ = entry.d_un.d_ptr;
      if (entry.d_tag == DT_VERNEEDNUM) n_versions_ = entry.d_un.d_val;
    });
    const std::optional<uint64_t> at = OffsetOf(address, size);
    if (at.has_value()) names_.assign(reinterpret_cast<const char*>(bytes_.data() + *at), size);
    // An added name must not continue the last one.
    if (!names_.empty() && names_.back() != '\0') names_.push_back('\0');
  }

  // Returns the offset of the new name for the name at `offset`; nullopt if it keeps its name.
  std::optional<uint64_t> Renamed(uint64_t offset, const RenameNeeded& rename) {
    if (offset >= names_.size()) return std::nullopt;
    const std::string name(names_.c_str() + offset);
    std::string to = rename(name);
    if (to == name) return std::nullopt;
    const auto [place, is_new] = added_.emplace(std::move(to), names_.size());
    if (is_new) names_.append(place->first).push_back('\0');
    return place->second;
  }

  void RenameEntries(const RenameNeeded& rename) {
    ForEachEntry([&](uint64_t at, Elf64_Dyn entry) {
      const bool has_name =
          entry.d_tag == DT_NEEDED || entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
      const auto to = has_name ? Renamed(entry.d_un.d_val, rename) : std::nullopt;
      if (!to.has_value()) return;
      entry.d_un.d_val = *to;
      Put(at, entry);
    });
  }

  // The dynamic linker looks a version up in the library that has this name, and ends the process
  // if no library has it.
  void RenameVersions(const RenameNeeded& rename) {
    uint64_t address = versions_at_;
    for (uint64_t i = 0; i < n_versions_; ++i) {
      const std::optional<uint64_t> at = OffsetOf(address, sizeof(Elf64_Verneed));
      if (!at.has_value()) return;
      auto version = Get<Elf64_Verneed>(*at);
      if (const auto to = Renamed(version.vn_file, rename)) {
        version.vn_file = static_cast<uint32_t>(*to);
        Put(*at, version);
      }
      if (version.vn_next == 0) return;
      address += version.vn_next;
    }
  }

  LoadResult<std::vector<std::byte>> AppendSegment() {
    uint64_t end = 0;
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD) continue;
      if (segment.p_vaddr > kMaxAddress || segment.p_memsz > kMaxAddress) return NoRoom();
      end = std::max(end, segment.p_vaddr + segment.p_memsz);
    }
    if (segments_.size() + 1 >= PN_XNUM) return NoRoom();
    const uint64_t headers_size = (segments_.size() + 1) * sizeof(Elf64_Phdr);
    Elf64_Phdr added{};
    added.p_type = PT_LOAD;
    added.p_flags = PF_R;
    added.p_offset = AlignUp(bytes_.size());
    added.p_vaddr = added.p_paddr = AlignUp(end);
    added.p_filesz = added.p_memsz = headers_size + names_.size();
    added.p_align = kPageBytes;
    for (Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_PHDR) continue;
      segment.p_offset = added.p_offset;
      segment.p_vaddr = segment.p_paddr = added.p_vaddr;
      segment.p_filesz = segment.p_memsz = headers_size;
    }
    // The segments to load are in the order of their addresses, of which this one is the highest.
    segments_.push_back(added);
    ForEachEntry([&](uint64_t at, Elf64_Dyn entry) {
      if (entry.d_tag == DT_STRTAB) entry.d_un.d_ptr = added.p_vaddr + headers_size;
      if (entry.d_tag == DT_STRSZ) entry.d_un.d_val = names_.size();
      Put(at, entry);
    });
    header_.e_phoff = added.p_offset;
    header_.e_phnum = static_cast<uint16_t>(segments_.size());
    Put(0, header_);
    bytes_.resize(added.p_offset + added.p_filesz);
    for (uint64_t i = 0; i < segments_.size(); ++i) {
      Put(added.p_offset + i * sizeof(Elf64_Phdr), segments_[i]);
    }
    std::memcpy(bytes_.data() + added.p_offset + headers_size, names_.data(), names_.size());
    return std::move(bytes_);
  }

  static LoadError NoRoom() {
    return MakeLoadError(LoadErrorCode::kBadElf, "room for a further segment",
                         "too many segments or too high addresses");
  }

  std::vector<std::byte> bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  Elf64_Phdr dynamic_{};
  std::string names_;                      // The string table, with the new names at its end.
  std::map<std::string, uint64_t> added_;  // The offsets of the new names.
  uint64_t versions_at_ = 0;               // The address of DT_VERNEED.
  uint64_t n_versions_ = 0;
};

}  // namespace

LoadResult<std::vector<std::byte>> RenameDependencies(std::span<const std::byte> file,
                                                      const RenameNeeded& rename) {
  return ElfRenamer(file).Run(rename);
}

}  // namespace berth::host

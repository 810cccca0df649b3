#include "host/loader/elf_image.h"

#include <elf.h>

#include <array>
#include <cstring>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#else
constexpr uint16_t kMachine = EM_AARCH64;
#endif

struct TestSymbol {
  const char* name;
  uint8_t binding = STB_GLOBAL;
  uint8_t type = STT_OBJECT;
  uint8_t visibility = STV_DEFAULT;
  uint16_t section = 1;
};

// Builds a small shared object. Its one PT_LOAD maps the whole file at address kBase, so that
// addresses and offsets differ.
class ElfBuilder {
 public:
  static constexpr uint64_t kBase = 0x10000;

  std::vector<TestSymbol> symbols;
  std::vector<std::string> needed;
  std::vector<std::string> run_paths;
  std::vector<std::string> notes;
  bool notes_in_segment = true;
  bool notes_in_section = false;
  bool gnu_hash = false;
  uint64_t note_alignment = 4;
  uint64_t flags_1 = 0;

  std::vector<std::byte> Build() {
    bytes_.assign(sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr), std::byte{});
    names_.assign(1, '\0');
    const uint64_t note_at = AppendNotes();
    const uint64_t note_size = bytes_.size() - note_at;
    AppendSymbols();
    AppendHash();
    AppendDynamic();
    AppendSections(note_at, note_size);
    WriteHeaders(note_at, note_size);
    return bytes_;
  }

 private:
  template <class T>
  uint64_t Append(const T& value) {
    return AppendRaw(&value, sizeof(T));
  }
  uint64_t AppendRaw(const void* data, size_t size) {
    const uint64_t at = bytes_.size();
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
    return at;
  }
  void Pad(uint64_t alignment) {
    while (bytes_.size() % alignment != 0) bytes_.push_back(std::byte{});
  }
  uint32_t AddName(const std::string& name) {
    const auto at = static_cast<uint32_t>(names_.size());
    names_.append(name).push_back('\0');
    return at;
  }

  uint64_t AppendNotes() {
    Pad(8);
    const uint64_t at = bytes_.size();
    for (const std::string& text : notes) {
      Append(Elf64_Nhdr{6, static_cast<uint32_t>(text.size()), 1});
      AppendRaw("Berth\0\0\0", 8);
      Pad(note_alignment);
      AppendRaw(text.data(), text.size());
      Pad(note_alignment);
    }
    return at;
  }

  void AppendSymbols() {
    Pad(8);
    symbols_at_ = Append(Elf64_Sym{});
    for (const TestSymbol& symbol : symbols) {
      Elf64_Sym raw{};
      raw.st_name = AddName(symbol.name);
      raw.st_info = static_cast<uint8_t>(symbol.binding << 4 | symbol.type);
      raw.st_other = symbol.visibility;
      raw.st_shndx = symbol.section;
      raw.st_size = 80;
      Append(raw);
    }
  }

  void AppendHash() {
    const auto count = static_cast<uint32_t>(symbols.size() + 1);
    hash_at_ = bytes_.size();
    if (!gnu_hash) {
      for (const uint32_t word : {1u, count}) Append(word);
      for (uint32_t i = 0; i < 1 + count; ++i) Append(uint32_t{0});
      return;
    }
    // The table has one bucket that starts at symbol 1, and an empty bloom filter of one word.
    for (const uint32_t word : {1u, 1u, 1u, 0u, 0u, 0u, count > 1 ? 1u : 0u}) Append(word);
    for (uint32_t i = 1; i < count; ++i) Append(i + 1 == count ? 3u : 2u);
  }

  void AppendDynamic() {
    std::vector<Elf64_Dyn> entries;
    const auto add = [&](int64_t tag, uint64_t value) { entries.push_back({tag, {value}}); };
    for (const std::string& name : needed) add(DT_NEEDED, AddName(name));
    for (const std::string& path : run_paths) add(DT_RUNPATH, AddName(path));
    const uint64_t names_at = AppendRaw(names_.data(), names_.size());
    add(DT_STRTAB, kBase + names_at);
    add(DT_STRSZ, names_.size());
    add(DT_SYMTAB, kBase + symbols_at_);
    add(gnu_hash ? DT_GNU_HASH : DT_HASH, kBase + hash_at_);
    if (flags_1 != 0) add(DT_FLAGS_1, flags_1);
    add(DT_NULL, 0);
    Pad(8);
    dynamic_at_ = AppendRaw(entries.data(), entries.size() * sizeof(Elf64_Dyn));
    dynamic_size_ = entries.size() * sizeof(Elf64_Dyn);
  }

  void AppendSections(uint64_t note_at, uint64_t note_size) {
    Pad(8);
    sections_at_ = Append(Elf64_Shdr{});
    Elf64_Shdr section{};
    section.sh_type = notes_in_section ? SHT_NOTE : SHT_PROGBITS;
    section.sh_offset = note_at;
    section.sh_size = note_size;
    section.sh_addralign = note_alignment;
    Append(section);
  }

  void WriteHeaders(uint64_t note_at, uint64_t note_size) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = kMachine;
    header.e_phoff = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 3;
    header.e_shoff = sections_at_;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 2;
    std::memcpy(bytes_.data(), &header, sizeof(header));
    const auto put = [&](uint64_t index, uint32_t type, uint64_t offset, uint64_t size,
                         uint64_t alignment) {
      const Elf64_Phdr segment{type, PF_R, offset, kBase + offset, 0, size, size, alignment};
      std::memcpy(bytes_.data() + sizeof(header) + index * sizeof(segment), &segment,
                  sizeof(segment));
    };
    put(0, PT_LOAD, 0, bytes_.size(), 4096);
    put(1, PT_DYNAMIC, dynamic_at_, dynamic_size_, 8);
    put(2, notes_in_segment ? PT_NOTE : PT_NULL, note_at, note_size, note_alignment);
  }

  std::vector<std::byte> bytes_;
  std::string names_;
  uint64_t symbols_at_ = 0;
  uint64_t hash_at_ = 0;
  uint64_t dynamic_at_ = 0;
  uint64_t dynamic_size_ = 0;
  uint64_t sections_at_ = 0;
};

ElfBuilder TypicalLibrary() {
  ElfBuilder builder;
  builder.symbols = {{"malloc", STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_UNDEF},
                     {"berth_entry_v1"},
                     {"hidden", STB_GLOBAL, STT_OBJECT, STV_HIDDEN},
                     {"local", STB_LOCAL},
                     {"one_of_all", STB_GNU_UNIQUE, STT_FUNC}};
  builder.needed = {"libc.so.6", "libasan.so.8"};
  builder.run_paths = {"/opt/lib:$ORIGIN/../lib"};
  builder.notes = {"{\"abi\":[1,0]}"};
  return builder;
}

std::vector<std::string> TextOfNotes(const ElfImage& image, std::string_view name = "Berth",
                                     uint32_t type = 1) {
  std::vector<std::string> texts;
  for (const auto note : image.FindNotes(name, type)) {
    texts.emplace_back(reinterpret_cast<const char*>(note.data()), note.size());
  }
  return texts;
}

std::vector<std::string_view> NamesOf(std::span<const ElfSymbol> symbols) {
  std::vector<std::string_view> names;
  for (const ElfSymbol& symbol : symbols) names.push_back(symbol.name);
  return names;
}

class ElfHashTest : public ::testing::TestWithParam<bool> {};

TEST_P(ElfHashTest, FindsEverySymbol) {
  ElfBuilder builder = TypicalLibrary();
  builder.gnu_hash = GetParam();
  const std::vector<std::byte> bytes = builder.Build();
  const LoadResult<ElfImage> image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok()) << image.error().ToString();
  EXPECT_THAT(NamesOf(image->exports()), ElementsAre("berth_entry_v1", "one_of_all"));
  EXPECT_TRUE(image->exports()[0].is_data);
  EXPECT_EQ(image->exports()[0].size, 80u);
  EXPECT_FALSE(image->exports()[1].is_data);
  EXPECT_THAT(image->imports(), ElementsAre("malloc"));
  EXPECT_EQ(image->unique_symbols(), 1u);
}

TEST_P(ElfHashTest, AcceptsAnEmptyTable) {
  ElfBuilder builder;
  builder.gnu_hash = GetParam();
  const std::vector<std::byte> bytes = builder.Build();
  const LoadResult<ElfImage> image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok()) << image.error().ToString();
  EXPECT_THAT(image->exports(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(HashAndGnuHash, ElfHashTest, ::testing::Bool());

TEST(ElfImage, ReadsNeededLibrariesAndRunPaths) {
  const std::vector<std::byte> bytes = TypicalLibrary().Build();
  const LoadResult<ElfImage> image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok());
  EXPECT_THAT(image->needed(), ElementsAre("libc.so.6", "libasan.so.8"));
  EXPECT_THAT(image->run_paths(), ElementsAre("/opt/lib", "$ORIGIN/../lib"));
  EXPECT_EQ(image->soname(), "");
}

TEST(ElfImage, SplitsRunPathsWithEmptyElements) {
  ElfBuilder builder;
  builder.run_paths = {":/a:", ""};
  const std::vector<std::byte> bytes = builder.Build();
  EXPECT_THAT(ElfImage::Parse(bytes)->run_paths(), ElementsAre("", "/a", "", ""));
}

TEST(ElfImage, FindsNotesByNameAndType) {
  ElfBuilder builder = TypicalLibrary();
  builder.notes = {"one", "", "three"};
  for (const uint64_t alignment : {4u, 8u}) {
    builder.note_alignment = alignment;
    const std::vector<std::byte> bytes = builder.Build();
    const LoadResult<ElfImage> image = ElfImage::Parse(bytes);
    ASSERT_TRUE(image.ok());
    EXPECT_THAT(TextOfNotes(*image), ElementsAre("one", "", "three")) << alignment;
    EXPECT_THAT(TextOfNotes(*image, "Bert"), IsEmpty());
    EXPECT_THAT(TextOfNotes(*image, "Berth2"), IsEmpty());
    EXPECT_THAT(TextOfNotes(*image, "Berth", 2), IsEmpty());
  }
}

TEST(ElfImage, FindsTheNoteInSegmentsOrSections) {
  for (const bool in_segment : {false, true}) {
    for (const bool in_section : {false, true}) {
      ElfBuilder builder = TypicalLibrary();
      builder.notes_in_segment = in_segment;
      builder.notes_in_section = in_section;
      const std::vector<std::byte> bytes = builder.Build();
      EXPECT_EQ(TextOfNotes(*ElfImage::Parse(bytes)).size(), in_segment || in_section ? 1u : 0u);
    }
  }
}

TEST(ElfImage, DetectsTheRequestForAnExecutableStack) {
  const auto with_stack = [](uint32_t type, uint32_t flags) {
    ElfBuilder builder = TypicalLibrary();
    builder.notes_in_segment = false;  // Leaves a program header unused.
    std::vector<std::byte> bytes = builder.Build();
    const size_t at = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
    std::memcpy(bytes.data() + at + offsetof(Elf64_Phdr, p_type), &type, sizeof(type));
    std::memcpy(bytes.data() + at + offsetof(Elf64_Phdr, p_flags), &flags, sizeof(flags));
    return ElfImage::Parse(bytes)->executable_stack();
  };
  EXPECT_FALSE(with_stack(PT_GNU_STACK, PF_R | PF_W));
  EXPECT_TRUE(with_stack(PT_GNU_STACK, PF_R | PF_W | PF_X));
  EXPECT_EQ(with_stack(PT_NULL, PF_R), kMachine == EM_X86_64);
}

TEST(ElfImage, WorksWithoutSectionHeaders) {
  std::vector<std::byte> bytes = TypicalLibrary().Build();
  const uint64_t nowhere = ~uint64_t{0};
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_shoff), &nowhere, sizeof(nowhere));
  const LoadResult<ElfImage> image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok());
  EXPECT_THAT(TextOfNotes(*image), ElementsAre("{\"abi\":[1,0]}"));
  EXPECT_THAT(NamesOf(image->exports()), ElementsAre("berth_entry_v1", "one_of_all"));
}

template <class T>
std::vector<std::byte> WithField(size_t offset, T value) {
  std::vector<std::byte> bytes = TypicalLibrary().Build();
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
  return bytes;
}

LoadErrorCode CodeOf(const std::vector<std::byte>& bytes) {
  const LoadResult<ElfImage> image = ElfImage::Parse(bytes);
  EXPECT_FALSE(image.ok());
  return image.ok() ? LoadErrorCode::kNotFound : image.error().code;
}

TEST(ElfImage, RejectsFilesThatThisProcessCannotLoad) {
  EXPECT_EQ(CodeOf({}), LoadErrorCode::kNotElf);
  EXPECT_EQ(CodeOf(WithField<uint8_t>(0, 'x')), LoadErrorCode::kNotElf);
  EXPECT_EQ(CodeOf(WithField<uint8_t>(EI_CLASS, ELFCLASS32)), LoadErrorCode::kWrongMachine);
  EXPECT_EQ(CodeOf(WithField<uint8_t>(EI_DATA, ELFDATA2MSB)), LoadErrorCode::kWrongMachine);
  EXPECT_EQ(CodeOf(WithField<uint16_t>(offsetof(Elf64_Ehdr, e_machine), EM_RISCV)),
            LoadErrorCode::kWrongMachine);
  EXPECT_EQ(CodeOf(WithField<uint16_t>(offsetof(Elf64_Ehdr, e_type), ET_EXEC)),
            LoadErrorCode::kNotSharedObject);
  EXPECT_EQ(CodeOf(WithField<uint16_t>(offsetof(Elf64_Ehdr, e_type), ET_REL)),
            LoadErrorCode::kNotSharedObject);
  EXPECT_EQ(CodeOf(WithField<uint16_t>(offsetof(Elf64_Ehdr, e_phnum), 0)),
            LoadErrorCode::kNotSharedObject);
  EXPECT_EQ(CodeOf(WithField<uint16_t>(offsetof(Elf64_Ehdr, e_phentsize), 32)),
            LoadErrorCode::kBadElf);
  ElfBuilder executable = TypicalLibrary();
  executable.flags_1 = DF_1_PIE;
  EXPECT_EQ(CodeOf(executable.Build()), LoadErrorCode::kNotSharedObject);
}

// Uses exact copies on the heap, so that AddressSanitizer detects a read of one byte too many.
TEST(ElfImage, RejectsEveryPrefix) {
  for (const bool gnu_hash : {false, true}) {
    ElfBuilder builder = TypicalLibrary();
    builder.gnu_hash = gnu_hash;
    const std::vector<std::byte> bytes = builder.Build();
    for (size_t size = 0; size < bytes.size(); ++size) {
      const std::vector<std::byte> prefix(bytes.begin(),
                                          bytes.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(ElfImage::Parse(prefix).ok()) << size;
    }
  }
}

TEST(ElfImage, HandlesEveryChangedByte) {
  constexpr std::array kValues = {std::byte{0x00}, std::byte{0x01}, std::byte{0x7f},
                                  std::byte{0x80}, std::byte{0xff}};
  for (const bool gnu_hash : {false, true}) {
    ElfBuilder builder = TypicalLibrary();
    builder.gnu_hash = gnu_hash;
    builder.notes_in_section = gnu_hash;
    std::vector<std::byte> bytes = builder.Build();
    uint64_t parsed = 0;
    for (std::byte& byte : bytes) {
      const std::byte original = byte;
      for (const std::byte value : kValues) {
        byte = value;
        const LoadResult<ElfImage> image = ElfImage::Parse(bytes);
        if (image.ok()) parsed += 1 + image->FindNotes("Berth", 1).size();
      }
      byte = original;
    }
    EXPECT_GT(parsed, 0u);
  }
}

}  // namespace
}  // namespace berth::host

#include "host/loader/library_check.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <berth/abi.h>

#include "host/base/foreign_struct.h"
#include "host/base/text.h"
#include "host/loader/elf_image.h"
#include "host/loader/origin_libraries.h"

namespace berth::host {
namespace {

constexpr std::string_view kEntryName = "berth_entry_v1";
constexpr std::string_view kEntryStem = "berth_entry_v";

LoadResult<PluginNote> ReadNote(const ElfImage& image) {
  const auto notes = image.FindNotes(BERTH_NOTE_NAME, BERTH_NOTE_TYPE);
  if (notes.empty()) {
    return MakeLoadError(LoadErrorCode::kNoNote,
                         "the ELF note of a Berth plugin, " BERTH_NOTE_SECTION, "none");
  }
  if (notes.size() > 1) {
    return MakeLoadError(LoadErrorCode::kBadNote, "one note",
                         std::to_string(notes.size()) + " notes");
  }
  const auto bytes = notes.front();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // The descriptor may include the zeros that pad the note to its alignment.
  while (text.ends_with('\0')) text.remove_suffix(1);
  return ParsePluginNote(text);
}

std::optional<LoadError> CheckVersion(const PluginNote& note) {
  if (note.abi_major != BERTH_ABI_MAJOR) {
    return MakeLoadError(LoadErrorCode::kAbiMajor, "ABI version " + std::to_string(BERTH_ABI_MAJOR),
                         "version " + std::to_string(note.abi_major));
  }
  if (note.min_host_minor > BERTH_ABI_MINOR) {
    return MakeLoadError(LoadErrorCode::kHostTooOld, "a plugin for ABI " + HostAbi() + " or older",
                         "a plugin that requires " + std::to_string(note.abi_major) + "." +
                             std::to_string(note.min_host_minor));
  }
  return std::nullopt;
}

bool IsSanitizerLibrary(std::string_view needed) {
  std::string_view name = needed.substr(needed.rfind('/') + 1);
  // Runtimes of GCC, and of Clang with -shared-libsan: libasan.so.8, libclang_rt.asan-x86_64.so.
  constexpr std::array<std::string_view, 2> kPrefixes = {"libclang_rt.", "lib"};
  for (const std::string_view stem : kPrefixes) {
    if (!name.starts_with(stem)) continue;
    name.remove_prefix(stem.size());
    break;
  }
  name = name.substr(0, name.find_first_of(".-_"));
  constexpr std::array<std::string_view, 6> kRuntimes = {"asan", "tsan", "ubsan",
                                                         "lsan", "msan", "hwasan"};
  return std::find(kRuntimes.begin(), kRuntimes.end(), name) != kRuntimes.end();
}

// Clang links the sanitizer runtime into the executable, so a library imports its functions.
bool IsSanitizerFunction(std::string_view import) {
  return import == "__asan_init" || import == "__tsan_init" || import == "__msan_init" ||
         import == "__hwasan_init" || import.starts_with("__ubsan_handle_");
}

// Rejects a library that needs a sanitizer runtime: the runtime's initialisation ends a process
// that was not started with it. A host that was built with the same sanitizer has the runtime
// already.
std::optional<LoadError> CheckSanitizers(const ElfImage& image) {
  constexpr const char* kExpected = "a library without a sanitizer runtime";
  for (const std::string_view needed : image.needed()) {
    if (!IsSanitizerLibrary(needed)) continue;
    void* present = ::dlopen(std::string(needed).c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (present == nullptr) {
      return MakeLoadError(LoadErrorCode::kSanitizerRuntime, kExpected, std::string(needed));
    }
    ::dlclose(present);
  }
  for (const std::string_view import : image.imports()) {
    if (!IsSanitizerFunction(import)) continue;
    if (::dlsym(RTLD_DEFAULT, std::string(import).c_str()) == nullptr) {
      return MakeLoadError(LoadErrorCode::kSanitizerRuntime, kExpected, std::string(import));
    }
  }
  return std::nullopt;
}

// musl's library is libc.musl-x86_64.so.1 where a distribution names it, and libc.so by its own
// makefile. That of glibc is libc.so.6.
bool IsMuslLibrary(std::string_view needed) {
  const std::string_view name = needed.substr(needed.rfind('/') + 1);
  return name.starts_with("libc.musl-") || name.starts_with("ld-musl-") || name == "libc.so";
}

// Two C libraries in one process have two heaps and two kinds of thread-local data.
std::optional<LoadError> CheckLibc(const ElfImage& image) {
  for (const std::string_view needed : image.needed()) {
    if (!IsMuslLibrary(needed)) continue;
    return MakeLoadError(
        LoadErrorCode::kOtherLibc, "",
        "the library is linked against musl libc (" + std::string(needed) +
            "), and this host runs on glibc; build it for glibc: on a "
            "distribution with glibc, or in Rust for a target that ends with -gnu");
  }
  return std::nullopt;
}

// To load such a library, the dynamic linker makes the stacks of all threads executable.
std::optional<LoadError> CheckStack(const ElfImage& image) {
  if (!image.executable_stack()) return std::nullopt;
  return MakeLoadError(LoadErrorCode::kExecutableStack,
                       "a library that runs without an executable stack",
                       "one that requests it; link it with -Wl,-z,noexecstack. The request comes "
                       "from an assembler file without the section .note.GNU-stack, or from a "
                       "nested function of GNU C, which must become a function of its own");
}

// A path that is relative to the working directory is unsafe. $ORIGIN is replaced later; see
// OriginLibraries. `whose`: "run paths". `has_origin`: is set if the path has $ORIGIN.
std::optional<LoadError> CheckPath(std::string_view path, const std::string& whose,
                                   bool& has_origin) {
  const std::string expanded = ExpandOrigin(path, "/");
  has_origin = has_origin || expanded != path;
  if (expanded.find('$') != std::string::npos) {
    return MakeLoadError(LoadErrorCode::kRunPathToken, whose + " without '$' except for $ORIGIN",
                         Quoted(path));
  }
  if (!expanded.starts_with('/')) {
    return MakeLoadError(LoadErrorCode::kRelativeRunPath,
                         whose + " that are absolute or begin with $ORIGIN", Quoted(path));
  }
  return std::nullopt;
}

std::optional<LoadError> CheckRunPaths(const ElfImage& image, bool& has_origin) {
  for (const std::string_view path : image.run_paths()) {
    if (auto error = CheckPath(path, "run paths", has_origin)) return error;
  }
  for (const std::string_view needed : image.needed()) {
    if (needed.find_first_of("/$") == needed.npos) continue;
    if (auto error = CheckPath(needed, "paths of needed libraries", has_origin)) return error;
  }
  return std::nullopt;
}

bool IsEntryName(std::string_view name) {
  if (!name.starts_with(kEntryStem)) return false;
  name.remove_prefix(kEntryStem.size());
  return !name.empty() && name.find_first_not_of("0123456789") == name.npos;
}

// Returns what an author does about exports that are not an entry.
std::string HowToHideExports(const ElfImage& image) {
  constexpr const char* kFlag = "-Wl,--version-script=<libdir>/cmake/berth/berth_plugin.version";
  const bool is_go = std::ranges::any_of(image.exports(), [](const ElfSymbol& symbol) {
    return symbol.name.starts_with("_cgo") || symbol.name == "crosscall2";
  });
  const std::string how = is_go ? "build it with go build -buildmode=c-shared -ldflags "
                                  "'-extldflags \"" +
                                      std::string(kFlag) + "\"'"
                                : "link it with " + std::string(kFlag);
  return how + ", a file of the SDK (pkg-config --variable=plugin_version_script berth-sdk)";
}

// A library may export the entries of several major versions.
std::optional<LoadError> CheckExports(const ElfImage& image) {
  constexpr const char* kExpected = "berth_entry_v1 as the only exported symbol";
  const ElfSymbol* entry = nullptr;
  std::string others;
  uint64_t n_others = 0;
  for (const ElfSymbol& symbol : image.exports()) {
    if (symbol.name == kEntryName) entry = &symbol;
    if (IsEntryName(symbol.name)) continue;
    if (++n_others <= 3) others.append(" ").append(symbol.name);
  }
  if (n_others > 0) {
    return MakeLoadError(LoadErrorCode::kExports, kExpected,
                         std::to_string(n_others) + " more:" + others +
                             (n_others > 3 ? " ..." : "") + "; " + HowToHideExports(image));
  }
  if (entry == nullptr) return MakeLoadError(LoadErrorCode::kExports, kExpected, "no such symbol");
  constexpr uint32_t kSize = BERTH_FIRST_SIZE(berth_entry, create);
  if (!entry->is_data || entry->size < kSize) {
    return MakeLoadError(
        LoadErrorCode::kExports,
        "berth_entry_v1 to be data of at least " + std::to_string(kSize) + " bytes",
        entry->is_data ? std::to_string(entry->size) + " bytes" : "a symbol that is not data");
  }
  return std::nullopt;
}

}  // namespace

std::string HostAbi() {
  return std::to_string(BERTH_ABI_MAJOR) + "." + std::to_string(BERTH_ABI_MINOR);
}

std::optional<LoadError> CheckDependency(const ElfImage& image) {
  if (auto error = CheckLibc(image)) return error;
  return CheckStack(image);
}

LoadResult<CheckedLibrary> CheckLibrary(std::span<const std::byte> file) {
  const LoadResult<ElfImage> image = ElfImage::Parse(file);
  if (!image.ok()) return image.error();
  LoadResult<PluginNote> note = ReadNote(*image);
  if (!note.ok()) return std::move(note).error();
  if (auto error = CheckVersion(*note)) return *std::move(error);
  if (auto error = CheckDependency(*image)) return *std::move(error);
  if (auto error = CheckSanitizers(*image)) return *std::move(error);
  CheckedLibrary checked{.note = *std::move(note)};
  if (auto error = CheckRunPaths(*image, checked.has_origin)) return *std::move(error);
  if (auto error = CheckExports(*image)) return *std::move(error);
  if (image->unique_symbols() > 0) {
    checked.warnings.push_back(
        std::to_string(image->unique_symbols()) +
        " unique symbols, which all libraries of the process share: build with -fno-gnu-unique");
  }
  return checked;
}

}  // namespace berth::host

#include "host/loader/plugin_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <tuple>
#include <utility>

#include <boost/dll/shared_library.hpp>

#include "host/base/foreign_struct.h"
#include "host/base/kind_name.h"
#include "host/base/text.h"
#include "host/loader/elf_image.h"
#include "host/loader/plugin_points.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace berth::host {
namespace {

constexpr const char* kEntrySymbol = "berth_entry_v1";
constexpr std::string_view kEntryStem = "berth_entry_v";
constexpr uint64_t kMaxPlugins = 1024;  // Per library; a larger count is considered invalid.

std::string HostAbi() {
  return std::to_string(BERTH_ABI_MAJOR) + "." + std::to_string(BERTH_ABI_MINOR);
}

// ---- Checks before any code runs ----

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

// The library is loaded from a private copy, so paths relative to its own location do not work, and
// paths relative to the working directory are unsafe.
std::optional<LoadError> CheckRunPaths(const ElfImage& image) {
  const auto names_origin = [](std::string_view path) { return path.find('$') != path.npos; };
  for (const std::string_view path : image.run_paths()) {
    if (names_origin(path)) {
      return MakeLoadError(LoadErrorCode::kOriginRunPath, "run paths without $ORIGIN",
                           std::string(path));
    }
    if (!path.starts_with('/')) {
      return MakeLoadError(LoadErrorCode::kRelativeRunPath, "absolute run paths",
                           "\"" + std::string(path) + "\"");
    }
  }
  for (const std::string_view needed : image.needed()) {
    if (names_origin(needed)) {
      return MakeLoadError(LoadErrorCode::kOriginRunPath, "needed libraries without $ORIGIN",
                           std::string(needed));
    }
    if (needed.find('/') != needed.npos && !needed.starts_with('/')) {
      return MakeLoadError(LoadErrorCode::kRelativeRunPath,
                           "needed libraries by name or absolute path", std::string(needed));
    }
  }
  return std::nullopt;
}

bool IsEntryName(std::string_view name) {
  if (!name.starts_with(kEntryStem)) return false;
  name.remove_prefix(kEntryStem.size());
  return !name.empty() && name.find_first_not_of("0123456789") == name.npos;
}

// A library may export the entries of several major versions.
std::optional<LoadError> CheckExports(const ElfImage& image) {
  constexpr const char* kExpected = "berth_entry_v1 as the only exported symbol";
  const ElfSymbol* entry = nullptr;
  std::string others;
  uint64_t n_others = 0;
  for (const ElfSymbol& symbol : image.exports()) {
    if (symbol.name == kEntrySymbol) entry = &symbol;
    if (IsEntryName(symbol.name)) continue;
    if (++n_others <= 3) others.append(" ").append(symbol.name);
  }
  if (n_others > 0) {
    return MakeLoadError(
        LoadErrorCode::kExports, kExpected,
        std::to_string(n_others) + " more:" + others + (n_others > 3 ? " ..." : ""));
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

// ---- Loading ----

// Saves the floating-point mode of this thread, and restores it in the destructor. A library that
// is linked with -ffast-math has a static constructor that changes the mode, which would change the
// results of all arithmetic on this thread and on threads that it starts later.
class FloatingPointGuard {
 public:
  FloatingPointGuard() : control_(Control()) { std::fegetenv(&saved_); }
  FloatingPointGuard(const FloatingPointGuard&) = delete;
  FloatingPointGuard& operator=(const FloatingPointGuard&) = delete;
  ~FloatingPointGuard() { std::fesetenv(&saved_); }

  bool Changed() const { return Control() != control_; }

 private:
  static uint32_t Control() {
    const uint32_t rounding = static_cast<uint32_t>(std::fegetround());
#if defined(__x86_64__)
    constexpr uint32_t kStickyFlags = 0x3f;
    return rounding ^ (_mm_getcsr() & ~kStickyFlags);
#else
    return rounding;
#endif
  }

  uint32_t control_;
  std::fenv_t saved_{};
};

std::string DlopenText(const std::string& load_path) {
  const char* text = ::dlerror();
  std::string_view view = text == nullptr ? "dlopen failed without a message" : text;
  const std::string prefix = load_path + ": ";
  if (view.starts_with(prefix)) view.remove_prefix(prefix.size());
  return std::string(view);
}

const void* LibraryOf(const void* address) {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

std::string DraftText(uint64_t draft) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "draft %016" PRIx64, draft);
  return text.data();
}

// A plugin of another draft would read and write other members than this host.
std::optional<LoadError> CheckDraft(const berth_entry& entry) {
  const bool has_draft = BERTH_HAS(&entry, berth_entry, abi_draft);
  if (has_draft && entry.abi_draft == BERTH_ABI_DRAFT) return std::nullopt;
  return MakeLoadError(LoadErrorCode::kAbiDraft, DraftText(BERTH_ABI_DRAFT) + " of <berth/abi.h>",
                       (has_draft ? DraftText(entry.abi_draft) : "a draft without a digest") +
                           "; build the plugin again with the SDK of this host, because "
                           "<berth/abi.h> may change in any way until it is frozen");
}

std::optional<LoadError> CheckEntry(const berth_entry& entry) {
  if (entry.magic != BERTH_MAGIC) {
    return MakeLoadError(LoadErrorCode::kEntryMagic, "magic number " + std::to_string(BERTH_MAGIC),
                         std::to_string(entry.magic));
  }
  constexpr uint32_t kSize = BERTH_FIRST_SIZE(berth_entry, create);
  if (entry.struct_size < kSize) {
    return MakeLoadError(LoadErrorCode::kEntrySize,
                         "an entry of at least " + std::to_string(kSize) + " bytes",
                         std::to_string(entry.struct_size));
  }
  if (auto error = CheckDraft(entry)) return error;
  if (entry.pointer_bits != 64) {
    return MakeLoadError(LoadErrorCode::kEntrySize, "pointers of 64 bits",
                         std::to_string(entry.pointer_bits));
  }
  if (entry.create == nullptr) {
    return MakeLoadError(LoadErrorCode::kEntryFunction, "create to be set", "NULL");
  }
  const std::array functions = {std::pair("init", reinterpret_cast<const void*>(entry.init)),
                                std::pair("deinit", reinterpret_cast<const void*>(entry.deinit)),
                                std::pair("create", reinterpret_cast<const void*>(entry.create))};
  const void* library = LibraryOf(&entry);
  for (const auto& [name, address] : functions) {
    if (address == nullptr || LibraryOf(address) == library) continue;
    return MakeLoadError(LoadErrorCode::kEntryFunction,
                         std::string(name) + " to be a function of this library",
                         "a function of another library");
  }
  return std::nullopt;
}

std::vector<std::string> CopyList(const char* const* list) {
  std::vector<std::string> copy;
  for (; list != nullptr && *list != nullptr; ++list) copy.emplace_back(*list);
  return copy;
}

std::string TextOr(const char* text, const char* otherwise) {
  return text != nullptr && *text != '\0' ? text : otherwise;
}

std::optional<LoadError> CheckKinds(const PluginInfo& info) {
  for (const std::string& kind : info.kinds) {
    std::string expected = WhyNotDeclarable(kind);
    if (expected.empty()) continue;
    return MakeLoadError(LoadErrorCode::kBadKind, "in kinds " + std::move(expected), Quoted(kind),
                         info.name);
  }
  return std::nullopt;
}

LoadResult<PluginInfo> CopyInfo(const berth_plugin_info* from, uint64_t index) {
  const std::string which = "plugin info " + std::to_string(index);
  if (from == nullptr) return MakeLoadError(LoadErrorCode::kBadInfo, which, "NULL");
  constexpr uint32_t kSize = BERTH_FIRST_SIZE(berth_plugin_info, args_schema);
  if (from->struct_size < kSize) {
    return MakeLoadError(LoadErrorCode::kBadInfo,
                         which + " of at least " + std::to_string(kSize) + " bytes",
                         std::to_string(from->struct_size));
  }
  PluginInfo info;
  info.name = TextOr(from->name, "");
  info.version = TextOr(from->version, "");
  if (info.name.empty() || info.version.empty()) {
    return MakeLoadError(LoadErrorCode::kBadInfo, which + " with a name and a version",
                         info.name.empty() ? "no name" : "no version of \"" + info.name + "\"");
  }
  info.about = TextOr(from->about, "");
  info.points = CopyList(from->points);
  info.services = CopyList(from->services);
  info.kinds = CopyList(from->kinds);
  info.fields = CopyList(from->fields);
  info.pod_fields = CopyList(from->pod_fields);
  info.args_schema = TextOr(from->args_schema, "{}");
  info.blocks_in_bind = (from->flags & BERTH_PLUGIN_BLOCKS_IN_BIND) != 0;
  if (auto error =
          UnknownFlags(LoadErrorCode::kBadInfo, which, from->flags, BERTH_PLUGIN_BLOCKS_IN_BIND)) {
    error->plugin = info.name;
    return *std::move(error);
  }
  if (auto error = CheckKinds(info)) return *std::move(error);
  return info;
}

LoadResult<std::vector<PluginInfo>> CopyInfos(const berth_entry& entry) {
  if (entry.n_plugins > kMaxPlugins || (entry.n_plugins > 0 && entry.plugins == nullptr)) {
    return MakeLoadError(LoadErrorCode::kBadInfo,
                         "at most " + std::to_string(kMaxPlugins) + " plugins",
                         entry.plugins == nullptr ? "NULL" : std::to_string(entry.n_plugins));
  }
  std::vector<PluginInfo> infos;
  for (uint64_t i = 0; i < entry.n_plugins; ++i) {
    LoadResult<PluginInfo> info = CopyInfo(entry.plugins[i], i);
    if (!info.ok()) return std::move(info).error();
    infos.push_back(*std::move(info));
  }
  return infos;
}

// ---- Comparison of note and entry ----

LoadError Differs(const std::string& field, const std::string& note, const std::string& entry) {
  return MakeLoadError(LoadErrorCode::kNoteDiffersFromEntry,
                       field + " " + note + ", as in the note", entry + " in the entry");
}

std::string ListText(const std::vector<std::string>& texts) {
  return "[" + Join(texts, ", ") + "]";
}

std::optional<LoadError> ComparePlugin(const PluginInNote& noted, const PluginInfo& info,
                                       uint64_t index) {
  const std::string field = "plugins[" + std::to_string(index) + "].";
  if (noted.name != info.name) return Differs(field + "name", noted.name, info.name);
  if (noted.version != info.version) {
    return Differs(field + "version", noted.version, info.version);
  }
  if (noted.points != info.points) {
    return Differs(field + "points", ListText(noted.points), ListText(info.points));
  }
  return std::nullopt;
}

std::optional<LoadError> CompareWithNote(const PluginNote& note, const berth_entry& entry,
                                         const std::vector<PluginInfo>& infos) {
  using Number = std::tuple<const char*, uint64_t, uint64_t>;
  const std::array<Number, 4> numbers = {{
      {"abi_major", note.abi_major, entry.abi_major},
      {"abi_minor", note.abi_minor, entry.abi_minor},
      {"min_host_minor", note.min_host_minor, entry.min_host_minor},
      {"n_plugins", note.plugins.size(), infos.size()},
  }};
  for (const auto& [name, noted, found] : numbers) {
    if (noted != found) return Differs(name, std::to_string(noted), std::to_string(found));
  }
  for (uint64_t i = 0; i < infos.size(); ++i) {
    if (auto error = ComparePlugin(note.plugins[i], infos[i], i)) return error;
  }
  return std::nullopt;
}

// A plugin built against a newer header may have points that are unknown to this host. In a plugin
// built against this header or an older one, an unknown point is a spelling mistake.
std::optional<LoadError> CheckPoints(const berth_entry& entry,
                                     const std::vector<PluginInfo>& infos) {
  if (entry.abi_minor > BERTH_ABI_MINOR) return std::nullopt;
  for (const PluginInfo& info : infos) {
    for (const std::string& point : info.points) {
      if (IsKnownPoint(point)) continue;
      return MakeLoadError(LoadErrorCode::kUnknownPoint, "an extension point of ABI " + HostAbi(),
                           point, info.name);
    }
  }
  return std::nullopt;
}

}  // namespace

LoadResult<CheckedLibrary> CheckLibrary(std::span<const std::byte> file) {
  const LoadResult<ElfImage> image = ElfImage::Parse(file);
  if (!image.ok()) return image.error();
  LoadResult<PluginNote> note = ReadNote(*image);
  if (!note.ok()) return std::move(note).error();
  if (auto error = CheckVersion(*note)) return *std::move(error);
  if (auto error = CheckSanitizers(*image)) return *std::move(error);
  if (auto error = CheckRunPaths(*image)) return *std::move(error);
  if (auto error = CheckExports(*image)) return *std::move(error);
  CheckedLibrary checked{*std::move(note), {}};
  if (image->unique_symbols() > 0) {
    checked.warnings.push_back(
        std::to_string(image->unique_symbols()) +
        " unique symbols, which all libraries of the process share: build with -fno-gnu-unique");
  }
  return checked;
}

PluginLibrary::PluginLibrary(std::shared_ptr<const void> mapping, const berth_entry* entry,
                             PluginNote note, LibraryDescription description)
    : mapping_(std::move(mapping)),
      entry_(entry),
      note_(std::move(note)),
      description_(std::move(description)) {}

PluginLibrary::~PluginLibrary() {
  if (initialised_ && entry_->deinit != nullptr) entry_->deinit();
}

LoadResult<std::shared_ptr<PluginLibrary>> PluginLibrary::Open(Source source) {
  const auto reject = [&](LoadError error) {
    error.path = source.path;
    return error;
  };
  const auto mapping = std::make_shared<boost::dll::shared_library>();
  {
    const FloatingPointGuard guard;
    // Boost.DLL has names for the portable modes only; RTLD_NODELETE is passed through unchanged.
    constexpr auto kMode = static_cast<boost::dll::load_mode::type>(
        boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local | RTLD_NODELETE);
    boost::dll::fs::error_code code;
    mapping->load(source.load_path, code, kMode);
    if (code) {
      return reject(MakeLoadError(LoadErrorCode::kDlopenFailed,
                                  "a library whose symbols all resolve",
                                  DlopenText(source.load_path)));
    }
    if (guard.Changed()) {
      source.checked.warnings.push_back(
          "the library changes the floating-point mode when it is loaded; the change was undone. "
          "Link without -ffast-math");
    }
  }
  // The symbol is in the symbol table, but the hash table may not lead to it.
  if (!mapping->has(kEntrySymbol)) {
    return reject(
        MakeLoadError(LoadErrorCode::kEntryMagic, "the symbol berth_entry_v1", "no such symbol"));
  }
  const berth_entry* entry = &mapping->get<const berth_entry>(kEntrySymbol);
  if (auto error = CheckEntry(*entry)) return reject(*std::move(error));
  LoadResult<std::vector<PluginInfo>> infos = CopyInfos(*entry);
  if (!infos.ok()) return reject(std::move(infos).error());
  if (auto error = CompareWithNote(source.checked.note, *entry, *infos)) {
    return reject(*std::move(error));
  }
  if (auto error = CheckPoints(*entry, *infos)) return reject(*std::move(error));

  LibraryDescription description{
      .path = std::move(source.path),
      .digest = std::move(source.digest),
      .abi_major = entry->abi_major,
      .abi_minor = entry->abi_minor,
      .min_host_minor = entry->min_host_minor,
      .built_with_asserts = (entry->build_flags & BERTH_BUILD_ASSERTS) != 0,
      .built_with_sanitizer = (entry->build_flags & BERTH_BUILD_SANITIZED) != 0,
      .plugins = *std::move(infos),
      .warnings = std::move(source.checked.warnings)};
  return std::shared_ptr<PluginLibrary>(
      new PluginLibrary(mapping, entry, std::move(source.checked.note), std::move(description)));
}

const PluginInfo* PluginLibrary::Find(std::string_view plugin) const {
  const auto found = std::ranges::find(description_.plugins, plugin, &PluginInfo::name);
  return found == description_.plugins.end() ? nullptr : &*found;
}

std::optional<LoadError> PluginLibrary::Init(const berth_host* host) {
  if (initialised_) return std::nullopt;
  if (entry_->init != nullptr) {
    const FloatingPointGuard guard;
    StatusSink sink;
    const berth_code code = entry_->init(host, sink.raw());
    if (code != BERTH_SUCCESS) {
      const std::string reasons = sink.JoinReasons();
      LoadError error =
          MakeLoadError(LoadErrorCode::kInitFailed, "the library's init to succeed",
                        std::string(CodeName(code)) + (reasons.empty() ? "" : ": ") + reasons);
      error.path = description_.path;
      return error;
    }
  }
  initialised_ = true;
  return std::nullopt;
}

}  // namespace berth::host

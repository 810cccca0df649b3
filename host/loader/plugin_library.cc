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
#include "host/loader/field_path.h"
#include "host/loader/plugin_points.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace berth::host {
namespace {

constexpr const char* kEntrySymbol = "berth_entry_v1";
constexpr uint64_t kMaxPlugins = 1024;  // Per library; a larger count is considered invalid.

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

std::optional<LoadError> CheckFields(const PluginInfo& info) {
  const auto error = [&info](const std::string& list, FieldPathError wrong) {
    return MakeLoadError(LoadErrorCode::kBadInfo, "in " + list + " " + wrong.expected,
                         std::move(wrong.found), info.name);
  };
  for (const std::string& path : info.fields) {
    if (auto wrong = CheckFieldPath(path)) return error("fields", *std::move(wrong));
  }
  for (const std::string& pointer : info.pod_fields) {
    if (auto wrong = CheckPodFieldPath(pointer)) return error("pod_fields", *std::move(wrong));
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
  if (auto error = CheckFields(info)) return *std::move(error);
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

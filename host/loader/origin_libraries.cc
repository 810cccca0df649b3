#include "host/loader/origin_libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "host/loader/elf_image.h"
#include "host/loader/elf_rename.h"
#include "host/loader/library_check.h"
#include "host/loader/library_store.h"

namespace berth::host {
namespace {

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Returns the size of the $ORIGIN that `text` begins with, or 0.
size_t OriginSize(std::string_view text) {
  constexpr std::string_view kPlain = "$ORIGIN";
  constexpr std::string_view kInBraces = "${ORIGIN}";
  if (text.starts_with(kInBraces)) return kInBraces.size();
  if (!text.starts_with(kPlain)) return 0;
  const std::string_view rest = text.substr(kPlain.size());
  const auto is_of_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !rest.empty() && is_of_name(rest.front()) ? 0 : kPlain.size();
}

int AddName(dl_phdr_info* info, size_t /*size*/, void* names) {
  static_cast<std::set<std::string>*>(names)->insert(info->dlpi_name);
  return 0;
}

// Returns the paths of the libraries that are loaded at the first call.
const std::set<std::string>& StartedWith() {
  static const std::set<std::string> names = [] {
    std::set<std::string> loaded;
    ::dl_iterate_phdr(&AddName, &loaded);
    return loaded;
  }();
  return names;
}

// Returns true if the process was started with a library of this name.
bool IsOfProcess(const std::string& name, const std::set<std::string>& started_with) {
  void* const library = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const link_map* map = nullptr;
  const bool is_known = ::dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr;
  const bool is_of_process = is_known && started_with.contains(map->l_name);
  ::dlclose(library);
  return is_of_process;
}

// Returns the error of a library that a plugin needs.
LoadError Of(const std::string& path, LoadError error) {
  if (error.expected.empty()) {
    error.found = "of the needed library " + path + ": " + error.found;
  } else {
    error.expected = "of the needed library " + path + ": " + error.expected;
  }
  return error;
}

class OriginSearch {
 public:
  OriginSearch(const TrustOptions& trust, const std::set<std::string>& started_with)
      : trust_(trust), started_with_(started_with) {}

  // Adds what the library needs. `by_plugin`: it is the plugin library.
  std::optional<LoadError> AddNeededBy(const TrustedFile& file, bool by_plugin) {
    const LoadResult<ElfImage> image = ElfImage::Parse(file.bytes);
    if (!image.ok()) return image.error();
    for (const std::string_view needed : image->needed()) {
      if (auto error = Add(std::string(needed), *image, FolderOf(file.path), by_plugin)) {
        return error;
      }
    }
    return std::nullopt;
  }

  std::vector<OriginLibrary> Take() && { return std::move(found_); }

 private:
  std::optional<LoadError> Add(const std::string& needed, const ElfImage& image,
                               const std::string& folder, bool by_plugin) {
    for (const std::string& path : Candidates(needed, image, folder)) {
      LoadResult<TrustedFile> file = ReadTrustedFile(path, trust_);
      if (!file.ok() && file.error().code == LoadErrorCode::kNotFound) continue;
      if (!file.ok()) return Of(path, std::move(file).error());
      auto error = AddFile(needed, *file, by_plugin);
      // The dynamic linker passes over libraries for another machine.
      if (error.has_value() && error->code == LoadErrorCode::kWrongMachine) continue;
      return error;
    }
    return std::nullopt;
  }

  // Returns the paths through $ORIGIN at which the dynamic linker would look for a library, in
  // their order, before it looks elsewhere.
  std::vector<std::string> Candidates(const std::string& needed, const ElfImage& image,
                                      const std::string& folder) const {
    if (needed.find('/') != std::string::npos) {
      const std::string path = ExpandOrigin(needed, folder);
      return path == needed ? std::vector<std::string>() : std::vector{path};
    }
    std::vector<std::string> paths;
    if (IsOfProcess(needed, started_with_)) return paths;
    for (const std::string_view run_path : image.run_paths()) {
      std::string path = ExpandOrigin(run_path, folder);
      const bool is_expanded = path != run_path;
      path += '/';
      path += needed;
      if (is_expanded) {
        paths.push_back(std::move(path));
      } else if (::access(path.c_str(), R_OK) == 0) {
        break;
      }
    }
    return paths;
  }

  std::optional<LoadError> AddFile(const std::string& name, const TrustedFile& file,
                                   bool by_plugin) {
    const auto known = std::ranges::find_if(found_, [&](const OriginLibrary& library) {
      return library.path == file.path && library.name == name;
    });
    if (known != found_.end()) {
      (by_plugin ? known->is_needed_by_plugin : known->is_needed_by_other) = true;
      return std::nullopt;
    }
    const LoadResult<ElfImage> image = ElfImage::Parse(file.bytes);
    if (!image.ok()) return Of(file.path, image.error());
    if (auto error = CheckDependency(*image)) return Of(file.path, *std::move(error));
    found_.push_back({.name = name,
                      .soname = std::string(image->soname()),
                      .path = file.path,
                      .digest = Sha256Hex(file.bytes),
                      .is_needed_by_plugin = by_plugin,
                      .is_needed_by_other = !by_plugin});
    return AddNeededBy(file, false);
  }

  const TrustOptions& trust_;
  const std::set<std::string>& started_with_;
  std::vector<OriginLibrary> found_;
};

}  // namespace

std::string ExpandOrigin(std::string_view text, std::string_view folder) {
  std::string expanded;
  while (!text.empty()) {
    const size_t size = OriginSize(text);
    expanded.append(size == 0 ? text.substr(0, 1) : folder);
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return expanded;
}

OriginLibraries::OriginLibraries() : started_with_(StartedWith()) {}

LoadResult<std::vector<OriginLibrary>> OriginLibraries::Find(const TrustedFile& file,
                                                             const TrustOptions& trust) const {
  const std::string folder = FolderOf(file.path);
  if (folder.find_first_of(":$") != std::string::npos) {
    return MakeLoadError(LoadErrorCode::kRunPathToken,
                         "a library with $ORIGIN in a folder without ':' and '$' in its path",
                         folder);
  }
  OriginSearch search(trust, started_with_);
  if (auto error = search.AddNeededBy(file, true)) return *std::move(error);
  return std::move(search).Take();
}

std::string OriginLibraries::LoadPath(const OriginLibrary& library) {
  std::vector<std::string>& digests = digests_[library.path];
  auto version = std::ranges::find(digests, library.digest);
  if (version == digests.end()) version = digests.insert(digests.end(), library.digest);
  std::string path = FolderOf(library.path);
  for (auto later = version - digests.begin(); later > 0; --later) path += "/.";
  return path + library.path.substr(library.path.rfind('/'));
}

LoadResult<std::vector<std::byte>> OriginLibraries::Relocate(
    const TrustedFile& file, std::span<const OriginLibrary> libraries) {
  const std::string folder = FolderOf(file.path);
  std::map<std::string, std::string, std::less<>> paths;
  for (const OriginLibrary& library : libraries) {
    if (library.is_needed_by_plugin) paths.emplace(library.name, LoadPath(library));
  }
  return RenameDependencies(file.bytes, [&](std::string_view name) {
    const auto path = paths.find(name);
    return path != paths.end() ? path->second : ExpandOrigin(name, folder);
  });
}

std::optional<LoadError> OriginLibraries::FindConflict(
    std::span<const OriginLibrary> libraries) const {
  for (const OriginLibrary& library : libraries) {
    if (!library.is_needed_by_other) continue;
    const auto loaded = by_name_.find(library.name);
    if (loaded == by_name_.end()) continue;
    const OriginLibrary& other = loaded->second;
    if (other.digest == library.digest) continue;
    return MakeLoadError(
        LoadErrorCode::kLibraryConflict, library.path + " as the library " + library.name,
        other.path + (other.path == library.path ? " with other content" : "") +
            ", which a plugin has loaded; the first library of a name serves all libraries that "
            "need it by this name. Install the same " +
            library.name +
            " for both plugins, or give one of the two another name (-Wl,-soname); after an "
            "update of the file, restart the host");
  }
  return std::nullopt;
}

void OriginLibraries::AddLoaded(std::span<const OriginLibrary> libraries) {
  for (const OriginLibrary& library : libraries) {
    by_name_.emplace(library.name, library);
    if (!library.soname.empty()) by_name_.emplace(library.soname, library);
  }
}

}  // namespace berth::host

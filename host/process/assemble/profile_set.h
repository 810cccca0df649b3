// Loads plugins from directories and single libraries, and the profiles of a command with the
// plugins that they use; names who needs the objects of a kind.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_PROFILE_SET_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_PROFILE_SET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/status.h"
#include "host/config/config_errors.h"
#include "host/config/profile.h"
#include "host/config/profile_reader.h"
#include "host/loader/library_store.h"
#include "host/loader/load_error.h"
#include "host/loader/plugin_catalog.h"
#include "host/plan/plan.h"

namespace berth::host {

// Returns the plugin directory that is used when the user names none: "plugins" beside the
// executable, as in a build tree, or else the directory of an installation,
// <prefix>/<libdir>/berth/plugins.
// Errors: NotFound, with the directories that were tried.
Result<std::string> FindPluginDirectory(const std::string& executable);

// Creates the store of the libraries of a process. It copies each library before it is loaded, to a
// private directory under `temporary_directory`, or to memory where that is impossible; see
// FallbackCopies. `temporary_directory` is not accessed before the first library is copied. The
// store probes each library in a child process, whose time limit `steady_ns` measures: a clock that
// only goes forward.
std::shared_ptr<LibraryStore> MakeLibraryStore(const std::string& temporary_directory,
                                               std::function<int64_t()> steady_ns);

// Threading: one thread at a time while libraries are added; afterwards any thread may read it.
class PluginSet {
 public:
  // Sets that share a store do not load the same library twice.
  explicit PluginSet(std::shared_ptr<LibraryStore> libraries);
  // Creates a set with a store of its own.
  PluginSet(const std::string& temporary_directory, std::function<int64_t()> steady_ns)
      : PluginSet(MakeLibraryStore(temporary_directory, std::move(steady_ns))) {}

  // Loads every lib*.so of the directory that is a plugin library. Adds the errors of those that
  // cannot be loaded to broken(), and those of other libraries to ignored().
  // Errors: the directory does not exist, or cannot be read; no private copy of a library can be
  // made, which is no fault of the library.
  Status AddDirectory(const std::string& directory);
  LoadResult<std::shared_ptr<PluginLibrary>> AddLibrary(const std::string& path);

  PluginCatalog& catalog() { return catalog_; }
  const PluginCatalog& catalog() const { return catalog_; }
  // Returns why plugin libraries could not be loaded. Each error names the file.
  std::span<const LoadError> broken() const { return broken_; }
  // Returns an error kNoNote for each lib*.so that is no plugin library.
  std::span<const LoadError> ignored() const { return ignored_; }

 private:
  std::shared_ptr<LibraryStore> libraries_;
  PluginCatalog catalog_;
  std::vector<LoadError> broken_;
  std::vector<LoadError> ignored_;
};

// The profile that is used when the user names none.
inline constexpr std::string_view kDefaultProfile = "default";

// Reads a configuration file. If the file is larger than kMaxConfigBytes, returns its first
// kMaxConfigBytes + 1 bytes, which the parser rejects.
// Errors: why the file cannot be read, without its path; kNotFound if it does not exist or may not
//         be read.
Result<std::string> ReadConfigFile(const std::string& path);

// Returns the profiles that come with Berth: those beside the executable, as in a build tree, or
// else those of an installation, <prefix>/<datadir>/berth/profiles. There may be none.
ProfileFiles FindProfiles(const std::string& executable);

// Called with the path of each directory and file before it is read.
using BeforeRead = std::function<void(const std::string& path)>;

// Adds the errors that only plugins themselves find in their arguments.
using ArgumentsCheck = std::function<void(std::span<const Profile> profiles,
                                          const PluginCatalog& catalog, ConfigErrors& errors)>;

struct ProfileRequest {
  std::vector<std::string> profiles;            // Files or names. If empty, kDefaultProfile.
  std::vector<std::string> plugin_directories;  // If empty, FindPluginDirectory(executable).
  // The running program. Plugins and profiles that come with Berth are found beside it.
  std::string executable;
  std::shared_ptr<LibraryStore> libraries;
  BeforeRead before_read = {};  // May be empty.
  // Called only if the profiles have errors, which would hide those of the plugins. May be empty.
  ArgumentsCheck check_arguments = {};
};

struct ProfileSet {
  std::shared_ptr<const PluginSet> plugins;
  std::vector<Profile> profiles;
  std::vector<PlanSpec> specs;  // One for each profile, in the same order.
  // The libraries of the plugin directories that could not be loaded and that no profile uses: one
  // line for each, with the file and the reason.
  std::vector<std::string> warnings;
};

// Loads every plugin of the directories into `plugins`. `before_read` may be empty. Libraries that
// cannot be loaded are in plugins.broken().
// Errors: those of PluginSet::AddDirectory; a directory without a plugin library.
Status AddPluginDirectories(std::span<const std::string> directories, const BeforeRead& before_read,
                            PluginSet& plugins);

// Returns one line about a library that could not be loaded: "not loaded: <file>: <reason>".
std::string NotLoadedText(const LoadError& error);

// Loads the plugin directories, reads the profiles, loads the libraries that the profiles name, and
// expands the profiles into plan specifications. Creates no plugin, except in
// request.check_arguments.
// Errors: those of FindPluginDirectory and AddPluginDirectories; otherwise all errors in the
//         profiles, one per line. If a profile names a plugin that was not found, every library
//         that could not be loaded is listed. If an enabled plugin is in two libraries, the refused
//         one is an error too, because the other may decide differently.
Result<ProfileSet> LoadProfiles(const ProfileRequest& request);

// The kinds that the profiles of a scheduler watch, with the plugins that declare them. Every
// version of a kind that a plugin declares is an entry of its own.
//
// Threading: immutable after construction.
class KindUsers {
 public:
  using Map = std::map<std::string, std::set<std::string>, std::less<>>;

  // Contains the pods and nodes of the host alone.
  KindUsers();
  // Contains those of the host and those of the plugins that the profiles enable. A plugin that is
  // not in the catalog is left out.
  KindUsers(const PluginCatalog& catalog, std::span<const PlanSpec> profiles);

  // The names of the plugins that declare each kind; empty for the kinds of the host.
  const Map& kinds() const { return kinds_; }
  // The kinds as the plugins declare them, perhaps in several versions; without those of the host.
  const std::set<std::string>& declared() const { return declared_; }
  // Returns "the host", "the plugin VolumeBinding", "the plugins A and B", "the plugins A, B and
  // C"; an empty text for a kind that is not needed.
  std::string Of(std::string_view kind) const;

 private:
  Map kinds_;
  std::set<std::string> declared_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_PROFILE_SET_H_

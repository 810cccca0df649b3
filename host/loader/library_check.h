// The checks of a plugin library before any of its code runs.
#ifndef BERTH_HOST_LOADER_LIBRARY_CHECK_H_
#define BERTH_HOST_LOADER_LIBRARY_CHECK_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/loader/elf_image.h"
#include "host/loader/load_error.h"
#include "host/loader/plugin_note.h"

namespace berth::host {

// The major and minor version of the ABI that this host serves: "1.0".
std::string HostAbi();

// The result of CheckLibrary().
struct CheckedLibrary {
  PluginNote note;
  std::vector<std::string> warnings = {};  // Problems that are no reason to reject the library.
  bool has_origin = false;                 // It finds libraries through $ORIGIN.
};
// Checks a library before any of its code runs: the ELF file, its note, its exports, and the names
// of the libraries that it needs.
// Errors: kNotElf to kExports; the caller sets `path`.
LoadResult<CheckedLibrary> CheckLibrary(std::span<const std::byte> file);
// Checks a library that a plugin library needs, as far as it can damage this process.
// Errors: kOtherLibc, kExecutableStack; the caller sets `path`.
std::optional<LoadError> CheckDependency(const ElfImage& image);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_LIBRARY_CHECK_H_

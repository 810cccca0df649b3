// Renames what an ELF shared object needs.
#ifndef BERTH_HOST_LOADER_ELF_RENAME_H_
#define BERTH_HOST_LOADER_ELF_RENAME_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/loader/load_error.h"

namespace berth::host {

// Returns the new name for a name in the dynamic section, or the same name.
using RenameNeeded = std::function<std::string(std::string_view name)>;

// Returns a copy of the shared object in which `rename` was applied to the names of the needed
// libraries (DT_NEEDED, and DT_VERNEED, which repeats them) and to the run paths (DT_RPATH and
// DT_RUNPATH, each with all of its directories). The new names may have any length: the copy ends
// with a further segment, which holds the string table and the program headers. Everything else
// keeps its place in the file and in memory.
// REQUIRES: ElfImage::Parse(file) succeeds.
// Errors: kBadElf if the file has no room for a further segment; the caller sets `path`.
LoadResult<std::vector<std::byte>> RenameDependencies(std::span<const std::byte> file,
                                                      const RenameNeeded& rename);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_ELF_RENAME_H_

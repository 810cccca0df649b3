// The ELF note in a plugin library (see BERTH_NOTE in <berth/abi.h>), which is read before the
// library is loaded.
#ifndef BERTH_HOST_LOADER_PLUGIN_NOTE_H_
#define BERTH_HOST_LOADER_PLUGIN_NOTE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/loader/load_error.h"

namespace berth::host {

struct PluginInNote {
  std::string name;
  std::string version;
  std::vector<std::string> points;  // "berth.filter/1", in the order of the note.
};

struct PluginNote {
  uint16_t abi_major = 0;
  uint16_t abi_minor = 0;
  uint16_t min_host_minor = 0;
  std::vector<PluginInNote> plugins;  // At least one; empty for another major version of the ABI.
};

inline constexpr uint64_t kMaxNoteBytes = uint64_t{1} << 20;

// Parses the JSON of the note. Ignores members that are unknown to this host, so that notes may
// grow.
// Errors: kBadNote; `expected` contains the JSON pointer of the error; the caller sets `path`.
LoadResult<PluginNote> ParsePluginNote(std::string_view json);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PLUGIN_NOTE_H_

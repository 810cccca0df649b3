// The note in a plugin library (see BERTH_NOTE in <berth/abi.h>): what it holds, before it is
// loaded.
#ifndef BERTH_HOST_LOADER_PLUGIN_NOTE_H_
#define BERTH_HOST_LOADER_PLUGIN_NOTE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/loader/load_error.h"

namespace berth::host {

struct NotedPlugin {
  std::string name;
  std::string version;
  std::vector<std::string> points;  // "berth.filter/1", in the note's order.
};

struct PluginNote {
  uint16_t abi_major = 0;
  uint16_t abi_minor = 0;
  uint16_t min_host_minor = 0;
  std::vector<NotedPlugin> plugins;  // At least one; none when the major version is not ours.
};

inline constexpr uint64_t kMaxNoteBytes = uint64_t{1} << 20;

// Reads the note's JSON. Members that this host does not know are passed over, so that notes may
// grow.
// Errors: kBadNote; `found` begins with the JSON pointer of what is wrong; `path` is left to the
// caller.
LoadResult<PluginNote> ParsePluginNote(std::string_view json);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PLUGIN_NOTE_H_

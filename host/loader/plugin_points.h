// Copies of the extension point structs of one instance, in the host's own memory.
#ifndef BERTH_HOST_LOADER_PLUGIN_POINTS_H_
#define BERTH_HOST_LOADER_PLUGIN_POINTS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/loader/load_error.h"

namespace berth::host {

// Returns true for the id of an extension point that this host calls.
bool IsKnownPoint(std::string_view id);

// A value in a struct of a plugin that this host does not use, for the log.
struct LoadNote {
  uint32_t level = BERTH_LOG_DEBUG;  // BERTH_LOG_*
  std::string text;
};

// Copies of the structs, so that callers of a point need not check its size: a struct from an older
// plugin is extended with zeros, one from a newer plugin is truncated, and `struct_size` is the
// host's. The data that a struct points to (dependence, interests) is copied too. An unknown flag
// is an error; a dependence with an unknown bit is left out; an unknown action of an interest is
// removed.
// Must not: be moved or copied; structs point into this object.
struct PluginPoints {
  PluginPoints() = default;
  PluginPoints(const PluginPoints&) = delete;
  PluginPoints& operator=(const PluginPoints&) = delete;

  std::optional<berth_pre_enqueue> pre_enqueue;
  std::optional<berth_enqueue_extensions> enqueue_extensions;
  // Of revision 2; lane and next are NULL if the plugin offers only revision 1.
  std::optional<berth_queue_sort_2> queue_sort;
  std::optional<berth_entity> entity;
  std::optional<berth_pre_filter> pre_filter;
  std::optional<berth_filter> filter;
  std::optional<berth_post_filter> post_filter;
  std::optional<berth_pre_score> pre_score;
  std::optional<berth_score> score;
  std::optional<berth_reserve> reserve;
  std::optional<berth_permit> permit;
  std::optional<berth_pre_bind> pre_bind;
  std::optional<berth_bind> bind;
  std::optional<berth_post_bind> post_bind;
  std::optional<berth_attempt_failed> attempt_failed;
  std::optional<berth_changes> changes;
  std::optional<berth_hand_over> hand_over;

  std::optional<berth_dependence> filter_dependence;
  std::optional<berth_dependence> score_dependence;
  std::vector<berth_event_interest> interests;
  std::vector<std::unique_ptr<std::string>> interest_kinds;
  std::vector<LoadNote> notes;
};

// Gets the point `id` from `plugin` and copies it into the corresponding member of `points`.
// Ignores an id that is unknown to this host.
// Errors: kMissingPoint, kBadPoint; the caller sets `path` and `plugin`.
std::optional<LoadError> CopyPoint(const berth_plugin& plugin, const std::string& id,
                                   PluginPoints* points);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PLUGIN_POINTS_H_

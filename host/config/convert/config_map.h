// Finds a KubeSchedulerConfiguration in a ConfigMap, where clusters keep it.
#ifndef BERTH_HOST_CONFIG_CONVERT_CONFIG_MAP_H_
#define BERTH_HOST_CONFIG_CONVERT_CONFIG_MAP_H_

#include <optional>
#include <string>

#include "host/config/config_errors.h"

namespace berth::host {

struct KubeConfigText {
  std::string text;
  // Its name in messages: that of the file, or "scheduler.yaml, data.config.yaml" for an entry of a
  // ConfigMap. Lines count from the first line of `text`.
  std::string file;
  bool is_entry = false;  // Whether the text is an entry of a ConfigMap.
};

// Returns the text to convert: the only KubeSchedulerConfiguration in the data of the file `file`
// if `text` is a ConfigMap; otherwise `text` itself, of whatever kind.
// Errors: a ConfigMap with no such entry, or with several, is added to `errors`.
std::optional<KubeConfigText> FindKubeConfig(const std::string& text, const std::string& file,
                                             ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_CONFIG_MAP_H_

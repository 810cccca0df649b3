// Values and selectors that a service parsed for one plugin instance. The host keeps each of them
// until the plugin releases it.
#ifndef BERTH_HOST_RUNTIME_SERVICES_PLUGIN_OWNED_H_
#define BERTH_HOST_RUNTIME_SERVICES_PLUGIN_OWNED_H_

#include <cstddef>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <berth/abi.h>

#include "host/api/decode.h"
#include "host/base/status.h"
#include "host/base/text.h"
#include "host/runtime/services/services.h"

namespace berth::host {

// T: the type of the pointer that the plugin gets.
// Threading: any.
template <class T>
class PluginOwned {
 public:
  // Keeps `parsed` and returns its root.
  const T* Add(Parsed<T> parsed) {
    const T* const root = parsed.root;
    const std::scoped_lock lock(mutex_);
    parsed_.emplace(root, std::move(parsed));
    return root;
  }
  // Frees what Add() returned `root` for. Returns false if there is no such root.
  bool Release(const T* root) {
    const std::scoped_lock lock(mutex_);
    return parsed_.erase(root) != 0;
  }
  size_t size() {
    const std::scoped_lock lock(mutex_);
    return parsed_.size();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const T*, Parsed<T>> parsed_;
};

// The state of berth.values/1.
struct ParsedValues final : ServiceState {
  static constexpr ServiceIndex kService = ServiceIndex::kValues;

  explicit ParsedValues(const InstanceHost& /*host*/) {}

  PluginOwned<berth_value> values;
};

// The state of berth.selectors/1.
struct ParsedSelectors final : ServiceState {
  static constexpr ServiceIndex kService = ServiceIndex::kSelectors;

  explicit ParsedSelectors(const InstanceHost& /*host*/) {}

  PluginOwned<berth_selector> labels;
  PluginOwned<berth_node_selector> nodes;
};

// Returns a decoder for one value or selector, which every call on any thread creates for itself.
// The ids that a decoder keeps are of no use to it, and would be most of its cost.
inline Decoder DecoderForOne(Interner& interner) {
  DecodeOptions options;
  options.cached_ids = 16;
  return Decoder(interner, std::move(options));
}

// Adds the message of an error to the plugin's status. `status` may be NULL.
inline void AddReason(berth_status* status, const Status& error) {
  if (status != nullptr) status->add_reason(status, AsStr(error.message()));
}

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_PLUGIN_OWNED_H_

// The checks with which the host accepts or rejects a plugin of a profile.
#ifndef BERTH_HOST_CONTRACT_HOST_VALIDATION_H_
#define BERTH_HOST_CONTRACT_HOST_VALIDATION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/loader/load_error.h"
#include "host/loader/plugin_library.h"

namespace berth::host {

struct HostRejection {
  LoadError error;
  bool is_by_schema = false;  // The schema forbids the arguments, and create() was not called.
};

// Checks the arguments against the plugin's schema, then creates the plugin with the code and the
// services with which the host creates the plugins of a profile, and destroys it again. `args`: a
// JSON object, or empty; `deadline_ns`: that of the profile, or 0. Returns why the host rejects the
// plugin, or nullopt if the host accepts it.
// Errors: kBadArguments for arguments that the schema forbids; those of PluginInstance::Create.
std::optional<HostRejection> ValidateByHost(const std::shared_ptr<PluginLibrary>& library,
                                            const std::string& plugin, const std::string& args,
                                            int64_t deadline_ns);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_HOST_VALIDATION_H_

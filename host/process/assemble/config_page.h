// Shows the configuration with which a process runs, as JSON.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_CONFIG_PAGE_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_CONFIG_PAGE_H_

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "host/config/host_config.h"
#include "host/config/profile.h"
#include "host/plan/plan.h"
#include "host/process/assemble/profile_set.h"

namespace berth::host {

// Returns the profile as it takes effect: its file, its schedulerName, the plugins of each point in
// their order, and the keys of each plugin but its arguments, which may hold secrets.
nlohmann::ordered_json ProfileJson(const Profile& profile, const PlanSpec& spec);

// The settings that options on the command line may change.
struct ConfigFacts {
  std::string version = {};  // Of Berth: "0.1.0".
  bool elects = false;
  std::string http_address = {};
  std::string kubeconfig = {};  // Empty: found by itself.
};

// Returns the page /configz of a process on a cluster: {"berth": {...}} with the keys of the host
// file that take effect at the start, with their defaults if they are not set, and with each
// profile as ProfileJson() returns it. It has neither arguments of plugins nor credentials; the
// path of the kubeconfig is no secret. It has no log level, which may change at any time.
// `host`: as read at the start. (component-base: configz)
std::string ConfigPage(const ConfigFacts& facts, const HostConfig& host, const ProfileSet& set);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_CONFIG_PAGE_H_

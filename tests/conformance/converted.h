// Converts a KubeSchedulerConfiguration as `berth profile convert` does, and builds plans from the
// result.
#ifndef BERTH_TESTS_CONFORMANCE_CONVERTED_H_
#define BERTH_TESTS_CONFORMANCE_CONVERTED_H_

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/config/convert/convert_profile.h"
#include "host/loader/plugin_catalog.h"
#include "host/plan/plan.h"

namespace berth::host {

struct Converted {
  // The errors in the configuration or in the converted profiles; empty if there are none.
  std::string errors;
  std::vector<ConvertedProfile> profiles;
  std::vector<std::string> texts;  // The TOML texts of `profiles`.
  std::vector<PlanSpec> specs;     // The plans of the profiles that are read from `texts`.
};

// Converts `text`, which is YAML or JSON, with the defaults of this version of kube-scheduler.
Converted ConvertText(const std::string& text, const PluginCatalog& catalog, KubeVersion version);

// Returns a KubeSchedulerConfiguration v1 with these profiles.
nlohmann::json KubeConfiguration(nlohmann::json profiles);

// Returns the profile that `text` contains. Adds errors to `errors`.
Profile ReadProfileText(const std::string& text, ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_TESTS_CONFORMANCE_CONVERTED_H_

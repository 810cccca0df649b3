// The way of `berth profile convert`, from a KubeSchedulerConfiguration to what runs.
#ifndef BERTH_TESTS_CONFORMANCE_CONVERTED_H_
#define BERTH_TESTS_CONFORMANCE_CONVERTED_H_

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/config/convert/convert_profile.h"
#include "host/loader/plugin_catalog.h"
#include "host/runtime/plan.h"

namespace berth::host {

struct Converted {
  std::string errors;  // Of the configuration, or of what was made of it; empty: there are none.
  std::vector<ConvertedProfile> profiles;
  std::vector<std::string> texts;  // Of their files.
  std::vector<PlanSpec> specs;     // Of what is read from these.
};

// `text` is YAML or JSON.
Converted ConvertText(const std::string& text, const PluginCatalog& catalog);

// A KubeSchedulerConfiguration v1 with these profiles.
nlohmann::json KubeConfiguration(nlohmann::json profiles);

// What a file with this text says. Errors: in `errors`.
Profile ReadProfileText(const std::string& text, ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_TESTS_CONFORMANCE_CONVERTED_H_

#include "tests/conformance/converted.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "host/cli/commands.h"
#include "host/config/convert/kube_config.h"
#include "host/config/profile_reader.h"
#include "host/plan/profile_plan.h"

namespace berth::host {

Converted ConvertText(const std::string& text, const PluginCatalog& catalog, KubeVersion version) {
  Converted converted;
  ConfigErrors errors;
  ConfigErrors warnings;
  const auto config = ReadKubeConfig(text, "config", errors, warnings);
  if (config.has_value()) {
    converted.profiles =
        ConvertKubeConfig(*config, KnownPluginsOf(catalog), version, errors, warnings);
  }
  std::vector<Profile> read;
  for (const ConvertedProfile& profile : converted.profiles) {
    if (!errors.empty()) break;
    converted.texts.push_back(WriteConverted(profile, "config", version));
    read.push_back(ReadProfileText(converted.texts.back(), errors));
  }
  if (errors.empty()) converted.specs = MakePlanSpecs(read, catalog, {}, errors);
  converted.errors = errors.ToStatus().message();
  return converted;
}

nlohmann::json KubeConfiguration(nlohmann::json profiles) {
  return {{"apiVersion", "kubescheduler.config.k8s.io/v1"},
          {"kind", "KubeSchedulerConfiguration"},
          {"profiles", std::move(profiles)}};
}

Profile ReadProfileText(const std::string& text, ConfigErrors& errors) {
  ProfileFiles files;
  files.read = [&text](const std::string&) -> Result<std::string> { return text; };
  return ReadProfile("converted.toml", files, errors).value_or(Profile());
}

}  // namespace berth::host

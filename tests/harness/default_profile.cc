#include "tests/harness/default_profile.h"

#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "host/base/assert.h"
#include "host/config/profile_reader.h"
#include "host/plan/profile_plan.h"
#include "tests/harness/paths.h"

namespace berth::host {

PlanSpec DefaultPlanSpec(const PluginCatalog& catalog) {
  ProfileFiles files;
  files.read = [](const std::string& path) -> Result<std::string> {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  ConfigErrors errors;
  const auto profile = ReadProfile(DefaultProfileFile(), files, errors);
  std::vector<PlanSpec> specs;
  if (profile.has_value()) specs = MakePlanSpecs(std::span(&*profile, 1), catalog, {}, errors);
  BERTH_ASSERT_MSG(errors.empty(), "%s", errors.ToStatus().ToString().c_str());
  return specs.front();
}

}  // namespace berth::host

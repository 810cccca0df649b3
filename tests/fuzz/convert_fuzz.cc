// Fuzzes `berth profile convert`: reads an arbitrary KubeSchedulerConfiguration, converts it,
// writes the profiles and reads them again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/assert.h"
#include "host/config/convert/convert_profile.h"
#include "host/config/convert/kube_plan.h"
#include "host/config/profile_reader.h"
#include "host/config/toml_document.h"

namespace berth::host {
namespace {

// Returns some of kube-scheduler's plugins and one third-party plugin as the installed plugins.
KnownPlugins InstalledPlugins() {
  KnownPlugins known;
  for (const UpstreamPlugin& plugin : UpstreamPlugins(kNewestKubeVersion)) {
    if (plugin.weight != 2) known[std::string(plugin.name)].points = plugin.Points();
  }
  known["ImageLocality"].points = {"PreScore", "Score"};
  known["acme.Rack"].points = {"Filter", "Score", "Permit", "PostBind"};
  return known;
}

// Returns the profile without the plugins that are not installed.
Profile WithoutAbsent(const ConvertedProfile& converted) {
  Profile profile = converted.profile;
  std::erase_if(profile.plugins, [&](const ProfilePlugin& plugin) {
    return converted.absent.contains(plugin.name.value);
  });
  for (ProfileOrder& order : profile.order) {
    std::erase_if(order.plugins, [&](const Placed<std::string>& plugin) {
      return converted.absent.contains(plugin.value);
    });
  }
  std::erase_if(profile.order, [](const ProfileOrder& order) { return order.plugins.empty(); });
  return profile;
}

// Expects that the message starts with the name of the file.
void CheckMessages(const ConfigErrors& errors) {
  const Status all = errors.ToStatus();
  BERTH_ASSERT(all.ok() == errors.empty());
  if (!all.ok()) BERTH_ASSERT(all.message().starts_with("fuzz"));
}

void Run(std::string_view text) {
  static const KnownPlugins known = InstalledPlugins();
  ConfigErrors errors;
  ConfigErrors warnings;
  const auto config = ReadKubeConfig(text, "fuzz", errors, warnings);
  BERTH_ASSERT(config.has_value() || !errors.empty());
  if (!config.has_value()) return CheckMessages(errors);
  const auto profiles = ConvertKubeConfig(*config, known, kNewestKubeVersion, errors, warnings);
  CheckMessages(errors);
  CheckMessages(warnings);
  if (!errors.empty()) return;
  for (const ConvertedProfile& converted : profiles) {
    const std::string written = WriteConverted(converted, "fuzz\x01\n[x]", kNewestKubeVersion);
    if (written.size() > kMaxConfigBytes) continue;
    ProfileFiles files;
    files.read = [&written](const std::string&) -> Result<std::string> { return written; };
    ConfigErrors unread;
    const auto read = ReadProfile("fuzz.toml", files, unread);
    BERTH_ASSERT_MSG(unread.empty(), "%s\n%s", unread.ToStatus().ToString().c_str(),
                     written.c_str());
    BERTH_ASSERT_MSG(*read == WithoutAbsent(converted), "%s", written.c_str());
  }
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}

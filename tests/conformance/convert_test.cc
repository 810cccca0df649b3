// Converts random configurations of kube-scheduler to TOML profiles, reads these again, and expects
// the plans that kube-scheduler's rules give. kube_profile.cc implements these rules and shares no
// code with the conversion.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/emulated_version.h"
#include "tests/conformance/converted.h"
#include "tests/conformance/kube_profile.h"
#include "tests/conformance/test_plugins.h"

namespace berth::host {
namespace {

using nlohmann::json;

constexpr uint32_t kSeeds = 500;

const std::vector<std::string>& UpstreamNames() {
  static const auto* const names = new std::vector<std::string>{"SchedulingGates",
                                                                "PrioritySort",
                                                                "NodeUnschedulable",
                                                                "NodeName",
                                                                "TaintToleration",
                                                                "NodeAffinity",
                                                                "NodePorts",
                                                                "NodeResourcesFit",
                                                                "VolumeRestrictions",
                                                                "NodeVolumeLimits",
                                                                "VolumeBinding",
                                                                "VolumeZone",
                                                                "PodTopologySpread",
                                                                "InterPodAffinity",
                                                                "DynamicResources",
                                                                "DefaultPreemption",
                                                                "NodeResourcesBalancedAllocation",
                                                                "ImageLocality",
                                                                "DefaultBinder",
                                                                "NodeDeclaredFeatures"};
  return *names;
}

// Makes random KubeSchedulerConfigurations.
class RandomConfig {
 public:
  RandomConfig(uint32_t seed, const PluginCatalog& catalog, KubeVersion version)
      : random_(seed), catalog_(catalog), version_(version) {}

  json Make() {
    json profiles = json::array();
    const size_t count = 1 + Below(3);
    for (size_t i = 0; i < count; ++i) profiles.push_back(MakeProfile(i));
    return KubeConfiguration(std::move(profiles));
  }

 private:
  size_t Below(size_t n) { return random_() % n; }
  bool Chance(size_t percent) { return Below(100) < percent; }

  json MakeProfile(size_t index) {
    json profile = {{"schedulerName", "scheduler-" + std::to_string(index)}};
    json plugins = json::object();
    if (Chance(80)) plugins["multiPoint"] = MakeMultiPoint();
    for (const char* key : {"preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score",
                            "reserve", "permit", "preBind", "bind", "postBind"}) {
      if (Chance(30)) plugins[key] = MakePoint(key);
    }
    if (Chance(5)) plugins["queueSort"] = MakePoint("queueSort");
    profile["plugins"] = std::move(plugins);
    profile["pluginConfig"] = MakeArgs();
    return profile;
  }

  json MakeMultiPoint() {
    json set = {{"enabled", json::array()}, {"disabled", json::array()}};
    std::vector<std::string> names = UpstreamNames();
    names.insert(names.end(), {"acme.Gang", "acme.Unknown"});
    std::shuffle(names.begin(), names.end(), random_);
    const bool all = Chance(25);
    for (const std::string& name : names) {
      const bool is_needed = name == "PrioritySort" || name == "DefaultBinder";
      const bool is_disabled = !is_needed && Chance(15);
      if (is_disabled) set["disabled"].push_back({{"name", name}});
      if ((all && is_needed) || Chance(all ? 40 : 15)) set["enabled"].push_back(Entry(name));
    }
    if (all) set["disabled"].push_back({{"name", "*"}});
    return set;
  }

  json MakePoint(const std::string& key) {
    json set = json::object();
    std::vector<std::string> names = UpstreamNames();
    names.insert(names.end(), {"acme.Gang", "acme.Unknown"});
    std::shuffle(names.begin(), names.end(), random_);
    for (const std::string& name : names) {
      // acme.Unknown is never enabled at queueSort: exactly one plugin must sort the queue.
      const bool can_run = name == "acme.Unknown" ? key != "queueSort"
                                                  : KubePluginRunsAt(catalog_, name, key, version_);
      if (can_run && Chance(35)) set["enabled"].push_back(Entry(name));
      if (Chance(can_run ? 25 : 5)) set["disabled"].push_back({{"name", name}});
    }
    if (Chance(15)) set["disabled"].push_back({{"name", "*"}});
    return set;
  }

  json Entry(const std::string& name) {
    json entry = {{"name", name}};
    if (Chance(50)) entry["weight"] = Below(4) == 0 ? 0 : Below(100);
    return entry;
  }

  json MakeArgs() {
    json configs = json::array();
    if (Chance(40)) {
      json resources = json::array();
      for (const char* name : {"cpu", "memory", "nvidia.com/gpu"}) {
        if (Chance(60)) resources.push_back({{"name", name}, {"weight", 1 + Below(100)}});
      }
      configs.push_back({{"name", "NodeResourcesFit"},
                         {"args",
                          {{"apiVersion", "kubescheduler.config.k8s.io/v1"},
                           {"kind", "NodeResourcesFitArgs"},
                           {"ignoredResources", {"example.com/a", "example.com/b \"c\""}},
                           {"scoringStrategy",
                            {{"type", Chance(50) ? "MostAllocated" : "LeastAllocated"},
                             {"resources", resources}}}}}});
    }
    if (Chance(30)) {
      configs.push_back({{"name", "InterPodAffinity"}, {"args", {{"hardPodAffinityWeight", 5}}}});
    }
    if (Chance(30)) {
      json term = {{"key", "disk"}, {"operator", "In"}, {"values", {"ssd", "nvme\n"}}};
      configs.push_back({{"name", "NodeAffinity"},
                         {"args",
                          {{"addedAffinity",
                            {{"preferredDuringSchedulingIgnoredDuringExecution",
                              {{{"weight", 1 + Below(100)},
                                {"preference", {{"matchExpressions", {std::move(term)}}}}}}}}}}}});
    }
    return configs;
  }

  std::mt19937 random_;
  const PluginCatalog& catalog_;
  const KubeVersion version_;
};

// Returns the plugins that run at a point, as in "A, B=3" (B has weight 3). Sorts them at points
// that a plugin always runs at, because there the order has no effect.
std::string UsesAt(const PlanSpec& spec, const PointInfo& point) {
  std::vector<std::string> uses;
  for (const PlanSpec::Use& use : spec.points[static_cast<size_t>(point.point)]) {
    uses.push_back(use.plugin);
    if (point.point != Point::kScore) continue;
    uses.back() += "=" + std::to_string(std::max<int64_t>(use.weight, 1));
  }
  if (!IsNamed(point.point)) std::ranges::sort(uses);
  std::string text;
  for (const std::string& use : uses) text += (text.empty() ? "" : ", ") + use;
  return text;
}

void ExpectEqual(const PlanSpec& want, const PlanSpec& got) {
  EXPECT_EQ(want.scheduler_name, got.scheduler_name);
  for (const PointInfo& point : kPoints) {
    EXPECT_EQ(UsesAt(want, point), UsesAt(got, point)) << point.name;
  }
  const auto args_of = [](const PlanSpec& spec) {
    std::map<std::string, json> args;
    for (const PlanSpec::Plugin& plugin : spec.plugins) {
      const bool has_args = plugin.args != nullptr && !plugin.args->empty();
      args[plugin.name] = has_args ? *plugin.args : json();
    }
    return args;
  };
  EXPECT_EQ(args_of(want), args_of(got));
}

bool CanRun(const PlanSpec& spec) {
  return spec.points[static_cast<size_t>(Point::kQueueSort)].size() == 1 &&
         !spec.points[static_cast<size_t>(Point::kBind)].empty();
}

// Expects that `text` is the whole profile once its comments are uncommented, including the plugins
// that Berth does not have.
void ExpectComments(const ConvertedProfile& converted, const std::string& text) {
  std::string uncommented = text.substr(text.find("schedulerName"));
  for (const std::string_view mark : {"\n# ", "\n  # "}) {
    for (size_t at = 0; (at = uncommented.find(mark, at)) != std::string::npos;) {
      uncommented.replace(at, mark.size(), "\n");
    }
  }
  ConfigErrors errors;
  const Profile read = ReadProfileText(uncommented, errors);
  EXPECT_EQ(errors.ToStatus().message(), "") << uncommented;
  EXPECT_EQ(read, converted.profile) << uncommented;
}

TEST(Convert, RandomConfigurationsRunAsInKubeScheduler) {
  TestPlugins plugins;
  plugins.AddLibrary(BERTH_GANG);
  size_t equal = 0;
  size_t profiles = 0;
  for (uint32_t seed = 1; seed <= kSeeds && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const KubeVersion version = kEmulatedVersions[seed / 2 % kEmulatedVersions.size()];
    const json config = RandomConfig(seed, plugins.catalog(), version).Make();
    SCOPED_TRACE(config.dump());
    std::vector<PlanSpec> want;
    for (const json& profile : config["profiles"]) {
      want.push_back(ToPlanSpec(ReadKubeProfile(profile, version), plugins.catalog()));
    }
    // Converts every second configuration as YAML and the others as JSON.
    const std::string text = seed % 2 == 0 ? "---\n" + config.dump(1) : config.dump();
    const Converted converted = ConvertText(text, plugins.catalog(), version);
    ASSERT_EQ(std::ranges::all_of(want, CanRun), converted.errors.empty()) << converted.errors;
    if (!converted.errors.empty()) continue;
    ++equal;
    ASSERT_EQ(want.size(), converted.specs.size());
    for (size_t i = 0; i < want.size(); ++i) {
      SCOPED_TRACE(converted.texts[i]);
      ExpectEqual(want[i], converted.specs[i]);
      ExpectComments(converted.profiles[i], converted.texts[i]);
      ++profiles;
    }
  }
  std::cout << equal << " of " << kSeeds << " configurations can run, with " << profiles
            << " profiles\n";
  EXPECT_GT(equal, kSeeds / 2);
}

TEST(Convert, AConfigurationWithoutProfilesIsTheDefaultProfile) {
  const TestPlugins plugins;
  for (const KubeVersion version : kEmulatedVersions) {
    SCOPED_TRACE(ToString(version));
    const Converted converted =
        ConvertText(KubeConfiguration(json::array()).dump(), plugins.catalog(), version);
    ASSERT_EQ(converted.errors, "");
    ASSERT_EQ(converted.specs.size(), 1U);
    ExpectEqual(ToPlanSpec(ReadKubeProfile(json::object(), version), plugins.catalog()),
                converted.specs[0]);
  }
}

}  // namespace
}  // namespace berth::host

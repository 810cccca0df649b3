#include "host/config/convert/kube_config.h"

#include <algorithm>
#include <utility>

#include "host/base/text.h"
#include "host/config/args_schema.h"
#include "host/config/config_value.h"
#include "host/config/convert/document.h"
#include "host/config/convert/kube_ignored_keys.h"
#include "host/config/convert/kube_plan.h"
#include "host/config/profile_reader.h"

namespace berth::host {
namespace {

constexpr std::string_view kGroup = "kubescheduler.config.k8s.io/";
constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";
constexpr std::string_view kKind = "KubeSchedulerConfiguration";
constexpr std::string_view kFitPlugin = "NodeResourcesFit";
constexpr int64_t kMaxBackoffSeconds = int64_t{365} * 24 * 3600;

// Extension points of kube-scheduler that are behind feature gates.
constexpr std::array<std::string_view, 3> kGatedPoints = {"placementGenerate", "placementScore",
                                                          "podGroupPostFilter"};
// Former plugins of kube-scheduler.
constexpr std::array<std::string_view, 4> kRemovedPlugins = {"AzureDiskLimits", "CinderLimits",
                                                             "EBSLimits", "GCEPDLimits"};

std::string Indexed(std::string_view path, std::string_view key, size_t index) {
  return std::string(path).append(key).append("[" + std::to_string(index) + "]");
}

class KubeConfigReader {
 public:
  KubeConfigReader(ConfigErrors& errors, ConfigErrors& warnings)
      : errors_(errors), warnings_(warnings) {}

  std::optional<KubeSchedulerConfig> Read(const ConfigValue& root) {
    if (!CheckType(root)) return std::nullopt;
    TableReader reader(root, "", errors_);
    reader.Any("apiVersion");
    reader.Any("kind");
    const ConfigValue* profiles = reader.Array("profiles", "profiles");
    const auto ignored_resources = ReadTopLevel(reader);
    reader.End();
    KubeSchedulerConfig config;
    if (profiles != nullptr) ReadProfiles(*profiles, config);
    if (config.profiles.empty()) {
      config.profiles.emplace_back();
      config.profiles.front().path = "profiles[0]";
      config.profiles.front().place = {root.place.file, 0, 0};
    }
    CheckNames(config);
    if (!ignored_resources.empty()) {
      for (KubeSchedulerProfile& profile : config.profiles) Ignore(ignored_resources, profile);
    }
    return config;
  }

 private:
  bool CheckType(const ConfigValue& root) {
    const size_t before = errors_.size();
    const ConfigValue* kind = root.Find("kind");
    const ConfigValue* version = root.Find("apiVersion");
    if (kind == nullptr || kind->text != kKind) {
      errors_.Expected(kind == nullptr ? root.place : kind->place, "kind", kKind,
                       kind == nullptr ? "none" : kind->Describe());
      return false;
    }
    if (version == nullptr || version->text != kApiVersion) {
      std::string found = version == nullptr ? "none" : version->Describe();
      if (version != nullptr && version->text.starts_with(kGroup)) {
        found +=
            ", which kube-scheduler no longer supports: convert the file to v1 first, and note "
            "that its defaults differ";
      }
      errors_.Expected(version == nullptr ? root.place : version->place, "apiVersion", kApiVersion,
                       found);
    }
    return errors_.size() == before;
  }

  void Warn(const ConfigPlace& place, const std::string& path, std::string text) {
    warnings_.Add(place, path, std::move(text));
  }

  // Returns the resources that NodeResourcesFit does not check because extenders do.
  std::vector<Placed<std::string>> ReadTopLevel(TableReader& reader) {
    const auto parallelism = reader.Int("parallelism", 1, INT32_MAX);
    if (parallelism.has_value() && parallelism->value != 1) {
      Warn(parallelism->place, "parallelism", "ignored: this version schedules on one thread");
    }
    ReadPercentage(reader);
    ReadBackoffs(reader);
    return ReadIgnoredKeys(reader, errors_, warnings_);
  }

  // Sets ignoredResources of NodeResourcesFit. As in kube-scheduler, the resources of extenders
  // replace those of the arguments: pkg/scheduler/scheduler.go, buildExtenders.
  void Ignore(const std::vector<Placed<std::string>>& resources, KubeSchedulerProfile& profile) {
    constexpr std::string_view kPointer = "/ignoredResources";
    KubePluginArgs* config = nullptr;
    for (KubePluginArgs& each : profile.args) {
      if (each.name.value == kFitPlugin) config = &each;
    }
    if (config == nullptr) {
      config = &profile.args.emplace_back();
      config->name = {std::string(kFitPlugin), resources.front().place};
      config->path = "extenders";
    }
    ProfileArgs& args = config->args;
    if (args.value.is_null()) args.value = nlohmann::json::object();
    if (const auto own = args.value.find("ignoredResources"); own != args.value.end()) {
      if (!own->is_array()) return;  // The schema of the arguments reports it.
      Warn(args.PlaceOf(kPointer), config->path + ".args.ignoredResources",
           "replaced by the managedResources of extenders, as kube-scheduler does");
    }
    nlohmann::json names = nlohmann::json::array();
    args.places[std::string(kPointer)] = resources.front().place;
    for (const Placed<std::string>& resource : resources) {
      args.places[std::string(kPointer) + "/" + std::to_string(names.size())] = resource.place;
      names.push_back(resource.value);
    }
    args.value["ignoredResources"] = std::move(names);
  }

  void ReadPercentage(TableReader& reader) {
    constexpr std::string_view kKey = "percentageOfNodesToScore";
    const auto percentage = reader.Int(kKey, 0, 100);
    if (!percentage.has_value() || percentage->value == 100) return;
    Warn(percentage->place, reader.KeyOf(kKey), "ignored: every node is evaluated");
  }

  // kube-scheduler's defaults are 1 and 10.
  void CheckBackoffs(const std::optional<Placed<int64_t>>& initial,
                     const std::optional<Placed<int64_t>>& max) {
    const int64_t least = initial.has_value() ? initial->value : 1;
    const int64_t most = max.has_value() ? max->value : 10;
    if (least <= most) return;
    if (max.has_value()) {
      errors_.Expected(max->place, "podMaxBackoffSeconds",
                       "at least podInitialBackoffSeconds, " + std::to_string(least),
                       std::to_string(most));
    } else {
      errors_.Expected(initial->place, "podInitialBackoffSeconds",
                       "at most podMaxBackoffSeconds, " + std::to_string(most) + " by default",
                       std::to_string(least));
    }
  }

  void ReadBackoffs(TableReader& reader) {
    const size_t before = errors_.size();
    const auto initial = reader.Int("podInitialBackoffSeconds", 1, kMaxBackoffSeconds);
    const auto max = reader.Int("podMaxBackoffSeconds", 1, kMaxBackoffSeconds);
    if (errors_.size() == before) CheckBackoffs(initial, max);
    for (const auto& [key, seconds] :
         {std::pair("podInitialBackoffSeconds", initial), std::pair("podMaxBackoffSeconds", max)}) {
      if (!seconds.has_value()) continue;
      Warn(seconds->place, key,
           "not part of a profile: set " + std::string(key) + " = " +
               std::to_string(seconds->value) + " in the host file, berth.toml");
    }
  }

  void ReadProfiles(const ConfigValue& array, KubeSchedulerConfig& config) {
    for (size_t i = 0; i < array.elements.size(); ++i) {
      const ConfigValue& element = array.elements[i];
      const std::string path = Indexed("", "profiles", i);
      if (!element.is_table()) {
        errors_.Expected(element.place, path, "a profile", element.Describe());
        continue;
      }
      config.profiles.push_back(ReadProfile(element, path));
    }
  }

  KubeSchedulerProfile ReadProfile(const ConfigValue& table, const std::string& path) {
    KubeSchedulerProfile profile;
    profile.path = path;
    profile.place = table.place;
    TableReader reader(table, path + ".", errors_);
    const ConfigValue* name = reader.Any("schedulerName");
    if (name != nullptr && !name->is_string()) {
      reader.Expected("schedulerName", name->place, "the name of a scheduler", name->Describe());
      profile.scheduler_name.value = path;  // Any name, so that no missing name is reported too.
    } else if (name != nullptr) {
      profile.scheduler_name = {name->text, name->place};
      // CheckNames() reports an empty name.
      if (!name->text.empty() && !IsSchedulerName(name->text)) {
        reader.Expected("schedulerName", name->place, kExpectedSchedulerName, Quoted(name->text));
      }
    }
    ReadPercentage(reader);
    if (const ConfigValue* plugins = reader.Table("plugins")) ReadPlugins(*plugins, profile);
    if (const ConfigValue* configs = reader.Array("pluginConfig", "arguments of plugins")) {
      ReadPluginConfigs(*configs, profile);
    }
    reader.End();
    return profile;
  }

  void ReadPlugins(const ConfigValue& table, KubeSchedulerProfile& profile) {
    const std::string path = profile.path + ".plugins.";
    TableReader reader(table, path, errors_);
    if (const ConfigValue* set = reader.Table("multiPoint")) {
      profile.multi_point = ReadSet(*set, path + "multiPoint.");
    }
    for (const std::string_view point : kKubePoints) {
      const std::string key = KubePointKey(point);
      const ConfigValue* set = reader.Table(key);
      if (set != nullptr) profile.points.emplace(point, ReadSet(*set, path + key + "."));
    }
    for (const std::string_view point : kGatedPoints) {
      const ConfigValue* set = reader.Table(point);
      if (set == nullptr) continue;
      const KubePluginSet read = ReadSet(*set, reader.KeyOf(point) + ".");
      if (read.enabled.empty() && read.disabled.empty()) continue;
      Warn(set->place, reader.KeyOf(point),
           "ignored: this version has no such extension point, and kube-scheduler has it behind a "
           "feature gate");
    }
    reader.End();
  }

  KubePluginSet ReadSet(const ConfigValue& table, const std::string& path) {
    TableReader reader(table, path, errors_);
    KubePluginSet set;
    for (auto [key, entries] :
         {std::pair("enabled", &set.enabled), std::pair("disabled", &set.disabled)}) {
      const ConfigValue* array = reader.Array(key, "plugins");
      if (array != nullptr) *entries = ReadEntries(*array, path + key);
    }
    for (const KubePluginEntry& entry : set.enabled) CheckEnabled(entry);
    reader.End();
    return set;
  }

  std::vector<KubePluginEntry> ReadEntries(const ConfigValue& array, const std::string& path) {
    std::vector<KubePluginEntry> entries;
    if (array.elements.size() > kMaxProfilePlugins) {
      errors_.Expected(array.place, path,
                       "at most " + std::to_string(kMaxProfilePlugins) + " plugins",
                       std::to_string(array.elements.size()));
      return entries;
    }
    for (size_t i = 0; i < array.elements.size(); ++i) {
      const ConfigValue& element = array.elements[i];
      KubePluginEntry entry;
      entry.path = Indexed(path, "", i);
      if (!element.is_table()) {
        errors_.Expected(element.place, entry.path, "a plugin, as {name: NodeName}",
                         element.Describe());
        continue;
      }
      TableReader reader(element, entry.path + ".", errors_);
      const auto name = reader.String("name", "the name of a plugin");
      entry.weight = reader.Int("weight", 0, INT32_MAX);
      if (element.Find("name") == nullptr) {
        reader.Expected("name", element.place, "the name of a plugin", "none");
      }
      reader.End();
      if (!name.has_value()) continue;
      entry.name = *name;
      if (path.ends_with("enabled") && FindEntry(entries, name->value) != nullptr) {
        reader.Expected("name", name->place, "unique plugin names", Quoted(name->value) + " twice");
        continue;
      }
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  void CheckEnabled(const KubePluginEntry& entry) {
    const std::string& name = entry.name.value;
    const std::string key = entry.path + ".name";
    if (name == "*") {
      errors_.Expected(entry.name.place, key, "the name of a plugin",
                       "\"*\", which only `disabled` accepts");
    } else if (std::ranges::find(kRemovedPlugins, name) != kRemovedPlugins.end()) {
      errors_.Expected(entry.name.place, key, "a plugin of this version",
                       Quoted(name) + ", which NodeVolumeLimits replaces");
    }
  }

  void ReadPluginConfigs(const ConfigValue& array, KubeSchedulerProfile& profile) {
    for (size_t i = 0; i < array.elements.size(); ++i) {
      const ConfigValue& element = array.elements[i];
      KubePluginArgs config;
      config.path = Indexed(profile.path, ".pluginConfig", i);
      if (!element.is_table()) {
        errors_.Expected(element.place, config.path, "a table with name and args",
                         element.Describe());
        continue;
      }
      TableReader reader(element, config.path + ".", errors_);
      const auto name = reader.String("name", "the name of a plugin");
      const ConfigValue* args = reader.Table("args");
      if (element.Find("name") == nullptr) {
        reader.Expected("name", element.place, "the name of a plugin", "none");
      }
      reader.End();
      if (!name.has_value()) continue;
      config.name = *name;
      if (args != nullptr) config.args = ReadArgs(*args, *name, reader);
      if (profile.FindArgs(name->value) != nullptr) {
        reader.Expected("name", name->place, "unique plugin names", Quoted(name->value) + " twice");
        continue;
      }
      profile.args.push_back(std::move(config));
    }
  }

  ProfileArgs ReadArgs(const ConfigValue& table, const Placed<std::string>& plugin,
                       TableReader& reader) {
    ConfigValue plain = table;
    const std::string kind = plugin.value + "Args";
    for (const auto& [key, expected] :
         {std::pair<std::string_view, std::string_view>("apiVersion", kApiVersion),
          std::pair<std::string_view, std::string_view>("kind", kind)}) {
      const ConfigValue* given = table.Find(key);
      if (given == nullptr) continue;
      // The arguments of a third party's plugin may use these keys for something else.
      const bool is_third_party = FindUpstreamPlugin(plugin.value, kNewestKubeVersion) == nullptr;
      if (is_third_party && given->text != expected) continue;
      if (given->text != expected) {
        reader.Expected("args." + std::string(key), given->place, Quoted(expected),
                        given->Describe());
      }
      const std::string_view left_out = key;
      std::erase_if(plain.members, [left_out](const ConfigMember& m) { return m.key == left_out; });
    }
    return plain.members.empty() ? ProfileArgs() : ToArgs(plain, reader.KeyOf(""), errors_);
  }

  void CheckNames(KubeSchedulerConfig& config) {
    const bool is_given = !config.profiles.front().scheduler_name.place.file.empty();
    if (config.profiles.size() == 1 && !is_given) {
      config.profiles.front().scheduler_name.value = kDefaultSchedulerName;
      return;
    }
    for (size_t i = 0; i < config.profiles.size(); ++i) {
      const KubeSchedulerProfile& profile = config.profiles[i];
      const Placed<std::string>& name = profile.scheduler_name;
      const std::string key = profile.path + ".schedulerName";
      if (name.value.empty()) {
        errors_.Expected(name.place.file.empty() ? profile.place : name.place, key,
                         config.profiles.size() == 1 ? kExpectedSchedulerName
                                                     : "a name, because there are several profiles",
                         name.place.file.empty() ? "none" : Quoted(""));
        continue;
      }
      for (size_t j = 0; j < i; ++j) {
        if (config.profiles[j].scheduler_name.value != name.value) continue;
        errors_.Expected(name.place, key, "a unique name for each profile",
                         Quoted(name.value) + " as in " + config.profiles[j].path);
        break;
      }
    }
  }

  ConfigErrors& errors_;
  ConfigErrors& warnings_;
};

}  // namespace

std::string KubePointKey(std::string_view point) {
  std::string key(point);
  key[0] = static_cast<char>(key[0] - 'A' + 'a');
  return key;
}

const KubePluginEntry* FindEntry(const std::vector<KubePluginEntry>& entries,
                                 std::string_view plugin) {
  const auto found = std::ranges::find_if(
      entries, [plugin](const KubePluginEntry& entry) { return entry.name.value == plugin; });
  return found == entries.end() ? nullptr : &*found;
}

const KubePluginSet& KubeSchedulerProfile::At(std::string_view point) const {
  static const KubePluginSet* const kNothing = new KubePluginSet;
  const auto found = points.find(point);
  return found == points.end() ? *kNothing : found->second;
}

const KubePluginArgs* KubeSchedulerProfile::FindArgs(std::string_view plugin) const {
  const auto found = std::ranges::find_if(
      args, [plugin](const KubePluginArgs& each) { return each.name.value == plugin; });
  return found == args.end() ? nullptr : &*found;
}

std::optional<KubeSchedulerConfig> ReadKubeConfig(std::string_view text, const std::string& file,
                                                  ConfigErrors& errors, ConfigErrors& warnings) {
  const std::optional<ConfigValue> root = ReadDocument(text, file, errors);
  if (!root.has_value()) return std::nullopt;
  return KubeConfigReader(errors, warnings).Read(*root);
}

}  // namespace berth::host

#include "host/config/host_config.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "host/base/log.h"
#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/config/config_path.h"
#include "host/config/config_value.h"
#include "host/config/table_reader.h"
#include "host/config/toml_document.h"

namespace berth::host {
namespace {

constexpr int64_t kMaxSeconds = int64_t{365} * 24 * 3600;

// A key of KubeSchedulerConfiguration that Berth does not support.
struct UnsupportedKey {
  std::string_view key;
  std::string_view why;
};
constexpr std::array<UnsupportedKey, 9> kUnsupportedKeys = {
    {{"apiVersion", "Berth's configuration file has no versions"},
     {"kind", "Berth's configuration file has no kind"},
     {"enableProfiling", "this version does not serve profiling data"},
     {"enableContentionProfiling", "this version does not serve profiling data"},
     {"healthzBindAddress", "health checks are served at the address in [serving]"},
     {"metricsBindAddress", "metrics are served at the address in [serving]"},
     {"extenders", "extenders are not supported; use a plugin instead"},
     {"delayCacheUntilActive", "the cache is always filled before this process leads"},
     {"pluginConfig", "arguments belong into [plugins.args] of a profile"}}};

class HostConfigReader {
 public:
  HostConfigReader(const std::string& file, ConfigErrors& errors) : file_(file), errors_(errors) {}

  HostConfig Read(const ConfigValue& root) {
    TableReader reader(root, "", errors_);
    HostConfig config;
    config.profiles = reader.Strings("profiles", "paths or names of profiles")
                          .value_or(std::vector<Placed<std::string>>());
    for (Placed<std::string>& profile : config.profiles) {
      if (!IsBareProfileName(profile.value)) profile.value = Beside(file_, profile.value);
    }
    config.plugin_directories =
        reader.Strings("pluginDirs", "folders").value_or(std::vector<Placed<std::string>>());
    for (Placed<std::string>& folder : config.plugin_directories) {
      folder.value = Beside(file_, folder.value);
    }
    ReadBackoffs(reader, config);
    config.log_level = ReadLevel(reader);
    if (const ConfigValue* table = reader.Table("deadlines")) ReadDeadlines(*table, config);
    if (const ConfigValue* table = reader.Table("quarantine")) ReadQuarantine(*table, config);
    config.cluster = ReadClusterConfig(reader, file_, errors_);
    RejectUnsupportedKeys(reader);
    reader.End();
    return config;
  }

 private:
  void ReadBackoffs(TableReader& reader, HostConfig& config) {
    const auto initial = reader.Int("podInitialBackoffSeconds", 1, kMaxSeconds);
    const auto max = reader.Int("podMaxBackoffSeconds", 1, kMaxSeconds);
    if (initial.has_value()) config.initial_backoff_ns = initial->value * kSecond;
    if (max.has_value()) config.max_backoff_ns = max->value * kSecond;
    // If only one is set, compare it with kube-scheduler's default of the other.
    const int64_t least = initial.has_value() ? initial->value : 1;
    const int64_t most = max.has_value() ? max->value : 10;
    if (least <= most) return;
    const bool has_max = max.has_value();
    reader.Expected(has_max ? "podMaxBackoffSeconds" : "podInitialBackoffSeconds",
                    has_max ? max->place : initial->place,
                    has_max ? "at least podInitialBackoffSeconds, " + std::to_string(least)
                            : "at most podMaxBackoffSeconds, " + std::to_string(most),
                    std::to_string(has_max ? most : least));
  }

  std::optional<uint32_t> ReadLevel(TableReader& reader) {
    const auto name = reader.String("logLevel", "one of trace, debug, info, warning, error");
    if (!name.has_value()) return std::nullopt;
    if (const auto level = FindLogLevel(name->value); level.has_value()) return level;
    std::vector<std::string> names;
    names.reserve(std::size(kLogLevels));
    for (const auto& [known, level] : kLogLevels) names.emplace_back(known);
    reader.Expected("logLevel", name->place, "one of trace, debug, info, warning, error",
                    Quoted(name->value) + DidYouMean(name->value, names));
    return std::nullopt;
  }

  static std::optional<int64_t> ReadDuration(TableReader& reader, std::string_view key) {
    const auto duration = reader.Duration(key);
    return duration.has_value() ? std::optional(duration->value) : std::nullopt;
  }

  void ReadDeadlines(const ConfigValue& table, HostConfig& config) {
    TableReader reader(table, "deadlines.", errors_);
    config.call_deadline_ns = ReadDuration(reader, "call");
    config.post_filter_deadline_ns = ReadDuration(reader, "postFilter");
    config.bind_deadline_ns = ReadDuration(reader, "bind");
    reader.End();
  }

  void ReadQuarantine(const ConfigValue& table, HostConfig& config) {
    TableReader reader(table, "quarantine.", errors_);
    const auto faults = reader.Int("faults", 0, 1'000'000);
    if (faults.has_value()) config.quarantine_faults = static_cast<uint32_t>(faults->value);
    config.quarantine_window_ns = ReadDuration(reader, "window");
    reader.End();
  }

  // Rejects keys that would otherwise be accepted without effect.
  static void RejectUnsupportedKeys(TableReader& reader) {
    RejectUnless(reader, "parallelism", 1, "this version schedules on one thread");
    RejectUnless(reader, "percentageOfNodesToScore", 100, "every node is evaluated");
    for (const UnsupportedKey& unsupported : kUnsupportedKeys) {
      const ConfigValue* value = reader.AnyUnsuggested(unsupported.key);
      if (value == nullptr) continue;
      reader.Expected(unsupported.key, value->place,
                      std::string("no such key, because ").append(unsupported.why),
                      value->Describe());
    }
  }

  static void RejectUnless(TableReader& reader, std::string_view key, int64_t only,
                           std::string_view why) {
    const ConfigValue* value = reader.Any(key);
    if (value == nullptr) return;
    if (value->kind == ConfigValue::Kind::kInt && value->integer == only) return;
    reader.Expected(key, value->place,
                    std::to_string(only) + " or no such key, because " + std::string(why),
                    value->Describe());
  }

  const std::string& file_;
  ConfigErrors& errors_;
};

}  // namespace

HostConfig ReadHostConfig(std::string_view text, const std::string& file, ConfigErrors& errors) {
  const std::optional<ConfigValue> root = ParseToml(text, file, errors);
  return root.has_value() ? HostConfigReader(file, errors).Read(*root) : HostConfig();
}

}  // namespace berth::host

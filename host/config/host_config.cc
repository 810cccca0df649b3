#include "host/config/host_config.h"

#include <algorithm>
#include <array>
#include <utility>

#include <berth/names.h>

#include "host/base/emulated_version.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/config/config_value.h"
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

constexpr double kMaxQps = 100'000;
constexpr int64_t kMaxBurst = 1'000'000;
constexpr int64_t kMaxConnections = 1024;

// A time of [leaderElection]: the value that is set or its default, and the place if it is set.
struct ElectionTime {
  std::optional<Placed<int64_t>> set;
  int64_t default_ns;

  int64_t ns() const { return set.has_value() ? set->value : default_ns; }
};

template <class T>
std::optional<T> ValueOf(const std::optional<Placed<T>>& placed) {
  return placed.has_value() ? std::optional(placed->value) : std::nullopt;
}

std::optional<uint32_t> CountOf(const std::optional<Placed<int64_t>>& placed) {
  return placed.has_value() ? std::optional(static_cast<uint32_t>(placed->value)) : std::nullopt;
}

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
    config.emulated_version = ReadVersion(reader);
    config.log_level = ReadLevel(reader);
    ReadTable(reader, "deadlines", [&config](TableReader& table) {
      config.call_deadline_ns = ValueOf(table.Duration("call"));
      config.post_filter_deadline_ns = ValueOf(table.Duration("postFilter"));
      config.bind_deadline_ns = ValueOf(table.Duration("bind"));
    });
    ReadTable(reader, "quarantine", [&config](TableReader& table) {
      config.quarantine_faults = CountOf(table.Int("faults", 0, 1'000'000));
      config.quarantine_window_ns = ValueOf(table.Duration("window"));
    });
    ReadClusterTables(reader, config.cluster);
    RejectUnsupportedKeys(reader);
    reader.End();
    return config;
  }

 private:
  void ReadBackoffs(TableReader& reader, HostConfig& config) {
    const size_t before = errors_.size();
    const auto initial = reader.Int("podInitialBackoffSeconds", 1, kMaxSeconds);
    const auto max = reader.Int("podMaxBackoffSeconds", 1, kMaxSeconds);
    if (initial.has_value()) config.initial_backoff_ns = initial->value * kSecond;
    if (max.has_value()) config.max_backoff_ns = max->value * kSecond;
    // If only one is set, compare it with kube-scheduler's default of the other.
    const int64_t least = initial.has_value() ? initial->value : 1;
    const int64_t most = max.has_value() ? max->value : 10;
    if (least <= most || errors_.size() != before) return;
    const bool has_max = max.has_value();
    reader.Expected(has_max ? "podMaxBackoffSeconds" : "podInitialBackoffSeconds",
                    has_max ? max->place : initial->place,
                    has_max ? "at least podInitialBackoffSeconds, " + std::to_string(least)
                            : "at most podMaxBackoffSeconds, " + std::to_string(most),
                    std::to_string(has_max ? most : least));
  }

  static std::optional<KubeVersion> ReadVersion(TableReader& reader) {
    constexpr std::string_view kKey = "emulatedVersion";
    const std::string expected = EmulatedVersionNames();
    const auto text = reader.String(kKey, expected);
    if (!text.has_value()) return std::nullopt;
    const Result<KubeVersion> version = ReadEmulatedVersion(text->value);
    if (version.ok()) return *version;
    reader.Expected(kKey, text->place, expected, Quoted(text->value));
    return std::nullopt;
  }

  std::optional<uint32_t> ReadLevel(TableReader& reader) {
    std::vector<std::string> names;
    names.reserve(std::size(kLogLevels));
    for (const auto& [known, level] : kLogLevels) names.emplace_back(known);
    const auto name = ReadOneOf(reader, "logLevel", "one of " + Join(names, ", "), names);
    return name.has_value() ? FindLogLevel(*name) : std::nullopt;
  }

  // Reads the members of the table `key` of the file, if there is one.
  template <class Read>
  void ReadTable(TableReader& root, std::string_view key, Read read) {
    const ConfigValue* table = root.Table(key);
    if (table == nullptr) return;
    TableReader reader(*table, std::string(key) + ".", errors_);
    read(reader);
    reader.End();
  }

  void ReadClusterTables(TableReader& root, ClusterConfig& config) {
    ReadTable(root, "leaderElection", [&](TableReader& table) { ReadElection(table, config); });
    ReadTable(root, "clientConnection", [&](TableReader& table) { ReadConnection(table, config); });
    ReadTable(root, "serving", [&config](TableReader& table) {
      config.http_address = ValueOf(table.StringOrEmpty(
          "address", "an IP address and a port, such as \"127.0.0.1:10251\", or \"\""));
    });
    ReadTable(root, "logging", [&config](TableReader& table) {
      config.log_format = ReadOneOf(table, "format", "\"text\" or \"json\"", {"text", "json"});
    });
  }

  // Reads one of the words `known`.
  static std::optional<std::string> ReadOneOf(TableReader& reader, std::string_view key,
                                              std::string_view expected,
                                              const std::vector<std::string>& known) {
    const auto word = reader.String(key, expected);
    if (!word.has_value()) return std::nullopt;
    if (std::ranges::find(known, word->value) != known.end()) return word->value;
    reader.Expected(key, word->place, expected,
                    Quoted(word->value) + DidYouMean(word->value, known));
    return std::nullopt;
  }

  void ReadElection(TableReader& table, ClusterConfig& config) {
    config.leader_elect = ValueOf(table.Bool("leaderElect"));
    const size_t before = errors_.size();
    const ElectionTime lease = {ReadLease(table), kDefaultLeaseNs};
    const ElectionTime renew = {table.Duration("renewDeadline"), kDefaultRenewDeadlineNs};
    const ElectionTime retry = {table.Duration("retryPeriod"), kDefaultRetryNs};
    if (errors_.size() == before && AreInOrder(table, lease, renew, retry)) {
      config.lease_ns = ValueOf(lease.set);
      config.renew_deadline_ns = ValueOf(renew.set);
      config.retry_ns = ValueOf(retry.set);
    }
    if (const auto lock = table.String("resourceLock", "\"leases\"");
        lock.has_value() && lock->value != "leases") {
      table.Expected("resourceLock", lock->place, "\"leases\"", Quoted(lock->value));
    }
    config.lease_name = ReadName(table, "resourceName", "the name of a Lease");
    config.lease_namespace = ReadName(table, "resourceNamespace", "the name of a namespace");
    config.stall_limit_ns = ValueOf(table.DurationOrZero("stallLimit"));
  }

  // Other processes read whole seconds from the Lease. With a fraction they would believe that the
  // lease has expired while this process still leads.
  static std::optional<Placed<int64_t>> ReadLease(TableReader& reader) {
    const auto lease = reader.Duration("leaseDuration");
    if (!lease.has_value() || lease->value % kSecond == 0) return lease;
    reader.Expected("leaseDuration", lease->place, "whole seconds, such as \"15s\"",
                    FormatDuration(lease->value));
    return std::nullopt;
  }

  // Checks leaseDuration > renewDeadline > 1.2 * retryPeriod. client-go adds up to a fifth to each
  // period. (leaderelection.go, JitterFactor)
  static bool AreInOrder(TableReader& reader, const ElectionTime& lease, const ElectionTime& renew,
                         const ElectionTime& retry) {
    bool is_valid = true;
    if (lease.ns() <= renew.ns()) {
      is_valid = false;
      if (renew.set.has_value()) {
        reader.Expected("renewDeadline", renew.set->place,
                        "less than leaseDuration, " + FormatDuration(lease.ns()),
                        FormatDuration(renew.ns()));
      } else {
        reader.Expected("leaseDuration", lease.set->place,
                        "more than renewDeadline, " + FormatDuration(renew.ns()),
                        FormatDuration(lease.ns()));
      }
    }
    if (renew.ns() * 10 > retry.ns() * 12) return is_valid;
    if (retry.set.has_value()) {
      reader.Expected("retryPeriod", retry.set->place,
                      "less than renewDeadline / 1.2, " + FormatDuration(renew.ns() * 10 / 12),
                      FormatDuration(retry.ns()));
    } else {
      reader.Expected("renewDeadline", renew.set->place,
                      "more than 1.2 * retryPeriod, " + FormatDuration(retry.ns() * 12 / 10),
                      FormatDuration(renew.ns()));
    }
    return false;
  }

  // Reads the name of an object, which becomes a part of a path of the API server.
  static std::optional<std::string> ReadName(TableReader& reader, std::string_view key,
                                             std::string_view what) {
    const auto name = reader.String(key, what);
    if (!name.has_value()) return std::nullopt;
    if (internal::IsDnsSubdomain(name->value)) return name->value;
    reader.Expected(key, name->place,
                    std::string(what).append(", of lower-case letters, digits, \"-\" and \".\""),
                    Quoted(name->value));
    return std::nullopt;
  }

  void ReadConnection(TableReader& table, ClusterConfig& config) {
    const auto kubeconfig = table.String("kubeconfig", "the path of a kubeconfig");
    if (kubeconfig.has_value()) config.kubeconfig = Beside(file_, kubeconfig->value);
    const size_t before = errors_.size();
    const auto qps = table.Number("qps", 0, kMaxQps);
    const auto burst = table.Int("burst", 0, kMaxBurst);
    const bool has_qps = qps.has_value() && qps->value > 0;
    config.qps = ValueOf(qps);
    const bool can_be_compared = burst.has_value() && errors_.size() == before;
    if (can_be_compared && (burst->value > 0) != has_qps) {
      table.Expected("burst", burst->place,
                     has_qps ? "at least 1, because qps is set" : "0, because qps is not set",
                     std::to_string(burst->value));
    } else {
      config.burst = CountOf(burst);
    }
    config.connections = CountOf(table.Int("connections", 1, kMaxConnections));
    for (const std::string_view key : {"acceptContentTypes", "contentType"}) {
      const ConfigValue* value = table.AnyUnsuggested(key);
      if (value == nullptr) continue;
      table.Expected(key, value->place, "no such key, because Berth always uses JSON",
                     value->Describe());
    }
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

#include "host/config/cluster_config.h"

#include <string_view>
#include <utility>
#include <vector>

#include <berth/names.h>

#include "host/base/text.h"
#include "host/base/time.h"
#include "host/config/config_path.h"
#include "host/config/config_value.h"

namespace berth::host {
namespace {

constexpr double kMaxQps = 100'000;
constexpr int64_t kMaxBurst = 1'000'000;
constexpr int64_t kMaxConnections = 1024;

// A time of [leaderElection]: the value that is set or its default, and the place if it is set.
struct ElectionTime {
  std::optional<Placed<int64_t>> set;
  int64_t default_ns;

  int64_t ns() const { return set.has_value() ? set->value : default_ns; }
};

class ClusterConfigReader {
 public:
  ClusterConfigReader(const std::string& file, ConfigErrors& errors)
      : file_(file), errors_(errors) {}

  ClusterConfig Read(TableReader& root) {
    if (const ConfigValue* table = root.Table("leaderElection")) ReadElection(*table);
    if (const ConfigValue* table = root.Table("clientConnection")) ReadConnection(*table);
    if (const ConfigValue* table = root.Table("serving")) ReadServing(*table);
    if (const ConfigValue* table = root.Table("logging")) ReadLogging(*table);
    return std::move(config_);
  }

 private:
  template <class T>
  static std::optional<T> ValueOf(const std::optional<Placed<T>>& placed) {
    return placed.has_value() ? std::optional(placed->value) : std::nullopt;
  }

  void ReadElection(const ConfigValue& table) {
    TableReader reader(table, "leaderElection.", errors_);
    config_.leader_elect = ValueOf(reader.Bool("leaderElect"));
    const ElectionTime lease = {ReadLease(reader), kDefaultLeaseNs};
    const ElectionTime renew = {reader.Duration("renewDeadline"), kDefaultRenewDeadlineNs};
    const ElectionTime retry = {reader.Duration("retryPeriod"), kDefaultRetryNs};
    if (AreInOrder(reader, lease, renew, retry)) {
      config_.lease_ns = ValueOf(lease.set);
      config_.renew_deadline_ns = ValueOf(renew.set);
      config_.retry_ns = ValueOf(retry.set);
    }
    if (const auto lock = reader.String("resourceLock", "\"leases\"");
        lock.has_value() && lock->value != "leases") {
      reader.Expected("resourceLock", lock->place, "\"leases\"", Quoted(lock->value));
    }
    config_.lease_name = ReadName(reader, "resourceName", "the name of a Lease");
    config_.lease_namespace = ReadName(reader, "resourceNamespace", "the name of a namespace");
    config_.stall_limit_ns = ValueOf(reader.DurationOrZero("stallLimit"));
    reader.End();
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

  void ReadConnection(const ConfigValue& table) {
    TableReader reader(table, "clientConnection.", errors_);
    const auto kubeconfig = reader.String("kubeconfig", "the path of a kubeconfig");
    if (kubeconfig.has_value()) config_.kubeconfig = Beside(file_, kubeconfig->value);
    const auto qps = reader.Number("qps", 0, kMaxQps);
    const auto burst = reader.Int("burst", 0, kMaxBurst);
    const bool has_qps = qps.has_value() && qps->value > 0;
    config_.qps = ValueOf(qps);
    if (burst.has_value() && (burst->value > 0) != has_qps) {
      reader.Expected("burst", burst->place,
                      has_qps ? "at least 1, because qps is set" : "0, because qps is not set",
                      std::to_string(burst->value));
    } else if (burst.has_value()) {
      config_.burst = static_cast<uint32_t>(burst->value);
    }
    const auto connections = reader.Int("connections", 1, kMaxConnections);
    if (connections.has_value()) config_.connections = static_cast<uint32_t>(connections->value);
    for (const std::string_view key : {"acceptContentTypes", "contentType"}) {
      const ConfigValue* value = reader.AnyUnsuggested(key);
      if (value == nullptr) continue;
      reader.Expected(key, value->place, "no such key, because Berth always uses JSON",
                      value->Describe());
    }
    reader.End();
  }

  void ReadServing(const ConfigValue& table) {
    TableReader reader(table, "serving.", errors_);
    config_.http_address = ValueOf(reader.StringOrEmpty(
        "address", "an IP address and a port, such as \"127.0.0.1:10251\", or \"\""));
    reader.End();
  }

  void ReadLogging(const ConfigValue& table) {
    TableReader reader(table, "logging.", errors_);
    const auto format = reader.String("format", "\"text\" or \"json\"");
    if (format.has_value()) {
      const std::vector<std::string> known = {"text", "json"};
      if (format->value == known[0] || format->value == known[1]) {
        config_.log_format = format->value;
      } else {
        reader.Expected("format", format->place, "\"text\" or \"json\"",
                        Quoted(format->value) + DidYouMean(format->value, known));
      }
    }
    reader.End();
  }

  const std::string& file_;
  ConfigErrors& errors_;
  ClusterConfig config_;
};

}  // namespace

ClusterConfig ReadClusterConfig(TableReader& root, const std::string& file, ConfigErrors& errors) {
  return ClusterConfigReader(file, errors).Read(root);
}

}  // namespace berth::host

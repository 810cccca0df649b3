#include "host/process/assemble/config_page.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/base/emulated_version.h"
#include "host/base/json_text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/process/assemble/cluster_session.h"
#include "host/process/assemble/config_reloader.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

Json PluginJson(const ProfilePlugin& plugin) {
  Json shown = {{"name", plugin.name.value}, {"enabled", plugin.is_enabled()}};
  if (plugin.weight.has_value()) shown["weight"] = plugin.weight->value;
  if (plugin.deadline_ns.has_value()) {
    shown["deadline"] = FormatDuration(plugin.deadline_ns->value);
  }
  if (plugin.library.has_value()) shown["library"] = plugin.library->value;
  if (plugin.sha256.has_value()) shown["sha256"] = plugin.sha256->value;
  if (plugin.points.has_value()) {
    shown["points"] = Json::array();
    for (const Placed<std::string>& point : *plugin.points) shown["points"].push_back(point.value);
  }
  return shown;
}

Json ElectionJson(const ConfigFacts& facts, const ClusterConfig& config) {
  const ElectionOptions election = ElectionOptionsOf(config, "");
  return {{"leaderElect", facts.elects},
          {"leaseDuration", FormatDuration(election.lease_ns)},
          {"renewDeadline", FormatDuration(election.renew_deadline_ns)},
          {"retryPeriod", FormatDuration(election.retry_ns)},
          {"resourceName", election.name},
          {"resourceNamespace", election.ns},
          {"stallLimit", FormatDuration(election.stall_limit_ns)}};
}

Json ConnectionJson(const ConfigFacts& facts, const ClusterConfig& config) {
  const ConnectionOptions connection = ConnectionOptionsOf(config);
  Json shown = {{"qps", connection.qps},
                {"burst", connection.burst},
                {"connections", connection.write_connections}};
  if (!facts.kubeconfig.empty()) shown["kubeconfig"] = facts.kubeconfig;
  return shown;
}

Json DeadlinesJson(const HostConfig& host) {
  const CallDeadlines deadlines = DeadlinesOf(host);
  return {{"call", FormatDuration(deadlines.call_ns)},
          {"postFilter", FormatDuration(deadlines.post_filter_ns)},
          {"bind", FormatDuration(deadlines.bind_ns)}};
}

}  // namespace

Json ProfileJson(const Profile& profile, const PlanSpec& spec) {
  Json shown = {{"file", profile.file},
                {"schedulerName", profile.scheduler_name.value},
                {"points", Json::object()},
                {"plugins", Json::array()}};
  for (const PointInfo& info : kPoints) {
    const auto& uses = spec.points[static_cast<size_t>(info.point)];
    if (!IsNamed(info.point) || uses.empty()) continue;
    Json& point = shown["points"][std::string(info.name)];
    for (const PlanSpec::Use& use : uses) {
      Json plugin = {{"name", use.plugin}};
      if (info.point == Point::kScore) plugin["weight"] = use.weight;
      point.push_back(std::move(plugin));
    }
  }
  for (const ProfilePlugin& plugin : profile.plugins)
    shown["plugins"].push_back(PluginJson(plugin));
  return shown;
}

std::string ConfigPage(const ConfigFacts& facts, const HostConfig& host, const ProfileSet& set) {
  SchedulingLoop::Options loop;
  ApplyHostFile(host, loop);
  Json berth = {
      {"version", facts.version},
      {"emulatedVersion", ToString(EmulatedVersionOf(host))},
      {"podInitialBackoffSeconds", loop.queue.initial_backoff_ns / kSecond},
      {"podMaxBackoffSeconds", loop.queue.max_backoff_ns / kSecond},
      {"deadlines", DeadlinesJson(host)},
      {"quarantine",
       {{"faults", loop.quarantine.faults}, {"window", FormatDuration(loop.quarantine.window_ns)}}},
      {"leaderElection", ElectionJson(facts, host.cluster)},
      {"clientConnection", ConnectionJson(facts, host.cluster)},
      {"serving", {{"address", facts.http_address}}},
      {"profiles", Json::array()}};
  for (size_t i = 0; i < set.profiles.size(); ++i) {
    berth["profiles"].push_back(ProfileJson(set.profiles[i], set.specs[i]));
  }
  return DumpJson(Json{{"berth", std::move(berth)}}) + "\n";
}

}  // namespace berth::host

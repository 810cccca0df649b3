#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/emulated_version.h"
#include "host/base/json_text.h"
#include "host/base/time.h"
#include "host/cli/commands.h"
#include "host/config/args_schema.h"
#include "host/config/config_errors.h"
#include "host/config/profile.h"
#include "host/config/profile_writer.h"
#include "host/contract/try_instance.h"
#include "host/guard/point.h"
#include "host/plan/profile_plan.h"
#include "host/process/assemble/config_page.h"
#include "host/process/assemble/profile_set.h"
#include "host/process/replay/simulation.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

Json ArgsOf(const ProfilePlugin& plugin, const PluginCatalog& catalog) {
  const auto found = catalog.plugins().find(plugin.name.value);
  if (found == catalog.plugins().end()) return plugin.args.value;
  const nlohmann::json schema = ParseJson(found->second.info->args_schema);
  return WithDefaults(schema, plugin.args.value);
}

// Returns the profile with the arguments of its plugins, those of the schema with their defaults.
Json Shown(const Profile& profile, const PlanSpec& spec, const PluginCatalog& catalog) {
  Json shown = ProfileJson(profile, spec);
  for (size_t i = 0; i < profile.plugins.size(); ++i) {
    Json args = ArgsOf(profile.plugins[i], catalog);
    if (!args.empty()) shown["plugins"][i]["args"] = std::move(args);
  }
  return shown;
}

void AppendProfile(const Json& profile, const std::string& emulated_version, TerminalWidth width,
                   std::string& out) {
  Table facts({"PROFILE", profile["file"]});
  facts.AddRow({"schedulerName", profile["schedulerName"]});
  facts.AddRow({"emulatedVersion", emulated_version});
  facts.Append(width, out);
  out += '\n';
  Table points({"POINT", "PLUGINS IN ORDER"});
  for (const auto& [name, uses] : profile["points"].items()) {
    std::string plugins;
    for (const Json& use : uses) {
      if (!plugins.empty()) plugins += ", ";
      plugins += use["name"];
      if (use.contains("weight")) plugins += " (weight " + DumpJson(use["weight"]) + ")";
    }
    points.AddRow({name, std::move(plugins)});
  }
  points.Append(width, out);
  Table deadlines({"PLUGIN", "DEADLINE"});
  Table arguments({"PLUGIN", "ARGUMENTS"});
  std::string disabled;
  for (const Json& plugin : profile["plugins"]) {
    if (!plugin["enabled"]) {
      disabled += (disabled.empty() ? "" : ", ") + plugin["name"].get<std::string>();
      continue;
    }
    if (plugin.contains("deadline")) deadlines.AddRow({plugin["name"], plugin["deadline"]});
    if (plugin.contains("args")) arguments.AddRow({plugin["name"], DumpJson(plugin["args"])});
  }
  if (deadlines.row_count() > 0) deadlines.Append(width, out += '\n');
  if (arguments.row_count() > 0) arguments.Append(width, out += '\n');
  if (!disabled.empty()) AppendWrapped("Disabled: " + disabled, 10, width, out += '\n');
}

void AppendProfiles(const Json& document, TerminalWidth width, std::string& out) {
  for (const Json& profile : document["profiles"]) {
    if (!out.empty()) out += '\n';
    AppendProfile(profile, document["emulatedVersion"], width, out);
  }
}

bool RunsAt(const PlanSpec& spec, const PointInfo& point, const std::string& plugin) {
  const auto& uses = spec.points[static_cast<size_t>(point.point)];
  return std::ranges::find(uses, plugin, &PlanSpec::Use::plugin) != uses.end();
}

// Returns the plugin without the keys that have no effect in a complete profile.
ProfilePlugin Whole(ProfilePlugin plugin, const PlanSpec& spec) {
  plugin.before.reset();
  plugin.after.reset();
  if (plugin.is_enabled() && !RunsAt(spec, InfoOf(Point::kScore), plugin.name.value)) {
    plugin.weight.reset();
  }
  if (plugin.library.has_value()) {
    plugin.library->value = std::filesystem::absolute(plugin.library->value).string();
  }
  return plugin;
}

// Returns the profile as one file that may be stored anywhere and has the plan `spec` too.
std::string WholeFile(const Profile& profile, const PlanSpec& spec) {
  Profile whole;
  whole.scheduler_name = profile.scheduler_name;
  for (const ProfilePlugin& plugin : profile.plugins) whole.plugins.push_back(Whole(plugin, spec));
  for (ProfileOrder order : profile.order) {
    const auto point = std::ranges::find(kPoints, order.point.value, &PointInfo::name);
    std::erase_if(order.plugins, [&](const Placed<std::string>& name) {
      return profile.Find(name.value)->is_enabled() && !RunsAt(spec, *point, name.value);
    });
    if (!order.plugins.empty()) whole.order.push_back(std::move(order));
  }
  return WriteProfile(whole, profile.file + " with everything that it extends.");
}

// Returns whether there is an error about the plugin.
bool HasErrorOf(const ConfigErrors& errors, const ProfilePlugin& plugin) {
  return std::ranges::any_of(errors.errors(), [&](const ConfigError& error) {
    return error.key.starts_with(PluginContext(plugin.name.value));
  });
}

bool HasErrorAt(const ConfigErrors& errors, const std::string& file, const std::string& key) {
  return std::ranges::any_of(errors.errors(), [&](const ConfigError& error) {
    return error.place.file == file && error.key == key;
  });
}

// Creates a plugin, and adds the errors that it reports, except those of arguments that have an
// error already: the plugin repeats what its schema forbids.
void AddErrorsOfPlugin(const ProfilePlugin& plugin, const PluginCatalog& catalog,
                       const ReportCrashes& report_crashes, ConfigErrors& errors) {
  const auto rejection = TryInstance(MakePluginSpec(plugin), catalog, report_crashes);
  if (!rejection.has_value()) return;
  ConfigErrors found;
  for (const ArgumentError& error : rejection->argument_errors) {
    ConfigPlace place = plugin.args.PlaceOf(error.path);
    if (place.file.empty()) place = plugin.name.place;
    const std::string key = PluginContext(plugin.name.value) + ArgsKey(error.path);
    if (!HasErrorAt(errors, place.file, key)) found.Add(place, key, error.text);
  }
  // Without a list of arguments, the cause may be an error that is known already.
  if (rejection->argument_errors.empty() && !HasErrorOf(errors, plugin)) {
    found.Add(plugin.name.place, "", rejection->ToString());
  }
  for (const ConfigError& error : found.errors()) errors.Add(error.place, error.key, error.text);
}

// Adds the errors of all enabled plugins that were found.
void AddErrorsOfPlugins(std::span<const Profile> profiles, const PluginCatalog& catalog,
                        const ReportCrashes& report_crashes, ConfigErrors& errors) {
  for (const Profile& profile : profiles) {
    for (const ProfilePlugin& plugin : profile.plugins) {
      if (!plugin.is_enabled() || !catalog.plugins().contains(plugin.name.value)) continue;
      AddErrorsOfPlugin(plugin, catalog, report_crashes, errors);
    }
  }
}

}  // namespace

int ExecuteProfileCheck(const ProfileFlags& flags, CommandEnvironment& env) {
  const ArgumentsCheck check = [&env](std::span<const Profile> profiles,
                                      const PluginCatalog& catalog, ConfigErrors& errors) {
    AddErrorsOfPlugins(profiles, catalog, env.report_crashes, errors);
  };
  const auto set = LoadProfiles(flags.profiles, flags.plugin_directories, env, check);
  if (!set.ok()) return Fail(env, set.status());
  const auto trials = TryProfiles(set->plugins, set->specs, flags.emulated_version, env.steady_ns,
                                  env.report_crashes);
  if (!trials.ok()) return Fail(env, trials.status());
  std::string out;
  int exit_status = kExitDone;
  for (size_t i = 0; i < set->profiles.size(); ++i) {
    const Profile& profile = set->profiles[i];
    if (const std::string& error = (*trials)[i]; !error.empty()) {
      Fail(env,
           Status::InvalidArgument(
               profile.file + ": the attempt to place a pod without requests fails: " + error));
      exit_status = kExitNotAllScheduled;
      continue;
    }
    out += profile.file + ": valid: schedulerName " + profile.scheduler_name.value + ", " +
           CountOf(set->specs[i].plugins.size(), "plugin") + "\n";
  }
  return Print(env, out, exit_status);
}

int ExecuteProfileShow(const ProfileFlags& flags, CommandEnvironment& env) {
  if (flags.as_toml && flags.profiles.size() > 1) {
    return Fail(env, Status::InvalidArgument("--output toml: expected one profile, found " +
                                             std::to_string(flags.profiles.size())));
  }
  const auto set = LoadProfiles(flags.profiles, flags.plugin_directories, env);
  if (!set.ok()) return Fail(env, set.status());
  if (flags.as_toml) {
    return Print(env, WholeFile(set->profiles.front(), set->specs.front()), kExitDone);
  }
  Json document = {{"emulatedVersion", ToString(flags.emulated_version)},
                   {"profiles", Json::array()}};
  for (size_t i = 0; i < set->profiles.size(); ++i) {
    document["profiles"].push_back(Shown(set->profiles[i], set->specs[i], set->plugins->catalog()));
  }
  return PrintAs(flags.output, document, AppendProfiles, env, kExitDone);
}

}  // namespace berth::host

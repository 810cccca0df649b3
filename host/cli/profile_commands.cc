#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/cli/commands.h"
#include "host/config/args_schema.h"
#include "host/config/config_errors.h"
#include "host/config/config_value.h"
#include "host/config/convert/convert_profile.h"
#include "host/config/convert/kube_config.h"
#include "host/config/profile.h"
#include "host/config/profile_reader.h"
#include "host/config/toml_document.h"
#include "host/guard/point.h"
#include "host/plan/profile_plan.h"
#include "host/process/assemble/profile_set.h"
#include "host/process/assemble/session.h"
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

Json Shown(const ProfilePlugin& plugin, const PluginCatalog& catalog) {
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
  Json args = ArgsOf(plugin, catalog);
  if (!args.empty()) shown["args"] = std::move(args);
  return shown;
}

Json Shown(const Profile& profile, const PlanSpec& spec, const PluginCatalog& catalog) {
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
  for (const ProfilePlugin& plugin : profile.plugins) {
    shown["plugins"].push_back(Shown(plugin, catalog));
  }
  return shown;
}

void AppendProfile(const Json& profile, TerminalWidth width, std::string& out) {
  Table facts({"PROFILE", profile["file"]});
  facts.AddRow({"schedulerName", profile["schedulerName"]});
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
    AppendProfile(profile, width, out);
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

}  // namespace

int ExecuteProfileCheck(const ProfileFlags& flags, CommandEnvironment& env) {
  const auto set = LoadProfiles(flags.profiles, flags.plugin_directories, env);
  if (!set.ok()) return Fail(env, set.status());
  const auto trials = TryProfiles(set->plugins, set->specs, env.steady_ns, env.report_crashes);
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
  Json document = {{"profiles", Json::array()}};
  for (size_t i = 0; i < set->profiles.size(); ++i) {
    document["profiles"].push_back(Shown(set->profiles[i], set->specs[i], set->plugins->catalog()));
  }
  return PrintAs(flags.output, document, AppendProfiles, env, kExitDone);
}

// --- profile convert -----------------------------------------------------------------------------

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFileName = 200;

Result<std::string> ReadInput(const std::string& file, CommandEnvironment& env) {
  if (file != "-") {
    Result<std::string> text = ReadConfigFile(file);
    if (text.ok()) return text;
    return Status(text.status().code(), file + ": " + std::string(text.status().message()));
  }
  std::string text(kMaxConfigBytes + 1, '\0');
  env.in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(env.in.gcount()));
  return text;
}

Result<std::shared_ptr<const PluginSet>> LoadPlugins(const std::vector<std::string>& given,
                                                     CommandEnvironment& env) {
  std::vector<std::string> directories = given;
  if (directories.empty()) {
    Result<std::string> directory = PluginDirectory("", env);
    if (!directory.ok()) return directory.status();
    directories.push_back(std::move(directory).value());
  }
  auto plugins = std::make_shared<PluginSet>(env.temporary_directory, env.steady_ns);
  if (Status status = AddPluginDirectories(directories, {}, *plugins); !status.ok()) return status;
  std::vector<std::string> warnings;
  for (const LoadError& broken : plugins->broken()) warnings.push_back(NotLoadedText(broken));
  PrintWarnings(warnings, env);
  return std::shared_ptr<const PluginSet>(std::move(plugins));
}

struct OutputFile {
  std::string name;  // Without the folder.
  std::string text;
};

bool IsFileName(std::string_view name) {
  return !name.empty() && !name.starts_with('.') && name.size() <= kMaxFileName &&
         std::ranges::none_of(name,
                              [](char c) { return c == '/' || (c >= 0 && c < 0x20) || c == 0x7f; });
}

std::vector<OutputFile> WriteAll(const KubeSchedulerConfig& config,
                                 const std::vector<ConvertedProfile>& profiles,
                                 const std::string& file, bool to_files, ConfigErrors& errors) {
  std::vector<OutputFile> files;
  if (!to_files && profiles.size() > 1) {
    errors.Expected(
        {file, 0, 0}, "profiles",
        "one profile for standard output (use --output-dir DIR to write one file for each)",
        std::to_string(profiles.size()));
  }
  for (size_t i = 0; i < profiles.size(); ++i) {
    const KubeSchedulerProfile& source = config.profiles[i];
    const Placed<std::string>& name = source.scheduler_name;
    OutputFile output{name.value + std::string(kProfileSuffix),
                      WriteConverted(profiles[i], file + ", " + source.path)};
    if (output.text.size() > kMaxConfigBytes) {
      errors.Expected(source.place, source.path,
                      "a profile of at most " + std::to_string(kMaxConfigBytes) + " bytes",
                      std::to_string(output.text.size()));
    }
    if (to_files && !IsFileName(name.value)) {
      errors.Expected(name.place, source.path + ".schedulerName",
                      "a valid file name, for --output-dir", Quoted(name.value));
    }
    files.push_back(std::move(output));
  }
  return files;
}

Status WriteFile(const fs::path& path, std::string_view text, bool may_exist) {
  // "x" fails if the file exists.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), may_exist ? "wb" : "wbx"), std::fclose);
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    return Status::Unavailable(path.string() +
                               ": the file cannot be written: " + std::strerror(errno));
  }
  return {};
}

Status WriteFiles(const std::vector<OutputFile>& files, const fs::path& folder, bool force) {
  std::string existing;
  for (const OutputFile& file : files) {
    std::error_code error;
    if (force || !fs::exists(fs::symlink_status(folder / file.name, error))) continue;
    existing += (existing.empty() ? "" : "\n") + (folder / file.name).string() +
                " exists; use --force to overwrite it";
  }
  if (!existing.empty()) return Status::InvalidArgument(std::move(existing));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return Status::Unavailable(folder.string() +
                               ": the folder cannot be created: " + error.message());
  }
  for (const OutputFile& file : files) {
    const fs::path path = folder / file.name;
    if (!force) {
      if (Status status = WriteFile(path, file.text, false); !status.ok()) return status;
      continue;
    }
    const fs::path beside = folder / ("." + file.name + ".new");
    if (Status status = WriteFile(beside, file.text, true); !status.ok()) return status;
    fs::rename(beside, path, error);
    if (error)
      return Status::Unavailable(path.string() +
                                 ": the file cannot be written: " + error.message());
  }
  return {};
}

// Returns the plan of a written profile. The arguments keep their places in the
// KubeSchedulerConfiguration, which errors of plugins name.
std::vector<PlanSpec> SpecOf(const KubeSchedulerProfile& source, const OutputFile& file,
                             const PluginCatalog& catalog, ConfigErrors& errors) {
  ProfileFiles files;
  files.read = [&file](const std::string&) -> Result<std::string> { return file.text; };
  const auto profile = ReadProfile("./" + file.name, files, errors);
  if (!profile.has_value()) return {};
  std::vector<PlanSpec> specs = MakePlanSpecs(std::span(&*profile, 1), catalog, {}, errors);
  for (PlanSpec& spec : specs) {
    for (PlanSpec::Plugin& plugin : spec.plugins) {
      const KubePluginArgs* args = source.FindArgs(plugin.name);
      const std::string path = args == nullptr ? source.path : args->path;
      const auto where = [&path](const ConfigPlace& place) {
        return place.ToString() + ": " + path;
      };
      plugin.where = where(args == nullptr ? source.place : args->name.place);
      plugin.places.clear();
      if (args == nullptr) continue;
      for (const auto& [pointer, place] : args->args.places) plugin.places[pointer] = where(place);
    }
  }
  return specs;
}

// Creates the plugins that were found, so that they check their arguments.
// Errors: all errors of the plugins and of their arguments, one per line.
Status CheckPlugins(const KubeSchedulerConfig& config,
                    const std::vector<ConvertedProfile>& profiles,
                    const std::vector<OutputFile>& files,
                    const std::shared_ptr<const PluginSet>& plugins,
                    const CommandEnvironment& env) {
  std::string refusals;
  for (size_t i = 0; i < profiles.size(); ++i) {
    if (!profiles[i].is_usable) continue;
    const KubeSchedulerProfile& source = config.profiles[i];
    ConfigErrors errors;
    const auto specs = SpecOf(source, files[i], plugins->catalog(), errors);
    const Status status =
        errors.empty() ? TryCreatePlugins(plugins, specs, env.report_crashes) : errors.ToStatus();
    if (status.ok()) continue;
    refusals += (refusals.empty() ? "" : "\n") + std::string(status.message());
  }
  return refusals.empty() ? Status() : Status::InvalidArgument(std::move(refusals));
}

}  // namespace

KnownPlugins KnownPluginsOf(const PluginCatalog& catalog) {
  const std::vector<std::string> points = ProfilePoints();
  KnownPlugins known;
  for (const auto& [name, plugin] : catalog.plugins()) {
    KnownPlugin& entry = known[name];
    for (const std::string& point : PointNames(plugin.info->points)) {
      if (std::ranges::find(points, point) != points.end()) entry.points.push_back(point);
    }
    entry.args_schema = ParseJson(plugin.info->args_schema);
  }
  return known;
}

int ExecuteProfileConvert(const ProfileConvertFlags& flags, CommandEnvironment& env) {
  const Result<std::string> text = ReadInput(flags.file, env);
  if (!text.ok()) return Fail(env, text.status());
  const std::string file = flags.file == "-" ? "<stdin>" : flags.file;
  ConfigErrors errors;
  ConfigErrors warnings;
  const auto config = ReadKubeConfig(*text, file, errors, warnings);
  if (!config.has_value()) return Fail(env, errors.ToStatus());
  const auto plugins = LoadPlugins(flags.plugin_directories, env);
  if (!plugins.ok()) return Fail(env, plugins.status());
  const KnownPlugins known = KnownPluginsOf((*plugins)->catalog());
  const auto profiles = ConvertKubeConfig(*config, known, errors, warnings);
  const bool to_files = !flags.output_directory.empty();
  const auto files = WriteAll(*config, profiles, file, to_files, errors);
  if (!errors.empty()) return Fail(env, errors.ToStatus());
  if (const Status status = CheckPlugins(*config, profiles, files, *plugins, env); !status.ok()) {
    return Fail(env, status);
  }
  const Status warning = warnings.ToStatus();
  const std::vector<std::string_view> lines = LinesOf(warning.message());
  PrintWarnings({lines.begin(), lines.end()}, env);
  if (flags.strict && !warnings.empty()) {
    return Fail(env, Status::InvalidArgument(
                         "--strict: nothing was written because of the warnings above"));
  }
  if (!to_files) return Print(env, files.front().text, kExitDone);
  if (Status status = WriteFiles(files, flags.output_directory, flags.force); !status.ok()) {
    return Fail(env, status);
  }
  std::string out;
  for (const OutputFile& output : files) {
    out += Printable((fs::path(flags.output_directory) / output.name).string()) + "\n";
  }
  return Print(env, out, kExitDone);
}

}  // namespace berth::host

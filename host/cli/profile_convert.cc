#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cli/commands.h"
#include "host/config/config_errors.h"
#include "host/config/config_value.h"
#include "host/config/convert/config_map.h"
#include "host/config/convert/convert_profile.h"
#include "host/config/convert/kube_config.h"
#include "host/config/profile_reader.h"
#include "host/config/toml_document.h"
#include "host/guard/point.h"
#include "host/plan/profile_plan.h"
#include "host/process/assemble/profile_set.h"
#include "host/process/assemble/scheduler_host.h"

namespace berth::host {
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
                                 const std::string& file, KubeVersion version, bool to_files,
                                 ConfigErrors& errors) {
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
                      WriteConverted(profiles[i], file + ", " + source.path, version)};
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
                    const std::shared_ptr<const PluginSet>& plugins, KubeVersion emulated_version,
                    const CommandEnvironment& env) {
  std::string refusals;
  for (size_t i = 0; i < profiles.size(); ++i) {
    if (!profiles[i].is_usable) continue;
    const KubeSchedulerProfile& source = config.profiles[i];
    ConfigErrors errors;
    const auto specs = SpecOf(source, files[i], plugins->catalog(), errors);
    const Status status =
        errors.empty() ? TryCreatePlugins(plugins, specs, emulated_version, env.report_crashes)
                       : errors.ToStatus();
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
  ConfigErrors errors;
  ConfigErrors warnings;
  const auto source = FindKubeConfig(*text, flags.file == "-" ? "<stdin>" : flags.file, errors);
  if (!source.has_value()) return Fail(env, errors.ToStatus());
  const std::string& file = source->file;
  if (source->is_entry) {
    env.err << "berth: converts " << Printable(file)
            << ", the only KubeSchedulerConfiguration of the ConfigMap; lines count from its first "
               "line\n";
  }
  const auto config = ReadKubeConfig(source->text, file, errors, warnings);
  if (!config.has_value()) return Fail(env, errors.ToStatus());
  const auto plugins = LoadPlugins(flags.plugin_directories, env);
  if (!plugins.ok()) return Fail(env, plugins.status());
  const KnownPlugins known = KnownPluginsOf((*plugins)->catalog());
  const auto profiles = ConvertKubeConfig(*config, known, flags.emulated_version, errors, warnings);
  const bool to_files = !flags.output_directory.empty();
  const auto files = WriteAll(*config, profiles, file, flags.emulated_version, to_files, errors);
  if (!errors.empty()) return Fail(env, errors.ToStatus());
  if (const Status status =
          CheckPlugins(*config, profiles, files, *plugins, flags.emulated_version, env);
      !status.ok()) {
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

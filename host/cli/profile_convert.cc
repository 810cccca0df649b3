#include "host/cli/profile_convert.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "host/cli/commands.h"
#include "host/config/config_errors.h"
#include "host/config/config_path.h"
#include "host/config/config_value.h"
#include "host/config/convert/convert_profile.h"
#include "host/config/convert/kube_config.h"
#include "host/config/profile_reader.h"
#include "host/config/toml_document.h"
#include "host/guard/point.h"
#include "host/process/plugin_set.h"
#include "host/process/profile_set.h"
#include "host/runtime/profile_plan.h"

namespace berth::host {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFileName = 200;

constexpr std::string_view kExamples = R"(Examples:
  What would my scheduler's configuration be here?
    berth profile convert kube-scheduler.yaml
  Several profiles are several files, called after their schedulerNames:
    berth profile convert kube-scheduler.yaml --output-dir profiles
    berth profile check profiles/*.toml
  From a running cluster:
    kubectl -n kube-system get configmap scheduler -o jsonpath='{.data.config\.yaml}' |
      berth profile convert -
  Must nothing be lost? Then this fails:
    berth profile convert kube-scheduler.yaml --strict

Reads a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), YAML or JSON, merges each of
its profiles with the defaults as kube-scheduler 1.36 does, and writes what that comes to as a
complete profile, without `extends`. At every point the same plugins run in the same order, with the
same weights and arguments.

A plugin that is not here stands in the profile as a comment, where it would be. What has no meaning
here (extenders, leader election, points behind feature gates) is left out. Each is warned of on
standard error, by its path in the file. A third party's plugin counts as here if a --plugin-dir
holds it.

The plugins that are here are asked whether they take their arguments, where they are enabled in a
profile that can be used. What they refuse is an error, by its path in the file. Standard output
takes one profile: a file with several needs --output-dir.

Exit status: 0 done, with warnings too; 2 the file or what a plugin says of it is wrong, there are
several profiles for standard output, or there are warnings and --strict. Then nothing is
written.)";

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
                                                     const CommandEnvironment& env) {
  std::vector<std::string> directories = given;
  if (directories.empty()) {
    Result<std::string> directory = PluginDirectory("", env);
    if (!directory.ok()) return directory.status();
    directories.push_back(std::move(directory).value());
  }
  auto plugins = std::make_shared<PluginSet>(env.temporary_directory);
  if (Status status = AddPluginDirectories(directories, {}, *plugins); !status.ok()) return status;
  return std::shared_ptr<const PluginSet>(std::move(plugins));
}

struct OutputFile {
  std::string name;  // Of the file, without its folder.
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
    errors.Expected({file, 0, 0}, "profiles",
                    "one, for standard output (--output-dir DIR takes a file for each)",
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
                      "a name that a file can have, for --output-dir", Quoted(name.value));
    }
    files.push_back(std::move(output));
  }
  return files;
}

Status WriteFile(const fs::path& path, std::string_view text, bool may_be_there) {
  // "x": who came first keeps it.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), may_be_there ? "wb" : "wbx"), std::fclose);
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    return Status::Unavailable(path.string() + ": cannot be written: " + std::strerror(errno));
  }
  return {};
}

Status WriteFiles(const std::vector<OutputFile>& files, const fs::path& folder, bool force) {
  std::string there;
  for (const OutputFile& file : files) {
    std::error_code error;
    if (force || !fs::exists(fs::symlink_status(folder / file.name, error))) continue;
    there += (there.empty() ? "" : "\n") + (folder / file.name).string() +
             " is there already; --force overwrites it";
  }
  if (!there.empty()) return Status::InvalidArgument(std::move(there));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return Status::Unavailable(folder.string() + ": cannot be made: " + error.message());
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
      return Status::Unavailable(path.string() + ": cannot be written: " + error.message());
  }
  return {};
}

void PrintWarnings(const ConfigErrors& warnings, CommandEnvironment& env) {
  const Status all = warnings.ToStatus();
  std::string_view rest = all.message();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    env.err << "berth: warning: " << Printable(rest.substr(0, end)) << '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  env.err.flush();
}

// The plan of what was written, whose arguments stand where they do in the configuration.
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

// Asks the plugins that are here for their opinion.
// Errors: all that they refuse, one a line.
Status CheckPlugins(const KubeSchedulerConfig& config,
                    const std::vector<ConvertedProfile>& profiles,
                    const std::vector<OutputFile>& files,
                    const std::shared_ptr<const PluginSet>& plugins) {
  std::string said;
  for (size_t i = 0; i < profiles.size(); ++i) {
    if (!profiles[i].is_usable) continue;
    const KubeSchedulerProfile& source = config.profiles[i];
    ConfigErrors errors;
    const auto specs = SpecOf(source, files[i], plugins->catalog(), errors);
    const Status status = errors.empty() ? TryPlugins(plugins, specs) : errors.ToStatus();
    if (status.ok()) continue;
    said += (said.empty() ? "" : "\n") + std::string(status.message());
  }
  return said.empty() ? Status() : Status::InvalidArgument(std::move(said));
}

}  // namespace

KnownPlugins KnownPluginsOf(const PluginCatalog& catalog) {
  const std::vector<std::string> points = ProfilePoints();
  KnownPlugins known;
  for (const auto& [name, plugin] : catalog.plugins()) {
    KnownPlugin& here = known[name];
    for (const std::string& id : plugin.info->points) {
      const PointInfo* point = FindPoint(id);
      if (point == nullptr || std::ranges::find(points, point->name) == points.end()) continue;
      here.points.emplace_back(point->name);
    }
    here.args_schema = nlohmann::json::parse(plugin.info->args_schema, nullptr, false);
  }
  return known;
}

CLI::App* AddProfileConvert(CLI::App& profile, ProfileConvertFlags& flags) {
  CLI::App* command = profile.add_subcommand(
      "convert", "Write profiles that decide as a KubeSchedulerConfiguration does");
  command
      ->add_option("file", flags.file,
                   "A KubeSchedulerConfiguration v1, YAML or JSON; - is standard input")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--output-dir", flags.output_directory,
                   "Write a file for each profile, DIR/<schedulerName>.toml [standard output, "
                   "for one profile]")
      ->type_name("DIR");
  command->add_flag("--force", flags.force, "Overwrite files that are there");
  command->add_flag("--strict", flags.strict, "Write nothing if there is anything to warn of");
  command
      ->add_option("--plugin-dir", flags.plugin_directories,
                   "Where the plugins are [plugins beside the executable, else those installed]; "
                   "may be given several times")
      ->type_name("DIR")
      ->take_all()
      ->allow_extra_args(false);
  command->footer(std::string(kExamples));
  return command;
}

int RunProfileConvert(const ProfileConvertFlags& flags, CommandEnvironment& env) {
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
  if (const Status status = CheckPlugins(*config, profiles, files, *plugins); !status.ok()) {
    return Fail(env, status);
  }
  PrintWarnings(warnings, env);
  if (flags.strict && !warnings.empty()) {
    return Fail(env,
                Status::InvalidArgument("--strict: nothing was written, for the warnings above"));
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

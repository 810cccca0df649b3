#include "host/cli/common_flags.h"

#include <cerrno>
#include <cstdlib>
#include <limits>

#include <CLI/CLI.hpp>

#include "host/base/text.h"
#include "host/process/assemble/scheduler_host.h"

namespace berth::host {
namespace {

OutputFormat FormatOf(std::string_view format) {
  if (format == "json") return OutputFormat::kJson;
  return format == "yaml" ? OutputFormat::kYaml : OutputFormat::kTable;
}

// Returns the error message for a seed; "" if it is valid.
std::string CheckSeed(const std::string& text) {
  // CLI11 converts the text with strtoull, which accepts a sign and numbers that are too large.
  char* end = nullptr;
  errno = 0;
  static_cast<void>(std::strtoull(text.c_str(), &end, 0));
  if (!text.empty() && IsDigit(text.front()) && *end == '\0' && errno == 0) return "";
  return "expected a number from 0 to " + std::to_string(std::numeric_limits<uint64_t>::max()) +
         ", found " + text;
}

}  // namespace

void AddOutput(CLI::App& command, OutputFormat& output) {
  command
      .add_option_function<std::string>(
          "-o,--output", [&output](const std::string& format) { output = FormatOf(format); },
          "Output format: table, json or yaml [table]")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json", "yaml"}).description(""));
}

void AddShowOutput(CLI::App& command, ProfileFlags& flags) {
  command
      .add_option_function<std::string>(
          "-o,--output",
          [&flags](const std::string& format) {
            flags.output = FormatOf(format);
            flags.as_toml = format == "toml";
          },
          "Output format: table, json, yaml, or toml for one profile as a complete file [table]")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json", "yaml", "toml"}).description(""));
}

void AddPluginDirectory(CLI::App& command, std::string& directory) {
  command
      .add_option("--plugin-dir", directory,
                  "The directory of the plugins; replaces the built-in one [plugins beside the "
                  "executable, or else the installed ones]")
      ->type_name("DIR");
}

void AddPluginDirectories(CLI::App& command, std::vector<std::string>& directories) {
  command
      .add_option("--plugin-dir", directories,
                  "A directory of plugins, or several; replaces the built-in one [plugins beside "
                  "the executable, or else the installed ones]")
      ->type_name("DIR");
}

void AddEachPluginDirectory(CLI::App& command, std::vector<std::string>& directories) {
  command
      .add_option(
          "--plugin-dir", directories,
          "A directory of plugins; replaces the built-in one [plugins beside the executable, or "
          "else the installed ones]; may be given several times")
      ->type_name("DIR")
      ->take_all()
      ->expected(1)  // The help shows one value.
      ->allow_extra_args(false);
}

void AddProfiles(CLI::App& command, std::vector<std::string>& profiles) {
  command
      .add_option("--profile", profiles,
                  "The profiles to use: files *.toml, or names of profiles that come with Berth "
                  "[default]; each profile needs its own schedulerName")
      ->type_name("FILE|NAME");
}

void AddSeed(CLI::App& command, uint64_t& seed) {
  command
      .add_option("--seed", seed,
                  "The seed of the choice between equally good nodes [" +
                      std::to_string(kDefaultSeed) + "]; equal seeds give equal results")
      ->type_name("N")
      ->check(CheckSeed);
}

}  // namespace berth::host

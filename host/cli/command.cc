#include "host/cli/command.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <berth/abi.h>

#include "host/base/emulated_version.h"
#include "host/base/text.h"
#include "host/cli/command_line.h"
#include "host/cli/kube_scheduler_flags.h"

namespace berth::host {
namespace {

// ---- Errors -------------------------------------------------------------------------------------

// The commands that run a scheduler. Each has flags that the others do not have.
constexpr std::array kSchedulers = {"run", "replay", "shadow"};

std::string Version() {
  return "berth " BERTH_VERSION " (plugin ABI " + std::to_string(BERTH_ABI_MAJOR) + "." +
         std::to_string(BERTH_ABI_MINOR) + "; decides as kube-scheduler " +
         ToString(kEmulatedVersions.front()) + " to " + ToString(kEmulatedVersions.back()) + ")";
}

// Returns the innermost command of the command line.
const CLI::App* Innermost(const CLI::App* app) {
  const auto named = app->get_subcommands();
  return named.empty() ? app : Innermost(named.front());
}

std::string FullName(const CLI::App* app) {
  const CLI::App* parent = app->get_parent();
  return parent == nullptr ? app->get_name() : FullName(parent) + " " + app->get_name();
}

std::string FailureMessage(const CLI::App* app, const CLI::Error& error) {
  return "berth: " + std::string(error.what()) + "\nSee " + FullName(Innermost(app)) + " --help\n";
}

// Returns an error that names an unknown command. CLI11 would only report that one is required.
Status CheckCommand(const CLI::App& app, std::span<const std::string> args) {
  if (args.empty() || args.front().starts_with('-')) return {};
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::ranges::find(names, args.front()) != names.end()) {
    const CLI::App* command = app.get_subcommand(args.front());
    return command->get_subcommands({}).empty() ? Status()
                                                : CheckCommand(*command, args.subspan(1));
  }
  return Status::InvalidArgument("there is no command \"" + args.front() + "\" (see " +
                                 FullName(&app) + " --help)" + DidYouMean(args.front(), names));
}

bool IsScheduler(const CLI::App& command) {
  return std::ranges::count(kSchedulers, command.get_name()) > 0;
}

// Returns an error about an option that `command` does not have.
std::string UnknownOption(const CLI::App& command, std::string_view argument) {
  std::string option(argument.substr(0, argument.find('=')));
  // CLI11 splits -v=2 into -v, which exists, and -=2.
  if (option == "-") option = "--v";
  std::string text = "there is no option " + option;
  if (IsScheduler(command)) {
    const std::string_view advice = KubeSchedulerAdvice(option);
    if (!advice.empty()) return text.append(": ").append(advice);
  }
  text += " (see " + FullName(&command) + " --help)";
  const CLI::App* parent = command.get_parent();
  std::vector<const CLI::App*> others;
  if (parent != nullptr) others.push_back(parent);
  if (IsScheduler(command)) {
    for (const char* name : kSchedulers) others.push_back(parent->get_subcommand(name));
  }
  for (const CLI::App* other : others) {
    if (other->get_option_no_throw(option) == nullptr) continue;
    return text.append("; did you mean ").append(FullName(other)).append(" ").append(option) + "?";
  }
  std::vector<std::string> names;
  for (const CLI::Option* known : command.get_options()) {
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  }
  return text + DidYouMean(option, names);
}

// Returns an error that names the arguments that the command line has in excess; ok if there are
// none. CLI11 would not suggest anything, and would report missing options first.
Status CheckExcess(const CLI::App& app) {
  const CLI::App& command = *Innermost(&app);
  const std::vector<std::string> excess = command.remaining();
  std::vector<std::string> unknown;
  for (const std::string& argument : excess) {
    if (argument.size() > 1 && argument.starts_with('-') && argument != "--") {
      unknown.push_back(UnknownOption(command, argument));
    }
  }
  if (!unknown.empty()) return Status::InvalidArgument(Join(unknown, "\n"));
  const bool reads_files = command.get_option_no_throw("--cluster") != nullptr;
  if (excess.empty() || !(reads_files || IsScheduler(command))) return {};
  return Status::InvalidArgument(command.get_name() + ": expected only options, found \"" +
                                 excess.front() + '"' +
                                 (reads_files ? "; to read a file, use --cluster FILE" : "") +
                                 " (see " + FullName(&command) + " --help)");
}

// Returns the arguments with the commands that `berth run --shadow` and `berth run --embedded` have
// become, and prints a warning that names the command.
std::vector<std::string> WithoutOldSpelling(std::span<const std::string> given,
                                            CommandEnvironment& env) {
  std::vector<std::string> args(given.begin(), given.end());
  if (args.empty() || args.front() != "run") return args;
  constexpr std::array<std::pair<const char*, const char*>, 2> kOld = {
      {{"--shadow", "shadow"}, {"--embedded", "replay"}}};
  for (const auto& [flag, command] : kOld) {
    if (std::erase(args, flag) == 0) continue;
    args.front() = command;
    PrintWarnings({std::string("berth run ") + flag + " is now berth " + command + "; use berth " +
                   command + " with the same flags"},
                  env);
    break;
  }
  return args;
}

}  // namespace

int RunCommand(std::span<const std::string> given, CommandEnvironment& env) {
  const std::vector<std::string> args = WithoutOldSpelling(given, env);
  Execution execute;
  CLI::App app(HelpOf({"about"}), "berth");
  app.require_subcommand(1);
  app.set_version_flag("--version", Version());
  app.failure_message(FailureMessage);
  app.footer(HelpOf({"berth", "exit_status"}));
  AddCommands(app, execute);

  if (args.empty()) {
    env.err << app.help();
    return kExitBadInput;
  }
  if (Status status = CheckCommand(app, args); !status.ok()) return Fail(env, status);
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    if (Status status = CheckExcess(app); error.get_exit_code() != 0 && !status.ok()) {
      return Fail(env, status);
    }
    const int exit_status = app.exit(error, env.out, env.err);
    return exit_status == 0 ? Print(env, "", kExitDone) : kExitBadInput;
  }
  return execute(env);
}

}  // namespace berth::host

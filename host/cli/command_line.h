// The commands and flags of `berth`.
#ifndef BERTH_HOST_CLI_COMMAND_LINE_H_
#define BERTH_HOST_CLI_COMMAND_LINE_H_

#include "host/cli/commands.h"
#include "host/cli/profile_convert.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own.
class App;
}  // namespace CLI

namespace berth::host {

// The flags of all commands.
struct CommandLine {
  RunFlags run;
  ReplayFlags replay;
  ShadowFlags shadow;
  SimulateFlags simulate;
  ExplainFlags explain;
  DoctorFlags doctor;
  PluginFlags list;
  PluginFlags describe;
  ProfileFlags check;
  ProfileFlags show;
  ProfileConvertFlags convert;
  PluginCheckFlags plugin_check;
  PluginNewFlags new_plugin;
};

// Adds every command with its flags and its help. Parsing sets `line`, which must outlive it.
void AddCommands(CLI::App& app, CommandLine& line);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_COMMAND_LINE_H_

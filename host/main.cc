// Wiring: the process around the commands.
#include "host/cli/command.h"
#include "host/cli/process.h"

int main(int argc, char** argv) {
  return berth::host::RunProcess(argc, argv, "berth", berth::host::RunCommand);
}

// The program `berth`.
#include "host/cli/command.h"
#include "host/cli/program.h"

int main(int argc, char** argv) {
  return berth::host::RunProgram(argc, argv, "berth", berth::host::RunCommand);
}

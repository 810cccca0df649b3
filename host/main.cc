// The program `berth`.
#include <malloc.h>

#include "host/cli/command.h"
#include "host/cli/program.h"

int main(int argc, char** argv) {
  // A large block is a mapping of its own and returns to the system when it is freed. Otherwise the
  // C library raises this limit (its first value) with the first large block that is freed, and the
  // arrays that grow with the cluster leave their former blocks in the heap: 8 % of the memory for
  // 15,000 nodes.
  constexpr int kLargeBlock = 128 << 10;
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  return berth::host::RunProgram(argc, argv, "berth", berth::host::RunCommand);
}

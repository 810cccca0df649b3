// The summary that `berth replay` prints at its end.
#ifndef BERTH_HOST_CLI_REPLAY_SUMMARY_H_
#define BERTH_HOST_CLI_REPLAY_SUMMARY_H_

#include <string>

#include "host/cli/output.h"
#include "host/process/replay/replay.h"

namespace berth::host {

// Appends how many pods were bound and how many are pending, and a table of the most frequent
// reasons why pods are pending.
void AppendSummary(const ReplaySummary& summary, TerminalWidth width, std::string& out);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_REPLAY_SUMMARY_H_

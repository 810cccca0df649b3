// Prints an explain report as text.
#ifndef BERTH_HOST_CLI_EXPLAIN_TABLE_H_
#define BERTH_HOST_CLI_EXPLAIN_TABLE_H_

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "host/cli/output.h"

namespace berth::host {

// Appends a sentence with the decision and its reason, the nodes that fit with the scores of every
// plugin, highest total first, and the nodes that do not fit, grouped by reason.
// `report`: the result of ExplainReport() or ExplainGate(), plus `pod`, `nodeCount`, `seed` and
// optionally `note`, which is printed after the sentence.
void AppendExplanation(const nlohmann::ordered_json& report, TerminalWidth width, std::string& out);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_EXPLAIN_TABLE_H_

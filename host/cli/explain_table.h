// An explain report for people.
#ifndef BERTH_HOST_CLI_EXPLAIN_TABLE_H_
#define BERTH_HOST_CLI_EXPLAIN_TABLE_H_

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "host/cli/output.h"

namespace berth::host {

// `report` is what ExplainReport() gives, with `pod`, `nodeCount` and `seed` added; a `note`, where
// there is one, is printed too. A sentence that says why; the nodes that fit, the highest total
// first, with what every plugin scored; then the nodes that do not, those with the same reasons
// together.
void AppendExplanation(const nlohmann::ordered_json& report, TerminalWidth width, std::string& out);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_EXPLAIN_TABLE_H_

// Prints the arguments of a plugin as a table.
#ifndef BERTH_HOST_CLI_SCHEMA_TABLE_H_
#define BERTH_HOST_CLI_SCHEMA_TABLE_H_

#include <nlohmann/json.hpp>

#include "host/cli/output.h"

namespace berth::host {

// Returns a table with one row for each argument of the JSON Schema: the name (of a nested
// argument: "scoringStrategy.resources[].weight"), type, default, allowed values and description.
// The table is empty if the schema has no properties or is not an object.
Table SchemaTable(const nlohmann::ordered_json& schema);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_SCHEMA_TABLE_H_

// A plugin's arguments, from their JSON Schema, for people.
#ifndef BERTH_HOST_CLI_SCHEMA_TABLE_H_
#define BERTH_HOST_CLI_SCHEMA_TABLE_H_

#include <nlohmann/json.hpp>

#include "host/cli/output.h"

namespace berth::host {

// One row per argument, nested ones as "scoringStrategy.resources[].weight": its type, default,
// what is allowed, what it means. Empty for a schema without properties, or one that is not an
// object.
Table SchemaTable(const nlohmann::ordered_json& schema);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_SCHEMA_TABLE_H_

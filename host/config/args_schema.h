// Checks a plugin's arguments against the plugin's JSON Schema, before any of its code runs.
#ifndef BERTH_HOST_CONFIG_ARGS_SCHEMA_H_
#define BERTH_HOST_CONFIG_ARGS_SCHEMA_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/config/config_errors.h"
#include "host/config/profile.h"

namespace berth::host {

// Returns the key of a JSON pointer as users write it: "args.scoringStrategy.resources[0].weight"
// for "/scoringStrategy/resources/0/weight", and "args" for "".
std::string ArgsKey(std::string_view pointer);

// Checks the arguments against `schema`, a JSON Schema, as far as it uses type, enum, minimum,
// maximum, minItems, maxItems, minLength, maxLength, properties, required, additionalProperties and
// items. Other keywords and invalid parts of the schema are ignored: the plugin itself checks its
// arguments later. Missing arguments count as an empty table.
// `context` precedes each key in messages; `plugin` is the place where the plugin is named.
void CheckArgs(const nlohmann::json& schema, const ProfileArgs& args, const std::string& context,
               const ConfigPlace& plugin, ConfigErrors& errors);

// Returns `args` with the defaults of `schema` for members that are not set, also in nested tables.
// For display; a plugin applies its own defaults.
nlohmann::json WithDefaults(const nlohmann::json& schema, const nlohmann::json& args);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_ARGS_SCHEMA_H_

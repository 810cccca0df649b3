// A plugin's arguments against what the plugin says of them, before any of its code runs.
#ifndef BERTH_HOST_CONFIG_ARGS_SCHEMA_H_
#define BERTH_HOST_CONFIG_ARGS_SCHEMA_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/config/config_errors.h"
#include "host/config/profile.h"

namespace berth::host {

// "args.scoringStrategy.resources[0].weight" for "/scoringStrategy/resources/0/weight", and "args"
// for "".
std::string ArgsKey(std::string_view pointer);

// Checks what `schema`, a JSON Schema, says with type, enum, minimum, maximum, minItems, maxItems,
// minLength, maxLength, properties, required, additionalProperties and items. What else it says,
// and what makes no sense in it, is passed over: the plugin itself has the last word. Arguments
// that are not given are an empty table.
// `context` stands before each key in messages; `plugin` is where the plugin is named.
void CheckArgs(const nlohmann::json& schema, const ProfileArgs& args, const std::string& context,
               const ConfigPlace& plugin, ConfigErrors& errors);

// `args` with the defaults that `schema` names for what they do not say, tables within tables
// included. For people to read: a plugin fills in its own.
nlohmann::json WithDefaults(const nlohmann::json& schema, const nlohmann::json& args);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_ARGS_SCHEMA_H_

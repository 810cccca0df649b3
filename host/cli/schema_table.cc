#include "host/cli/schema_table.h"

#include <array>
#include <string>
#include <utility>

#include "host/base/json_text.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 16;

const Json* Find(const Json& schema, const char* key) {
  const auto found = schema.find(key);
  return found == schema.end() ? nullptr : &*found;
}

// Returns a string unchanged, any other value as JSON.
std::string Shown(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return DumpJson(value);
}

std::string ShownAt(const Json& schema, const char* key) {
  const Json* value = Find(schema, key);
  return value == nullptr ? std::string() : Shown(*value);
}

// "at least 1, at most 100", "LeastAllocated, MostAllocated"
std::string Allowed(const Json& schema) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  if (const Json* words = Find(schema, "enum"); words != nullptr && words->is_array()) {
    for (const Json& word : *words) add(Shown(word));
  }
  constexpr std::array<std::pair<const char*, const char*>, 6> kLimits = {
      {{"minimum", "at least "},
       {"exclusiveMinimum", "above "},
       {"maximum", "at most "},
       {"exclusiveMaximum", "below "},
       {"maxLength", "length at most "},
       {"maxItems", "elements at most "}}};
  for (const auto& [key, words] : kLimits) {
    if (const Json* limit = Find(schema, key)) add(words + Shown(*limit));
  }
  return text;
}

void AddRows(const Json& schema, const std::string& prefix, int depth, Table& table);

void AddArgument(const Json& schema, const std::string& name, int depth, Table& table) {
  if (!schema.is_object()) return;
  table.AddRow({name, ShownAt(schema, "type"), ShownAt(schema, "default"), Allowed(schema),
                ShownAt(schema, "description")});
  AddRows(schema, name + ".", depth + 1, table);
  const Json* items = Find(schema, "items");
  if (items != nullptr && items->is_object()) AddRows(*items, name + "[].", depth + 1, table);
}

void AddRows(const Json& schema, const std::string& prefix, int depth, Table& table) {
  const Json* properties = Find(schema, "properties");
  if (properties == nullptr || !properties->is_object() || depth > kMaxDepth) return;
  for (const auto& [name, property] : properties->items()) {
    AddArgument(property, prefix + name, depth, table);
  }
}

}  // namespace

Table SchemaTable(const Json& schema) {
  Table table({"ARGUMENT", "TYPE", "DEFAULT", "ALLOWED", "MEANING"});
  if (schema.is_object()) AddRows(schema, "", 0, table);
  return table;
}

}  // namespace berth::host

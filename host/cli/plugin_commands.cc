#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cli/commands.h"
#include "host/guard/point.h"
#include "host/loader/plugin_catalog.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

bool ServesService(const std::string& id) {
  return std::ranges::find(Services(), id, &ServiceInfo::id) != Services().end();
}

// ---- list ---------------------------------------------------------------------------------------

// Returns the shared objects in the directory that are no plugin libraries, sorted by name.
Json IgnoredLibraries(const PluginSet& plugins, const std::string& directory) {
  std::map<std::string, std::string> reasons;
  for (const LoadError& ignored : plugins.ignored()) {
    reasons[std::filesystem::path(ignored.path).filename().string()] =
        "it has no Berth plugin note (.note.berth)";
  }
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(".so") || IsLibraryName(name)) continue;
    reasons[name] = "the names of plugin libraries are lib*.so";
  }
  Json list = Json::array();
  for (const auto& [name, reason] : reasons) {
    list.push_back({{"library", name}, {"reason", reason}});
  }
  return list;
}

Json ListOf(const PluginSet& plugins, const std::string& directory) {
  Json list = Json::array();
  for (const auto& [name, plugin] : plugins.catalog().plugins()) {
    list.push_back({{"name", name},
                    {"version", plugin.info->version},
                    {"points", PointNames(plugin.info->points)},
                    {"library", plugin.library->path()}});
  }
  Json broken = Json::array();
  for (const LoadError& error : plugins.broken()) {
    broken.push_back({{"library", error.path},
                      {"code", LoadErrorName(error.code)},
                      {"message", error.ToString()}});
  }
  return {{"directory", directory},
          {"plugins", std::move(list)},
          {"broken", std::move(broken)},
          {"ignored", IgnoredLibraries(plugins, directory)}};
}

void AppendList(const Json& list, TerminalWidth width, std::string& out) {
  if (list["plugins"].empty()) {
    out += "There are no plugins in " + Printable(list["directory"].get<std::string>()) + ".\n";
  } else {
    Table table({"NAME", "VERSION", "LIBRARY", "POINTS"});
    for (const Json& plugin : list["plugins"]) {
      const std::filesystem::path library = plugin["library"].get<std::string>();
      table.AddRow({plugin["name"], plugin["version"], library.filename().string(),
                    JoinTexts(plugin["points"], ", ")});
    }
    table.Append(width, out);
    out += "\nDirectory: " + Printable(list["directory"].get<std::string>()) + ".\n";
  }
  if (!list["ignored"].empty()) out += '\n';
  for (const Json& ignored : list["ignored"]) {
    AppendWrapped(Printable("ignored: " + ignored["library"].get<std::string>() + ": " +
                            ignored["reason"].get<std::string>()),
                  4, width, out);
  }
  if (list["broken"].empty()) return;
  out += "\nNot loaded:\n";
  for (const Json& error : list["broken"]) {
    out += "  ";
    AppendWrapped(Printable(error["message"].get<std::string>()), 4, width, out);
  }
}

// ---- Arguments ----------------------------------------------------------------------------------

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

// ---- describe -----------------------------------------------------------------------------------

Json Described(const PluginInfo& info) {
  Json points = Json::array();
  for (const std::string& id : info.points) {
    // The host may not have a point of a newer plugin.
    const PointInfo* point = FindPoint(id);
    points.push_back({{"name", point == nullptr ? id : std::string(point->name)},
                      {"id", id},
                      {"served", point != nullptr}});
  }
  Json services = Json::array();
  for (const std::string& id : info.services) {
    services.push_back({{"id", id}, {"served", ServesService(id)}});
  }
  Json schema = ParseOrderedJson(info.args_schema);
  if (schema.is_discarded()) schema = info.args_schema;
  return {{"name", info.name},
          {"version", info.version},
          {"about", info.about},
          {"points", std::move(points)},
          {"services", std::move(services)},
          {"kinds", info.kinds},
          {"fields", info.fields},
          {"podFields", info.pod_fields},
          {"blocksInBind", info.blocks_in_bind},
          {"argsSchema", std::move(schema)}};
}

// `only`: the plugin to describe; empty: every plugin of the library.
Json Described(const LibraryDescription& library, const std::string& only) {
  Json plugins = Json::array();
  for (const PluginInfo& info : library.plugins) {
    if (only.empty() || info.name == only) plugins.push_back(Described(info));
  }
  return {{"library", library.path},
          {"sha256", library.digest},
          {"abi", std::to_string(library.abi_major) + "." + std::to_string(library.abi_minor)},
          {"minHostAbi",
           std::to_string(library.abi_major) + "." + std::to_string(library.min_host_minor)},
          {"asserts", library.built_with_asserts},
          {"sanitizer", library.built_with_sanitizer},
          {"warnings", library.warnings},
          {"plugins", std::move(plugins)}};
}

// "Filter, Reserve (not called by this host)"
std::string NamesAndServed(const Json& entries, const char* name, const char* unserved) {
  std::string text;
  for (const Json& entry : entries) {
    text += (text.empty() ? "" : ", ") + entry[name].get<std::string>();
    if (!entry["served"].get<bool>()) text.append(" (").append(unserved).append(")");
  }
  return text;
}

void AddFact(Table& facts, std::string name, std::string value) {
  if (!value.empty()) facts.AddRow({std::move(name), std::move(value)});
}

void AppendPlugin(const Json& plugin, TerminalWidth width, std::string& out) {
  out += '\n';
  Table facts(
      {"Plugin", plugin["name"].get<std::string>() + " " + plugin["version"].get<std::string>()});
  AddFact(facts, "About", plugin["about"]);
  AddFact(facts, "Points", NamesAndServed(plugin["points"], "name", "not called by this host"));
  AddFact(facts, "Services", NamesAndServed(plugin["services"], "id", "not served by this host"));
  AddFact(facts, "Kinds", JoinTexts(plugin["kinds"], ", "));
  AddFact(facts, "Fields", JoinTexts(plugin["fields"], ", "));
  AddFact(facts, "Pod fields", JoinTexts(plugin["podFields"], ", "));
  if (plugin["blocksInBind"].get<bool>())
    AddFact(facts, "Binding", "blocks; runs on a thread of the bind pool");
  const Table arguments = SchemaTable(plugin["argsSchema"]);
  if (arguments.row_count() == 0) AddFact(facts, "Arguments", "none");
  facts.Append(width, out);
  if (arguments.row_count() == 0) return;
  out += '\n';
  arguments.Append(width, out);
}

void AppendLibrary(const Json& library, TerminalWidth width, std::string& out) {
  Table facts({"Library", library["library"]});
  AddFact(facts, "SHA-256", library["sha256"]);
  AddFact(facts, "ABI",
          library["abi"].get<std::string>() + ", for hosts from " +
              library["minHostAbi"].get<std::string>());
  if (library["asserts"].get<bool>()) AddFact(facts, "Built", "with assertions");
  if (library["sanitizer"].get<bool>()) AddFact(facts, "Built", "with a sanitizer");
  for (const Json& warning : library["warnings"]) AddFact(facts, "Warning", warning);
  facts.Append(width, out);
  for (const Json& plugin : library["plugins"]) AppendPlugin(plugin, width, out);
}

bool IsPath(const std::string& target) {
  std::error_code error;
  return target.find('/') != std::string::npos || target.ends_with(".so") ||
         std::filesystem::is_regular_file(target, error);
}

Result<Json> DescribeLibrary(const std::string& path, PluginSet& plugins) {
  const auto library = plugins.AddLibrary(path);
  if (!library.ok()) return library.error().ToStatus();
  return Described((*library)->description(), "");
}

Result<Json> DescribePlugin(const std::string& name, const std::string& directory,
                            PluginSet& plugins) {
  Status status = plugins.AddDirectory(directory);
  if (!status.ok()) return status;
  const auto& known = plugins.catalog().plugins();
  if (const auto found = known.find(name); found != known.end()) {
    return Described(found->second.library->description(), name);
  }
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const auto& [known_name, plugin] : known) names.push_back(known_name);
  std::string text =
      "expected a plugin in " + directory + ", found no plugin " + name + DidYouMean(name, names);
  for (const LoadError& error : plugins.broken()) text += '\n' + NotLoadedText(error);
  return Status::NotFound(std::move(text));
}

}  // namespace

Table SchemaTable(const Json& schema) {
  Table table({"ARGUMENT", "TYPE", "DEFAULT", "ALLOWED", "MEANING"});
  if (schema.is_object()) AddRows(schema, "", 0, table);
  return table;
}

int ExecutePluginList(const PluginFlags& flags, CommandEnvironment& env) {
  const auto directory = PluginDirectory(flags.plugin_directory, env);
  if (!directory.ok()) return Fail(env, directory.status());
  PluginSet plugins(env.temporary_directory, env.steady_ns);
  if (Status status = plugins.AddDirectory(*directory); !status.ok()) return Fail(env, status);
  return PrintAs(flags.output, ListOf(plugins, *directory), AppendList, env,
                 plugins.broken().empty() ? kExitDone : kExitBadInput);
}

int ExecutePluginDescribe(const PluginFlags& flags, CommandEnvironment& env) {
  PluginSet plugins(env.temporary_directory, env.steady_ns);
  Result<Json> library = Status::NotFound(flags.target);
  if (IsPath(flags.target)) {
    library = DescribeLibrary(flags.target, plugins);
  } else {
    const auto directory = PluginDirectory(flags.plugin_directory, env);
    if (!directory.ok()) return Fail(env, directory.status());
    library = DescribePlugin(flags.target, *directory, plugins);
  }
  if (!library.ok()) return Fail(env, library.status());
  return PrintAs(flags.output, *library, AppendLibrary, env, kExitDone);
}

}  // namespace berth::host

// Fuzzes the reader of profiles, including `extends`, and the validation of arguments against a
// schema. An input contains up to two profiles.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/base/assert.h"
#include "host/config/args_schema.h"
#include "host/config/profile.h"
#include "host/config/profile_reader.h"

namespace berth::host {
namespace {

// Separates the two files of an input.
constexpr std::string_view kCut = "\n----\n";

const nlohmann::json& Schema() {
  static const nlohmann::json schema = nlohmann::json::parse(R"({
    "type": "object", "additionalProperties": false, "required": ["a"],
    "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 9, "default": 1},
                   "b": {"type": "array", "minItems": 1, "items": {"enum": ["x", "y", 1]}},
                   "c": {"type": "object", "additionalProperties": {"type": "number"}}}})");
  return schema;
}

// Returns the files that a profile may extend: "a.toml" is the first part of `text`, "b.toml" the
// second part, and "c.toml" is fixed.
ProfileFiles FilesOf(std::string_view text) {
  const size_t cut = text.find(kCut);
  const std::string first(text.substr(0, cut));
  const std::string second(cut == std::string_view::npos ? std::string_view()
                                                         : text.substr(cut + kCut.size()));
  ProfileFiles files;
  files.read = [=](const std::string& path) -> Result<std::string> {
    if (path == "a.toml") return first;
    if (path == "b.toml") return second;
    if (path == "c.toml")
      return std::string("[[plugins]]\nname = \"C\"\n[plugins.args]\nc.d = 1\n");
    return Status::NotFound("No such file or directory");
  };
  files.shipped_names = {"default"};
  return files;
}

void Check(const Profile& profile) {
  std::set<std::string> names;
  for (const ProfilePlugin& plugin : profile.plugins) {
    BERTH_ASSERT(!plugin.name.value.empty());
    BERTH_ASSERT(names.insert(plugin.name.value).second);
    BERTH_ASSERT(!plugin.deadline_ns.has_value() || plugin.deadline_ns->value > 0);
    BERTH_ASSERT(plugin.args.value.is_null() || plugin.args.value.is_object());
    for (const auto& [pointer, place] : plugin.args.places) {
      BERTH_ASSERT(plugin.args.value.contains(nlohmann::json::json_pointer(pointer)));
      BERTH_ASSERT(!place.file.empty());
    }
    ConfigErrors errors;
    CheckArgs(Schema(), plugin.args, PluginContext(plugin.name.value), plugin.name.place, errors);
    for (const ConfigError& error : errors.errors()) BERTH_ASSERT(!error.place.file.empty());
    static_cast<void>(WithDefaults(Schema(), plugin.args.value));
  }
}

void Run(std::string_view text) {
  ConfigErrors errors;
  const std::optional<Profile> profile = ReadProfile("a.toml", FilesOf(text), errors);
  if (!errors.empty()) {
    const Status status = errors.ToStatus();
    BERTH_ASSERT(!status.ok() && !status.message().empty());
  } else {
    BERTH_ASSERT(profile.has_value());
  }
  if (profile.has_value()) Check(*profile);
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}

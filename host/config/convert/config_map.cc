#include "host/config/convert/config_map.h"

#include <string_view>
#include <utility>
#include <vector>

#include "host/base/text.h"
#include "host/config/config_value.h"
#include "host/config/convert/document.h"

namespace berth::host {
namespace {

constexpr std::string_view kConfigKind = "KubeSchedulerConfiguration";

bool IsOfKind(const ConfigValue& document, std::string_view kind) {
  const ConfigValue* found = document.Find("kind");
  return found != nullptr && found->is_string() && found->text == kind;
}

// Returns whether a text is a KubeSchedulerConfiguration, or seems to be one with a syntax error.
bool IsKubeConfig(std::string_view text) {
  ConfigErrors ignored;
  const std::optional<ConfigValue> document = ReadDocument(text, "", ignored);
  if (document.has_value()) return IsOfKind(*document, kConfigKind);
  return text.find(kConfigKind) != text.npos;
}

// Returns the command that prints one entry: "config.yaml" is "config\.yaml" in a JSONPath.
std::string ExtractCommand(std::string_view key) {
  std::string path;
  for (const char c : key) path.append(c == '.' ? "\\" : "").push_back(c);
  return "kubectl -n NAMESPACE get configmap NAME -o jsonpath='{.data." + path +
         "}' | berth profile convert -";
}

}  // namespace

std::optional<KubeConfigText> FindKubeConfig(const std::string& text, const std::string& file,
                                             ConfigErrors& errors) {
  ConfigErrors ignored;
  const std::optional<ConfigValue> document = ReadDocument(text, file, ignored);
  if (!document.has_value() || !IsOfKind(*document, "ConfigMap")) {
    return KubeConfigText{text, file, false};
  }
  const ConfigValue* data = document->Find("data");
  std::vector<std::string> names;
  const ConfigValue* entry = nullptr;
  if (data != nullptr) {
    for (const ConfigMember& member : data->members) {
      if (!member.value.is_string() || !IsKubeConfig(member.value.text)) continue;
      names.push_back(member.key);
      entry = &member.value;
    }
  }
  if (names.size() == 1) return KubeConfigText{entry->text, file + ", data." + names[0], true};
  const std::string expected = "one entry of the ConfigMap that is a " + std::string(kConfigKind);
  errors.Expected(
      data == nullptr ? document->place : data->place, "data", expected,
      names.empty()
          ? "none"
          : Join(names, ", ") + "; convert them one by one: " + ExtractCommand(names.front()));
  return std::nullopt;
}

}  // namespace berth::host

#include "host/config/profile_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/assert.h"
#include "host/base/text.h"
#include "host/base/time.h"

namespace berth::host {
namespace {

using Json = nlohmann::json;

constexpr size_t kLineWidth = 100;

bool IsBareKey(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return IsLetter(c) || IsDigit(c) || c == '_' || c == '-';
  });
}

std::string KeyText(std::string_view key) {
  return IsBareKey(key) ? std::string(key) : TomlString(key);
}

std::string TomlNumber(double number) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  std::string text(digits.data(), end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// Returns the value as TOML on one line.
std::string ValueText(const Json& value) {
  if (value.is_string()) return TomlString(value.get_ref<const std::string&>());
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_float()) return TomlNumber(value.get<double>());
  if (value.is_number()) return std::to_string(value.get<int64_t>());
  BERTH_ASSERT(value.is_structured());
  const bool is_array = value.is_array();
  std::string text = is_array ? "[" : "{ ";
  bool is_first = true;
  for (const auto& [key, element] : value.items()) {
    if (!is_first) text += ", ";
    is_first = false;
    if (!is_array) text += KeyText(key) + " = ";
    text += ValueText(element);
  }
  if (!is_array && is_first) return "{}";
  return text + (is_array ? "]" : " }");
}

class Writer {
 public:
  explicit Writer(const CommentedPlugins& commented) : commented_(commented) {}

  std::string Write(const Profile& profile, std::string_view heading) {
    AddHeading(heading);
    AddKey("schedulerName", TomlString(profile.scheduler_name.value));
    for (const ProfilePlugin& plugin : profile.plugins) AddPlugin(plugin);
    if (!profile.order.empty()) AddOrders(profile);
    return std::move(text_);
  }

 private:
  void AddHeading(std::string_view heading) {
    while (!heading.empty()) {
      const size_t end = std::min(heading.find('\n'), heading.size());
      std::string line = "# " + std::string(heading.substr(0, end));
      // A TOML comment must not contain control characters other than tabs.
      std::ranges::replace_if(
          line, [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f; }, '?');
      text_ += line + '\n';
      heading.remove_prefix(std::min(end + 1, heading.size()));
    }
  }

  void AddLine(std::string_view line) { text_.append(prefix_).append(line).append("\n"); }

  void AddKey(std::string_view key, const std::string& value) {
    AddLine(std::string(key) + " = " + value);
  }

  void AddPlugin(const ProfilePlugin& plugin) {
    text_ += '\n';
    prefix_ = commented_.contains(plugin.name.value) ? "# " : "";
    AddLine("[[plugins]]");
    AddKey("name", TomlString(plugin.name.value));
    if (plugin.enabled.has_value()) AddKey("enabled", plugin.enabled->value ? "true" : "false");
    if (plugin.weight.has_value()) AddKey("weight", std::to_string(plugin.weight->value));
    if (plugin.deadline_ns.has_value()) {
      AddKey("deadline", TomlString(FormatDuration(plugin.deadline_ns->value)));
    }
    AddText("library", plugin.library);
    AddText("sha256", plugin.sha256);
    AddText("before", plugin.before);
    AddText("after", plugin.after);
    if (plugin.points.has_value()) {
      Json points = Json::array();
      for (const Placed<std::string>& point : *plugin.points) points.push_back(point.value);
      AddValue("points", points);
    }
    if (!plugin.args.value.is_null()) AddTable("plugins.args", plugin.args.value);
    prefix_ = "";
  }

  void AddText(std::string_view key, const std::optional<Placed<std::string>>& text) {
    if (text.has_value()) AddKey(key, TomlString(text->value));
  }

  // Writes an array that is too long for one line with one line per element.
  void AddValue(const std::string& key, const Json& value) {
    const std::string line = key + " = " + ValueText(value);
    if (!value.is_array() || line.size() + prefix_.size() <= kLineWidth) return AddLine(line);
    AddLine(key + " = [");
    for (const Json& element : value) AddLine("  " + ValueText(element) + ",");
    AddLine("]");
  }

  // Writes plain values before nested tables: a key after a table's header belongs to that table.
  void AddTable(const std::string& path, const Json& table) {
    const bool has_values =
        std::ranges::any_of(table, [](const Json& v) { return !v.is_object(); });
    if (has_values || table.empty()) AddLine("[" + path + "]");
    for (const auto& [key, value] : table.items()) {
      if (!value.is_object()) AddValue(KeyText(key), value);
    }
    for (const auto& [key, value] : table.items()) {
      if (value.is_object()) AddTable(path + "." + KeyText(key), value);
    }
  }

  void AddOrders(const Profile& profile) {
    text_ += "\n[order]\n";
    for (const ProfileOrder& order : profile.order) AddOrder(order);
  }

  void AddOrder(const ProfileOrder& order) {
    const auto is_commented = [this](const Placed<std::string>& plugin) {
      return commented_.contains(plugin.value);
    };
    const std::string key = KeyText(order.point.value);
    if (std::ranges::none_of(order.plugins, is_commented)) {
      Json names = Json::array();
      for (const Placed<std::string>& plugin : order.plugins) names.push_back(plugin.value);
      return AddValue(key, names);
    }
    const bool all = std::ranges::all_of(order.plugins, is_commented);
    prefix_ = all ? "# " : "";
    AddLine(key + " = [");
    for (const Placed<std::string>& plugin : order.plugins) {
      AddLine((is_commented(plugin) && !all ? "  # " : "  ") + TomlString(plugin.value) + ",");
    }
    AddLine("]");
    prefix_ = "";
  }

  const CommentedPlugins& commented_;
  std::string text_;
  std::string_view prefix_;
};

}  // namespace

std::string WriteProfile(const Profile& profile, std::string_view heading,
                         const CommentedPlugins& commented) {
  return Writer(commented).Write(profile, heading);
}

std::string TomlString(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted.append({'\\', c});
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      quoted.append("\\u00").append({kDigits[byte >> 4], kDigits[byte & 15]});
    } else {
      quoted += c;
    }
  }
  return quoted += '"';
}

}  // namespace berth::host

#include "host/config/profile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "host/base/assert.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/config/config_value.h"

namespace berth::host {
namespace {

using Plugins = std::vector<ProfilePlugin>;

void ErasePlaces(ProfileArgs& args, const std::string& pointer) {
  args.places.erase(pointer);
  const auto begin = args.places.lower_bound(pointer + "/");
  const auto end = args.places.lower_bound(pointer + "0");  // The character after '/'.
  args.places.erase(begin, end);
}

void MoveValue(nlohmann::json& base, nlohmann::json& over, const std::string& pointer,
               ProfileArgs& args) {
  if (base.is_object() && over.is_object()) {
    for (auto& [key, value] : over.items()) {
      const std::string below = PointerTo(pointer, key);
      if (!base.contains(key)) base[key] = nullptr;
      MoveValue(base[key], value, below, args);
    }
    return;
  }
  ErasePlaces(args, pointer);
  base = std::move(over);
}

// Merges `over` into `base`: tables are merged, all other values are replaced.
void MergeArgs(ProfileArgs& base, ProfileArgs over) {
  if (over.value.is_null()) return;
  if (base.value.is_null()) {
    base = std::move(over);
    return;
  }
  MoveValue(base.value, over.value, "", base);
  for (auto& [pointer, place] : over.places) base.places[pointer] = std::move(place);
}

const std::string& NameOf(const ProfilePlugin& plugin) { return plugin.name.value; }

Plugins::iterator FindPlugin(Plugins& plugins, const std::string& name) {
  return std::ranges::find(plugins, name, &NameOf);
}

template <class T>
void Replace(std::optional<T>& base, std::optional<T>&& over) {
  if (over.has_value()) base = std::move(over);
}

class Mover {
 public:
  Mover(bool complete, Plugins& plugins, ConfigErrors& errors)
      : complete_(complete), plugins_(plugins), errors_(errors) {}

  void Move(const ProfilePlugin& entry) {
    const std::string& name = entry.name.value;
    if (entry.before.has_value() && Check(entry, "before", *entry.before)) {
      Place(name, entry.before->value, 0);
    }
    if (entry.after.has_value() && Check(entry, "after", *entry.after) &&
        !(entry.before.has_value() && IsBefore(entry.after->value, name))) {
      Place(name, entry.after->value, 1);
    }
  }

 private:
  bool Check(const ProfilePlugin& entry, const char* key, const Placed<std::string>& other) {
    const std::string where = PluginContext(entry.name.value) + key;
    if (other.value == entry.name.value) {
      errors_.Expected(other.place, where, "another plugin", "the plugin itself");
      return false;
    }
    if (FindPlugin(plugins_, other.value) != plugins_.end()) return true;
    if (!complete_) return false;
    std::vector<std::string> names;
    for (const ProfilePlugin& plugin : plugins_) names.push_back(plugin.name.value);
    errors_.Expected(other.place, where, "a plugin of this profile",
                     Quoted(other.value) + DidYouMean(other.value, names));
    return false;
  }

  void Place(const std::string& name, const std::string& other, std::ptrdiff_t offset) {
    const auto from = FindPlugin(plugins_, name);
    ProfilePlugin plugin = std::move(*from);
    plugins_.erase(from);
    plugins_.insert(FindPlugin(plugins_, other) + offset, std::move(plugin));
  }

  // Returns whether both plugins exist and `first` precedes `second`.
  bool IsBefore(const std::string& first, const std::string& second) {
    const auto a = FindPlugin(plugins_, first);
    const auto b = FindPlugin(plugins_, second);
    return a != plugins_.end() && b != plugins_.end() && a < b;
  }

  bool complete_;
  Plugins& plugins_;
  ConfigErrors& errors_;
};

// Finds an order in which all constraints hold, and which differs little from the existing one.
class Sorter {
 public:
  // Ignores constraints that name a missing plugin or the plugin itself.
  Sorter(const Plugins& entries, Plugins& plugins, ConfigErrors& errors)
      : plugins_(plugins), errors_(errors) {
    std::map<std::string_view, size_t> index;
    for (size_t i = 0; i < plugins.size(); ++i) index.emplace(plugins[i].name.value, i);
    for (const ProfilePlugin& entry : entries) {
      const size_t self = index.at(entry.name.value);
      for (const auto* other : {&entry.before, &entry.after}) {
        if (!other->has_value()) continue;
        const auto found = index.find((*other)->value);
        if (found == index.end() || found->second == self) continue;
        const bool is_before = other == &entry.before;
        constraints_.push_back({&entry, &**other, is_before, is_before ? self : found->second,
                                is_before ? found->second : self});
      }
    }
  }

  void Sort() {
    if (std::ranges::all_of(constraints_, [](const Constraint& w) { return w.first < w.second; }))
      return;
    std::vector<std::vector<size_t>> behind(plugins_.size());
    waits_for_.assign(plugins_.size(), 0);
    for (const Constraint& constraint : constraints_) {
      behind[constraint.first].push_back(constraint.second);
      ++waits_for_[constraint.second];
    }
    std::set<size_t> ready;
    for (size_t i = 0; i < plugins_.size(); ++i) {
      if (waits_for_[i] == 0) ready.insert(i);
    }
    std::vector<size_t> order;
    while (!ready.empty()) {
      const size_t next = ready.extract(ready.begin()).value();
      order.push_back(next);
      for (const size_t other : behind[next]) {
        if (--waits_for_[other] == 0) ready.insert(other);
      }
    }
    if (order.size() < plugins_.size()) return ReportCycles();
    Plugins sorted;
    for (const size_t i : order) sorted.push_back(std::move(plugins_[i]));
    plugins_ = std::move(sorted);
  }

 private:
  struct Constraint {
    const ProfilePlugin* entry;
    const Placed<std::string>* other;
    bool is_before;
    size_t first;  // Must precede `second`. Both are indexes into plugins_.
    size_t second;

    const char* key() const { return is_before ? "before" : "after"; }
    std::string ToString() const { return entry->name.value + " " + key() + " " + other->value; }
  };
  using Cycle = std::vector<const Constraint*>;

  // Every plugin that is not placed waits for another such plugin, so following the constraints
  // backwards ends in a cycle.
  void ReportCycles() {
    std::vector<const Constraint*> reason(plugins_.size(), nullptr);
    for (const Constraint& constraint : constraints_) {
      const bool waits = waits_for_[constraint.first] > 0;
      if (waits && reason[constraint.second] == nullptr) reason[constraint.second] = &constraint;
    }
    std::vector<size_t> visited_from(plugins_.size(), plugins_.size());
    for (size_t start = 0; start < plugins_.size(); ++start) {
      Cycle path;
      size_t at = start;
      while (waits_for_[at] > 0 && visited_from[at] == plugins_.size()) {
        visited_from[at] = start;
        path.push_back(reason[at]);
        at = reason[at]->first;
      }
      if (path.empty() || visited_from[at] != start) continue;
      path.erase(path.begin(), std::ranges::find_if(path, [at](const Constraint* constraint) {
                   return constraint->second == at;
                 }));
      ReportCycle(std::move(path));
    }
  }

  // Reports the cycle starting with its first constraint in the file; each constraint continues
  // where the previous one ended.
  void ReportCycle(Cycle cycle) {
    std::rotate(cycle.begin(), std::ranges::min_element(cycle), cycle.end());
    const Constraint& first = *cycle.front();
    if (first.is_before) std::reverse(cycle.begin() + 1, cycle.end());
    std::vector<std::string> constraints;
    for (const Constraint* constraint : cycle) constraints.push_back(constraint->ToString());
    errors_.Expected(first.other->place, PluginContext(first.entry->name.value) + first.key(),
                     "`before` and `after` keys that do not contradict each other",
                     "a cycle: " + Join(constraints, ", "));
  }

  Plugins& plugins_;
  ConfigErrors& errors_;
  std::vector<Constraint> constraints_;  // The constraints in the order of the file.
  // For each plugin, the number of its predecessors that have no place yet.
  std::vector<size_t> waits_for_;
};

}  // namespace

bool IsSchedulerName(std::string_view name) {
  return !name.empty() && std::ranges::none_of(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f;
  });
}

ConfigPlace ProfileArgs::PlaceOf(std::string_view pointer) const {
  while (true) {
    if (const auto found = places.find(pointer); found != places.end()) return found->second;
    const size_t slash = pointer.rfind('/');
    if (slash == std::string_view::npos) return {};
    pointer = pointer.substr(0, slash);
  }
}

const ProfilePlugin* Profile::Find(std::string_view plugin) const {
  const auto found = std::ranges::find(plugins, plugin, &NameOf);
  return found == plugins.end() ? nullptr : &*found;
}

// ---- Merging and ordering -----------------------------------------------------------------------

void MergePlugin(Plugins& plugins, ProfilePlugin entry) {
  const auto found = FindPlugin(plugins, entry.name.value);
  if (found == plugins.end()) {
    plugins.push_back(std::move(entry));
    return;
  }
  ProfilePlugin& plugin = *found;
  plugin.name = std::move(entry.name);
  if (entry.library.has_value()) plugin.sha256.reset();
  Replace(plugin.enabled, std::move(entry.enabled));
  Replace(plugin.weight, std::move(entry.weight));
  Replace(plugin.deadline_ns, std::move(entry.deadline_ns));
  Replace(plugin.library, std::move(entry.library));
  Replace(plugin.sha256, std::move(entry.sha256));
  Replace(plugin.points, std::move(entry.points));
  plugin.before = std::move(entry.before);
  plugin.after = std::move(entry.after);
  MergeArgs(plugin.args, std::move(entry.args));
}

void MovePlugins(const Plugins& entries, bool complete, Plugins& plugins, ConfigErrors& errors) {
  Mover mover(complete, plugins, errors);
  for (const ProfilePlugin& entry : entries) mover.Move(entry);
  Sorter(entries, plugins, errors).Sort();
}

std::string PluginContext(const std::string& plugin) { return "plugin " + Quoted(plugin) + ": "; }

// --- profile writer ------------------------------------------------------------------------------

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

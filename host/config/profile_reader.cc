#include "host/config/profile_reader.h"

#include <algorithm>
#include <utility>

#include "host/base/text.h"
#include "host/config/config_value.h"
#include "host/config/toml_document.h"

namespace berth::host {
namespace {

constexpr size_t kMaxOrders = 100;  // More than the number of extension points.

// Returns what is found in place of a digest: "62", or `62, and 2 other characters, the first of
// them "g" at position 3`.
std::string DescribeDigits(std::string_view text) {
  const auto digits = static_cast<size_t>(std::ranges::count_if(text, IsHexDigit));
  std::string found = std::to_string(digits);
  size_t position = 0;
  size_t others = 0;
  std::string first;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (end < text.size() && (static_cast<uint8_t>(text[end]) & 0xC0U) == 0x80U) ++end;
    ++position;
    const std::string_view character = text.substr(at, end - at);
    at = end;
    if (character.size() == 1 && IsHexDigit(character[0])) continue;
    ++others;
    if (first.empty()) first = Quoted(character) + " at position " + std::to_string(position);
  }
  if (others == 0) return found;
  return found + (others == 1 ? ", and the character " + first
                              : ", and " + std::to_string(others) +
                                    " other characters, the first of them " + first);
}

class ProfileReader {
 public:
  ProfileReader(const ProfileFiles& files, ConfigErrors& errors) : files_(files), errors_(errors) {}

  // `named_at` is the place that names the profile; empty for the first profile.
  std::optional<Profile> Read(const std::string& name, const std::string& path,
                              const ConfigPlace& named_at) {
    if (!CanBeRead(path, named_at)) return std::nullopt;
    Result<std::string> text = path.empty() ? Status::NotFound("") : files_.read(path);
    if (!text.ok()) {
      ReportMissing(name, path, named_at, text.status().message());
      return std::nullopt;
    }
    const std::optional<ConfigValue> root = ParseToml(*text, path, errors_);
    if (!root.has_value()) return std::nullopt;
    trail_.push_back(path);
    Profile profile = ReadRoot(*root, path);
    trail_.pop_back();
    return profile;
  }

 private:
  bool CanBeRead(const std::string& path, const ConfigPlace& named_at) {
    if (std::ranges::find(trail_, path) != trail_.end()) {
      errors_.Expected(named_at, "extends", "a profile that does not extend this one", Cycle(path));
      return false;
    }
    if (trail_.size() <= kMaxExtends) return true;
    errors_.Expected(named_at, "extends",
                     "at most " + std::to_string(kMaxExtends) + " profiles in a chain of `extends`",
                     "more");
    return false;
  }

  // Returns the cycle as text: "a.toml, which extends b.toml, which extends a.toml".
  std::string Cycle(const std::string& path) const {
    std::string cycle = path;
    for (auto file = std::ranges::find(trail_, path) + 1; file != trail_.end(); ++file) {
      cycle += ", which extends " + *file;
    }
    return cycle + ", which extends " + path;
  }

  void ReportMissing(const std::string& name, const std::string& path, const ConfigPlace& named_at,
                     std::string_view why) {
    std::string expected = "a profile";
    std::string found = "none at " + path + ": " + std::string(why);
    if (path.empty()) {
      expected = "the path of a .toml file, because no profiles are installed with Berth here";
      found = Quoted(name);
      if (!files_.searched.empty()) found += "; looked in " + Join(files_.searched, ", ");
    } else if (IsBareProfileName(name) &&
               std::ranges::find(files_.shipped_names, name) == files_.shipped_names.end()) {
      expected = "the path of a .toml file, or the name of a profile that is installed with Berth";
      found = "no profile of this name in " + files_.shipped_folder +
              DidYouMean(name, files_.shipped_names);
    }
    if (trail_.empty()) {
      errors_.Expected({}, "profile " + name, expected, found);
    } else {
      errors_.Expected(named_at, "extends", expected, found);
    }
  }

  Profile ReadRoot(const ConfigValue& root, const std::string& path) {
    TableReader reader(root, "", errors_);
    const auto scheduler_name = ReadSchedulerName(reader);
    const auto extends = reader.String("extends", "the path or name of a profile");
    const size_t before = errors_.size();
    const ConfigValue* plugins = reader.Array("plugins", "tables, each [[plugins]]");
    const ConfigValue* order = reader.Table("order");
    reader.End();
    const bool may_mean_plugins = plugins == nullptr && errors_.size() != before;

    Profile profile;
    bool complete = extends.has_value() || root.Find("extends") == nullptr;
    if (extends.has_value()) {
      const std::string base = ProfilePath(extends->value, path, files_);
      std::optional<Profile> read = Read(extends->value, base, extends->place);
      complete = read.has_value();
      if (complete) profile = std::move(*read);
    }
    profile.file = path;
    if (!complete || may_mean_plugins) profile.is_complete = false;
    if (scheduler_name.has_value()) {
      profile.scheduler_name = *scheduler_name;
    } else if (!complete || root.Find("schedulerName") != nullptr) {
      profile.scheduler_name = {};
    }
    for (ProfilePlugin& plugin : profile.plugins) {
      plugin.before.reset();
      plugin.after.reset();
    }
    if (plugins != nullptr) complete = ReadPlugins(*plugins, complete, profile);
    if (order != nullptr) ReadOrder(*order, profile);
    CheckPins(profile);
    if (complete) CheckOrderNames(profile);
    return profile;
  }

  static std::optional<Placed<std::string>> ReadSchedulerName(TableReader& reader) {
    constexpr std::string_view kKey = "schedulerName";
    auto name = reader.String(kKey, kExpectedSchedulerName);
    if (!name.has_value() || IsSchedulerName(name->value)) return name;
    reader.Expected(kKey, name->place, kExpectedSchedulerName, Quoted(name->value));
    return std::nullopt;
  }

  // Returns: whether all plugins could be read, given that `complete` holds for the inherited
  //          ones. A plugin without a name counts as not read.
  bool ReadPlugins(const ConfigValue& array, bool complete, Profile& profile) {
    if (array.elements.size() > kMaxProfilePlugins) {
      profile.is_complete = false;
      errors_.Expected(array.place, "plugins",
                       "at most " + std::to_string(kMaxProfilePlugins) + " plugins",
                       std::to_string(array.elements.size()));
      return false;
    }
    std::vector<ProfilePlugin> entries;
    for (const ConfigValue& element : array.elements) {
      if (!element.is_table()) {
        profile.is_complete = false;
        errors_.Expected(element.place, "plugins", "a table, [[plugins]]", element.Describe());
        complete = false;
        continue;
      }
      std::optional<ProfilePlugin> entry = ReadPlugin(element, profile);
      if (!entry.has_value()) {
        complete = false;
        continue;
      }
      const auto other = std::ranges::find_if(
          entries, [&](const ProfilePlugin& p) { return p.name.value == entry->name.value; });
      if (other == entries.end()) {
        entries.push_back(std::move(*entry));
      } else {
        profile.is_complete = false;
        errors_.Expected(
            entry->name.place, PluginContext(entry->name.value) + "name", "unique plugin names",
            "a second entry: the first one is in line " + std::to_string(other->name.place.line));
      }
    }
    for (const ProfilePlugin& entry : entries) MergePlugin(profile.plugins, entry);
    MovePlugins(entries, complete, profile.plugins, errors_);
    return complete;
  }

  std::optional<ProfilePlugin> ReadPlugin(const ConfigValue& table, Profile& profile) {
    const ConfigValue* name = table.Find("name");
    const bool has_name = name != nullptr && name->is_string() && !name->text.empty();
    TableReader reader(table, has_name ? PluginContext(name->text) : "plugins: ", errors_);
    ProfilePlugin plugin;
    const auto read_name = reader.String("name", "the name of a plugin");
    if (name == nullptr) reader.Expected("name", table.place, "the name of a plugin", "none");
    plugin.weight = reader.Int("weight", 0, INT64_MAX);
    plugin.deadline_ns = reader.Duration("deadline");
    plugin.sha256 = reader.String("sha256", "64 hexadecimal digits");
    plugin.before = reader.String("before", "the name of a plugin");
    plugin.after = reader.String("after", "the name of a plugin");
    const ConfigValue* args = reader.Table("args");
    const size_t before = errors_.size();
    plugin.enabled = reader.Bool("enabled");
    plugin.library = reader.String("library", "the path of a library");
    plugin.points = reader.Strings("points", "names of extension points");
    reader.End();
    if (!has_name || errors_.size() != before) profile.is_complete = false;
    if (args != nullptr) plugin.args = ToArgs(*args, reader.KeyOf(""), errors_);
    if (plugin.library.has_value()) {
      plugin.library->value = Beside(profile.file, plugin.library->value);
    }
    if (!plugin.sha256.has_value() && table.Find("sha256") != nullptr) {
      // A value of another type is reported already. No digest is not the same as a wrong one.
      plugin.sha256 = Placed<std::string>{"", table.Find("sha256")->place};
    } else if (plugin.sha256.has_value() && !IsSha256(plugin.sha256->value)) {
      reader.Expected("sha256", plugin.sha256->place, "64 hexadecimal digits",
                      DescribeDigits(plugin.sha256->value));
    }
    if (plugin.points.has_value() && plugin.points->empty() &&
        table.Find("points")->elements.empty()) {
      reader.Expected("points", table.Find("points")->place,
                      "at least one extension point (enabled = false turns a plugin off)", "none");
    }
    if (!has_name) return std::nullopt;
    plugin.name = {read_name->value, table.place};
    return plugin;
  }

  void CheckPins(const Profile& profile) {
    for (const ProfilePlugin& plugin : profile.plugins) {
      if (!plugin.sha256.has_value() || plugin.library.has_value()) continue;
      errors_.Expected(plugin.sha256->place, PluginContext(plugin.name.value) + "sha256",
                       "a `library` key in the same entry, which the digest belongs to", "none");
    }
  }

  void ReadOrder(const ConfigValue& table, Profile& profile) {
    if (table.members.size() > kMaxOrders) {
      errors_.Expected(table.place, "order", "extension points",
                       std::to_string(table.members.size()) + " keys");
      return;
    }
    TableReader reader(table, "order.", errors_);
    for (const ConfigMember& member : table.members) {
      auto names = reader.Strings(member.key, "names of plugins");
      if (!names.has_value()) continue;
      ProfileOrder order{{member.key, member.value.place}, std::move(*names)};
      const auto found = std::ranges::find_if(profile.order, [&](const ProfileOrder& known) {
        return known.point.value == member.key;
      });
      if (found == profile.order.end()) {
        profile.order.push_back(std::move(order));
      } else {
        *found = std::move(order);
      }
    }
    std::ranges::sort(profile.order, {},
                      [](const ProfileOrder& order) { return order.point.value; });
  }

  void CheckOrderNames(const Profile& profile) {
    std::vector<std::string> names;
    for (const ProfilePlugin& plugin : profile.plugins) names.push_back(plugin.name.value);
    for (const ProfileOrder& order : profile.order) {
      for (const Placed<std::string>& plugin : order.plugins) {
        if (profile.Find(plugin.value) != nullptr) continue;
        errors_.Expected(plugin.place, "order." + order.point.value, "a plugin of this profile",
                         Quoted(plugin.value) + DidYouMean(plugin.value, names));
      }
    }
  }

  const ProfileFiles& files_;
  ConfigErrors& errors_;
  std::vector<std::string> trail_;  // The files being read; each extends the next.
};

}  // namespace

std::string ProfilePath(std::string_view name, std::string_view file, const ProfileFiles& files) {
  if (!IsBareProfileName(name)) return Beside(file, name);
  if (files.shipped_folder.empty()) return "";
  return InFolder(files.shipped_folder, std::string(name).append(kProfileSuffix));
}

std::optional<Profile> ReadProfile(const std::string& name, const ProfileFiles& files,
                                   ConfigErrors& errors) {
  return ProfileReader(files, errors).Read(name, ProfilePath(name, "", files), {});
}

}  // namespace berth::host

#include "host/config/profile_merge.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/api/suggest.h"
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

Plugins::iterator FindPlugin(Plugins& plugins, const std::string& name) {
  return std::ranges::find_if(plugins,
                              [&](const ProfilePlugin& p) { return p.name.value == name; });
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

  void Verify(const ProfilePlugin& entry) {
    const std::string& name = entry.name.value;
    if (entry.before.has_value() && IsBefore(entry.before->value, name)) {
      Contradiction(entry, "before", *entry.before);
    } else if (entry.after.has_value() && IsBefore(name, entry.after->value)) {
      Contradiction(entry, "after", *entry.after);
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

  // Both are there, and the one stands before the other.
  bool IsBefore(const std::string& first, const std::string& second) {
    const auto a = FindPlugin(plugins_, first);
    const auto b = FindPlugin(plugins_, second);
    return a != plugins_.end() && b != plugins_.end() && a < b;
  }

  void Contradiction(const ProfilePlugin& entry, const char* key,
                     const Placed<std::string>& other) {
    errors_.Expected(other.place, PluginContext(entry.name.value) + key,
                     "an order that all `before` and `after` of this file allow",
                     "a contradiction with another of them");
  }

  bool complete_;
  Plugins& plugins_;
  ConfigErrors& errors_;
};

}  // namespace

void MergeArgs(ProfileArgs& base, ProfileArgs over) {
  if (over.value.is_null()) return;
  if (base.value.is_null()) {
    base = std::move(over);
    return;
  }
  MoveValue(base.value, over.value, "", base);
  for (auto& [pointer, place] : over.places) base.places[pointer] = std::move(place);
}

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
  Replace(plugin.library, std::move(entry.library));
  Replace(plugin.sha256, std::move(entry.sha256));
  Replace(plugin.points, std::move(entry.points));
  plugin.before = std::move(entry.before);
  plugin.after = std::move(entry.after);
  MergeArgs(plugin.args, std::move(entry.args));
}

void MovePlugins(const Plugins& entries, bool complete, Plugins& plugins, ConfigErrors& errors) {
  Mover mover(complete, plugins, errors);
  const size_t before = errors.size();
  for (const ProfilePlugin& entry : entries) mover.Move(entry);
  if (errors.size() != before) return;
  for (const ProfilePlugin& entry : entries) mover.Verify(entry);
}

std::string PluginContext(const std::string& plugin) { return "plugin " + Quoted(plugin) + ": "; }

}  // namespace berth::host

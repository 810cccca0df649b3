#include "host/config/profile.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "host/base/text.h"
#include "host/config/config_value.h"

namespace berth::host {
namespace {

using Plugins = std::vector<ProfilePlugin>;

// Erases the entries of the part at `pointer` and of everything in it.
template <class Map>
void EraseBelow(Map& by_pointer, const std::string& pointer) {
  by_pointer.erase(pointer);
  const auto begin = by_pointer.lower_bound(pointer + "/");
  const auto end = by_pointer.lower_bound(pointer + "0");  // The character after '/'.
  by_pointer.erase(begin, end);
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
  EraseBelow(args.places, pointer);
  EraseBelow(args.texts, pointer);
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
  base.texts.merge(over.texts);
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

bool IsSha256(std::string_view text) {
  constexpr size_t kDigits = 64;
  return text.size() == kDigits && std::ranges::all_of(text, IsHexDigit);
}

std::string PluginContext(const std::string& plugin) { return "plugin " + Quoted(plugin) + ": "; }

}  // namespace berth::host

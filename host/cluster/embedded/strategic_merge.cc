#include "host/cluster/embedded/strategic_merge.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "host/base/json_text.h"
#include "host/cluster/client.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// ---- Lists that are merged ----------------------------------------------------------------------

struct MergedList {
  std::string_view path;  // Without the indexes of lists.
  std::string_view key;   // Empty for a set of scalars.
};

constexpr std::array<MergedList, 2> kMetaLists = {
    {{"/metadata/ownerReferences", "uid"}, {"/metadata/finalizers", ""}}};

constexpr std::array<MergedList, 13> kPodLists = {
    {{"/spec/volumes", "name"},
     {"/spec/initContainers", "name"},
     {"/spec/containers", "name"},
     {"/spec/ephemeralContainers", "name"},
     {"/spec/imagePullSecrets", "name"},
     {"/spec/hostAliases", "ip"},
     {"/spec/topologySpreadConstraints", "topologyKey"},
     {"/spec/schedulingGates", "name"},
     {"/spec/resourceClaims", "name"},
     {"/status/conditions", "type"},
     {"/status/hostIPs", "ip"},
     {"/status/podIPs", "ip"},
     {"/status/resourceClaimStatuses", "name"}}};

// The paths begin at a container.
constexpr std::array<MergedList, 4> kContainerLists = {{{"/ports", "containerPort"},
                                                        {"/env", "name"},
                                                        {"/volumeMounts", "mountPath"},
                                                        {"/volumeDevices", "devicePath"}}};

constexpr std::array<MergedList, 3> kNodeLists = {
    {{"/spec/podCIDRs", ""}, {"/status/conditions", "type"}, {"/status/addresses", "type"}}};

std::optional<std::string_view> FindIn(std::span<const MergedList> lists, std::string_view path) {
  const auto found = std::ranges::find(lists, path, &MergedList::path);
  return found == lists.end() ? std::nullopt : std::optional(found->key);
}

// Returns the merge key of the list at `path`; "" for a set of scalars; nullopt for a list that is
// replaced.
std::optional<std::string_view> MergeKeyOf(std::string_view kind, std::string_view path) {
  if (const auto key = FindIn(kMetaLists, path)) return key;
  if (kind == kNodeKind) return FindIn(kNodeLists, path);
  if (kind != kPodKind) return std::nullopt;
  if (const auto key = FindIn(kPodLists, path)) return key;
  for (const std::string_view list :
       {"/spec/containers", "/spec/initContainers", "/spec/ephemeralContainers"}) {
    if (path.starts_with(list)) return FindIn(kContainerLists, path.substr(list.size()));
  }
  return std::nullopt;
}

// ---- Directives ---------------------------------------------------------------------------------

constexpr const char* kPatch = "$patch";
constexpr const char* kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";
constexpr std::string_view kSetElementOrder = "$setElementOrder/";

bool IsListDirective(std::string_view key) {
  return key.starts_with(kDeleteFromList) || key.starts_with(kSetElementOrder);
}

Status Malformed(const std::string& path, const std::string& what) {
  return Status::InvalidArgument(path + ": " + what);
}

Status WrongValue(const std::string& path, const char* what, const Json& found) {
  return Malformed(path, std::string("expected ") + what + ", found " + QuotedJson(found));
}

std::string PathOf(const std::string& parent, const std::string& key) {
  // No list in an object of such a key is merged.
  if (key.find('/') != std::string::npos) return parent + "/?";
  return parent + "/" + key;
}

// Returns a value of a patch that has no counterpart in the object, without what only patches have:
// null and directives. Returns nullopt if nothing is left of it. The depth of the recursion is that
// of a body.
std::optional<Json> Strip(Json value) {
  if (value.is_object()) {
    if (value.contains(kPatch)) return std::nullopt;
    Json kept = Json::object();
    for (auto& [key, member] : value.items()) {
      if (member.is_null() || key == kRetainKeys || IsListDirective(key)) continue;
      if (auto left = Strip(std::move(member))) kept[key] = *std::move(left);
    }
    return kept;
  }
  if (value.is_array()) {
    Json kept = Json::array();
    for (Json& element : value) {
      if (auto left = Strip(std::move(element))) kept.push_back(*std::move(left));
    }
    return kept;
  }
  return value;
}

// ---- Order --------------------------------------------------------------------------------------

// The places of the elements of a list by their keys; the first one counts.
class Places {
 public:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  explicit Places(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) places_.try_emplace(key, places_.size());
  }
  size_t Of(const std::string& key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? kNone : found->second;
  }

 private:
  std::unordered_map<std::string, size_t> places_;
};

struct Keyed {
  std::string key;
  Json element;
};

// Orders a merged list: the elements that `wanted` names are in its order, the others in the order
// of `before`, and each of the others stands before the first element that it preceded.
Json InOrder(std::vector<Keyed> merged, const std::vector<std::string>& wanted,
             const std::vector<std::string>& before) {
  const Places in_wanted(wanted);
  const Places in_before(before);
  const auto others = std::stable_partition(merged.begin(), merged.end(), [&](const Keyed& one) {
    return in_wanted.Of(one.key) != Places::kNone;
  });
  std::stable_sort(merged.begin(), others, [&](const Keyed& a, const Keyed& b) {
    return in_wanted.Of(a.key) < in_wanted.Of(b.key);
  });
  std::stable_sort(others, merged.end(), [&](const Keyed& a, const Keyed& b) {
    return in_before.Of(a.key) < in_before.Of(b.key);
  });
  Json list = Json::array();
  auto named = merged.begin();
  auto other = others;
  while (named != others || other != merged.end()) {
    bool takes_other = named == others;
    if (!takes_other && other != merged.end()) {
      const size_t place = in_before.Of(named->key);
      takes_other = place != Places::kNone && in_before.Of(other->key) < place;
    }
    list.push_back(std::move((takes_other ? other++ : named++)->element));
  }
  return list;
}

// ---- Merging ------------------------------------------------------------------------------------

class Merger {
 public:
  explicit Merger(std::string_view kind) : kind_(kind) {}

  // The depth of the recursion is that of a body.
  Status MergeObject(const std::string& path, Json& object, Json& patch) const;

 private:
  Status RetainKeys(const std::string& path, Json& object, Json& patch) const;
  Status MergeMember(const std::string& path, Json& object, const std::string& key,
                     Json& value) const;
  Status DeleteFromList(const std::string& path, Json& object, const std::string& name,
                        const Json& texts) const;
  Status SetOrder(const std::string& path, Json& object, Json& patch, const std::string& name,
                  const Json& order) const;
  // Merges a list with a merge key, or a set of scalars if `key` is empty. `order`: that of
  // $setElementOrder; null if there is none.
  Status MergeList(const std::string& path, const std::string& key, Json& list, Json& patch,
                   const std::vector<std::string>* order) const;
  // Applies the elements with $patch: removes elements of `list`, and those elements of `patch`.
  static Status ApplyDirectives(const std::string& path, const std::string& key, Json& list,
                                Json& patch);

  static Result<std::string> KeyOf(const std::string& path, const std::string& key,
                                   const Json& element);
  static Result<std::vector<std::string>> KeysOf(const std::string& path, const std::string& key,
                                                 const Json& list);

  const std::string_view kind_;
};

Result<std::string> Merger::KeyOf(const std::string& path, const std::string& key,
                                  const Json& element) {
  if (key.empty()) {
    if (element.is_structured()) return WrongValue(path, "a list of single values", element);
    return DumpJson(element);
  }
  if (!element.is_object()) return WrongValue(path, "a list of objects", element);
  const auto found = element.find(key);
  if (found == element.end() || found->is_structured() || found->is_null()) {
    return Malformed(
        path, "expected an element with the merge key " + key + ", found " + QuotedJson(element));
  }
  return DumpJson(*found);
}

Result<std::vector<std::string>> Merger::KeysOf(const std::string& path, const std::string& key,
                                                const Json& list) {
  std::vector<std::string> keys;
  keys.reserve(list.size());
  for (const Json& element : list) {
    Result<std::string> one = KeyOf(path, key, element);
    if (!one.ok()) return std::move(one).status();
    keys.push_back(*std::move(one));
  }
  return keys;
}

Status Merger::MergeObject(const std::string& path, Json& object, Json& patch) const {
  if (const auto directive = patch.find(kPatch); directive != patch.end()) {
    if (*directive == "delete") return object = Json::object(), Status();
    if (*directive != "replace") {
      return WrongValue(path + "/$patch", "\"replace\" or \"delete\"", *directive);
    }
    patch.erase(directive);
    object = Strip(std::move(patch)).value_or(Json::object());
    return {};
  }
  if (Status status = RetainKeys(path, object, patch); !status.ok()) return status;
  std::vector<std::string> ordered;
  for (const auto& [key, order] : patch.items()) {
    if (!key.starts_with(kSetElementOrder)) continue;
    const std::string name = key.substr(kSetElementOrder.size());
    if (Status status = SetOrder(path, object, patch, name, order); !status.ok()) return status;
    ordered.push_back(name);
  }
  for (auto& [key, value] : patch.items()) {
    if (key.starts_with(kSetElementOrder) || std::ranges::find(ordered, key) != ordered.end()) {
      continue;
    }
    Status status = key.starts_with(kDeleteFromList)
                        ? DeleteFromList(path, object, key.substr(kDeleteFromList.size()), value)
                        : MergeMember(path, object, key, value);
    if (!status.ok()) return status;
  }
  return {};
}

Status Merger::RetainKeys(const std::string& path, Json& object, Json& patch) const {
  const auto directive = patch.find(kRetainKeys);
  if (directive == patch.end()) return {};
  const Json retained = std::move(*directive);
  patch.erase(directive);
  const std::string place = path + "/" + kRetainKeys;
  if (!retained.is_array()) return Malformed(place, "invalid patch format of retainKeys");
  std::unordered_set<std::string> kept;
  for (const Json& key : retained) {
    if (!key.is_string()) return Malformed(place, "invalid patch format of retainKeys");
    kept.insert(key.get<std::string>());
  }
  for (const auto& [key, value] : patch.items()) {
    if (!value.is_null() && !IsListDirective(key) && !kept.contains(key)) {
      return Malformed(place, "patch content doesn't match retainKeys list: " + key);
    }
  }
  Json left = Json::object();
  for (auto& [key, value] : object.items()) {
    if (kept.contains(key)) left[key] = std::move(value);
  }
  object = std::move(left);
  return {};
}

Status Merger::MergeMember(const std::string& path, Json& object, const std::string& key,
                           Json& value) const {
  const auto found = object.find(key);
  if (value.is_null()) {
    if (found != object.end()) object.erase(found);
    return {};
  }
  const std::string place = PathOf(path, key);
  if (found != object.end() && found->is_object() && value.is_object()) {
    return MergeObject(place, *found, value);
  }
  if (found != object.end() && found->is_array() && value.is_array()) {
    if (const auto merge_key = MergeKeyOf(kind_, place)) {
      return MergeList(place, std::string(*merge_key), *found, value, nullptr);
    }
  }
  std::optional<Json> left = Strip(std::move(value));
  if (left.has_value()) {
    object[key] = *std::move(left);
  } else if (found != object.end()) {
    object.erase(found);
  }
  return {};
}

Status Merger::DeleteFromList(const std::string& path, Json& object, const std::string& name,
                              const Json& texts) const {
  const std::string place = PathOf(path, name);
  const auto key = MergeKeyOf(kind_, place);
  if (!texts.is_array() || !key.has_value() || !key->empty()) {
    return Malformed(path + "/" + std::string(kDeleteFromList) + name,
                     "invalid patch format of primitive list");
  }
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return {};
  const Result<std::vector<std::string>> deleted = KeysOf(place, "", texts);
  if (!deleted.ok()) return deleted.status();
  const std::unordered_set<std::string> gone(deleted->begin(), deleted->end());
  Json left = Json::array();
  for (Json& element : *found) {
    if (!gone.contains(DumpJson(element))) left.push_back(std::move(element));
  }
  *found = std::move(left);
  return {};
}

Status Merger::SetOrder(const std::string& path, Json& object, Json& patch, const std::string& name,
                        const Json& order) const {
  const std::string directive = path + "/" + std::string(kSetElementOrder) + name;
  const std::string place = PathOf(path, name);
  const auto key = MergeKeyOf(kind_, place);
  if (!order.is_array() || !key.has_value()) {
    return Malformed(directive, "invalid patch format of setElementOrder list");
  }
  const Result<std::vector<std::string>> wanted = KeysOf(directive, std::string(*key), order);
  if (!wanted.ok()) return wanted.status();
  const auto patched = patch.find(name);
  const auto found = object.find(name);
  Json none = Json::array();
  Json& changes = patched == patch.end() ? none : *patched;
  if (!changes.is_array()) return WrongValue(place, "a list", changes);
  if (found == object.end()) {
    if (patched == patch.end()) return {};
    object[name] = Json::array();
  }
  Json& list = object[name];
  if (!list.is_array()) return WrongValue(place, "a list", list);
  return MergeList(place, std::string(*key), list, changes, &*wanted);
}

Status Merger::ApplyDirectives(const std::string& path, const std::string& key, Json& list,
                               Json& patch) {
  std::unordered_set<std::string> deleted;
  bool replaces = false;
  Json others = Json::array();
  for (Json& element : patch) {
    const auto directive = element.is_object() ? element.find(kPatch) : element.end();
    if (!element.is_object() || directive == element.end()) {
      others.push_back(std::move(element));
    } else if (*directive == "replace") {
      replaces = true;
    } else if (*directive == "delete") {
      Result<std::string> one = KeyOf(path, key, element);
      if (!one.ok()) return std::move(one).status();
      deleted.insert(*std::move(one));
    } else {
      return WrongValue(path + "/$patch", "\"replace\" or \"delete\"", *directive);
    }
  }
  patch = std::move(others);
  if (replaces) return list = Json::array(), Status();
  if (deleted.empty()) return {};
  Json left = Json::array();
  for (Json& element : list) {
    Result<std::string> one = KeyOf(path, key, element);
    if (!one.ok()) return std::move(one).status();
    if (!deleted.contains(*one)) left.push_back(std::move(element));
  }
  list = std::move(left);
  return {};
}

Status Merger::MergeList(const std::string& path, const std::string& key, Json& list, Json& patch,
                         const std::vector<std::string>* order) const {
  if (!key.empty()) {
    if (Status status = ApplyDirectives(path, key, list, patch); !status.ok()) return status;
  }
  const Result<std::vector<std::string>> before = KeysOf(path, key, list);
  if (!before.ok()) return before.status();
  const Result<std::vector<std::string>> changed = KeysOf(path, key, patch);
  if (!changed.ok()) return changed.status();
  if (order != nullptr) {
    const Places in_order(*order);
    size_t last = 0;
    for (const std::string& one : *changed) {
      const size_t at = in_order.Of(one);
      if (at == Places::kNone || at < last) {
        return Malformed(path, "the order of the patch contradicts $setElementOrder");
      }
      last = at;
    }
  }
  std::vector<Keyed> merged;
  std::unordered_map<std::string, size_t> at;
  for (size_t i = 0; i < list.size(); ++i) {
    at.try_emplace((*before)[i], merged.size());
    merged.push_back({(*before)[i], std::move(list[i])});
  }
  for (size_t i = 0; i < patch.size(); ++i) {
    const auto [found, is_new] = at.try_emplace((*changed)[i], merged.size());
    if (is_new) {
      merged.push_back({(*changed)[i], Strip(std::move(patch[i])).value_or(Json())});
    } else if (!key.empty()) {
      Status status = MergeObject(path, merged[found->second].element, patch[i]);
      if (!status.ok()) return status;
    }
  }
  list = InOrder(std::move(merged), order != nullptr ? *order : *changed, *before);
  return {};
}

}  // namespace

Result<Json> StrategicMerge(std::string_view kind, Json object, Json patch) {
  Status status = Merger(kind).MergeObject("", object, patch);
  if (!status.ok()) return status;
  return object;
}

}  // namespace berth::host

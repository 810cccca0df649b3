#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/args_decode.h>
#include <berth/testing/field_tree.h>
#include <berth/testing/quantity.h>
#include <berth/testing/values.h>

namespace berth::testing {
namespace {

// Removes the next segment from a JSON pointer and returns it without its escapes.
std::string TakeSegment(std::string_view& pointer) {
  const size_t end = std::min(pointer.find('/', 1), pointer.size());
  std::string segment;
  for (size_t i = 1; i < end; ++i) {
    const bool escaped = pointer[i] == '~' && i + 1 < end;
    if (escaped) ++i;
    segment += !escaped ? pointer[i] : pointer[i] == '1' ? '/' : '~';
  }
  pointer.remove_prefix(end);
  return segment;
}

// Returns the index that a segment is; nullopt for a key.
std::optional<size_t> IndexOf(std::string_view segment) {
  constexpr size_t kMaxDigits = 4;  // More than the elements of any array of a pod or node.
  if (segment.empty() || segment.size() > kMaxDigits) return std::nullopt;
  if (segment.size() > 1 && segment[0] == '0') return std::nullopt;
  size_t index = 0;
  for (const char c : segment) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<size_t>(c - '0');
  }
  return index;
}

// Returns the member or element of `parent`, which is created if it is absent. A value that is
// neither an object nor an array becomes one: an array if the segment is an index. Elements before
// a new one are null.
ValueSpec& Child(ValueSpec& parent, const std::string& segment, std::string_view path) {
  const std::optional<size_t> index = IndexOf(segment);
  if (parent.kind != BERTH_VALUE_OBJECT && parent.kind != BERTH_VALUE_ARRAY) {
    parent = index.has_value() ? ValueSpec::List({}) : ValueSpec::Object();
  }
  if (parent.kind == BERTH_VALUE_ARRAY) {
    if (!index.has_value()) {
      Misuse("Field(\"" + std::string(path) + "\"): expected the index of an element, found " +
             segment);
    }
    if (*index >= parent.items.size()) parent.items.resize(*index + 1);
    return parent.items[*index];
  }
  const auto key = std::find(parent.keys.begin(), parent.keys.end(), segment);
  if (key != parent.keys.end()) {
    return parent.items[static_cast<size_t>(key - parent.keys.begin())];
  }
  parent.keys.push_back(segment);
  return parent.items.emplace_back();
}

void AddPaths(const ValueSpec& value, const std::string& path, std::vector<std::string>& paths) {
  for (size_t i = 0; i < value.items.size(); ++i) {
    const bool is_object = value.kind == BERTH_VALUE_OBJECT;
    const std::string key = is_object ? value.keys[i] : std::to_string(i);
    paths.push_back(berth::internal::Under(path, key));
    AddPaths(value.items[i], std::string(paths.back()), paths);
  }
}

}  // namespace

FieldTree::FieldTree(const std::vector<std::pair<std::string, std::string>>& fields) {
  for (const auto& [path, json] : fields) {
    if (json.empty()) continue;
    if (!path.starts_with('/')) {
      Misuse("Field(\"" + path + "\"): expected a path such as /spec/hostIPC");
    }
    ValueSpec* at = &root_;
    for (std::string_view rest = path; !rest.empty();) at = &Child(*at, TakeSegment(rest), path);
    *at = internal::ReadJson(json);
  }
}

const ValueSpec* FieldTree::Find(std::string_view path) const {
  const ValueSpec* at = &root_;
  if (!path.starts_with('/')) return nullptr;
  while (!path.empty()) {
    const std::string segment = TakeSegment(path);
    if (at->kind == BERTH_VALUE_ARRAY) {
      const std::optional<size_t> index = IndexOf(segment);
      if (!index.has_value() || *index >= at->items.size()) return nullptr;
      at = &at->items[*index];
    } else {
      at = at->Find(segment);
      if (at == nullptr) return nullptr;
    }
  }
  return at->kind == BERTH_VALUE_NULL ? nullptr : at;
}

std::vector<std::string> FieldTree::Paths() const {
  std::vector<std::string> paths;
  AddPaths(root_, "", paths);
  return paths;
}

}  // namespace berth::testing

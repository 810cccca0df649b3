#include "host/cluster/kubernetes/access/kubeconfig_entry.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "host/base/base64.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

std::string_view TypeName(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::boolean: return "a boolean";
    case Json::value_t::string: return "a string";
    case Json::value_t::array: return "a list";
    case Json::value_t::object: return "a mapping";
    default: return "a number; write it between quotes if it is a text";
  }
}

// Escapes a key of a JSON pointer. (RFC 6901)
std::string PointerPart(std::string_view key) {
  std::string part = "/";
  for (const char c : key) {
    if (c == '~') {
      part += "~0";
    } else if (c == '/') {
      part += "~1";
    } else {
      part += c;
    }
  }
  return part;
}

KubeconfigPlace ElementOf(const KubeconfigPlace& list, size_t index) {
  const std::string number = std::to_string(index);
  return {list.file, list.pointer + "/" + number, list.key + "[" + number + "]"};
}

}  // namespace

KubeconfigPlace KubeconfigEntry::PlaceOf(const std::string& key) const {
  if (key.empty()) return place_;
  const std::string prefix = place_.key.empty() ? "" : place_.key + ".";
  return {place_.file, place_.pointer + PointerPart(key), prefix + key};
}

const Json* KubeconfigEntry::Find(const char* key) const {
  const auto found = json_->find(key);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

void KubeconfigEntry::FailType(const KubeconfigPlace& place, std::string_view expected,
                               const Json& found) const {
  problems_->Fail(
      place, std::string("expected ").append(expected).append(", found ").append(TypeName(found)));
}

std::string KubeconfigEntry::String(const char* key) const {
  const Json* const value = Find(key);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  FailType(PlaceOf(key), "a string", *value);
  return "";
}

bool KubeconfigEntry::Bool(const char* key) const {
  const Json* const value = Find(key);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  FailType(PlaceOf(key), "true or false", *value);
  return false;
}

std::string KubeconfigEntry::Base64(const char* key) const {
  std::optional<std::string> bytes = DecodeBase64(String(key));
  if (bytes) return *std::move(bytes);
  Fail(key, "expected base64, found other text");
  return "";
}

std::vector<std::string> KubeconfigEntry::Strings(const char* key) const {
  std::vector<std::string> texts;
  const Json* const value = Find(key);
  if (value == nullptr) return texts;
  if (!value->is_array()) {
    FailType(PlaceOf(key), "a list of strings", *value);
    return texts;
  }
  for (size_t i = 0; i < value->size(); ++i) {
    const Json& element = (*value)[i];
    if (element.is_string()) {
      texts.push_back(element.get<std::string>());
    } else {
      FailType(ElementOf(PlaceOf(key), i), "a string", element);
    }
  }
  return texts;
}

std::optional<KubeconfigEntry> KubeconfigEntry::Object(const char* key) const {
  const Json* const value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_object()) return KubeconfigEntry(*value, PlaceOf(key), *problems_);
  FailType(PlaceOf(key), "a mapping", *value);
  return std::nullopt;
}

std::vector<KubeconfigEntry> KubeconfigEntry::Objects(const char* key) const {
  std::vector<KubeconfigEntry> entries;
  const Json* const value = Find(key);
  if (value == nullptr) return entries;
  if (!value->is_array()) {
    FailType(PlaceOf(key), "a list", *value);
    return entries;
  }
  for (size_t i = 0; i < value->size(); ++i) {
    const Json& element = (*value)[i];
    const KubeconfigPlace place = ElementOf(PlaceOf(key), i);
    if (element.is_object()) {
      entries.emplace_back(element, place, *problems_);
    } else {
      FailType(place, "a mapping", element);
    }
  }
  return entries;
}

std::vector<std::string> KubeconfigEntry::Keys() const {
  std::vector<std::string> keys;
  for (const auto& member : json_->items()) keys.push_back(member.key());
  return keys;
}

void KubeconfigEntry::WarnOfOtherKeys(std::initializer_list<std::string_view> known) const {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& key : Keys()) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    // A suggestion for a long key would take long to find.
    const bool is_short = key.size() <= kMaxQuotedBytes;
    Warn("", "the key " + Quoted(key) + " is not read" +
                 (is_short ? DidYouMean(key, names) : std::string()));
  }
}

}  // namespace berth::host

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/quantity.h>
#include <berth/testing/values.h>

namespace berth::testing {
namespace {

std::string TextOf(const ValueSpec* object, std::string_view key) {
  const ValueSpec* value = object == nullptr ? nullptr : object->Find(key);
  return value == nullptr ? std::string() : value->text;
}

// Calls `put` for every entry of a map of strings.
template <class Put>
void ForEachText(const ValueSpec* object, std::string_view key, Put put) {
  const ValueSpec* map = object == nullptr ? nullptr : object->Find(key);
  if (map == nullptr) return;
  for (size_t i = 0; i < map->keys.size(); ++i) put(map->keys[i], map->items[i].text);
}

template <class Texts>
ValueSpec MapOf(const Texts& texts) {
  ValueSpec map = ValueSpec::Object();
  for (const auto& [key, text] : texts) map.Set(key, ValueSpec(text));
  return map;
}

}  // namespace

ObjectSpec MakeObject(std::string kind, std::string ns, std::string name, std::string json) {
  ObjectSpec object;
  object.uid = "uid-" + name;
  object.name = std::move(name);
  object.ns = std::move(ns);
  object.kind = std::move(kind);
  object.json = std::move(json);
  return object;
}

namespace internal {

ValueSpec WholeObject(const ObjectSpec& spec) {
  ValueSpec whole = ReadJson(spec.json);
  if (whole.kind != BERTH_VALUE_OBJECT) Misuse("object \"" + spec.name + "\" is not a JSON object");
  const size_t slash = spec.kind.rfind('/');
  if (slash == std::string::npos)
    Misuse("\"" + spec.kind + "\" is not a kind such as \"v1/Secret\"");
  const auto put = [](ValueSpec* to, const char* key, ValueSpec value) {
    to->Drop(key);
    to->Set(key, std::move(value));
  };
  const ValueSpec* given = whole.Find("metadata");
  ValueSpec meta = given != nullptr ? *given : ValueSpec::Object();
  put(&meta, "name", spec.name);
  if (!spec.ns.empty()) put(&meta, "namespace", spec.ns);
  put(&meta, "uid", spec.uid);
  put(&meta, "resourceVersion", spec.resource_version);
  if (!spec.labels.empty()) put(&meta, "labels", MapOf(spec.labels));
  if (!spec.annotations.empty()) put(&meta, "annotations", MapOf(spec.annotations));
  put(&whole, "apiVersion", spec.kind.substr(0, slash));
  put(&whole, "kind", spec.kind.substr(slash + 1));
  put(&whole, "metadata", std::move(meta));
  return whole;
}

}  // namespace internal

ObjectSpec MakeObject(std::string_view json) {
  const ValueSpec whole = internal::ReadJson(json);
  const ValueSpec* meta = whole.Find("metadata");
  const auto text = [meta](std::string_view key) { return TextOf(meta, key); };
  const std::string kind = TextOf(&whole, "apiVersion") + "/" + TextOf(&whole, "kind");
  ObjectSpec object = MakeObject(kind, text("namespace"), text("name"), std::string(json));
  if (object.name.empty()) Misuse("an object without metadata.name: " + std::string(json));
  if (const std::string uid = text("uid"); !uid.empty()) object.uid = uid;
  if (std::string version = text("resourceVersion"); !version.empty()) {
    object.resource_version = std::move(version);
  }
  ForEachText(meta, "labels",
              [&](const std::string& key, const std::string& value) { object.Label(key, value); });
  ForEachText(meta, "annotations", [&](const std::string& key, const std::string& value) {
    object.Annotation(key, value);
  });
  const ValueSpec* owners = meta == nullptr ? nullptr : meta->Find("ownerReferences");
  for (const ValueSpec& owner : owners == nullptr ? std::vector<ValueSpec>() : owners->items) {
    const auto part = [&owner](std::string_view key) { return TextOf(&owner, key); };
    const ValueSpec* controller = owner.Find("controller");
    object.Owner({part("kind"), part("name"), part("uid"), part("apiVersion"),
                  controller != nullptr && controller->number != 0});
  }
  return object;
}

}  // namespace berth::testing

#include "host/config/convert/kube_ignored_keys.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/text.h"
#include "host/base/time.h"

namespace berth::host {
namespace {

enum class Type : uint8_t { kBool, kWhole, kNumber, kText, kTime, kTable, kArray };

struct Key {
  std::string_view name;
  Type type;
};

constexpr Key Flag(std::string_view name) { return {name, Type::kBool}; }
constexpr Key Whole(std::string_view name) { return {name, Type::kWhole}; }
constexpr Key Number(std::string_view name) { return {name, Type::kNumber}; }
constexpr Key Text(std::string_view name) { return {name, Type::kText}; }
constexpr Key Time(std::string_view name) { return {name, Type::kTime}; }
constexpr Key Table(std::string_view name) { return {name, Type::kTable}; }
constexpr Key Array(std::string_view name) { return {name, Type::kArray}; }

constexpr std::array kLeaderElection = {
    Flag("leaderElect"),  Time("leaseDuration"), Time("renewDeadline"),    Time("retryPeriod"),
    Text("resourceLock"), Text("resourceName"),  Text("resourceNamespace")};
constexpr std::array kClientConnection = {Text("kubeconfig"), Text("acceptContentTypes"),
                                          Text("contentType"), Number("qps"), Whole("burst")};
constexpr std::array kExtender = {
    Text("urlPrefix"),        Text("filterVerb"),        Text("preemptVerb"),
    Text("prioritizeVerb"),   Whole("weight"),           Text("bindVerb"),
    Flag("enableHTTPS"),      Table("tlsConfig"),        Time("httpTimeout"),
    Flag("nodeCacheCapable"), Array("managedResources"), Flag("ignorable")};
constexpr std::array kTlsConfig = {Flag("insecure"), Text("serverName"), Text("certFile"),
                                   Text("keyFile"),  Text("caFile"),     Text("certData"),
                                   Text("keyData"),  Text("caData")};
constexpr std::array kManagedResource = {Text("name"), Flag("ignoredByScheduler")};

struct IgnoredKey {
  Key key;
  std::string_view why;
};
constexpr std::array<IgnoredKey, 3> kTopLevel = {
    {{{"enableProfiling", Type::kBool}, "this version does not serve profiling data"},
     {{"enableContentionProfiling", Type::kBool}, "this version does not serve profiling data"},
     {{"delayCacheUntilActive", Type::kBool},
      "the cache is always filled before this process leads"}}};

// Returns what is expected; empty if the value has the type.
std::string_view Expected(const ConfigValue& value, Type type) {
  using Kind = ConfigValue::Kind;
  switch (type) {
    case Type::kBool: return value.kind == Kind::kBool ? "" : "true or false";
    case Type::kWhole: return value.kind == Kind::kInt ? "" : "a whole number";
    case Type::kNumber:
      return value.kind == Kind::kInt || value.kind == Kind::kFloat ? "" : "a number";
    case Type::kText: return value.is_string() ? "" : "a string";
    case Type::kTime:
      return value.is_string() && ParseDuration(value.text).ok() ? ""
                                                                 : "a duration, such as \"15s\"";
    case Type::kTable: return value.is_table() ? "" : "an object";
    case Type::kArray: return value.is_array() ? "" : "an array";
  }
  return "";
}

std::string Indexed(std::string_view key, size_t index) {
  return std::string(key).append("[" + std::to_string(index) + "]");
}

bool IsFalse(const ConfigValue* value) {
  return value != nullptr && value->kind == ConfigValue::Kind::kBool && !value->boolean;
}

bool IsSet(const ConfigValue& table, std::string_view key) {
  const ConfigValue* value = table.Find(key);
  return value != nullptr && !value->text.empty();
}

class IgnoredKeysReader {
 public:
  IgnoredKeysReader(ConfigErrors& errors, ConfigErrors& warnings)
      : errors_(errors), warnings_(warnings) {}

  std::vector<Placed<std::string>> Read(TableReader& reader) {
    if (const ConfigValue* election = reader.Table("leaderElection")) {
      ReadKeys(*election, "leaderElection", kLeaderElection);
      WarnOfHostKeys(*election, "leaderElection");
    }
    if (const ConfigValue* connection = reader.Table("clientConnection")) {
      ReadKeys(*connection, "clientConnection", kClientConnection);
      WarnOfHostKeys(*connection, "clientConnection");
    }
    if (const ConfigValue* extenders = reader.Array("extenders", "extenders")) {
      ReadExtenders(*extenders);
    }
    for (const IgnoredKey& each : kTopLevel) {
      const ConfigValue* value = reader.Any(each.key.name);
      if (value == nullptr || IsFalse(value)) continue;
      CheckType(*value, std::string(each.key.name), each.key.type);
      Warn(*value, std::string(each.key.name), each.why);
    }
    return std::move(ignored_resources_);
  }

 private:
  void Warn(const ConfigValue& value, std::string path, std::string_view why) {
    warnings_.Add(value.place, std::move(path), std::string("ignored: ").append(why));
  }

  // Names the table of the host file that has the same keys.
  void WarnOfHostKeys(const ConfigValue& table, const std::string& name) {
    if (!table.is_table() || table.members.empty()) return;
    warnings_.Add(
        table.place, name,
        "not part of a profile: set its keys in [" + name + "] of the host file, berth.toml");
  }

  void CheckType(const ConfigValue& value, std::string path, Type type) {
    const std::string_view expected = Expected(value, type);
    if (!expected.empty()) {
      errors_.Expected(value.place, std::move(path), expected, value.Describe());
    }
  }

  void ReadKeys(const ConfigValue& value, const std::string& path, std::span<const Key> keys) {
    if (!value.is_table()) return CheckType(value, path, Type::kTable);
    TableReader reader(value, path + ".", errors_);
    for (const Key& key : keys) {
      const ConfigValue* member = reader.Any(key.name);
      if (member != nullptr) CheckType(*member, reader.KeyOf(key.name), key.type);
    }
    reader.End();
  }

  void ReadExtenders(const ConfigValue& array) {
    size_t binders = 0;
    for (size_t i = 0; i < array.elements.size(); ++i) {
      const ConfigValue& extender = array.elements[i];
      const std::string path = Indexed("extenders", i);
      Warn(extender, path, "extenders are not supported; use a plugin instead");
      ReadKeys(extender, path, kExtender);
      if (const ConfigValue* tls = extender.Find("tlsConfig"); tls != nullptr && tls->is_table()) {
        ReadKeys(*tls, path + ".tlsConfig", kTlsConfig);
      }
      if (const ConfigValue* resources = extender.Find("managedResources")) {
        for (size_t j = 0; j < resources->elements.size(); ++j) {
          const std::string of_resource = Indexed(path + ".managedResources", j);
          ReadKeys(resources->elements[j], of_resource, kManagedResource);
          ReadIgnoredResource(resources->elements[j], of_resource);
        }
      }
      CheckWeight(extender, path);
      if (IsSet(extender, "bindVerb") && ++binders == 2) {
        errors_.Expected(extender.Find("bindVerb")->place, path + ".bindVerb",
                         "at most one extender that binds", "a second one");
      }
    }
  }

  void ReadIgnoredResource(const ConfigValue& resource, const std::string& path) {
    const ConfigValue* ignored = resource.Find("ignoredByScheduler");
    if (ignored == nullptr || ignored->kind != ConfigValue::Kind::kBool || !ignored->boolean) {
      return;
    }
    const ConfigValue* name = resource.Find("name");
    if (name == nullptr || !name->is_string() || name->text.empty()) return;
    warnings_.Add(ignored->place, path + ".ignoredByScheduler",
                  "written as ignoredResources of NodeResourcesFit: without the extender, nothing "
                  "checks requests for " +
                      Quoted(name->text));
    const auto is_same = [&](const Placed<std::string>& known) {
      return known.value == name->text;
    };
    if (std::ranges::any_of(ignored_resources_, is_same)) return;
    ignored_resources_.push_back({name->text, name->place});
  }

  void CheckWeight(const ConfigValue& extender, const std::string& path) {
    if (!IsSet(extender, "prioritizeVerb")) return;
    const ConfigValue* weight = extender.Find("weight");
    if (weight != nullptr && (weight->kind != ConfigValue::Kind::kInt || weight->integer > 0)) {
      return;
    }
    errors_.Expected(weight == nullptr ? extender.place : weight->place, path + ".weight",
                     "a weight above 0, which prioritizeVerb requires",
                     weight == nullptr ? "none" : weight->Describe());
  }

  ConfigErrors& errors_;
  ConfigErrors& warnings_;
  std::vector<Placed<std::string>> ignored_resources_;
};

}  // namespace

std::vector<Placed<std::string>> ReadIgnoredKeys(TableReader& reader, ConfigErrors& errors,
                                                 ConfigErrors& warnings) {
  return IgnoredKeysReader(errors, warnings).Read(reader);
}

}  // namespace berth::host

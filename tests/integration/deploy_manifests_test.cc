// The manifests of examples/deploy grant what a scheduler with the default profile needs.
#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/api/yaml.h"
#include "host/base/text.h"
#include "host/cluster/kubernetes/access/access_review.h"
#include "host/config/host_config.h"
#include "host/process/assemble/cluster_session.h"
#include "host/process/assemble/profile_set.h"

namespace berth::host {
namespace {

using Json = nlohmann::json;

std::string ReadManifest(const std::string& name) {
  std::ifstream file(BERTH_SOURCE_DIR "/examples/deploy/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the objects of the manifest, after `edit` has changed its text.
std::vector<Json> ObjectsOf(
    const std::string& name, const std::function<void(std::string& text)>& edit = [](auto&) {}) {
  std::string text = ReadManifest(name);
  edit(text);
  const auto documents = YamlToJson(text);
  EXPECT_TRUE(documents.ok()) << name << ": " << documents.status().ToString();
  std::vector<Json> objects;
  if (!documents.ok()) return objects;
  for (const JsonDocument& document : *documents) objects.push_back(Json::parse(document.json));
  return objects;
}

// Returns whether the list has the text, or is empty.
bool HasOrIsEmpty(const Json& list, const std::string& text) {
  return list.empty() || std::find(list.begin(), list.end(), text) != list.end();
}

bool Grants(const Json& rule, const Permission& permission) {
  const auto has = [&rule](const char* key, const std::string& text) {
    return std::find(rule[key].begin(), rule[key].end(), text) != rule[key].end();
  };
  return has("apiGroups", permission.group) && has("resources", permission.resource) &&
         has("verbs", permission.verb) &&
         HasOrIsEmpty(rule.value("resourceNames", Json::array()), permission.name);
}

// Returns whether a ClusterRole, or a Role of the namespace of the permission, grants it.
bool IsGranted(const std::vector<Json>& objects, const Permission& permission) {
  return std::ranges::any_of(objects, [&permission](const Json& object) {
    const bool applies =
        object["kind"] == "ClusterRole" || (object["kind"] == "Role" && !permission.ns.empty() &&
                                            object["metadata"]["namespace"] == permission.ns);
    return applies && std::ranges::any_of(object["rules"], [&permission](const Json& rule) {
             return Grants(rule, permission);
           });
  });
}

// Returns the resource of a kind as the API server names it.
Resource ResourceOf(const std::string& kind) {
  Resource resource;
  resource.kind = kind;
  const size_t last = kind.rfind('/');
  resource.group_version = kind.substr(0, last);
  const size_t first = kind.find('/');
  resource.group = first == last ? "" : kind.substr(0, first);
  resource.plural = ToLower(std::string_view(kind).substr(last + 1));
  resource.plural += resource.plural.ends_with('s') ? "es" : "s";
  return resource;
}

// Returns the request for the permissions of a scheduler with the default profile.
PermissionsRequest DefaultRequest() {
  const auto set = LoadProfiles(
      {.profiles = {},
       .plugin_directories = {},
       .executable = BERTH_BINARY_DIR "/berth",
       .libraries = MakeLibraryStore(::testing::TempDir(), [] { return int64_t{0}; })});
  EXPECT_TRUE(set.ok()) << set.status().ToString();
  PermissionsRequest request;
  if (!set.ok()) return request;
  const KindUsers users(set->plugins->catalog(), set->specs);
  for (const auto& [kind, plugins] : users.kinds()) request.resources.push_back(ResourceOf(kind));
  return request;
}

TEST(DeployManifestsTest, TheAccountOfTheSchedulerHasEveryPermission) {
  PermissionsRequest request = DefaultRequest();
  request.lease_ns = "kube-system";
  request.lease_name = "acme-scheduler";
  request.evicts = true;
  const std::vector<Json> objects = ObjectsOf("rbac.yaml");
  const std::vector<Permission> needed = RequiredPermissions(request);
  EXPECT_GT(needed.size(), 20U);
  for (const Permission& permission : needed) {
    EXPECT_TRUE(IsGranted(objects, permission))
        << permission.verb << " " << permission.group << "/" << permission.resource;
  }
}

// The steps of README.md, "In place of kube-scheduler".
TEST(DeployManifestsTest, ChangesOfReadmeGrantLeaseOfKubeScheduler) {
  const auto replace = [](std::string& text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    text.replace(at, from.size(), to);
    EXPECT_EQ(text.find(from), text.npos) << from << " occurs twice";
  };
  const std::vector<Json> configs = ObjectsOf("config.yaml", [&](std::string& text) {
    replace(text, "schedulerName = \"acme\"", "schedulerName = \"default-scheduler\"");
    const size_t line = text.rfind('\n', text.find("resourceName"));
    text.erase(line, text.find('\n', line + 1) - line);
  });
  ASSERT_EQ(configs.size(), 1U);
  ConfigErrors errors;
  const HostConfig config =
      ReadHostConfig(configs[0]["data"]["berth.toml"].get<std::string>(), "berth.toml", errors);
  EXPECT_TRUE(errors.ToStatus().ok()) << errors.ToStatus().ToString();
  EXPECT_EQ(config.cluster.lease_name, std::nullopt);

  PermissionsRequest request = DefaultRequest();
  const ElectionOptions election = ElectionOptionsOf(config.cluster);
  request.lease_ns = election.ns;
  request.lease_name = election.name;
  const std::vector<Json> objects = ObjectsOf(
      "rbac.yaml", [&](std::string& text) { replace(text, "acme-scheduler", "kube-scheduler"); });
  for (const Permission& permission : RequiredPermissions(request)) {
    EXPECT_TRUE(IsGranted(objects, permission))
        << permission.verb << " " << permission.group << "/" << permission.resource;
  }
}

TEST(DeployManifestsTest, TheAccountOfShadowModeCanOnlyRead) {
  PermissionsRequest request = DefaultRequest();
  request.writes = false;
  const std::vector<Json> objects = ObjectsOf("rbac-shadow.yaml");
  for (const Permission& permission : RequiredPermissions(request)) {
    EXPECT_TRUE(IsGranted(objects, permission))
        << permission.verb << " " << permission.group << "/" << permission.resource;
  }
  for (const Json& object : objects) {
    for (const Json& rule : object.value("rules", Json::array())) {
      EXPECT_EQ(rule["verbs"], Json({"get", "list", "watch"}));
    }
  }
}

TEST(DeployManifestsTest, TheConfigurationIsValid) {
  const std::vector<Json> objects = ObjectsOf("config.yaml");
  ASSERT_EQ(objects.size(), 1U);
  ConfigErrors errors;
  const HostConfig config =
      ReadHostConfig(objects[0]["data"]["berth.toml"].get<std::string>(), "berth.toml", errors);
  EXPECT_TRUE(errors.ToStatus().ok()) << errors.ToStatus().ToString();
  EXPECT_EQ(config.cluster.lease_name, "acme-scheduler");
  ASSERT_EQ(config.profiles.size(), 1U);
  EXPECT_TRUE(objects[0]["data"].contains(config.profiles[0].value));
}

TEST(DeployManifestsTest, TheDeploymentUsesTheAccountAndTheConfiguration) {
  const std::vector<Json> objects = ObjectsOf("deployment.yaml");
  ASSERT_EQ(objects.size(), 1U);
  const Json& pod = objects[0]["spec"]["template"]["spec"];
  EXPECT_EQ(pod["serviceAccountName"], "berth");
  EXPECT_EQ(pod["volumes"][0]["configMap"]["name"], "berth");
  EXPECT_GT(pod["terminationGracePeriodSeconds"], 26);
}

}  // namespace
}  // namespace berth::host

#include "host/cluster/embedded/strategic_merge.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cluster/client.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::StartsWith;

// Returns the patched object as JSON text, or the message of the error.
std::string Merge(const std::string& object, const std::string& patch,
                  std::string_view kind = kPodKind) {
  const Result<Json> merged = StrategicMerge(kind, Json::parse(object), Json::parse(patch));
  return merged.ok() ? merged->dump() : std::string(merged.status().message());
}

struct Case {
  const char* name;
  const char* object;
  const char* patch;
  const char* want;
};

void Check(std::span<const Case> table, std::string_view kind = kPodKind) {
  for (const Case& c : table) EXPECT_EQ(Merge(c.object, c.patch, kind), c.want) << c.name;
}

TEST(StrategicMerge, MergesObjectsAsMergePatchDoes) {
  const Case kTable[] = {
      {"an empty patch", R"({"a":1})", "{}", R"({"a":1})"},
      {"a new member", R"({"a":1})", R"({"b":2})", R"({"a":1,"b":2})"},
      {"a changed member", R"({"a":1})", R"({"a":"x"})", R"({"a":"x"})"},
      {"null removes", R"({"a":1,"b":2})", R"({"a":null})", R"({"b":2})"},
      {"null of an absent member", R"({"a":1})", R"({"b":null})", R"({"a":1})"},
      {"within an object", R"({"m":{"a":1,"b":2}})", R"({"m":{"a":null,"c":3}})",
       R"({"m":{"b":2,"c":3}})"},
      {"null in a new object", "{}", R"({"m":{"a":null,"b":1}})", R"({"m":{"b":1}})"},
      {"null in a new list", "{}", R"({"l":[{"a":null,"b":1}]})", R"({"l":[{"b":1}]})"},
      {"another type", R"({"m":{"a":1}})", R"({"m":[1]})", R"({"m":[1]})"},
      {"annotations", R"({"metadata":{"annotations":{"a":"1"}}})",
       R"({"metadata":{"annotations":{"b/c":"2","a":null}}})",
       R"({"metadata":{"annotations":{"b/c":"2"}}})"},
  };
  Check(kTable);
}

TEST(StrategicMerge, MergesListsByTheirMergeKeys) {
  const Case kTable[] = {
      {"containers by name", R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"c"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"c"},{"name":"b"}]}})"},
      {"the env of a container", R"({"spec":{"initContainers":[
        {"name":"a","env":[{"name":"X","value":"1"},{"name":"Y","value":"2"}]}]}})",
       R"({"spec":{"initContainers":[{"name":"a","env":[{"name":"Y","value":"3"}]}]}})",
       R"({"spec":{"initContainers":[{"name":"a","env":[{"name":"X","value":"1"},)"
       R"({"name":"Y","value":"3"}]}]}})"},
      {"ports by containerPort",
       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80}]}]}})",
       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"x"},)"
       R"({"containerPort":81}]}]}})",
       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"x"},)"
       R"({"containerPort":81}]}]}})"},
      {"volumeMounts by mountPath",
       R"({"spec":{"containers":[{"name":"a","volumeMounts":[{"mountPath":"/a","name":"x"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","volumeMounts":[{"mountPath":"/a","name":"y"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","volumeMounts":[{"mountPath":"/a","name":"y"}]}]}})"},
      {"conditions by type", R"({"status":{"conditions":[{"type":"A","status":"True","reason":"r"},
        {"type":"B","status":"True"}]}})",
       R"({"status":{"conditions":[{"type":"B","status":"False"},{"type":"C","status":"True"}]}})",
       R"({"status":{"conditions":[{"type":"A","status":"True","reason":"r"},)"
       R"({"type":"B","status":"False"},{"type":"C","status":"True"}]}})"},
      {"spreading by topologyKey",
       R"({"spec":{"topologySpreadConstraints":[{"topologyKey":"z","maxSkew":1}]}})",
       R"({"spec":{"topologySpreadConstraints":[{"topologyKey":"z","maxSkew":2}]}})",
       R"({"spec":{"topologySpreadConstraints":[{"topologyKey":"z","maxSkew":2}]}})"},
      {"owners by uid", R"({"metadata":{"ownerReferences":[{"uid":"1","name":"a"}]}})",
       R"({"metadata":{"ownerReferences":[{"uid":"2","name":"b"}]}})",
       R"({"metadata":{"ownerReferences":[{"uid":"2","name":"b"},{"uid":"1","name":"a"}]}})"},
      {"finalizers are a set", R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"finalizers":["b","c"]}})", R"({"metadata":{"finalizers":["a","b","c"]}})"},
      {"a list that did not exist", R"({"spec":{}})", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"a"}]}})"},
  };
  Check(kTable);
}

TEST(StrategicMerge, ReplacesListsWithoutAMergeKey) {
  const Case kTable[] = {
      {"tolerations", R"({"spec":{"tolerations":[{"key":"a"},{"key":"b"}]}})",
       R"({"spec":{"tolerations":[{"key":"c"}]}})", R"({"spec":{"tolerations":[{"key":"c"}]}})"},
      {"arguments", R"({"spec":{"containers":[{"name":"a","args":["1","2"]}]}})",
       R"({"spec":{"containers":[{"name":"a","args":["3"]}]}})",
       R"({"spec":{"containers":[{"name":"a","args":["3"]}]}})"},
      {"container statuses", R"({"status":{"containerStatuses":[{"name":"a"},{"name":"b"}]}})",
       R"({"status":{"containerStatuses":[{"name":"c"}]}})",
       R"({"status":{"containerStatuses":[{"name":"c"}]}})"},
      {"a field that is not known", R"({"x":[{"name":"a"}]})", R"({"x":[{"name":"b"}]})",
       R"({"x":[{"name":"b"}]})"},
      {"a member that looks like a path", R"({"spec/containers":[{"name":"a"}]})",
       R"({"spec/containers":[{"name":"b"}]})", R"({"spec/containers":[{"name":"b"}]})"},
      {"an empty list", R"({"spec":{"tolerations":[{"key":"a"}]}})",
       R"({"spec":{"tolerations":[]}})", R"({"spec":{"tolerations":[]}})"},
  };
  Check(kTable);
}

TEST(StrategicMerge, KnowsTheListsOfNodes) {
  const Case kTable[] = {
      {"taints are replaced", R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})",
       R"({"spec":{"taints":[{"key":"b","effect":"NoSchedule"}]}})",
       R"({"spec":{"taints":[{"key":"b","effect":"NoSchedule"}]}})"},
      {"conditions by type", R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})",
       R"({"status":{"conditions":[{"type":"Gpu","status":"True"}]}})",
       R"({"status":{"conditions":[{"type":"Gpu","status":"True"},)"
       R"({"type":"Ready","status":"True"}]}})"},
      {"addresses by type", R"({"status":{"addresses":[{"type":"Hostname","address":"a"}]}})",
       R"({"status":{"addresses":[{"type":"Hostname","address":"b"}]}})",
       R"({"status":{"addresses":[{"type":"Hostname","address":"b"}]}})"},
      {"podCIDRs are a set", R"({"spec":{"podCIDRs":["a"]}})", R"({"spec":{"podCIDRs":["b"]}})",
       R"({"spec":{"podCIDRs":["b","a"]}})"},
      {"containers of a node", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})", R"({"spec":{"containers":[{"name":"b"}]}})"},
  };
  Check(kTable, kNodeKind);
}

TEST(StrategicMerge, ObeysDirectives) {
  const Case kTable[] = {
      {"delete an element", R"({"spec":{"volumes":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"volumes":[{"$patch":"delete","name":"a"}]}})",
       R"({"spec":{"volumes":[{"name":"b"}]}})"},
      {"delete an absent element", R"({"spec":{"volumes":[{"name":"a"}]}})",
       R"({"spec":{"volumes":[{"$patch":"delete","name":"b"}]}})",
       R"({"spec":{"volumes":[{"name":"a"}]}})"},
      {"delete from a list that is absent", R"({"spec":{}})",
       R"({"spec":{"volumes":[{"$patch":"delete","name":"b"}]}})", R"({"spec":{"volumes":[]}})"},
      {"replace a list", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"$patch":"replace"},{"name":"c"}]}})",
       R"({"spec":{"containers":[{"name":"c"}]}})"},
      {"replace an object", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
       R"({"metadata":{"labels":{"$patch":"replace","c":"3"}}})",
       R"({"metadata":{"labels":{"c":"3"}}})"},
      {"empty an object", R"({"metadata":{"labels":{"a":"1"}}})",
       R"({"metadata":{"labels":{"$patch":"delete"}}})", R"({"metadata":{"labels":{}}})"},
      {"replace an object that is absent", R"({"metadata":{}})",
       R"({"metadata":{"labels":{"$patch":"replace","c":"3"}}})", R"({"metadata":{}})"},
      {"retain the source of a volume",
       R"({"spec":{"volumes":[{"name":"v","emptyDir":{},"x":1}]}})",
       R"({"spec":{"volumes":[{"$retainKeys":["name","hostPath"],"name":"v",)"
       R"("hostPath":{"path":"/p"}}]}})",
       R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/p"}}]}})"},
      {"delete from a set", R"({"metadata":{"finalizers":["a","b","c"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b","x"]}})",
       R"({"metadata":{"finalizers":["a","c"]}})"},
      {"delete from a set that is absent", R"({"metadata":{}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b"]}})", R"({"metadata":{}})"},
  };
  Check(kTable);
}

TEST(StrategicMerge, OrdersMergedLists) {
  const Case kTable[] = {
      {"the patch comes in its order", R"({"metadata":{"finalizers":["a","b","c"]}})",
       R"({"metadata":{"finalizers":["c","a"]}})", R"({"metadata":{"finalizers":["b","c","a"]}})"},
      {"an order for the whole list",
       R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"b"},{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"c"},{"name":"b"},{"name":"a"}]}})"},
      {"others keep their places",
       R"({"spec":{"containers":[{"name":"x"},{"name":"a"},{"name":"y"},{"name":"b"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"n"},{"name":"b"}],)"
       R"("containers":[{"name":"n"}]}})",
       R"({"spec":{"containers":[{"name":"x"},{"name":"a"},{"name":"n"},{"name":"y"},)"
       R"({"name":"b"}]}})"},
      {"an order and a deletion", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"b"}],)"
       R"("containers":[{"$patch":"delete","name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})"},
      {"an order of a set", R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"$setElementOrder/finalizers":["b","a"]}})",
       R"({"metadata":{"finalizers":["b","a"]}})"},
      {"an order of nothing", R"({"spec":{}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"b"}]}})", R"({"spec":{}})"},
  };
  Check(kTable);
}

TEST(StrategicMerge, RefusesMalformedPatches) {
  constexpr const char* kObject =
      R"({"metadata":{"finalizers":["a"]},"spec":{"containers":[{"name":"a"},{"name":"b"}],)"
      R"("tolerations":[{"key":"k"}]}})";
  constexpr std::pair<const char*, const char*> kTable[] = {
      {R"({"$patch":"merge"})", R"(/$patch: expected "replace" or "delete", found "merge")"},
      {R"({"spec":{"$patch":1}})", R"(/spec/$patch: expected "replace" or "delete", found 1)"},
      {R"({"spec":{"containers":[{"$patch":"merge","name":"a"}]}})",
       R"(/spec/containers/$patch: expected "replace" or "delete", found "merge")"},
      {R"({"spec":{"containers":[{"image":"x"}]}})",
       "/spec/containers: expected an element with the merge key name, found "},
      {R"({"spec":{"containers":[{"name":{}}]}})",
       "/spec/containers: expected an element with the merge key name, found "},
      {R"({"spec":{"containers":[{"$patch":"delete"}]}})",
       "/spec/containers: expected an element with the merge key name, found "},
      {R"({"spec":{"containers":["a"]}})", "/spec/containers: expected a list of objects, found "},
      {R"({"spec":{"containers":[["a"]]}})",
       "/spec/containers: expected a list of objects, found "},
      {R"({"metadata":{"finalizers":[["a"]]}})",
       "/metadata/finalizers: expected a list of single values, found "},
      {R"({"spec":{"$retainKeys":"containers"}})",
       "/spec/$retainKeys: invalid patch format of retainKeys"},
      {R"({"spec":{"$retainKeys":[1]}})", "/spec/$retainKeys: invalid patch format of retainKeys"},
      {R"({"spec":{"$retainKeys":["containers"],"x":1}})",
       "/spec/$retainKeys: patch content doesn't match retainKeys list: x"},
      {R"({"metadata":{"$deleteFromPrimitiveList/finalizers":"a"}})",
       "/metadata/$deleteFromPrimitiveList/finalizers: invalid patch format of primitive list"},
      {R"({"spec":{"$deleteFromPrimitiveList/tolerations":["a"]}})",
       "/spec/$deleteFromPrimitiveList/tolerations: invalid patch format of primitive list"},
      {R"({"spec":{"$deleteFromPrimitiveList/containers":["a"]}})",
       "/spec/$deleteFromPrimitiveList/containers: invalid patch format of primitive list"},
      {R"({"spec":{"$setElementOrder/containers":1}})",
       "/spec/$setElementOrder/containers: invalid patch format of setElementOrder list"},
      {R"({"spec":{"$setElementOrder/tolerations":[{"key":"k"}]}})",
       "/spec/$setElementOrder/tolerations: invalid patch format of setElementOrder list"},
      {R"({"spec":{"$setElementOrder/containers":[{"image":"x"}]}})",
       "/spec/$setElementOrder/containers: expected an element with the merge key name, found "},
      {R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"b"}]}})",
       "/spec/containers: the order of the patch contradicts $setElementOrder"},
      {R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],)"
       R"("containers":[{"name":"b"},{"name":"a"}]}})",
       "/spec/containers: the order of the patch contradicts $setElementOrder"},
      {R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":1}})",
       "/spec/containers: expected a list, found 1"},
  };
  for (const auto& [patch, error] : kTable) {
    EXPECT_THAT(Merge(kObject, patch), StartsWith(error)) << patch;
  }
}

// The work for a list grows with its length, not with the square of it.
TEST(StrategicMerge, MergesLongLists) {
  constexpr size_t kLength = 20'000;
  Json object;
  Json patch;
  for (size_t i = 0; i < kLength; ++i) {
    object["spec"]["volumes"].push_back({{"name", "v" + std::to_string(i)}});
    patch["spec"]["volumes"].push_back({{"name", "w" + std::to_string(i)}});
  }
  const Result<Json> merged = StrategicMerge(kPodKind, object, patch);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ((*merged)["spec"]["volumes"].size(), 2 * kLength);
}

}  // namespace
}  // namespace berth::host

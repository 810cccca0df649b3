#include "host/config/convert/config_map.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

const std::string kConfig =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

struct Found {
  std::string text;
  std::string file;
  bool is_entry = false;
  std::string errors;
};

Found Find(const std::string& text) {
  ConfigErrors errors;
  const auto found = FindKubeConfig(text, "k.yaml", errors);
  EXPECT_EQ(found.has_value(), errors.empty());
  if (!found.has_value()) return {"", "", false, std::string(errors.ToStatus().message())};
  return {found->text, found->file, found->is_entry, ""};
}

// Returns a ConfigMap with an entry for each pair of a name and a text.
std::string ConfigMap(std::initializer_list<std::pair<const char*, std::string>> entries) {
  std::string text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scheduler}\ndata:\n";
  for (const auto& [name, content] : entries) {
    text.append("  ").append(name).append(": |\n");
    for (size_t at = 0; at < content.size();) {
      const size_t end = content.find('\n', at);
      text.append("    ").append(content, at, end - at + 1);
      at = end + 1;
    }
  }
  return text;
}

TEST(FindKubeConfig, FileThatIsNoConfigMapIsKept) {
  for (const std::string& text :
       {kConfig, std::string("kind: Deployment\n"), std::string("kind: [ConfigMap]\n"),
        std::string("a: [\n"), std::string(), kConfig + "data: {a: 1}\n",
        std::string("kind: ConfigMap\n---\nkind: ConfigMap\n")}) {
    const Found found = Find(text);
    EXPECT_EQ(found.text, text);
    EXPECT_EQ(found.file, "k.yaml");
    EXPECT_FALSE(found.is_entry);
  }
}

TEST(FindKubeConfig, FindsTheOnlyEntryOfAConfigMap) {
  const std::string other = "kind: Policy\nnote: not a KubeSchedulerConfiguration\n";
  const std::string broken = kConfig + "profiles: [\n";
  const std::string json = R"({"kind": "KubeSchedulerConfiguration"})";
  struct Row {
    const char* what;
    std::string text;
    std::string entry;
  };
  const Row rows[] = {
      {"one entry", ConfigMap({{"config.yaml", kConfig}}), kConfig},
      {"among others", ConfigMap({{"a", "plain\n"}, {"config.yaml", kConfig}, {"z", other}}),
       kConfig},
      {"with an error, which the conversion reports", ConfigMap({{"config.yaml", broken}}), broken},
      {"in JSON",
       R"({"kind": "ConfigMap", "data": {"config.yaml": )"
       R"("{\"kind\": \"KubeSchedulerConfiguration\"}"}})",
       json},
  };
  for (const Row& row : rows) {
    const Found found = Find(row.text);
    EXPECT_EQ(found.text, row.entry) << row.what;
    EXPECT_EQ(found.file, "k.yaml, data.config.yaml") << row.what;
    EXPECT_TRUE(found.is_entry) << row.what;
  }
}

TEST(FindKubeConfig, OtherNumbersOfEntriesAreErrors) {
  const std::string expected =
      "expected one entry of the ConfigMap that is a KubeSchedulerConfiguration, found ";
  struct Row {
    const char* what;
    std::string text;
    std::string error;
  };
  const Row rows[] = {
      {"no data", "kind: ConfigMap\n", "k.yaml:1: data: " + expected + "none"},
      {"empty data", "kind: ConfigMap\ndata: {}\n", "k.yaml:2: data: " + expected + "none"},
      {"data of another type", "kind: ConfigMap\ndata: [1]\n",
       "k.yaml:2: data: " + expected + "none"},
      {"an entry that is no text", "kind: ConfigMap\ndata: {a: {kind: KubeSchedulerConfiguration}}",
       "k.yaml:2: data: " + expected + "none"},
      {"other entries", ConfigMap({{"a.yaml", "kind: Policy\n"}}),
       "k.yaml:4: data: " + expected + "none"},
      {"two entries", ConfigMap({{"b.yaml", kConfig}, {"a.yaml", kConfig}}),
       "k.yaml:4: data: " + expected +
           "b.yaml, a.yaml; convert them one by one: kubectl -n NAMESPACE get configmap NAME -o "
           "jsonpath='{.data.b\\.yaml}' | berth profile convert -"},
  };
  for (const Row& row : rows) EXPECT_EQ(Find(row.text).errors, row.error) << row.what;
}

}  // namespace
}  // namespace berth::host

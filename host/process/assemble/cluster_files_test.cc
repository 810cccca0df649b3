#include "host/process/assemble/cluster_files.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/manifest.h"
#include "host/base/test_clock.h"

namespace berth::host {
namespace {

class ClusterFilesTest : public ::testing::Test {
 protected:
  ClusterFilesTest() : path_(::testing::TempDir() + "berth_cluster_files.yaml") {}
  ~ClusterFilesTest() override { std::remove(path_.c_str()); }

  void Write(const std::string& text) { std::ofstream(path_) << text; }

  const std::string path_;
  std::istringstream in_;
  Interner interner_;
  Decoder decoder_{interner_};
  TestClock clock_;
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 0, .serve = nullptr}};
};

TEST_F(ClusterFilesTest, ReadsAFileWithPadding) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{300'000}}) {
    Write(std::string(size, 'x'));
    const auto text = ReadInput(path_, in_);
    ASSERT_TRUE(text.ok()) << text.status().message();
    EXPECT_EQ(*text, std::string(size, 'x'));
    EXPECT_GE(text->capacity(), size + kManifestPadding);
  }
}

TEST_F(ClusterFilesTest, ReadsStandardInput) {
  in_.str("kind: Node\n");
  const auto text = ReadInput("-", in_);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "kind: Node\n");
  EXPECT_EQ(InputName("-"), "standard input");
  EXPECT_EQ(InputName("a.json"), "a.json");
}

TEST_F(ClusterFilesTest, NamesTheFileThatCannotBeRead) {
  const auto missing = ReadInput("no/such/file.json", in_);
  EXPECT_EQ(missing.status(), Status::NotFound("no/such/file.json: No such file or directory"));
  const auto folder = ReadInput(::testing::TempDir(), in_);
  EXPECT_EQ(folder.status(), Status::InvalidArgument(::testing::TempDir() + ": Is a directory"));
}

TEST_F(ClusterFilesTest, LoadsEveryObjectOfAManifest) {
  const Status status = LoadManifest(
      "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0}\n",
      "a.yaml", decoder_, cluster_);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_NE(cluster_.FindNode("a"), nullptr);
  EXPECT_NE(cluster_.FindPod("default", "web-0"), nullptr);
}

TEST_F(ClusterFilesTest, ReportsThePositionOfAnInvalidObject) {
  const Status status = LoadManifest(
      "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0}\nspec: {priority: high}\n",
      "a.yaml", decoder_, cluster_);
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(status.message().starts_with("a.yaml:8: Pod default/web-0: /spec/priority: "))
      << status.message();
}

TEST_F(ClusterFilesTest, ReportsEveryErrorOfADump) {
  std::vector<std::string> loaded;
  const Status status = LoadManifest(
      R"({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "web"},
         "spec": {"containers": [{"resources": {"requests": {
           "cpu": "lots"}}}]}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}]})",
      "dump.json", decoder_, cluster_,
      [&](const AnyObject& object) { loaded.push_back(Base(object).Key()); });
  EXPECT_EQ(status.message(),
            "dump.json:5: Pod web/a: /items/1/spec/containers/0/resources/requests/cpu: quantity "
            "\"lots\": expected a number with an optional suffix, such as 2, 100m, 1.5Gi or 12e6\n"
            "dump.json:6: Node n: /items/2: duplicate v1/Node n");
  EXPECT_EQ(loaded, (std::vector<std::string>{"n", "default/b"}));
}

TEST_F(ClusterFilesTest, ReportsThePositionOfADuplicateObject) {
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n";
  const Status status = LoadManifest(node + "---\n" + node, "a.yaml", decoder_, cluster_);
  EXPECT_EQ(status.code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(status.message(), "a.yaml:5: Node a: duplicate v1/Node a");
}

}  // namespace
}  // namespace berth::host

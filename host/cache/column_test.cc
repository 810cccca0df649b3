#include "host/cache/column.h"

#include <cstring>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

// A node with a value for every node column.
constexpr const char* kFullNode = R"({
  "metadata": {"name": "full", "labels": {"zone": "a", "empty": ""}, "annotations": {"note": "x"}},
  "spec": {"unschedulable": true, "taints": [
    {"key": "k", "value": "v", "effect": "NoSchedule"},
    {"key": "p", "effect": "PreferNoSchedule"},
    {"key": "e", "effect": "NoExecute"}]},
  "status": {
    "allocatable": {"cpu": "4500m", "memory": "8Gi", "ephemeral-storage": "10Gi", "pods": "110",
                    "example.com/gpu": "2", "hugepages-2Mi": "4Mi"},
    "images": [{"names": ["a:1", "a@sha256:0"], "sizeBytes": 5}],
    "declaredFeatures": ["F1", "F2"]}})";
constexpr const char* kBareNode = R"({"metadata": {"name": "bare"}})";

class ColumnTest : public ::testing::Test {
 protected:
  ColumnSpec Parse(std::string_view name) {
    Result<ColumnSpec> spec = ColumnSpec::Parse(name, objects_.interner());
    BERTH_ASSERT_MSG(spec.ok(), "%s", spec.status().ToString().c_str());
    return std::move(spec).value();
  }
  // Formats a value: a number; an id as its text, "-" for none; an array as its number of elements.
  std::string ValueOf(const ColumnSpec& spec, const berth_node& node) {
    alignas(16) std::byte out[16] = {};
    spec.NodeValue(node, out);
    switch (spec.type()) {
      case BERTH_TYPE_I64: return std::to_string(Read<int64_t>(out));
      case BERTH_TYPE_U32: return std::to_string(Read<uint32_t>(out));
      case BERTH_TYPE_U8: return std::to_string(Read<uint8_t>(out));
      case BERTH_TYPE_STR: return "'" + std::string(Text(Read<berth_str>(out))) + "'";
      case BERTH_TYPE_ARRAY: return "#" + std::to_string(Read<berth_array>(out).count);
      default: break;
    }
    const auto id = Read<berth_id>(out);
    return id == kNoId ? "-" : '"' + std::string(objects_.interner().Text(id)) + '"';
  }
  template <class T>
  static T Read(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }

  TestObjects objects_;
};

struct NodeColumn {
  const char* name;
  uint32_t type;
  uint32_t width;
  const char* full;
  const char* absent;
};

TEST_F(ColumnTest, ComputesTheNodeColumns) {
  constexpr NodeColumn kTable[] = {
      {"name", BERTH_TYPE_ID, 4, "\"full\"", "\"bare\""},
      {"unschedulable", BERTH_TYPE_U8, 1, "1", "0"},
      {"alloc.cpu", BERTH_TYPE_I64, 8, "4500", "0"},
      {"alloc.memory", BERTH_TYPE_I64, 8, "8589934592", "0"},
      {"alloc.ephemeral-storage", BERTH_TYPE_I64, 8, "10737418240", "0"},
      {"alloc.pods", BERTH_TYPE_I64, 8, "110", "0"},
      {"alloc:example.com/gpu", BERTH_TYPE_I64, 8, "2", "0"},
      {"alloc:hugepages-2Mi", BERTH_TYPE_I64, 8, "4194304", "0"},
      {"alloc:example.com/none", BERTH_TYPE_I64, 8, "0", "0"},
      {"taints", BERTH_TYPE_ARRAY, 16, "#3", "#0"},
      {"taints.hard", BERTH_TYPE_U32, 4, "2", "0"},
      {"taints.soft", BERTH_TYPE_U32, 4, "1", "0"},
      {"label:zone", BERTH_TYPE_ID, 4, "\"a\"", "-"},
      {"label:empty", BERTH_TYPE_ID, 4, "\"\"", "-"},
      {"images", BERTH_TYPE_ARRAY, 16, "#1", "#0"},
      {"features", BERTH_TYPE_ARRAY, 16, "#2", "#0"},
      {"annotation:note", BERTH_TYPE_STR, 16, "'x'", "''"},
      {"annotation:none", BERTH_TYPE_STR, 16, "''", "''"},
  };
  const NodeRef full = objects_.NodeFrom(kFullNode);
  const NodeRef bare = objects_.NodeFrom(kBareNode);
  for (const NodeColumn& row : kTable) {
    SCOPED_TRACE(row.name);
    const ColumnSpec spec = Parse(row.name);
    EXPECT_EQ(spec.name(), row.name);
    EXPECT_EQ(spec.type(), row.type);
    EXPECT_EQ(spec.width(), row.width);
    EXPECT_FALSE(spec.is_pod_sum());
    EXPECT_EQ(ValueOf(spec, full->view()), row.full);
    EXPECT_EQ(ValueOf(spec, bare->view()), row.absent);
  }
}

TEST_F(ColumnTest, TaintsKeepTheOrderOfTheNode) {
  const NodeRef full = objects_.NodeFrom(kFullNode);
  berth_array taints;
  Parse("taints").NodeValue(full->view(), &taints);
  const auto elements = Elements<berth_taint>(taints);
  ASSERT_EQ(elements.size(), 3U);
  EXPECT_EQ(objects_.interner().Text(elements[0].key), "k");
  EXPECT_EQ(elements[1].effect, uint32_t{BERTH_EFFECT_PREFER_NO_SCHEDULE});
  EXPECT_EQ(elements[2].effect, uint32_t{BERTH_EFFECT_NO_EXECUTE});
}

struct PodColumn {
  const char* name;
  int64_t full;
  int64_t absent;
};

TEST_F(ColumnTest, ComputesThePodColumns) {
  constexpr PodColumn kTable[] = {
      {"req.cpu", 1500, 0},
      {"req.memory", 1073741824, 0},
      {"req.ephemeral-storage", 2147483648, 0},
      {"req:example.com/gpu", 3, 0},
      {"req:example.com/none", 0, 0},
      {"nonzero.cpu", 1500, 100},
      {"nonzero.memory", 1073741824, 209715200},
      {"pods.count", 1, 1},
  };
  const PodRef full =
      objects_.Pod({.name = "full", .node = "n", .requests = R"("cpu":"1500m","memory":"1Gi",
                                                   "ephemeral-storage":"2Gi",
                                                   "example.com/gpu":"3")"});
  const PodRef bare = objects_.Pod({.name = "bare", .node = "n"});
  for (const PodColumn& row : kTable) {
    SCOPED_TRACE(row.name);
    const ColumnSpec spec = Parse(row.name);
    EXPECT_EQ(spec.name(), row.name);
    EXPECT_EQ(spec.type(), uint32_t{BERTH_TYPE_I64});
    EXPECT_EQ(spec.width(), 8U);
    EXPECT_TRUE(spec.is_pod_sum());
    EXPECT_EQ(spec.PodAmount(full->view()), row.full);
    EXPECT_EQ(spec.PodAmount(bare->view()), row.absent);
  }
}

TEST_F(ColumnTest, CountsHostPorts) {
  constexpr std::pair<const char*, int64_t> kTable[] = {
      {"hostport:TCP/80", 3},    {"hostport:TCP/80/10.0.0.1", 2}, {"hostport:TCP/80/10.0.0.2", 1},
      {"hostport:TCP/80/::", 2}, {"hostport:UDP/80", 1},          {"hostport:UDP/80/::", 1},
      {"hostport:SCTP/80", 0},   {"hostport:TCP/8080", 0},        {"hostport:TCP/8081", 0},
  };
  const PodRef pod = objects_.Pod({.name = "p", .node = "n", .spec = R"("initContainers":[
      {"name":"sidecar","restartPolicy":"Always","ports":[
          {"containerPort":8080,"hostPort":80},
          {"containerPort":8080,"hostPort":80,"hostIP":"10.0.0.1"},
          {"containerPort":8080,"hostPort":80,"hostIP":"::"},
          {"containerPort":53,"hostPort":80,"protocol":"UDP","hostIP":"0.0.0.0"}]},
      {"name":"init","ports":[{"containerPort":8081,"hostPort":8081}]}])"});
  for (const auto& [name, uses] : kTable) {
    SCOPED_TRACE(name);
    const ColumnSpec spec = Parse(name);
    EXPECT_EQ(spec.name(), name);
    EXPECT_EQ(spec.type(), uint32_t{BERTH_TYPE_I64});
    EXPECT_TRUE(spec.is_pod_sum());
    EXPECT_EQ(spec.PodAmount(pod->view()), uses);
  }
}

TEST_F(ColumnTest, ParsesOtherSpellings) {
  constexpr std::pair<const char*, const char*> kTable[] = {
      {"alloc:cpu", "alloc.cpu"},
      {"alloc:memory", "alloc.memory"},
      {"alloc:ephemeral-storage", "alloc.ephemeral-storage"},
      {"alloc:pods", "alloc.pods"},
      {"req:cpu", "req.cpu"},
      {"req:memory", "req.memory"},
      {"req:ephemeral-storage", "req.ephemeral-storage"},
  };
  for (const auto& [spelling, name] : kTable) {
    EXPECT_EQ(Parse(spelling).name(), name);
    EXPECT_EQ(Parse(spelling).rule(), Parse(name).rule());
  }
}

// A label key may look like any other column name.
TEST_F(ColumnTest, LabelKeysAreNotParsedFurther) {
  for (const char* key : {"cpu", "alloc:cpu", "a.b/c", "label:x", "."}) {
    const ColumnSpec spec = Parse(std::string("label:") + key);
    EXPECT_EQ(spec.name(), std::string("label:") + key);
    EXPECT_EQ(spec.rule(), ColumnRule::kLabel);
  }
}

TEST_F(ColumnTest, UnknownNamesAreNotFound) {
  for (const char* name :
       {"", "cpu", "alloc", "alloc.", "alloc:", "req:", "req.", "label:", "label.zone", "Alloc.cpu",
        "alloc.cpu ", "alloc.example.com/gpu", "alloc.gpu", "req.example.com/gpu", "req.pods",
        "nonzero.pods", "taint", "image", "nodes.count",
        // Only resource amounts have a second spelling.
        "nonzero:cpu", "taints:hard", "taints:soft", "pods:count",
        // Pods request no amount of "pods": their number is pods.count.
        "req:pods",
        // A host port column has a protocol, a port and an optional address, in one spelling each.
        "hostport:", "hostport:80", "hostport:TCP", "hostport:TCP/", "hostport:tcp/80",
        "hostport:TCP/0", "hostport:TCP/080", "hostport:TCP/+80", "hostport:TCP/-1",
        "hostport:TCP/80a", "hostport:TCP/99999999999", "hostport:TCP/80/",
        "hostport:TCP//::", "hostport:TCP/80/0.0.0.0"}) {
    const auto spec = ColumnSpec::Parse(name, objects_.interner());
    ASSERT_FALSE(spec.ok()) << name;
    EXPECT_EQ(spec.status().code(), ErrorCode::kNotFound) << name;
    EXPECT_EQ(spec.status().message(),
              "no column \"" + std::string(name) +
                  "\": expected a name of the catalogue in berth/abi.h, alloc:<resource>, "
                  "req:<resource>, label:<key>, annotation:<key>, object:<kind> or "
                  "hostport:<protocol>/<port>[/<address>]");
  }
}

TEST_F(ColumnTest, ASpecHoldsAReferenceToItsId) {
  const ColumnSpec spec = Parse("label:only-here");
  objects_.interner().Sweep();
  EXPECT_NE(objects_.interner().Find("only-here"), kNoId);
}

TEST(ColumnStorage, GrowsKeepingValuesAndZeroesTheRest) {
  ColumnStorage storage(sizeof(uint32_t));
  EXPECT_EQ(storage.bytes(), 0U);
  storage.Resize(1);
  *static_cast<uint32_t*>(storage.At(0)) = 7;
  for (uint32_t rows = 2; rows <= 1000; rows += 37) {
    storage.Resize(rows);
    EXPECT_EQ(*static_cast<uint32_t*>(storage.At(0)), 7U);
    EXPECT_EQ(*static_cast<uint32_t*>(storage.At(rows - 1)), 0U);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage.At(0)) % 64, 0U);
    EXPECT_GE(storage.bytes(), rows * sizeof(uint32_t));
  }
  storage.Clear(0);
  EXPECT_EQ(*static_cast<uint32_t*>(storage.At(0)), 0U);
}

TEST_F(ColumnTest, ObjectColumnNamesADeclarableKind) {
  const ColumnSpec spec = Parse("object:storage.k8s.io/v1/CSINode");
  EXPECT_EQ(spec.type(), uint32_t{BERTH_TYPE_OBJECT});
  EXPECT_EQ(spec.width(), 8U);
  EXPECT_TRUE(spec.is_object());
  EXPECT_FALSE(spec.is_pod_sum());
  EXPECT_EQ(spec.argument(), "storage.k8s.io/v1/CSINode");
  EXPECT_EQ(ObjectKindOf(spec.name()), spec.argument());
  EXPECT_EQ(ObjectKindOf("annotation:object:x"), "");
  EXPECT_TRUE(ColumnSpec::Parse("object:example.com/v2|v1/Rack", objects_.interner()).ok());
  for (const char* name : {"object:", "object:v1/Pod", "object:v1/Node", "object:CSINode",
                           "object:v1|v1/Thing", "annotation:"}) {
    EXPECT_FALSE(ColumnSpec::Parse(name, objects_.interner()).ok()) << name;
  }
}

}  // namespace
}  // namespace berth::host

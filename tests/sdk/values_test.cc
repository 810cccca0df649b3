// Tests Value, with the trees of the test kit, and the objects that tests create.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/builders.h>
#include <berth/value.h>

namespace berth::testing {
namespace {

using ::testing::ElementsAre;

TEST(Value, AMissingPathIsAbsent) {
  const ValueSpec tree = internal::ReadJson(
      R"({"spec": {"volumeName": "pv", "accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}})");
  const Value value(&tree);
  EXPECT_EQ(value["spec"]["volumeName"].AsString(), "pv");
  for (const Value& absent : {Value(), Value(nullptr), ValueOf(nullptr), value["status"],
                              value["status"]["phase"]["deep"], value["spec"]["volumeName"]["deep"],
                              value["spec"].At(2), value.At(7).At(0)}) {
    EXPECT_TRUE(absent.absent());
    EXPECT_EQ(absent.kind(), uint32_t{BERTH_VALUE_NULL});
    EXPECT_EQ(absent.size(), 0U);
    EXPECT_EQ(absent.AsString(), "");
    EXPECT_EQ(absent.AsInt(), 0);
    EXPECT_EQ(absent.AsFloat(), 0);
    EXPECT_FALSE(absent.AsBool());
    EXPECT_FALSE(absent.AsQuantity());
    EXPECT_EQ(absent.KeyAt(0), "");
    EXPECT_EQ(absent.where(), "");
    EXPECT_EQ(absent.begin(), absent.end());
  }
}

TEST(Value, AValueOfAnotherKindReadsAsEmpty) {
  const ValueSpec tree = internal::ReadJson(R"([true, 7, 0.5, "7", [7], {"a": 7}])");
  const Value value(&tree);
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string_view> texts;
  std::vector<bool> truths;
  for (const Value element : value) {
    ints.push_back(element.AsInt());
    floats.push_back(element.AsFloat());
    texts.push_back(element.AsString());
    truths.push_back(element.AsBool());
  }
  EXPECT_THAT(ints, ElementsAre(1, 7, 0, 0, 0, 0));
  EXPECT_THAT(floats, ElementsAre(0, 7, 0.5, 0, 0, 0));
  EXPECT_THAT(texts, ElementsAre("", "", "", "7", "", ""));
  EXPECT_THAT(truths, ElementsAre(true, false, false, false, false, false));
}

TEST(Value, KeepsTheOrderOfMembers) {
  const ValueSpec tree = internal::ReadJson(R"({"b": 1, "a": 2, "n": null, "b": 3})");
  const Value value(&tree);
  ASSERT_EQ(value.size(), 2U) << "null is absent, and the last b counts";
  EXPECT_EQ(value.KeyAt(0), "a");
  EXPECT_EQ(value.KeyAt(1), "b");
  EXPECT_EQ(value.At(1).AsInt(), 3);
}

TEST(Value, QuantitiesAreRoundedUpAndBounded) {
  const auto read = [](const char* json) {
    const ValueSpec tree = internal::ReadJson(json);
    const auto amount = Value(&tree).AsQuantity();
    return amount ? std::to_string(amount->units) + " " + std::to_string(amount->milli) : "none";
  };
  EXPECT_EQ(read(R"("1Gi")"), "1073741824 1073741824000");
  EXPECT_EQ(read(R"("1500m")"), "2 1500");
  EXPECT_EQ(read(R"("-1500m")"), "-2 -1500");
  EXPECT_EQ(read("3"), "3 3000");
  EXPECT_EQ(read("0.5"), "1 500");
  EXPECT_EQ(read(R"("9000P")"), "9000000000000000000 9223372036854775807");
  EXPECT_EQ(read(R"("x")"), "none");
  EXPECT_EQ(read("true"), "none");
}

TEST(MakeObject, AddsTypeAndMetadata) {
  Ids ids;
  const ObjectHandle claim(
      MakeObject("v1/PersistentVolumeClaim", "shop", "data", R"({"spec": {"volumeName": "pv"}})")
          .Label("app", "db")
          .Annotation("a", "b"),
      ids);
  const Value value = ValueOf(claim.get());
  EXPECT_EQ(value["apiVersion"].AsString(), "v1");
  EXPECT_EQ(value["kind"].AsString(), "PersistentVolumeClaim");
  EXPECT_EQ(value["metadata"]["name"].AsString(), "data");
  EXPECT_EQ(value["metadata"]["namespace"].AsString(), "shop");
  EXPECT_EQ(value["metadata"]["labels"]["app"].AsString(), "db");
  EXPECT_EQ(value["metadata"]["annotations"]["a"].AsString(), "b");
  EXPECT_EQ(value["spec"]["volumeName"].AsString(), "pv");
}

TEST(MakeObject, ReadsTypeAndMetadataFromJson) {
  Ids ids;
  const ObjectHandle object(MakeObject(R"({
      "apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "spec": {"drivers": [{"name": "d"}]},
      "metadata": {"name": "n", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"},
                   "annotations": {"c": "d"},
                   "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n",
                                        "uid": "x", "controller": true}]}})"),
                            ids);
  EXPECT_EQ(ids.Text(object->kind), "storage.k8s.io/v1/CSINode");
  EXPECT_EQ(object->meta->ns, BERTH_ID_NONE);
  EXPECT_EQ(FromAbi(object->meta->name), "n");
  EXPECT_EQ(FromAbi(object->meta->uid), "u");
  EXPECT_EQ(FromAbi(object->meta->resource_version), "7");
  EXPECT_EQ(object->meta->labels.count, 1U);
  EXPECT_EQ(object->meta->annotations.count, 1U);
  ASSERT_EQ(object->meta->owners.count, 1U);
  EXPECT_EQ(BERTH_AT(berth_owner, object->meta->owners, 0)->controller, 1U);
  EXPECT_EQ(ValueOf(object.get())["spec"]["drivers"].At(0)["name"].AsString(), "d");
}

TEST(MakeObjectDeathTest, ReportsMistakes) {
  Ids ids;
  EXPECT_DEATH(MakeObject(R"({"apiVersion": "v1", "kind": "A"})"), "without metadata.name");
  EXPECT_DEATH(ObjectHandle(MakeObject("v1/A", "", "x", "7"), ids), "\"x\" is not a JSON object");
  EXPECT_DEATH(ObjectHandle(MakeObject("Secret", "", "x"), ids), "is not a kind such as");
}

}  // namespace
}  // namespace berth::testing

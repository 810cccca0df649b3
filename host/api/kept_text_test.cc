// Tests of the texts of pods and nodes, which a decoder keeps if it is asked to.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/manifest.h"
#include "host/api/test_objects.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

DecodeOptions MakeOptions(bool pods, bool nodes) {
  DecodeOptions options;
  options.keep_pod_text = pods;
  options.keep_node_text = nodes;
  return options;
}

std::string_view TextOf(const AnyObject& object) { return KeptText(Base(object).meta()); }

constexpr const char* kAPod = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}})";
constexpr const char* kANode = R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}})";
constexpr const char* kAClaim =
    R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"c"}})";

TEST(KeptText, IsKeptPerKind) {
  Interner interner(Interner::kFixedKey);
  for (const bool pods : {false, true}) {
    for (const bool nodes : {false, true}) {
      Decoder decoder(interner, MakeOptions(pods, nodes));
      EXPECT_EQ(TextOf(*decoder.Decode(kAPod)), pods ? kAPod : "");
      EXPECT_EQ(TextOf(*decoder.Decode(kANode)), nodes ? kANode : "");
      EXPECT_EQ(TextOf(*decoder.Decode(kAClaim)), "");
    }
  }
}

TEST(KeptText, IsThatOfTheObjectAlone) {
  Interner interner(Interner::kFixedKey);
  Decoder decoder(interner, MakeOptions(true, true));
  const auto read = [&](std::string_view manifest) {
    std::vector<std::string> texts;
    const Status status =
        ReadManifest(manifest, "m", decoder, [&](const AnyObject& object, std::string_view) {
          texts.emplace_back(TextOf(object));
          return Status();
        });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return texts;
  };
  const std::string pod = R"({"metadata": {"name":"p"}, "x":[1, {"}":"]"}]})";
  const std::string node = R"({"metadata":{"name":"n"}})";
  EXPECT_THAT(
      read(R"({"kind":"PodList","apiVersion":"v1","items":[ )" + pod + " , " + pod + "\n]}"),
      ElementsAre(pod, pod));
  EXPECT_THAT(read(R"({"kind":"NodeList","items":[)" + node + R"(],"apiVersion":"v1"})"),
              ElementsAre(node));
  EXPECT_THAT(read(std::string(" ") + kAPod + "\n" + kANode + " "), ElementsAre(kAPod, kANode));
  EXPECT_THAT(read("kind: Pod\napiVersion: v1\nmetadata: {name: p}\n---\n"
                   "kind: Node\napiVersion: v1\nmetadata: {name: \"n\"}\n"),
              ElementsAre(kAPod, kANode));
}

// Pods that are equal in most parts share memory, but not their texts.
TEST(KeptText, BelongsToOnePod) {
  Interner interner(Interner::kFixedKey);
  Decoder decoder(interner, MakeOptions(true, false));
  const auto pod = [&](const std::string& name) {
    return *decoder.DecodePod(R"({"metadata":{"name":")" + name +
                              R"("},"spec":{"containers":[{"name":"c"}]}})");
  };
  const std::vector<PodRef> pods = {pod("a"), pod("b"), pod("c")};
  for (const PodRef& one : pods) {
    const std::string name = R"("name":")" + std::string(one->name()) + '"';
    EXPECT_NE(KeptText(one->meta()).find(name), std::string_view::npos) << name;
  }
  EXPECT_EQ(pods[0]->part_hash(BERTH_PART_FIELDS), pods[1]->part_hash(BERTH_PART_FIELDS));
}

TEST(KeptText, StaysWithChangedCopies) {
  Interner interner(Interner::kFixedKey);
  Decoder decoder(interner, MakeOptions(true, false));
  PodRef pod = *decoder.DecodePod(kAPod);
  pod = WithNode(WithResourceVersion(pod, "7"), kNoId, "8");
  EXPECT_EQ(KeptText(pod->meta()), kAPod);
}

TEST(KeptText, ComesWithFieldsOfTheObject) {
  Interner interner(Interner::kFixedKey);
  DecodeOptions options = MakeOptions(true, false);
  options.pod_fields = {"/metadata/name"};
  Decoder decoder(interner, options);
  const PodRef pod = *decoder.DecodePod(kAPod);
  EXPECT_EQ(KeptText(pod->meta()), kAPod);
  ASSERT_EQ(pod->meta().fields.count, 2U);
  EXPECT_EQ(Text(Elements<berth_field>(pod->meta().fields)[1].path), "/metadata/name");
}

}  // namespace
}  // namespace berth::host

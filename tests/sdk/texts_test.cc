// Annotations, labels, quantities, durations and patches: texts that authors read and write.
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/duration.h>
#include <berth/patch.h>
#include <berth/pod.h>
#include <berth/quantity.h>

namespace berth {
namespace {

using namespace std::chrono_literals;

// Texts by id: the id of texts[i] is i + 1.
struct Texts {
  std::vector<std::string> texts;
  berth_id Find(std::string_view text) const {
    for (size_t i = 0; i < texts.size(); ++i) {
      if (texts[i] == text) return static_cast<berth_id>(i + 1);
    }
    return BERTH_ID_NONE;
  }
  std::string_view Text(berth_id id) const { return texts[id - 1]; }
};

TEST(Annotation, FindsEveryKeyAndNoOther) {
  std::vector<std::string> keys;
  for (char c = 'a'; c <= 'g'; ++c) keys.push_back(std::string("k/") + c);
  for (size_t count = 0; count <= keys.size(); ++count) {
    SCOPED_TRACE(count);
    std::vector<berth_str_pair> pairs;
    for (size_t i = 0; i < count; ++i) {
      pairs.push_back({Str(std::string_view(keys[i])), Str(std::string_view(keys[i]).substr(2))});
    }
    berth_meta meta{};
    meta.annotations = {pairs.data(), static_cast<uint32_t>(count), sizeof(berth_str_pair)};
    berth_pod pod{};
    pod.meta = &meta;
    berth_node node{};
    node.meta = &meta;
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto want =
          i < count ? std::optional(std::string_view(keys[i]).substr(2)) : std::nullopt;
      EXPECT_EQ(Pod(pod).Annotation(keys[i]), want) << keys[i];
      EXPECT_EQ(NodeView(node).Annotation(keys[i]), want) << keys[i];
    }
    for (const char* missing : {"", "k/", "k/aa", "k/h", "z"}) {
      EXPECT_EQ(Pod(pod).Annotation(missing), std::nullopt) << missing;
    }
  }
}

TEST(Label, IsFoundByTheTextOfItsKey) {
  const Texts texts{{"app", "web", "tier", ""}};
  const berth_id_pair pairs[] = {{1, 2}, {3, 4}};
  berth_meta meta{};
  meta.labels = {pairs, 2, sizeof(berth_id_pair)};
  berth_pod pod{};
  pod.meta = &meta;
  EXPECT_EQ(Pod(pod).Label("app", texts), "web");
  EXPECT_EQ(Pod(pod).Label("tier", texts), "") << "it exists, and is empty";
  EXPECT_EQ(Pod(pod).Label("web", texts), std::nullopt) << "a text with an id, but no label";
  EXPECT_EQ(Pod(pod).Label("unknown", texts), std::nullopt) << "a text without an id";
}

// The host's tests of the same parser have every form.
TEST(Quantity, IsReadFromText) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const struct {
    const char* text;
    int64_t units;
    int64_t milli;
  } cases[] = {
      {"2", 2, 2000},           {"500m", 1, 500}, {"1.5Gi", 1'610'612'736, 1'610'612'736'000},
      {"-1.5", -2, -1500},      {"0", 0, 0},      {"9E", 9'000'000'000'000'000'000, kMax},
      {"1e3", 1000, 1'000'000},
  };
  for (const auto& c : cases) {
    const std::optional<Quantity> read = ParseQuantity(c.text);
    ASSERT_TRUE(read.has_value()) << c.text;
    EXPECT_EQ(read->units, c.units) << c.text;
    EXPECT_EQ(read->milli, c.milli) << c.text;
  }
  for (const char* wrong : {"", "x", "1x", "1 Gi", "1ki", "1e", "--1"}) {
    EXPECT_FALSE(ParseQuantity(wrong).has_value()) << wrong;
  }
}

TEST(Duration, IsReadFromText) {
  const struct {
    const char* text;
    std::chrono::nanoseconds want;
  } cases[] = {{"1.5s", 1500ms}, {"1m30s", 90s}, {"-2h", -2h}, {"0", 0ns}, {"10us", 10us}};
  for (const auto& c : cases) EXPECT_EQ(ParseDuration(c.text), c.want) << c.text;
  for (const char* wrong : {"", "1", "s", "1 s", "1d", "300y", "2562048h"}) {
    EXPECT_EQ(ParseDuration(wrong), std::nullopt) << wrong;
  }
}

TEST(Patch, WritesSortedNestedMembers) {
  Patch patch;
  EXPECT_TRUE(patch.empty());
  EXPECT_EQ(patch.Body(), "{}");
  patch.Annotation("acme.io/gpu", "3 \"big\"\n").RemoveAnnotation("old").Label("app", "web");
  patch.RemoveLabel("tier");
  patch.Bool("/spec/unschedulable", true).Int("/spec/a~1b~0c", -7).Text("/status/phase", "Failed");
  patch.Remove("/spec/taints").Json("/spec/list", "[1,2]");
  EXPECT_FALSE(patch.empty());
  EXPECT_EQ(patch.Body(),
            R"({"metadata":{"annotations":{"acme.io/gpu":"3 \"big\"\u000a","old":null},)"
            R"("labels":{"app":"web","tier":null}},)"
            R"("spec":{"a/b~c":-7,"list":[1,2],"taints":null,"unschedulable":true},)"
            R"("status":{"phase":"Failed"}})");
}

TEST(Patch, TheLastCallOfAPathCounts) {
  const struct {
    const char* name;
    Patch patch;
    const char* want;
  } cases[] = {
      {"the same path", Patch().Int("/a", 1).Int("/a", 2), R"({"a":2})"},
      {"a value in place of an object", Patch().Int("/a/b", 1).Int("/a", 2), R"({"a":2})"},
      {"an object in place of a value", Patch().Int("/a", 1).Int("/a/b", 2), R"({"a":{"b":2}})"},
      {"without a slash", Patch().Int("a/b", 1), R"({"a":{"b":1}})"},
      {"an escape that is none", Patch().Int("/a~2", 1), R"({"a~2":1})"},
  };
  for (const auto& c : cases) EXPECT_EQ(c.patch.Body(), c.want) << c.name;
}

}  // namespace
}  // namespace berth

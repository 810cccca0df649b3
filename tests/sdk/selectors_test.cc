#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/names.h>
#include <berth/plugin.h>
#include <berth/selectors.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

class SelectorsTest : public ::testing::Test {
 protected:
  berth_id Id(std::string_view text) { return small_.Id(text); }
  berth_requirement Need(std::string_view key, uint32_t op, std::vector<std::string> values = {},
                         int64_t number = 0) {
    auto& ids = kept_.emplace_back();
    for (const std::string& value : values) ids.push_back(Id(value));
    return {Id(key), op, {ids.data(), static_cast<uint32_t>(ids.size()), sizeof(berth_id)}, number};
  }
  template <class T>
  static berth_array Array(const std::vector<T>& items) {
    return {items.data(), static_cast<uint32_t>(items.size()), sizeof(T)};
  }

  testing::SmallHost small_;
  internal::Fault fault_;
  internal::Services services_{small_.abi(), &fault_};
  Host host_{services_};
  std::vector<std::vector<berth_id>> kept_ = [] {
    std::vector<std::vector<berth_id>> kept;
    kept.reserve(100);
    return kept;
  }();
};

TEST(Names, QualifiedNames) {
  const std::string prefix(249, 'a');
  for (const std::string& name :
       {std::string("a"), std::string("A-b_c.9"), std::string("example.com/gpu"),
        std::string("a-1.b/c"), std::string("9"), std::string(63, 'a'), prefix + ".com/a",
        "example.com/" + std::string(63, 'a'), std::string("kubernetes.io/hostname")}) {
    EXPECT_TRUE(IsQualifiedName(name)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("-a"), std::string("a-"), std::string("a b"), std::string("/a"),
        std::string("a/"), std::string("a/b/c"), std::string("A.com/a"), std::string("a..b/c"),
        std::string("a_b/c"), std::string(".a/b"), std::string("-a/b"), std::string("\xc3\xa9"),
        std::string(64, 'a'), prefix + "a.com/a"}) {
    EXPECT_FALSE(IsQualifiedName(name)) << name;
  }
}

TEST(Names, LabelValues) {
  for (const std::string& value :
       {std::string(), std::string("a"), std::string("1.2-3_B"), std::string(63, 'a')}) {
    EXPECT_TRUE(IsLabelValue(value)) << value;
  }
  for (const std::string& value :
       {std::string("-1"), std::string("-"), std::string("a/b"), std::string("a."),
        std::string("a "), std::string(".a"), std::string(64, 'a')}) {
    EXPECT_FALSE(IsLabelValue(value)) << value;
  }
}

TEST_F(SelectorsTest, RequirementHoldsAsInKubernetes) {
  const struct {
    const char* name;
    berth_requirement requirement;
    const char* value;  // null: the label is absent
    bool want;
  } cases[] = {
      {"In, a listed value", Need("k", BERTH_OP_IN, {"a", "b"}), "b", true},
      {"In, another value", Need("k", BERTH_OP_IN, {"a", "b"}), "c", false},
      {"In, absent", Need("k", BERTH_OP_IN, {"a"}), nullptr, false},
      {"In, the empty string", Need("k", BERTH_OP_IN, {""}), "", true},
      {"NotIn, a listed value", Need("k", BERTH_OP_NOT_IN, {"a"}), "a", false},
      {"NotIn, another value", Need("k", BERTH_OP_NOT_IN, {"a"}), "b", true},
      {"NotIn, absent", Need("k", BERTH_OP_NOT_IN, {"a"}), nullptr, true},
      {"Exists, present", Need("k", BERTH_OP_EXISTS), "", true},
      {"Exists, absent", Need("k", BERTH_OP_EXISTS), nullptr, false},
      {"DoesNotExist, present", Need("k", BERTH_OP_DOES_NOT_EXIST), "a", false},
      {"DoesNotExist, absent", Need("k", BERTH_OP_DOES_NOT_EXIST), nullptr, true},
      {"Gt, greater", Need("k", BERTH_OP_GT, {}, 5), "6", true},
      {"Gt, equal", Need("k", BERTH_OP_GT, {}, 5), "5", false},
      {"Gt, absent", Need("k", BERTH_OP_GT, {}, 5), nullptr, false},
      {"Gt, not a number", Need("k", BERTH_OP_GT, {}, 5), "six", false},
      {"Gt, out of range", Need("k", BERTH_OP_GT, {}, 5), "9223372036854775808", false},
      {"Gt, the largest integer", Need("k", BERTH_OP_GT, {}, 5), "9223372036854775807", true},
      {"Lt, less", Need("k", BERTH_OP_LT, {}, 5), "-9223372036854775808", true},
      {"Lt, equal", Need("k", BERTH_OP_LT, {}, 5), "+5", false},
      {"Lt, leading zeros", Need("k", BERTH_OP_LT, {}, 5), "004", true},
      {"unknown operator", Need("k", 0), "a", false},
  };
  for (const auto& c : cases) {
    const berth_id value = c.value == nullptr ? BERTH_ID_NONE : Id(c.value);
    EXPECT_EQ(Matches(c.requirement, value, host_), c.want) << c.name;
  }
}

TEST_F(SelectorsTest, LabelSelectorNeedsAllRequirements) {
  const std::vector<berth_id_pair> labels = {{Id("app"), Id("web")}, {Id("tier"), Id("front")}};
  berth_selector selector = {sizeof(selector), 0, {}};
  EXPECT_TRUE(Matches(&selector, Labels(labels), host_)) << "no requirements match everything";
  EXPECT_FALSE(Matches(nullptr, Labels(labels), host_)) << "no selector matches nothing";
  const std::vector<berth_requirement> both = {Need("app", BERTH_OP_IN, {"web"}),
                                               Need("tier", BERTH_OP_IN, {"front"})};
  selector.requirements = Array(both);
  EXPECT_TRUE(Matches(&selector, Labels(labels), host_));
  const std::vector<berth_requirement> one = {Need("app", BERTH_OP_IN, {"web"}),
                                              Need("tier", BERTH_OP_IN, {"back"})};
  selector.requirements = Array(one);
  EXPECT_FALSE(Matches(&selector, Labels(labels), host_));
  selector = {sizeof(selector), BERTH_SELECTOR_INVALID, {}};
  EXPECT_FALSE(Matches(&selector, Labels(labels), host_)) << "an invalid selector";
}

TEST_F(SelectorsTest, NodeTermsAreAlternatives) {
  const std::vector<berth_id_pair> labels = {{Id("zone"), Id("z1")}};
  berth_meta meta = {};
  meta.labels = Array(labels);
  berth_node node = {};
  node.meta = &meta;
  node.name = Id("n1");
  const std::vector<berth_requirement> in_z1 = {Need("zone", BERTH_OP_IN, {"z1"})};
  const std::vector<berth_requirement> in_z2 = {Need("zone", BERTH_OP_IN, {"z2"})};
  const std::vector<berth_requirement> is_n1 = {Need("metadata.name", BERTH_OP_IN, {"n1"})};
  const std::vector<berth_requirement> is_n2 = {Need("metadata.name", BERTH_OP_IN, {"n2"})};
  const auto matches = [&](const std::vector<berth_node_term>& terms) {
    return MatchesAny(Span<const berth_node_term>(terms), node, host_);
  };
  const berth_array none = {};
  EXPECT_FALSE(matches({})) << "no term";
  EXPECT_FALSE(matches({{0, 0, none, none}})) << "an empty term";
  EXPECT_TRUE(matches({{0, 0, Array(in_z1), none}}));
  EXPECT_FALSE(matches({{0, 0, Array(in_z2), none}}));
  EXPECT_TRUE(matches({{0, 0, Array(in_z2), none}, {0, 0, Array(in_z1), none}}))
      << "the second term matches";
  EXPECT_TRUE(matches({{0, 0, none, Array(is_n1)}}));
  EXPECT_TRUE(matches({{0, 0, Array(in_z1), Array(is_n1)}})) << "both hold";
  EXPECT_FALSE(matches({{0, 0, Array(in_z1), Array(is_n2)}})) << "only one holds";
  EXPECT_FALSE(matches({{BERTH_SELECTOR_INVALID, 0, Array(in_z1), none}})) << "an invalid selector";
}

TEST_F(SelectorsTest, NodeSelectionCombinesSelectorAndAffinity) {
  const std::vector<berth_id_pair> labels = {{Id("disk"), Id("ssd")}, {Id("zone"), Id("z1")}};
  berth_meta meta = {};
  meta.labels = Array(labels);
  berth_node node = {};
  node.meta = &meta;
  testing::SmallCycle<int> small;
  const auto matches = [&] { return MatchesNodeSelection(small.pod, node, host_); };
  EXPECT_TRUE(matches()) << "no selection";
  const std::vector<berth_id_pair> ssd = {{Id("disk"), Id("ssd")}};
  small.pod.node_selector = Array(ssd);
  EXPECT_TRUE(matches());
  small.affinity.has_required_node_terms = 1;
  EXPECT_FALSE(matches()) << "required terms, but none given";
  const std::vector<berth_requirement> in_z1 = {Need("zone", BERTH_OP_IN, {"z1"})};
  const std::vector<berth_node_term> terms = {{0, 0, Array(in_z1), {}}};
  small.affinity.required_node_terms = Array(terms);
  EXPECT_TRUE(matches());
  const std::vector<berth_id_pair> hdd = {{Id("disk"), Id("hdd")}};
  small.pod.node_selector = Array(hdd);
  EXPECT_FALSE(matches());
}

TEST_F(SelectorsTest, TolerationMatchesAsInKubernetes) {
  constexpr uint32_t kHard = BERTH_EFFECT_NO_SCHEDULE;
  constexpr uint32_t kSoft = BERTH_EFFECT_PREFER_NO_SCHEDULE;
  const berth_taint taint = {Id("k"), Id("v"), kHard, 0};
  const struct {
    const char* name;
    berth_toleration toleration;
    bool want;
  } cases[] = {
      {"Equal, same", {Id("k"), Id("v"), BERTH_TOLERATION_EQUAL, kHard, -1}, true},
      {"Equal, other value", {Id("k"), Id("w"), BERTH_TOLERATION_EQUAL, kHard, -1}, false},
      {"Equal, other key", {Id("l"), Id("v"), BERTH_TOLERATION_EQUAL, kHard, -1}, false},
      {"Equal, other effect", {Id("k"), Id("v"), BERTH_TOLERATION_EQUAL, kSoft, -1}, false},
      {"Equal, every effect", {Id("k"), Id("v"), BERTH_TOLERATION_EQUAL, 0, -1}, true},
      {"Exists, any value", {Id("k"), Id("w"), BERTH_TOLERATION_EXISTS, kHard, -1}, true},
      {"Exists, every key", {0, Id(""), BERTH_TOLERATION_EXISTS, 0, -1}, true},
      {"Exists, every key, one effect", {0, Id(""), BERTH_TOLERATION_EXISTS, kSoft, -1}, false},
      {"Gt, with the gate off", {Id("k"), Id("1"), BERTH_TOLERATION_GT, kHard, -1}, false},
  };
  for (const auto& c : cases) EXPECT_EQ(Tolerates(c.toleration, taint), c.want) << c.name;
}

TEST_F(SelectorsTest, ComparingTolerationsRequireDecimalIntegers) {
  const auto tolerates = [&](uint32_t op, const char* limit, const char* value) {
    return ToleratesComparing({Id("k"), Id(limit), op, 0, -1}, {Id("k"), Id(value), 1, 0}, host_);
  };
  EXPECT_TRUE(tolerates(BERTH_TOLERATION_GT, "5", "6"));
  EXPECT_FALSE(tolerates(BERTH_TOLERATION_GT, "5", "5"));
  EXPECT_TRUE(tolerates(BERTH_TOLERATION_LT, "5", "-4"));
  EXPECT_FALSE(tolerates(BERTH_TOLERATION_LT, "5", "5"));
  EXPECT_TRUE(tolerates(BERTH_TOLERATION_LT, "5", "0"));
  EXPECT_FALSE(tolerates(BERTH_TOLERATION_LT, "5", "04")) << "leading zero";
  EXPECT_FALSE(tolerates(BERTH_TOLERATION_LT, "x", "4"));
  EXPECT_FALSE(tolerates(BERTH_TOLERATION_LT, "5", ""));
  EXPECT_TRUE(tolerates(BERTH_TOLERATION_EXISTS, "5", "4"));
  EXPECT_TRUE(tolerates(BERTH_TOLERATION_EQUAL, "4", "4"));
}

TEST_F(SelectorsTest, FindsFirstHardTaintThatIsNotTolerated) {
  const std::vector<berth_taint> taints = {{Id("soft"), 0, BERTH_EFFECT_PREFER_NO_SCHEDULE, 0},
                                           {Id("a"), Id(""), BERTH_EFFECT_NO_SCHEDULE, 0},
                                           {Id("b"), Id(""), BERTH_EFFECT_NO_EXECUTE, 0}};
  const std::vector<berth_toleration> a = {{Id("a"), Id(""), BERTH_TOLERATION_EXISTS, 0, -1}};
  const Span<const berth_taint> all(taints);
  EXPECT_EQ(FindUntolerated(all, Span<const berth_toleration>()), &taints[1]);
  EXPECT_EQ(FindUntolerated(all, Span<const berth_toleration>(a)), &taints[2]);
  const std::vector<berth_toleration> any = {{0, Id(""), BERTH_TOLERATION_EXISTS, 0, -1}};
  EXPECT_EQ(FindUntolerated(all, Span<const berth_toleration>(any)), nullptr);
}

}  // namespace
}  // namespace berth

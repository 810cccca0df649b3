// The parts of pods and nodes that a plugin names in kFields, in the test kit.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/fake_host.h>
#include <berth/testing/field_tree.h>

namespace berth {
namespace {

using testing::MakeNode;
using testing::MakePod;

// Returns the texts of strings and the sizes of other values: "absent", "'b'", "3 elements".
std::string Show(const Value& value) {
  switch (value.kind()) {
    case BERTH_VALUE_STRING: return "'" + std::string(value.AsString()) + "'";
    case BERTH_VALUE_INT: return std::to_string(value.AsInt());
    case BERTH_VALUE_ARRAY: return std::to_string(value.size()) + " elements";
    case BERTH_VALUE_OBJECT: return std::to_string(value.size()) + " members";
    default: return value.absent() ? "absent" : "another value";
  }
}

// The test KeepsFieldsInArrays of the host has the same paths and values.
TEST(FieldTree, FindsPartsAsTheHostDoes) {
  const std::vector<std::pair<std::string, std::string>> whole = {
      {"/spec/list", R"([1, {"a": "b"}, ["c"]])"}, {"/spec/map", R"({"0": "d"})"}};
  const std::vector<std::pair<std::string, std::string>> parts = {{"/spec/list/0", "1"},
                                                                  {"/spec/list/1/a", R"("b")"},
                                                                  {"/spec/list/2/0", R"("c")"},
                                                                  {"/spec/map", R"({"0": "d"})"}};
  const struct {
    const char* path;
    const char* value;
  } cases[] = {{"/spec/list/0", "1"},
               {"/spec/list/1/a", "'b'"},
               {"/spec/list/1", "1 members"},
               {"/spec/list/2/0", "'c'"},
               {"/spec/list", "3 elements"},
               {"/spec/list/3", "absent"},
               {"/spec/list/01", "absent"},
               {"/spec/list/-", "absent"},
               {"/spec/list/a", "absent"},
               {"/spec/list/0/a", "absent"},
               {"/spec/list/99999999999999999999", "absent"},
               {"/spec/map/0", "'d'"}};
  for (const auto& fields : {whole, parts}) {
    const testing::FieldTree tree(fields);
    for (const auto& c : cases) {
      SCOPED_TRACE(c.path);
      EXPECT_EQ(Show(Value(tree.Find(c.path))), c.value);
    }
  }
}

// Rejects nodes unless its fields have the expected values.
class Reading : public Plugin {
 public:
  static constexpr std::string_view kName = "Reading";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Reads fields.";
  static constexpr std::array kFields{"Pod:/spec/securityContext", "Pod:/spec/containers/1/stdin",
                                      "Pod:/metadata/labels/a~1b", "Node:/spec/podCIDR"};
  static constexpr Reasons kReasons{"other fields"};

  Verdict Filter(const Cycle& cycle, const NodeRow<Columns>& /*node*/) const {
    const Pod pod = cycle.pod();
    const std::string seen = Show(pod.Field("/spec/securityContext")) + ", " +
                             Show(pod.Field("/spec/containers/1/stdin")) + ", " +
                             Show(pod.Field("/metadata/labels/a~1b")) + ", " +
                             Show(pod.Field("/spec/securityContext/runAsUser"));
    return seen == "1 members, 'yes', 'label', absent" ? kPass : Unschedulable(0);
  }
};

TEST(PluginUnderTest, ViewsHaveThePartsOfFields) {
  testing::PluginUnderTest plugin(kEntryOf<Reading>, {.nodes = {MakeNode("n")}});
  testing::PodSpec pod = MakePod("p")
                             .Field("/spec/securityContext/runAsUser", "7")
                             .Field("/spec/containers", R"([{}, {"stdin": "yes"}])")
                             .Field("/metadata/labels/a~1b", R"("label")");
  EXPECT_TRUE(plugin.Filter(pod).filter.ok());
  EXPECT_EQ(plugin.Filter(pod).nodes.at("n"), testing::Success());
  // The plugin does not name /spec/securityContext/runAsUser, so that it is absent, as in the host.
  EXPECT_NE(plugin.Filter(MakePod("q")).nodes.at("n"), testing::Success());
}

}  // namespace
}  // namespace berth

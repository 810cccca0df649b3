// Tests what the test kit serves of the cluster's data: kinds, columns of objects and annotations,
// pending pods, values and selectors, with a plugin of the C++ layer.
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/fake_host.h>

namespace berth::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRacks = "example.com/v2|v1/Rack";

std::vector<std::string> seen;
std::function<void(const Host&)> in_create;

class Racks : public Plugin {
 public:
  static constexpr std::string_view kName = "test.Racks";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Rejects nodes of closed racks.";
  static constexpr std::array kKinds{kRacks};
  static constexpr bool kPendingChanges = true;
  static constexpr berth::Reasons kReasons{"closed", "cold"};
  using Rack = NodeObject<"example.com/v2|v1/Rack">;
  using Tier = Annotation<"tier">;
  using Columns = berth::Columns<Rack, Tier>;
  using Node = NodeRow<Columns>;
  static constexpr Dependence kFilterDependence{.cluster = kNode, .pod_parts = 0};

  explicit Racks(const Host& host) : host_(host) {
    if (!host.objects().Watch<&Racks::OnRack>(kRacks, this).ok()) throw Error("no watch");
    if (in_create) in_create(host);
  }
  void OnRack(const ObjectChange& change) {
    const berth_object& rack = change.now != nullptr ? *change.now : *change.old;
    const bool existed = (change.flags & BERTH_OBJECT_FLAG_REPLAY) != 0;
    const char* what = existed                 ? "="
                       : change.old == nullptr ? "+"
                       : change.now == nullptr ? "-"
                                               : "~";
    seen.push_back(what + std::string(host_.Text(change.kind)) + " " +
                   std::string(Str(rack.meta->name)));
  }
  void OnChange(const Change& change) {
    constexpr const char* kKinds[] = {"", "+", "~",         "-",         "",         "",
                                      "", "s", "pending +", "pending ~", "pending -"};
    if (change.pod == nullptr) return;
    seen.push_back(kKinds[change.kind] + std::string(Str(change.pod->meta->name)));
  }
  berth::Status PreFilter(berth::Cycle& /*cycle*/, const berth::Nodes& /*all*/,
                          PreFilterOut& /*out*/) {
    const berth::Status listed = host_.objects().List(kRacks, "", [](const berth_object&) {});
    seen.push_back(host_.objects().Served(kRacks) && listed.ok() ? "served" : "not served");
    return berth::Status::Success();
  }
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& node) const {
    return UnschedulableIf(ValueOf(node[Rack{}])["closed"].AsBool(), 0) |
           UnschedulableIf(node[Tier{}] == "cold", 1);
  }

 private:
  Host host_;
};

// Returns a rack that is closed.
ObjectSpec Closed(const std::string& name, const std::string& version = "v2") {
  return MakeObject("example.com/" + version + "/Rack", "", name, R"({"closed": true})");
}

class TestingClusterTest : public ::testing::Test {
 protected:
  TestingClusterTest() {
    seen.clear();
    in_create = nullptr;
  }
  // Runs `test` in create(), and returns what the kit reports.
  std::vector<std::string> FindingsOf(std::function<void(const Host&)> test) {
    in_create = std::move(test);
    std::vector<std::string> findings;
    {
      const PluginUnderTest plugin(kEntryOf<Racks>, {.on_failure = [&](const std::string& text) {
                                     findings.push_back(text);
                                   }});
    }
    in_create = nullptr;
    return findings;
  }
  static std::vector<std::string> Take() { return std::exchange(seen, {}); }
};

TEST_F(TestingClusterTest, ColumnsHaveObjectsAndAnnotations) {
  PluginUnderTest plugin(kEntryOf<Racks>, {.nodes = {MakeNode("a"), MakeNode("b"),
                                                     MakeNode("c").Annotation("tier", "cold")},
                                           .objects = {Closed("a"), Closed("other")}});
  const PodSpec pod = MakePod("p");
  EXPECT_EQ(plugin.Filter(pod).On("a"), Unschedulable("closed"));
  EXPECT_EQ(plugin.Filter(pod).On("b"), Success());
  EXPECT_EQ(plugin.Filter(pod).On("c"), Unschedulable("cold"));
  plugin.PutObject(Closed("b"));
  plugin.RemoveObject(Closed("a"));
  EXPECT_EQ(plugin.Filter(pod).On("a"), Success());
  EXPECT_EQ(plugin.Filter(pod).On("b"), Unschedulable("closed"));
}

TEST_F(TestingClusterTest, UsesTheFirstVersionThatIsServed) {
  PluginUnderTest plugin(kEntryOf<Racks>, {.nodes = {MakeNode("a")},
                                           .objects = {Closed("a", "v1")},
                                           .not_served = {"example.com/v2/Rack"}});
  EXPECT_THAT(Take(), ElementsAre("=example.com/v1/Rack a"));
  EXPECT_EQ(plugin.Filter(MakePod("p")).On("a"), Unschedulable("closed"));
  Take();
  plugin.SetServed("example.com/v2/Rack", true);
  EXPECT_THAT(Take(), ElementsAre("-example.com/v1/Rack a"));
  EXPECT_EQ(plugin.Filter(MakePod("p")).On("a"), Success());
  Take();
  plugin.PutObject(Closed("a"));
  EXPECT_THAT(Take(), ElementsAre("+example.com/v2/Rack a"));
}

TEST_F(TestingClusterTest, KindThatIsNotServedHasNoObjects) {
  PluginUnderTest plugin(
      kEntryOf<Racks>,
      {.nodes = {MakeNode("a")}, .not_served = {"example.com/v2/Rack", "example.com/v1/Rack"}});
  EXPECT_EQ(plugin.Filter(MakePod("p")).On("a"), Success());
  EXPECT_THAT(Take(), Contains("not served"));
  plugin.SetServed("example.com/v1/Rack", true);
  plugin.PutObject(Closed("a", "v1"));
  EXPECT_THAT(Take(), ElementsAre("+example.com/v1/Rack a"));
  plugin.SetServed("example.com/v1/Rack", false);
  EXPECT_THAT(Take(), ElementsAre("-example.com/v1/Rack a"));
}

TEST_F(TestingClusterTest, APodIsPendingOrOnANode) {
  PluginUnderTest plugin(kEntryOf<Racks>,
                         {.nodes = {MakeNode("a")}, .pending = {MakePod("before")}});
  EXPECT_THAT(Take(), ElementsAre("pending +before"));
  plugin.AddPendingPod(MakePod("p"));
  plugin.ChangePendingPod(MakePod("p").Priority(3));
  plugin.AssumePod("p", "a");
  plugin.ForgetPod("p", "a");
  plugin.RemovePendingPod("p");
  EXPECT_THAT(Take(), ElementsAre("pending +p", "pending ~p", "pending -p", "+p", "-p",
                                  "pending +p", "pending -p"));
}

TEST_F(TestingClusterTest, ReadsAndWritesValues) {
  EXPECT_THAT(FindingsOf([](const Host& host) {
                const ParsedValue parsed = host.values().Parse(
                    R"({"a": [1, -2.5, "x\"\u00e9\ud83d\ude00", null, true], "b": {}})");
                ASSERT_TRUE(parsed.ok());
                EXPECT_EQ(parsed.value()["a"].ToJson(),
                          "[1,-2.5,\"x\\\"\xc3\xa9\xf0\x9f\x98\x80\",null,true]");
                EXPECT_EQ(parsed.value()["b"].ToJson(), "{}");
                EXPECT_EQ(parsed.value()["c"].ToJson(), "null");
                EXPECT_EQ(host.values().Parse("2.0").value().ToJson(), "2.0");
                for (const char* text : {"", "{", "[1,]", "1 2", "\"\\ud83d\"", "nul", "'a'"}) {
                  const ParsedValue wrong = host.values().Parse(text);
                  EXPECT_FALSE(wrong.ok()) << text;
                  EXPECT_EQ(wrong.status().code(), BERTH_BAD_ARGUMENT);
                  EXPECT_EQ(wrong.status().reasons().size(), 1U) << text;
                }
              }),
              IsEmpty());
}

struct TimeCase {
  const char* text;
  int64_t ns;  // -1: not a time.
};

TEST_F(TestingClusterTest, ReadsTimes) {
  constexpr TimeCase kTable[] = {
      {"1970-01-01T00:00:00Z", 0},
      {"1970-01-01T00:00:01.5Z", 1'500'000'000},
      {"2000-02-29T12:30:00+02:30", 951'818'400'000'000'000},
      {"1969-12-31T23:59:58.5Z", -1'500'000'000},
      {"2026-01-01T00:00:00Z", 1'767'225'600'000'000'000},
      {"2001-02-29T00:00:00Z", -1},
      {"2001-13-01T00:00:00Z", -1},
      {"2001-01-01T24:00:00Z", -1},
      {"2001-01-01 00:00:00Z", -1},
      {"2001-01-01T00:00:00", -1},
      {"2001-01-01T00:00:00.Z", -1},
      {"2300-01-01T00:00:00Z", -1},
      {"", -1},
  };
  FindingsOf([&](const Host& host) {
    for (const TimeCase& row : kTable) {
      const ParsedValue parsed = host.values().Parse("\"" + std::string(row.text) + "\"");
      EXPECT_EQ(parsed.value().AsTime().value_or(-1), row.ns) << row.text;
    }
    EXPECT_FALSE(host.values().Parse("7").value().AsTime().has_value());
  });
}

TEST_F(TestingClusterTest, ReadsAndMatchesSelectors) {
  const auto test = [](const Host& host) {
    const Selectors selectors = host.selectors();
    const auto value = [&](const char* json) { return host.values().Parse(json); };
    const std::vector<berth_id_pair> pairs = {{host.Intern("app"), host.Intern("web")}};
    const Labels web(std::span<const berth_id_pair>{pairs});
    EXPECT_TRUE(selectors.FromText("app in (web,db)").Matches(web));
    EXPECT_FALSE(selectors.FromText("!app").Matches(web));
    EXPECT_TRUE(selectors.FromText("").Matches(web));
    EXPECT_TRUE(selectors.FromMap(value(R"({"app": "web"})").value()).Matches(web));
    EXPECT_FALSE(selectors.FromMap(value(R"({"app": "db"})").value()).Matches(web));
    EXPECT_TRUE(selectors
                    .FromValue(value(R"({"matchExpressions":
                        [{"key": "app", "operator": "NotIn", "values": ["db"]}]})")
                                   .value())
                    .Matches(web));
    const auto rejects = [](const auto& selector, const char* why) {
      EXPECT_FALSE(selector.ok());
      ASSERT_EQ(selector.status().reasons().size(), 1U);
      EXPECT_THAT(selector.status().reasons()[0], HasSubstr(why));
    };
    rejects(selectors.FromText("app=a b"), "expected ',' or the end of the text");
    rejects(selectors.FromText("-=a"), "is not a label key");
    rejects(selectors.FromMap(Value()), "expected a map of labels");
    rejects(selectors.FromMap(value(R"({"a": 1})").value()), "expected a string");
    rejects(selectors.FromValue(value("[]").value()), "expected an object");
    rejects(selectors.FromValue(
                value(R"({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]})")
                    .value()),
            "an operator that is not allowed here");
    rejects(selectors.FromNodeSelector(value("{}").value()), "nodeSelectorTerms");
    EXPECT_FALSE(selectors.FromText("=").Matches(web));
  };
  EXPECT_THAT(FindingsOf(test), IsEmpty());
}

TEST_F(TestingClusterTest, MatchesNodes) {
  const auto test = [](const Host& host) {
    const ParsedValue json = host.values().Parse(
        R"({"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["5"]}]},
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]})");
    const NodeSelector selector = host.selectors().FromNodeSelector(json.value());
    ASSERT_TRUE(selector.ok());
    const auto matches = [&](const NodeSpec& spec) {
      std::vector<berth_id_pair> labels;
      for (const auto& [key, text] : spec.labels)
        labels.push_back({host.Intern(key), host.Intern(text)});
      berth_meta meta = {};
      meta.labels = Labels(std::span<const berth_id_pair>{labels}).abi();
      berth_node node = {};
      node.meta = &meta;
      node.name = host.Intern(spec.name);
      return selector.Matches(node);
    };
    EXPECT_TRUE(matches(MakeNode("a").Label("size", "6")));
    EXPECT_FALSE(matches(MakeNode("a").Label("size", "5")));
    EXPECT_TRUE(matches(MakeNode("b")));
  };
  EXPECT_THAT(FindingsOf(test), IsEmpty());
}

TEST_F(TestingClusterTest, TheHostReleasesWhatIsLeft) {
  EXPECT_THAT(FindingsOf([](const Host& host) {
                const berth::internal::Services& services = host.services();
                const berth_selector* selector = nullptr;
                Services& kit = Services::Of(services.host);
                services.values->parse(services.host, Str(std::string_view("1")), nullptr);
                EXPECT_EQ(kit.holdings().values, 1U);
                EXPECT_EQ(kit.holdings().selectors, 0U);
                for (int i = 0; i < 2; ++i) {
                  services.selectors->from_text(services.host, Str(std::string_view("a")),
                                                &selector, nullptr);
                }
                EXPECT_EQ(kit.holdings().selectors, 2U);
                services.selectors->release(services.host, selector);
                EXPECT_EQ(kit.holdings().selectors, 1U);
              }),
              IsEmpty());
}

TEST_F(TestingClusterTest, ReportsAWrongRelease) {
  EXPECT_THAT(FindingsOf([](const Host& host) {
                const berth::internal::Services& services = host.services();
                const berth_value* value =
                    services.values->parse(services.host, Str(std::string_view("[1]")), nullptr);
                services.values->release(services.host, services.values->at(value, 0, nullptr));
                services.values->release(services.host, value);
                services.values->release(services.host, nullptr);
              }),
              ElementsAre(HasSubstr("releases a value that it did not parse")));
}

}  // namespace
}  // namespace berth::testing

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/fake_host.h>

namespace berth {
namespace {

enum class Strategy { kLeast, kMost };

struct Resource {
  std::string name;
  int64_t weight = 1;

  static constexpr auto kArgs =
      ArgRows<Resource>(Arg("name", &Resource::name, kRequired, "Its name."),
                        Arg("weight", &Resource::weight, Range{1, 100}, "Its weight."));
};

struct Scoring {
  Strategy type = Strategy::kLeast;
  std::vector<Resource> resources = {{"cpu", 1}, {"memory", 1}};

  static constexpr auto kArgs = ArgRows<Scoring>(
      Arg("type", &Scoring::type,
          Names{Name{"LeastAllocated", Strategy::kLeast}, Name{"MostAllocated", Strategy::kMost}},
          "What is preferred."),
      Arg("resources", &Scoring::resources, Items{1, 3}, "What counts."));
};

// A row may have several options. `Names` and `Range` are for the elements.
struct Combined {
  std::vector<int64_t> weights;
  std::vector<Strategy> strategies;
  int64_t port = 0;

  static constexpr auto kArgs = ArgRows<Combined>(
      Arg("weights", &Combined::weights, Range{1, 100}, Items{1, 3}, kRequired, "Of the zones."),
      Arg("strategies", &Combined::strategies, Items{.max = 2}, kRequired,
          Names{Name{"LeastAllocated", Strategy::kLeast}, Name{"MostAllocated", Strategy::kMost}},
          "In this order."),
      Arg("port", &Combined::port, kRequired, Range{1, 65535}, "Where to ask."));
};

struct AllArgs {
  bool on = true;
  int32_t small = -3;
  int64_t percent = 50;
  double ratio = 0.25;
  std::string zone = "a";
  std::vector<std::string> ignored;
  Scoring scoring;
  Value raw;
};

// The arguments of the last instance.
AllArgs g_given;
std::string g_raw;

class Configured : public Plugin {
 public:
  static constexpr std::string_view kName = "Configured";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Takes every kind of argument.";
  using Args = AllArgs;
  static constexpr auto kArgs = ArgRows<AllArgs>(
      Arg("on", &AllArgs::on, "A switch."), Arg("small", &AllArgs::small, "A small number."),
      Arg("percent", &AllArgs::percent, Range{0, 100}, "A \"part\"."),
      Arg("ratio", &AllArgs::ratio, Range{0.0, 1.0}, "A ratio."),
      Arg("zone", &AllArgs::zone, "A zone."), Arg("ignored", &AllArgs::ignored, "Not looked at."),
      Arg("scoring", &AllArgs::scoring, "How to score."),
      Arg("raw", &AllArgs::raw, "Anything at all."));

  explicit Configured(const Args& args) {
    g_given = args;
    g_raw = args.raw["key"].AsString();
  }
  static void Validate(const Args& args, ArgErrors& errors) {
    if (args.percent == 13) errors.Add("/percent", "is unlucky");
  }
  Verdict Filter(const Cycle& /*cycle*/, const NodeRow<Columns>& /*node*/) const { return kPass; }
};

testing::Answer Create(std::string_view json) {
  g_given = {};
  return testing::PluginUnderTest::Create(kEntryOf<Configured>, {.args = testing::Args(json)});
}

TEST(Args, KeepInitialValuesByDefault) {
  EXPECT_EQ(Create("{}"), testing::Success());
  EXPECT_TRUE(g_given.on);
  EXPECT_EQ(g_given.small, -3);
  EXPECT_EQ(g_given.scoring.resources.size(), 2U);
  EXPECT_TRUE(g_given.raw.absent());
  EXPECT_EQ(testing::PluginUnderTest::Create(kEntryOf<Configured>, {}), testing::Success());
  EXPECT_EQ(Create(R"({"percent": null, "scoring": null})"), testing::Success());
  EXPECT_EQ(g_given.percent, 50);
}

TEST(Args, TakeTheValuesOfTheProfile) {
  EXPECT_EQ(Create(R"({"on": false, "small": 7, "percent": 100, "ratio": 1, "zone": "",
                       "ignored": ["x", "y"], "raw": {"key": "z"},
                       "scoring": {"type": "MostAllocated",
                                   "resources": [{"name": "g", "weight": 5}, {"name": "cpu"}]}})"),
            testing::Success());
  EXPECT_FALSE(g_given.on);
  EXPECT_EQ(g_given.small, 7);
  EXPECT_EQ(g_given.percent, 100);
  EXPECT_EQ(g_given.ratio, 1.0);
  EXPECT_EQ(g_given.zone, "");
  EXPECT_EQ(g_given.ignored, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(g_given.scoring.type, Strategy::kMost);
  ASSERT_EQ(g_given.scoring.resources.size(), 2U);
  EXPECT_EQ(g_given.scoring.resources[0].weight, 5);
  EXPECT_EQ(g_given.scoring.resources[1].weight, 1);
  EXPECT_EQ(g_raw, "z");
}

TEST(Args, ErrorsNameExpectedAndFoundValues) {
  const struct {
    const char* json;
    const char* error;
  } cases[] = {
      {R"({"percent": 101})", "/percent: expected integer 0..100, found integer 101"},
      {R"({"percent": -1})", "/percent: expected integer 0..100, found integer -1"},
      {R"({"percent": "10%"})", "/percent: expected integer 0..100, found string \"10%\""},
      {R"({"percent": 1.5})", "/percent: expected integer 0..100, found number 1.5"},
      {R"({"percent": true})", "/percent: expected integer 0..100, found true"},
      {R"({"small": 2147483648})",
       "/small: expected integer -2147483648..2147483647, found integer 2147483648"},
      {R"({"on": 1})", "/on: expected true or false, found integer 1"},
      {R"({"ratio": 1.01})", "/ratio: expected number 0..1, found number 1.01"},
      {R"({"zone": 5})", "/zone: expected string, found integer 5"},
      {R"({"ignored": "x"})", "/ignored: expected array, found string \"x\""},
      {R"({"ignored": ["x", 1]})", "/ignored/1: expected string, found integer 1"},
      {R"({"scoring": []})", "/scoring: expected object, found an array"},
      {R"({"scoring": {"type": "LeastAlocated"}})",
       "/scoring/type: expected one of \"LeastAllocated\", \"MostAllocated\", found string "
       "\"LeastAlocated\", did you mean \"LeastAllocated\"?"},
      {R"({"scoring": {"type": 1}})",
       "/scoring/type: expected one of \"LeastAllocated\", \"MostAllocated\", found integer 1"},
      {R"({"scoring": {"resources": []}})",
       "/scoring/resources: expected array of 1..3, found one of 0"},
      {R"({"scoring": {"resources": [{"name": "a"}, {"weight": 2}]}})",
       "/scoring/resources/1/name: is required"},
      {R"({"scoring": {"resources": [{"name": "a", "weight": 0}]}})",
       "/scoring/resources/0/weight: expected integer 1..100, found integer 0"},
      {R"({"percnt": 1})", "/percnt: unknown key \"percnt\", did you mean \"percent\"?"},
      {R"({"PERCENT": 1})", "/PERCENT: unknown key \"PERCENT\", did you mean \"percent\"?"},
      {R"({"a/b~c": 1})", "/a~1b~0c: unknown key \"a/b~c\""},
      {R"({"scoring": {"typ": 1}})", "/scoring/typ: unknown key \"typ\", did you mean \"type\"?"},
      {R"({"percent": 13})", "/percent: is unlucky"},
      {R"([1])", ": expected object, found an array"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.json);
    EXPECT_EQ(Create(c.json), (testing::Answer{BERTH_BAD_ARGUMENT, {c.error}}));
  }
}

TEST(Args, ReportAllErrorsAtOnce) {
  const testing::Answer answer = Create(R"({"percent": 101, "oN": 1, "scoring": {"type": "x"}})");
  EXPECT_EQ(answer.code, BERTH_BAD_ARGUMENT);
  EXPECT_EQ(answer.reasons.size(), 3U);
}

class Plain : public Plugin {
 public:
  static constexpr std::string_view kName = "Plain";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Takes no arguments.";
  Verdict Filter(const Cycle& /*cycle*/, const NodeRow<Columns>& /*node*/) const { return kPass; }
};

TEST(Args, AreAllUnknownToAPluginWithoutRows) {
  EXPECT_EQ(testing::PluginUnderTest::Create(kEntryOf<Plain>, {.args = testing::Args("{}")}),
            testing::Success());
  EXPECT_EQ(
      testing::PluginUnderTest::Create(kEntryOf<Plain>, {.args = testing::Args(R"({"a": 1})")}),
      (testing::Answer{BERTH_BAD_ARGUMENT, {"/a: unknown key \"a\""}}));
  EXPECT_EQ(kEntryOf<Plain>.plugins[0]->args_schema, nullptr);
}

class Combining : public Plugin {
 public:
  static constexpr std::string_view kName = "Combining";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Combines the options of rows.";
  using Args = Combined;
  static constexpr auto kArgs = Combined::kArgs;

  explicit Combining(const Args& /*args*/) {}
  Verdict Filter(const Cycle& /*cycle*/, const NodeRow<Columns>& /*node*/) const { return kPass; }
};

TEST(Args, OptionsOfARowAreAllChecked) {
  const char* const kRest = R"("strategies": ["MostAllocated"], "port": 80)";
  const struct {
    std::string json;
    std::vector<std::string> errors;
  } cases[] = {
      {std::string(R"("weights": [1, 100], )") + kRest, {}},
      {std::string(R"("weights": [], )") + kRest,
       {"/weights: expected array of 1..3, found one of 0"}},
      {std::string(R"("weights": [1, 101], )") + kRest,
       {"/weights/1: expected integer 1..100, found integer 101"}},
      {kRest, {"/weights: is required"}},
      {R"("weights": [1], "strategies": ["Most"], "port": 0)",
       {"/port: expected integer 1..65535, found integer 0",
        "/strategies/0: expected one of \"LeastAllocated\", \"MostAllocated\", found string "
        "\"Most\""}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.json);
    const testing::Answer answer = testing::PluginUnderTest::Create(
        kEntryOf<Combining>, {.args = testing::Args("{" + c.json + "}")});
    EXPECT_EQ(answer.reasons, c.errors);
  }
  EXPECT_EQ(
      ArgsTable<Combining>(),
      "| Key | Expected | Default | Meaning |\n"
      "|---|---|---|---|\n"
      "| `weights` | array of 1..3 of integer 1..100 | required | Of the zones. |\n"
      "| `strategies` | array of 0..2 of one of \"LeastAllocated\", \"MostAllocated\" | required "
      "| In this order. |\n"
      "| `port` | integer 1..65535 | required | Where to ask. |\n");
  EXPECT_EQ(std::string(kEntryOf<Combining>.plugins[0]->args_schema),
            R"({"type":"object","additionalProperties":false,"properties":{)"
            R"("weights":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"integer",)"
            R"("minimum":1,"maximum":100},"description":"Of the zones."},)"
            R"("strategies":{"type":"array","maxItems":2,"items":{"enum":["LeastAllocated",)"
            R"("MostAllocated"]},"description":"In this order."},)"
            R"("port":{"type":"integer","minimum":1,"maximum":65535,)"
            R"("description":"Where to ask."}},"required":["weights","strategies","port"]})");
}

TEST(ArgsTable, HasOneLinePerKey) {
  EXPECT_EQ(ArgsTable<Plain>(), "");
  EXPECT_EQ(ArgsTable<Configured>(),
            "| Key | Expected | Default | Meaning |\n"
            "|---|---|---|---|\n"
            "| `on` | true or false | `true` | A switch. |\n"
            "| `small` | integer -2147483648..2147483647 | `-3` | A small number. |\n"
            "| `percent` | integer 0..100 | `50` | A \"part\". |\n"
            "| `ratio` | number 0..1 | `0.25` | A ratio. |\n"
            "| `zone` | string | `\"a\"` | A zone. |\n"
            "| `ignored` | array of string | `[]` | Not looked at. |\n"
            "| `scoring` | object | - | How to score. |\n"
            "| `scoring.type` | one of \"LeastAllocated\", \"MostAllocated\" | "
            "`\"LeastAllocated\"` | What is preferred. |\n"
            "| `scoring.resources` | array of 1..3 of object | "
            "`[{\"name\":\"cpu\",\"weight\":1},{\"name\":\"memory\",\"weight\":1}]` | "
            "What counts. |\n"
            "| `scoring.resources[].name` | string | required | Its name. |\n"
            "| `scoring.resources[].weight` | integer 1..100 | `1` | Its weight. |\n"
            "| `raw` | any | - | Anything at all. |\n");
}

// The schema has initial values only if the compiler can construct Args; the rest is always the
// same.
TEST(ArgsSchema, IsConstantAndComplete) {
  std::string schema = kEntryOf<Configured>.plugins[0]->args_schema;
  const std::string with_defaults = schema;
  for (std::size_t at = 0; (at = schema.find(",\"default\":")) != std::string::npos;) {
    schema.erase(at, schema.find(",\"description\"", at) - at);
  }
  EXPECT_EQ(
      schema,
      R"({"type":"object","additionalProperties":false,"properties":{)"
      R"("on":{"type":"boolean","description":"A switch."},)"
      R"("small":{"type":"integer","minimum":-2147483648,"maximum":2147483647,)"
      R"("description":"A small number."},)"
      R"("percent":{"type":"integer","minimum":0,"maximum":100,"description":"A \"part\"."},)"
      R"("ratio":{"type":"number","minimum":0,"maximum":1,"description":"A ratio."},)"
      R"("zone":{"type":"string","description":"A zone."},)"
      R"("ignored":{"type":"array","items":{"type":"string"},"description":"Not looked at."},)"
      R"("scoring":{"type":"object","additionalProperties":false,"properties":{)"
      R"("type":{"enum":["LeastAllocated","MostAllocated"],"description":"What is preferred."},)"
      R"("resources":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"object",)"
      R"("additionalProperties":false,"properties":{"name":{"type":"string",)"
      R"("description":"Its name."},"weight":{"type":"integer","minimum":1,"maximum":100,)"
      R"("description":"Its weight."}},"required":["name"]},"description":"What counts."}},)"
      R"("description":"How to score."},"raw":{"description":"Anything at all."}}})");
#if defined(__GNUC__) && !defined(__clang__)
  EXPECT_NE(
      with_defaults.find(R"("default":[{"name":"cpu","weight":1},{"name":"memory","weight":1}])"),
      std::string::npos);
#endif
}

TEST(JsonWriter, WritesNumbersAndStrings) {
  const auto text = [](auto write) {
    char buffer[64] = {};
    internal::JsonWriter out(buffer);
    write(out);
    return std::string(buffer, out.size());
  };
  const struct {
    double value;
    const char* text;
  } cases[] = {{0, "0"},          {1, "1"},         {-1.5, "-1.5"},         {0.25, "0.25"},
               {0.1, "0.1"},      {1e6, "1000000"}, {0.000001, "0.000001"}, {0.9999999, "1"},
               {99.999, "99.999"}};
  for (const auto& c : cases) {
    EXPECT_EQ(text([&](internal::JsonWriter& out) { out.Float(c.value); }), c.text);
  }
  EXPECT_EQ(text([](internal::JsonWriter& out) { out.Integer(INT64_MIN); }),
            "-9223372036854775808");
  EXPECT_EQ(text([](internal::JsonWriter& out) { out.String("a\"b\\c\n"); }), R"("a\"b\\c\u000a")");
}

}  // namespace
}  // namespace berth

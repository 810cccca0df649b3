// Which errors of arguments are reported together: those of rows and those of Validate.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/fake_host.h>

namespace berth {
namespace {

using Errors = std::vector<std::string>;

struct Endpoint {
  std::string url;
  int64_t port = 443;

  static constexpr auto kArgs =
      ArgRows<Endpoint>(Arg("url", &Endpoint::url, kRequired, "Where to ask."),
                        Arg("port", &Endpoint::port, Range{1, 65535}, "The port."));
};

struct HookArgs {
  Endpoint target;
  int64_t cache_seconds = 30;
  int64_t minimum = 1;
  int64_t maximum = 10;
  std::vector<int64_t> weights = {1, 2};
  // The initial values of these are outside of their rows.
  int64_t divisor = 0;
  std::vector<std::string> zones;
};

class Hook : public Plugin {
 public:
  static constexpr std::string_view kName = "Hook";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Checks what rows cannot express.";
  using Args = HookArgs;
  static constexpr auto kArgs = ArgRows<HookArgs>(
      Arg("target", &HookArgs::target, "Where to ask."),
      Arg("cacheSeconds", &HookArgs::cache_seconds, Range{0, 3600}, "How long to keep answers."),
      Arg("minimum", &HookArgs::minimum, "The lowest."),
      Arg("maximum", &HookArgs::maximum, "The highest."),
      Arg("weights", &HookArgs::weights, Range{1, 100}, "The weights."),
      Arg("divisor", &HookArgs::divisor, Range{1, 9}, "Divides the weights."),
      Arg("zones", &HookArgs::zones, Items{1, 3}, "The first one is preferred."));

  explicit Hook(const Args& /*args*/) {}
  static void Validate(const Args& args, ArgErrors& errors) {
    if (!args.target.url.starts_with("http://")) errors.Add("/target/url", "must be http");
    if (args.minimum > args.maximum) errors.Add("", "minimum is above maximum");
    if (args.weights.front() % args.divisor == 3) errors.Add("/weights/0", "has the remainder 3");
    if (args.zones.front().empty()) errors.Add("/zones/0", "is empty");
  }
  Verdict Filter(const Cycle& /*cycle*/, const NodeRow<Columns>& /*node*/) const { return kPass; }
};

// Returns the errors, sorted, of a plugin whose arguments are valid except for `json`.
Errors ErrorsOf(std::string json) {
  const std::string missing[] = {R"("divisor": 4)", R"("zones": ["a"])",
                                 R"("target": {"url": "http://a"})"};
  for (const std::string& member : missing) {
    if (json.find(member.substr(0, member.find(':'))) != std::string::npos) continue;
    json += (json.empty() ? "" : ", ") + member;
  }
  testing::Answer answer =
      testing::PluginUnderTest::Create(kEntryOf<Hook>, {.args = testing::Args("{" + json + "}")});
  EXPECT_EQ(answer.code, answer.reasons.empty() ? BERTH_SUCCESS : BERTH_BAD_ARGUMENT);
  std::ranges::sort(answer.reasons);
  return answer.reasons;
}

TEST(ArgsErrors, ValidateAddsToErrorsOfRows) {
  const std::string kNotHttp = "/target/url: must be http";
  const struct {
    const char* json;
    Errors want;
  } cases[] = {
      {"", {}},
      {R"("target": {"url": "https://x"})", {kNotHttp}},
      {R"("target": {"url": "https://x"}, "cacheSeconds": -1)",
       {"/cacheSeconds: expected integer 0..3600, found integer -1", kNotHttp}},
      {R"("target": {"url": "https://x", "port": "a"})",
       {"/target/port: expected integer 1..65535, found string \"a\"", kNotHttp}},
      {R"("target": {"url": "https://x"}, "minimun": 2)",
       {kNotHttp, "/minimun: unknown key \"minimun\", did you mean \"minimum\"?"}},
      // An error about several arguments is not hidden by that of another one.
      {R"("minimum": 11, "cacheSeconds": 1.5)",
       {"/cacheSeconds: expected integer 0..3600, found number 1.5", ": minimum is above maximum"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.json);
    Errors want = c.want;
    std::ranges::sort(want);
    EXPECT_EQ(ErrorsOf(c.json), want);
  }
}

TEST(ArgsErrors, ValidateSeesInitialValuesOfWrongArguments) {
  const struct {
    const char* name;
    const char* json;
    Errors want;
  } cases[] = {
      {"the error of a missing argument is not reported twice",
       R"("target": {})",
       {"/target/url: is required"}},
      {"nor is that of a part of a wrong argument",
       R"("target": 1)",
       {"/target: expected object, found integer 1"}},
      {"an array with a wrong element keeps its initial elements",
       R"("weights": [7, 0])",
       {"/weights/1: expected integer 1..100, found integer 0"}},
      {"the initial maximum is not below the minimum",
       R"("minimum": 10, "maximum": "1")",
       {"/maximum: expected integer, found string \"1\""}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ErrorsOf(c.json), c.want);
  }
}

TEST(ArgsErrors, ValidateNeedsValuesThatRowsPermit) {
  const char* const kWrongUrl = R"("target": {"url": "https://x"}, )";
  EXPECT_EQ(ErrorsOf(std::string(kWrongUrl) + R"("divisor": 10)"),
            Errors{"/divisor: expected integer 1..9, found integer 10"});
  EXPECT_EQ(ErrorsOf(std::string(kWrongUrl) + R"("zones": [])"),
            Errors{"/zones: expected array of 1..3, found one of 0"});
}

}  // namespace
}  // namespace berth

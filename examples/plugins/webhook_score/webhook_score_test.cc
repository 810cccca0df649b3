// These tests need no cluster, no host and no web service. PluginUnderTest::Score() also checks the
// contract of the plugin.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kUrl = "http://scores.example/rate";
constexpr const char* kWaits = "waiting for scores of the web service";
constexpr int64_t kSecond = 1'000'000'000;

Scenario Nodes(bool is_ignorable = true) {
  return {.nodes = {MakeNode("a"), MakeNode("b")},
          .args = {{"url", kUrl}, {"maxAgeSeconds", 60}, {"ignorable", is_ignorable}}};
}

TEST(WebhookScore, ParksThePodUntilTheAnswer) {
  PluginUnderTest plugin(Nodes());
  plugin.http().Reply(kUrl, {.body = R"({"scores":{"a":80,"b":-1,"gone":7}})"});
  EXPECT_EQ(plugin.Score(MakePod("p").Label("app", "web")).pre_score, Pending(kWaits));
  ASSERT_EQ(plugin.http().calls().size(), 1U);
  EXPECT_EQ(plugin.http().calls()[0].method, "POST");
  EXPECT_EQ(plugin.http().calls()[0].body,
            R"({"pod":{"namespace":"default","name":"p","labels":{"app":"web"}},)"
            R"("nodes":["a","b"]})");
  EXPECT_EQ(plugin.Score(MakePod("p").Label("app", "web")).pre_score, Pending(kWaits));
  EXPECT_EQ(plugin.http().calls().size(), 1U) << "asks once";

  plugin.Advance(0);
  EXPECT_EQ(plugin.scheduling().activated(), (std::vector<std::string>{"uid-p"}));
  const ScoreResult scores = plugin.Score(MakePod("p").Label("app", "web"));
  EXPECT_EQ(scores.raw.at("a"), 80);
  EXPECT_EQ(scores.raw.at("b"), 0);
}

TEST(WebhookScore, SchedulesWithoutAnAnswer) {
  const struct {
    const char* name;
    HttpReply reply;
    const char* error;
  } cases[] = {
      {"late", {.end = BERTH_HTTP_TIMEOUT}, "no complete answer within the timeout"},
      {"an error of the service", {.http_status = 503}, "HTTP status 503"},
      {"no JSON", {.body = "busy"}, "expected an object \"scores\" in the answer"},
      {"no scores", {.body = "{}"}, "expected an object \"scores\" in the answer"},
      {"a list", {.body = R"({"scores":[]})"}, "expected an object \"scores\" in the answer"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    PluginUnderTest ignoring(Nodes());
    ignoring.http().Reply(kUrl, c.reply);
    EXPECT_EQ(ignoring.Score(MakePod("p")).pre_score, Pending(kWaits));
    ignoring.Advance(0);
    EXPECT_EQ(ignoring.scheduling().activated().size(), 1U);
    EXPECT_EQ(ignoring.Score(MakePod("p")).raw,
              (std::map<std::string, int64_t>{{"a", 0}, {"b", 0}}));
    EXPECT_EQ(ignoring.log().back().pairs.at("error"), c.error);

    PluginUnderTest failing(Nodes(false));
    failing.http().Reply(kUrl, c.reply);
    EXPECT_EQ(failing.Score(MakePod("p")).pre_score, Pending(kWaits));
    failing.Advance(0);
    EXPECT_EQ(failing.Score(MakePod("p")).pre_score,
              Error(std::string("no scores of the web service: ") + c.error));
    failing.Advance(kSecond);
    EXPECT_EQ(failing.Score(MakePod("p")).pre_score, Pending(kWaits)) << "asks again";
  }
}

TEST(WebhookScore, AsksAgainForAnotherVersionOfThePod) {
  PluginUnderTest plugin(Nodes());
  plugin.http().Reply(kUrl, {.body = R"({"scores":{"a":1}})"});
  plugin.http().Reply(kUrl, {.body = R"({"scores":{"a":2}})"});
  EXPECT_EQ(plugin.Score(MakePod("p")).pre_score, Pending(kWaits));
  EXPECT_EQ(plugin.Score(MakePod("p").Label("x", "y")).pre_score, Pending(kWaits));
  plugin.Advance(0);
  EXPECT_EQ(plugin.Score(MakePod("p").Label("x", "y")).raw.at("a"), 2);
  EXPECT_EQ(plugin.http().calls().size(), 2U);
}

TEST(WebhookScore, UsesAnswersUntilTheirMaximumAge) {
  PluginUnderTest plugin(Nodes());
  plugin.http().Reply(kUrl, {.body = R"({"scores":{"a":1}})"});
  EXPECT_EQ(plugin.Score(MakePod("p")).pre_score, Pending(kWaits));
  plugin.Advance(0);
  plugin.Advance(60 * kSecond - 1);
  EXPECT_EQ(plugin.Score(MakePod("p")).raw.at("a"), 1);
  plugin.Advance(1);
  EXPECT_EQ(plugin.Score(MakePod("p")).pre_score, Pending(kWaits));
}

TEST(WebhookScore, ForgetsTheAnswerOfAPlacedPod) {
  PluginUnderTest plugin(Nodes());
  plugin.http().Reply(kUrl, {.body = R"({"scores":{"a":1}})"});
  plugin.AddPendingPod(MakePod("p"));
  EXPECT_EQ(plugin.Score(MakePod("p")).pre_score, Pending(kWaits));
  plugin.Advance(0);
  plugin.AssumePod("p", "a");
  EXPECT_EQ(plugin.Score(MakePod("p")).pre_score, Pending(kWaits));
}

TEST(WebhookScore, ARequestThatIsRefusedIsAFailure) {
  PluginUnderTest plugin({.nodes = {MakeNode("a"), MakeNode("b")}, .args = {{"url", "no URL"}}});
  EXPECT_EQ(plugin.Score(MakePod("p")).raw.at("a"), 0);
}

TEST(WebhookScore, TheEndOfTheInstanceEndsItsRequests) {
  PluginUnderTest plugin(Nodes());
  plugin.http().Reply(kUrl, {});
  EXPECT_EQ(plugin.Score(MakePod("p")).pre_score, Pending(kWaits));
  plugin.End();
  EXPECT_EQ(plugin.http().calls().size(), 1U);
}

}  // namespace
}  // namespace berth::testing

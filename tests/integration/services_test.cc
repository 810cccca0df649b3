// All services in a plugin written in C, and the quarantine.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/metrics.h"
#include "host/base/time_units.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class GuestTest : public ::testing::Test {
 protected:
  GuestTest() {
    harness_.AddNodes({"n1"});
    harness_.AddObject(R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"red"}})");
    Start(R"({"requests":[["GET","/api/v1/namespaces/red",""]]})");
  }
  void Start(const char* args) {
    harness_.lines().clear();
    PlanSpec spec = TestProfile().Use("test.Guest", {Point::kPermit}, args).Spec();
    spec.plugins[0].where = "a.toml:7";
    const Status status = harness_.Start(spec);
    EXPECT_TRUE(status.ok()) << status.ToString();  // It requires every service.
    // The plugin defines one metric twice.
    std::erase_if(harness_.lines(), [](const std::string& line) {
      return line.find("guest_allowed_seconds") != std::string::npos;
    });
  }

  Harness harness_;
};

TEST_F(GuestTest, ItsWatchesBeginBeforeItsFirstCycle) {
  harness_.Settle();
  EXPECT_THAT(harness_.lines(), ElementsAre("test.Guest: namespace added=red"));
  const std::string version(
      Base(*harness_.cluster().Find("v1/Namespace", "", "red")).resource_version());
  harness_.lines().clear();
  harness_.AddObject(R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"blue"}})");
  EXPECT_TRUE(harness_.cluster().Delete("v1/Namespace", "", "red").ok());
  harness_.Settle();
  EXPECT_THAT(harness_.lines(),
              ElementsAre("test.Guest: namespace added=blue", "test.Guest: namespace removed=red",
                          // The retained version, although it is deleted in the cluster.
                          "test.Guest: kept name=red", "test.Guest: kept version=" + version));
}

TEST_F(GuestTest, ATimerAllowsTheWaitingPod) {
  EXPECT_EQ(Harness::Outcome(harness_.Schedule({.name = "p"})), "Wait");
  harness_.Advance(kSecond - 1);
  EXPECT_EQ(harness_.cluster().FindPod("default", "p")->node_name(), "");
  harness_.Advance(1);
  EXPECT_EQ(harness_.cluster().FindPod("default", "p")->node_name(), "n1");
  EXPECT_THAT(harness_.lines(), Contains("test.Guest: allowed pod=p"));
  EXPECT_THAT(ToText(harness_.loop().metrics().Read()),
              HasSubstr("guest_allowed_total{plugin=\"test.Guest\",profile=\"default-scheduler\","
                        "pod=\"p\"} 1\n"));
  const std::string labels = "{plugin=\"test.Guest\",profile=\"default-scheduler\"";
  EXPECT_THAT(ToText(harness_.loop().metrics().Read()),
              AllOf(HasSubstr("guest_allowed_seconds" + labels + "} "),
                    HasSubstr("guest_name_bytes_bucket" + labels + ",le=\"1\"} 1\n"),
                    HasSubstr("guest_name_bytes_sum" + labels + "} 1\n"),
                    HasSubstr("guest_name_bytes_count" + labels + "} 1\n")));
  EXPECT_THAT(harness_.cluster().events(),
              Contains(AllOf(::testing::Field(&Event::reason, "Allowed"),
                             ::testing::Field(&Event::note, "come in"))));
}

TEST_F(GuestTest, AMetricCannotBeDefinedTwice) {
  Harness harness;
  EXPECT_TRUE(harness.Start(TestProfile().Use("test.Guest", {Point::kPermit})).ok());
  EXPECT_THAT(harness.lines(),
              ElementsAre("test.Guest: metric guest_allowed_seconds is defined twice",
                          "test.Guest: taken conflict=guest_allowed_seconds"));
}

TEST_F(GuestTest, ArgumentsKeepTheirTypes) {
  Start(R"({"values":{"null":null,"yes":true,"int":-3,"float":2.5,"text":"1500m","word":"x",
            "list":[1,2],"object":{"a":1,"b":2,"c":3}}})");
  // Kinds: 1 bool, 2 int, 3 float, 4 string, 5 array, 6 object. A null is absent.
  std::vector<std::string> values;
  constexpr std::string_view kValue = "test.Guest: value is=";
  for (const std::string& line : harness_.lines()) {
    if (line.starts_with(kValue)) values.push_back(line.substr(kValue.size()));
  }
  EXPECT_THAT(
      values,
      UnorderedElementsAre(
          "yes kind=1 size=0 int=1 float=0 string= quantity=bad_argument/-1/-1 where=a.toml:7",
          "int kind=2 size=0 int=-3 float=-3 string= quantity=success/-3/-3000 where=a.toml:7",
          "float kind=3 size=0 int=0 float=2.5 string= quantity=success/3/2500 where=a.toml:7",
          "text kind=4 size=0 int=0 float=0 string=1500m quantity=success/2/1500 where=a.toml:7",
          "word kind=4 size=0 int=0 float=0 string=x quantity=bad_argument/-1/-1 where=a.toml:7",
          "list kind=5 size=2 int=0 float=0 string= quantity=bad_argument/-1/-1 where=a.toml:7",
          "object kind=6 size=3 int=0 float=0 string= quantity=bad_argument/-1/-1 where=a.toml:7"));
}

// ---- The API server -----------------------------------------------------------------------------

class GuestApiTest : public GuestTest {
 protected:
  // Returns the answers to requests in Permit: "success {...}", "not_found 404 NotFound: why".
  std::vector<std::string> Answers(const nlohmann::json& args) {
    Start(args.dump().c_str());
    harness_.Schedule({.name = "p"});
    harness_.Settle();
    constexpr std::string_view kAnswer = "test.Guest: answer ";
    std::vector<std::string> answers;
    for (const std::string& line : harness_.lines()) {
      if (!line.starts_with(kAnswer)) continue;
      const size_t end = line.find('=');
      const std::string code = line.substr(kAnswer.size(), end - kAnswer.size());
      answers.push_back(code + " " + Short(line.substr(end + 1)));
    }
    return answers;
  }
  std::string Answer(const char* verb, const std::string& path, const std::string& body = "") {
    const auto answers = Answers({{"requests", {{verb, path, body}}}});
    EXPECT_EQ(answers.size(), 1U) << verb << " " << path;
    EXPECT_TRUE(harness_.cluster().Remove(kPodKind, "default", "p").ok());
    return answers.empty() ? "" : answers[0];
  }
  // Shortens a Status object to "404 NotFound: why".
  static std::string Short(const std::string& body) {
    const auto json = nlohmann::json::parse(body, nullptr, false);
    if (!json.is_object()) return "no JSON object: " + body;
    if (json.value("kind", "") != "Status") return body;
    return std::to_string(json.value("code", 0)) + " " + json.value("reason", "") + ": " +
           json.value("message", "");
  }
  static std::string Namespace(const std::string& name) {
    return R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":")" + name + R"("}})";
  }
};

TEST_F(GuestApiTest, ARequestIsAnsweredOnceWithTheObject) {
  const AnyObject red = *harness_.cluster().Find("v1/Namespace", "", "red");
  EXPECT_THAT(Answers({{"requests", {{"GET", "/api/v1/namespaces/red", ""}}}}),
              ElementsAre(AllOf(StartsWith(R"(success {"kind":"Namespace","apiVersion":"v1",)"
                                           R"("metadata":{"name":"red")"),
                                HasSubstr("\"uid\":\"" + std::string(Base(red).uid()) + '"'))));
}

TEST_F(GuestApiTest, ObjectsOfOtherKindsAreWrittenAndRead) {
  const std::string path = "/api/v1/namespaces/blue";
  EXPECT_THAT(Answer("POST", "/api/v1/namespaces", Namespace("blue")),
              StartsWith(R"(success {"kind":"Namespace")"));
  EXPECT_TRUE(harness_.cluster().Find("v1/Namespace", "", "blue").has_value());
  EXPECT_THAT(Answer("PATCH", path, R"({"metadata":{"labels":{"a":"b"}}})"),
              AllOf(StartsWith("success {"), HasSubstr(R"("labels":{"a":"b"})")));
  EXPECT_THAT(Answer("GET", "/api/v1/namespaces"),
              AllOf(StartsWith(R"(success {"kind":"NamespaceList")"), HasSubstr("blue"),
                    HasSubstr("red"), HasSubstr(R"("labels":{"a":"b"})")));
  EXPECT_THAT(Answer("PUT", path, Namespace("blue")),
              AllOf(StartsWith("success {"), Not(HasSubstr("labels"))));
  EXPECT_THAT(Answer("DELETE", path), StartsWith("success {"));
  EXPECT_FALSE(harness_.cluster().Find("v1/Namespace", "", "blue").has_value());
}

TEST_F(GuestApiTest, PodsAndNodesAreWritten) {
  const std::string pods = "/api/v1/namespaces/other/pods";
  const auto pod = [](const std::string& meta) {
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"q")" + meta +
           R"(},"spec":{"schedulerName":"nobody"}})";
  };
  EXPECT_THAT(Answer("POST", pods, pod("")), StartsWith(R"(success {"kind":"Pod")"));
  ASSERT_NE(harness_.cluster().FindPod("other", "q"), nullptr);
  EXPECT_THAT(Answer("PUT", pods + "/q", pod(R"(,"labels":{"a":"b"})")), StartsWith("success {"));
  EXPECT_EQ(harness_.cluster().FindPod("other", "q")->meta().labels.count, 1U);
  EXPECT_THAT(Answer("DELETE", pods + "/q"), StartsWith("success {"));
  EXPECT_EQ(harness_.cluster().FindPod("other", "q"), nullptr);

  EXPECT_THAT(Answer("POST", "/api/v1/nodes",
                     R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n2"}})"),
              StartsWith(R"(success {"kind":"Node")"));
  EXPECT_NE(harness_.cluster().FindNode("n2"), nullptr);
  EXPECT_THAT(Answer("DELETE", "/api/v1/nodes/n2"), StartsWith("success {"));
  EXPECT_EQ(harness_.cluster().FindNode("n2"), nullptr);
}

TEST_F(GuestApiTest, ErrorHasItsCodeAndItsStatusObject) {
  const std::pair<std::vector<std::string>, std::string> kTable[] = {
      {{"GET", "/version", ""},
       "not_found 404 NotFound: the server could not find the requested resource"},
      {{"GET", "/api/v1/namespaces/blue", ""},
       R"(not_found 404 NotFound: namespaces "blue" not found)"},
      {{"POST", "/api/v1/namespaces", Namespace("red")},
       R"(conflict 409 AlreadyExists: namespaces "red" already exists)"},
      {{"DELETE", "/api/v1/namespaces/red", R"({"preconditions":{"uid":"u"}})"},
       "conflict 409 Conflict: Operation cannot be fulfilled on namespaces \"red\": Precondition "
       "failed: UID in precondition: u, UID in object meta: " +
           std::string(Base(*harness_.cluster().Find("v1/Namespace", "", "red")).uid())},
      {{"POST", "/api/v1/namespaces/a/pods", R"({"kind":"Pod","apiVersion":"v1","metadata":"x"})"},
       R"(bad_argument 400 BadRequest: /metadata: expected an object, found "x")"},
      {{"POST", "/api/v1/namespaces", "{"},
       "bad_argument 400 BadRequest: the body is not a JSON object"},
      {{"GET", "/api/v1/nodes/n1", ""},
       "bad_argument 405 MethodNotAllowed: the embedded cluster does not serve GET "
       "/api/v1/nodes/n1: the cluster keeps the text of a node only if a plugin lists \"Node:\" in "
       "its fields"},
      {{"POST", "/api/v1/namespaces/default/pods/p/binding", "{}"},
       "not_found 404 NotFound: the embedded cluster does not serve POST "
       "/api/v1/namespaces/default/pods/p/binding: the subresource binding is not supported"},
  };
  for (const auto& [request, answer] : kTable) {
    EXPECT_EQ(Answer(request[0].c_str(), request[1], request[2]), answer);
  }
}

TEST_F(GuestApiTest, AnswerHasItsHttpStatusAndDecodedBody) {
  const nlohmann::json requests = {
      {"POST", "/api/v1/namespaces", Namespace("blue"), ""},
      {"GET", "/api/v1/namespaces/blue", "", ""},
      {"PATCH", "/api/v1/namespaces/blue", "{}", "application/merge-patch+json"},
      {"PATCH", "/api/v1/namespaces/blue", "{}", "application/apply-patch+yaml"},
      {"GET", "/api/v1/namespaces/green", "", ""},
      {"POST", "/api/v1/namespaces", Namespace("blue"), "application/json; charset=utf-8"},
  };
  Answers({{"http", true}, {"requests", requests}});
  std::vector<std::string> lines;
  for (const std::string& line : harness_.lines()) {
    if (line.starts_with("test.Guest: http ")) lines.push_back(line.substr(17));
  }
  EXPECT_THAT(lines, ElementsAre("201=Namespace", "200=Namespace", "200=Namespace", "415=Status",
                                 "404=Status", "409=Status"));
}

TEST_F(GuestApiTest, AStatusPatchChangesThePod) {
  EXPECT_THAT(Answers({{"patch", R"({"status":{"conditions":[{"type":"DisruptionTarget",
                                    "status":"True","reason":"Acme"}]}})"}}),
              ElementsAre(StartsWith(R"(success {"kind":"PartialObjectMetadata")")));
  const PodRef pod = harness_.cluster().FindPod("default", "p");
  std::vector<std::string> conditions;
  for (const auto& condition : Elements<berth_condition>(pod->view().conditions)) {
    conditions.push_back(std::string(pod->Name(condition.type)) + " " +
                         std::string(pod->Name(condition.reason)));
  }
  EXPECT_THAT(conditions, ElementsAre("DisruptionTarget Acme"));
}

TEST_F(GuestApiTest, AnUnsupportedStatusPatchIsRejected) {
  EXPECT_THAT(Answers({{"patch", R"({"status":{"phase":"Failed"}})"}}),
              ElementsAre(StartsWith("bad_argument 405 MethodNotAllowed: the embedded cluster does "
                                     "not patch /status/phase: ")));
  EXPECT_EQ(harness_.cluster().FindPod("default", "p")->view().phase, 0U);
}

TEST_F(GuestApiTest, AnInvalidPatchIsNotSent) {
  EXPECT_THAT(Answers({{"patch", R"({"metadata":"x"})"}}), IsEmpty());
  EXPECT_THAT(harness_.lines(), Contains(R"(test.Guest: patch bad_argument={"metadata":"x"})"));
}

TEST_F(GuestApiTest, PatchWithAnUnknownFlagIsNotSent) {
  EXPECT_THAT(Answers({{"patch", "{}"}, {"patchFlags", 1}}), IsEmpty());
  EXPECT_THAT(harness_.lines(), Contains("test.Guest: patch bad_argument={}"));
}

TEST_F(GuestTest, OpenRequestsAreCancelledWhenLoopIsDestroyed) {
  harness_.AddPod({.name = "p"});
  harness_.cluster().Deliver();
  while (harness_.loop().bindings().empty()) harness_.loop().Step();
  harness_.lines().clear();
  harness_.Stop();
  EXPECT_THAT(harness_.lines(), ElementsAre(HasSubstr("answer cancelled=")));
  harness_.cluster().Deliver();
  EXPECT_EQ(harness_.lines().size(), 1U);
}

// ---- Calls --------------------------------------------------------------------------------------

class GuestCallsTest : public GuestTest {
 protected:
  // Schedules a pod whose Permit makes these calls. Returns the lines that the calls log.
  std::vector<std::string> LinesOf(const std::string& calls, uint64_t seed = 1) {
    const std::string args = "{\"calls\":[" + calls + "]}";
    const Status status =
        harness_.Start(TestProfile().Use("test.Guest", {Point::kPermit}, args.c_str()), seed);
    EXPECT_TRUE(status.ok()) << status.ToString();
    harness_.lines().clear();
    harness_.AddPod({.name = "p" + std::to_string(pods_++)});
    harness_.Next();
    harness_.Settle();
    return Lines();
  }
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (const std::string& line : harness_.lines()) {
      if (!line.starts_with("test.Guest: namespace")) lines.push_back(WithoutFaultFields(line));
    }
    return lines;
  }
  uint64_t Faults() {
    uint64_t count = 0;
    for (const PluginFaults::Count& fault : harness_.loop().faults().Counts()) {
      count += fault.count;
    }
    return count;
  }

 private:
  int pods_ = 0;
};

TEST_F(GuestCallsTest, RandomNumbersDependOnTheSeed) {
  const std::string calls = R"("random","random")";
  const std::vector<std::string> first = LinesOf(calls);
  ASSERT_EQ(first.size(), 4U);
  EXPECT_THAT(first[0], StartsWith("test.Guest: random number="));
  EXPECT_NE(first[0], first[2]) << "two numbers of one attempt";
  EXPECT_EQ(first[3], "test.Guest: call random=success");
  EXPECT_EQ(LinesOf(calls), first);
  EXPECT_NE(LinesOf(calls, 2), first);
  EXPECT_EQ(Faults(), 0U);
}

TEST_F(GuestCallsTest, InvalidCalls) {
  const std::string kNotInACycle =
      ": exception: asked for a random number outside [cycle], or for another cycle than that of "
      "the call";
  const struct {
    const char* calls;
    std::vector<std::string> lines;
    uint64_t faults;
  } kTable[] = {
      {R"("random of a copy")",
       {"Permit" + kNotInACycle, "random of a copy number=0", "call random of a copy=success"},
       1},
      {R"("random later")",
       {"call random later=success", "callback" + kNotInACycle, "random later number=0"},
       1},
      {R"("post","post nothing")",
       {"call post=success", "call post nothing=bad_argument", "posted code=success"},
       0},
      {R"("place in other nodes")", {"call place in other nodes=bad_argument"}, 0},
      {R"("series of no metric")", {"call series of no metric=bad_argument"}, 0},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.calls);
    std::vector<std::string> expected;
    for (const std::string& line : row.lines) expected.push_back("test.Guest: " + line);
    EXPECT_EQ(LinesOf(row.calls), expected);
    EXPECT_EQ(Faults(), row.faults);
  }
}

TEST_F(GuestCallsTest, WhatIsPostedLastIsCancelledAtEnd) {
  const Status status = harness_.Start(
      TestProfile().Use("test.Guest", {Point::kPermit}, R"({"calls":["post","post"]})"));
  ASSERT_TRUE(status.ok()) << status.ToString();
  harness_.AddPod({.name = "p"});
  harness_.cluster().Deliver();
  while (harness_.loop().bindings().empty()) harness_.loop().Step();
  harness_.lines().clear();
  harness_.Stop();
  EXPECT_THAT(Lines(), ElementsAre("test.Guest: posted code=cancelled",
                                   "test.Guest: posted code=cancelled"));
}

// ---- Quarantine ---------------------------------------------------------------------------------

class QuarantineTest : public ::testing::Test {
 protected:
  // Schedules this many pods, one after the other. Returns their outcomes.
  std::vector<std::string> Schedule(int pods) {
    std::vector<std::string> outcomes;
    for (int i = 0; i < pods; ++i) {
      outcomes.push_back(
          Harness::Outcome(harness_.Schedule({.name = "p" + std::to_string(next_++)})));
    }
    return outcomes;
  }

  Harness harness_;
  int next_ = 0;
};

TEST_F(QuarantineTest, ScoreIsSkippedAfterTheTenthBadScore) {
  harness_.AddNode({.name = "n1", .allocatable = "\"pods\":\"110\",\"example.com/score\":\"101\""});
  harness_.AddNode({.name = "n2", .allocatable = "\"pods\":\"110\",\"example.com/score\":\"0\""});
  ASSERT_TRUE(harness_.Start(TestProfile().Use("test.A", {Point::kScore})).ok());
  for (const std::string& outcome : Schedule(10)) {
    EXPECT_THAT(outcome, HasSubstr("invalid score 101"));
  }
  const auto found = harness_.loop().faults().InQuarantine();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].plugin, "test.A");
  EXPECT_EQ(found[0].profile, "default-scheduler");
  EXPECT_THAT(Schedule(1), ElementsAre("Success"));
}

TEST_F(QuarantineTest, FilterFailsWithTheReasonOfTheQuarantine) {
  harness_.AddNodes({"n1"});
  ASSERT_TRUE(
      harness_.Start(TestProfile().Use("test.A", {Point::kFilter}, R"({"filter":{"verdict":9}})"))
          .ok());
  for (const std::string& outcome : Schedule(10)) EXPECT_THAT(outcome, HasSubstr("verdict 9"));
  EXPECT_THAT(
      Schedule(1),
      ElementsAre("Error: running \"test.A\" filter plugin: in quarantine: 10 faults within "
                  "1m0s, the last at Filter: bad verdict: verdict 9 for node n1 is not a "
                  "valid verdict of Filter"));
  EXPECT_THAT(harness_.lines(), Contains(HasSubstr("count=8")));
}

TEST_F(QuarantineTest, AnErrorIsNotAFault) {
  harness_.AddNodes({"n1"});
  ASSERT_TRUE(harness_
                  .Start(TestProfile().Use("test.A", {Point::kFilter},
                                           R"({"filter":{"code":1,"reasons":["no"]}})"))
                  .ok());
  Schedule(20);
  EXPECT_THAT(harness_.loop().faults().Counts(), IsEmpty());
  EXPECT_THAT(harness_.loop().faults().InQuarantine(), IsEmpty());
}

}  // namespace
}  // namespace berth::host

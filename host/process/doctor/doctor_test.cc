#include "host/process/doctor/doctor.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/process/assemble/profile_set.h"
#include "tests/harness/paths.h"

namespace berth::host {
namespace {

using Json = nlohmann::json;
using Level = DoctorFinding::Level;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kReview = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
constexpr const char* kWhoAmI = "POST /apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr const char* kTheirs =
    "GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";

// An API server of a few answers. It allows everything but `denied`.
class ClusterExamTest : public ::testing::Test {
 protected:
  ClusterExamTest() {
    exam_.server = "https://10.0.0.1:6443";
    exam_.source = "context e2e of F";
    exam_.expiry = [] { return CredentialExpiry{.has_credentials = true}; };
    exam_.profiles = {"acme"};
    exam_.steady_ns = [this] { return now_ns_; };
    exam_.wall_ns = [this] { return now_ns_; };
    Set("GET /version", 200, R"({"major":"1","minor":"37","gitVersion":"v1.37.2"})");
    Set(kWhoAmI, 201, R"({"status":{"userInfo":{"username":"berth"}}})");
    Set("GET /api/v1", 200,
        R"({"kind":"APIResourceList","groupVersion":"v1","resources":[
            {"name":"pods","namespaced":true,"kind":"Pod","verbs":["get","list","watch"]},
            {"name":"nodes","namespaced":false,"kind":"Node","verbs":["get","list","watch"]}]})");
    Set(kTheirs, 404, "{}");
    Set("GET /api/v1/pods", 200,
        R"({"metadata":{},"items":[{"metadata":{"namespace":"default","name":"p"},
            "spec":{"schedulerName":"acme"}}]})");
  }

  void Set(const std::string& request, uint32_t http_status, std::string body) {
    answers_[request] = {http_status, std::move(body)};
  }

  HttpResponse Serve(const HttpRequest& request) {
    const std::string full = request.verb + " " + request.target;
    sent_.push_back(full);
    HttpResponse response;
    response.delivery = Delivery::kAnswered;
    response.head.date_ns = date_ns_;
    now_ns_ += kMillisecond;
    if (!too_large_.empty() && full.find(too_large_) != std::string::npos) {
      response.status = Status::OutOfRange("the answer is too large");
      return response;
    }
    const std::string key = full.substr(0, full.find('?'));
    if (key == kReview && !answers_.contains(kReview)) {
      response.head.http_status = 201;
      response.body = Review(request.body);
      return response;
    }
    const auto found = answers_.find(key);
    if (found == answers_.end()) {
      response.head.http_status = 404;
      return response;
    }
    if (found->second.first == 0) {
      response.status = Status::Unavailable(found->second.second);
      return response;
    }
    response.head.http_status = found->second.first;
    response.body = found->second.second;
    return response;
  }

  std::string Review(const std::string& body) {
    const Json attributes = Json::parse(body)["spec"]["resourceAttributes"];
    std::string resource = attributes.value("resource", "");
    const std::string sub = attributes.value("subresource", "");
    if (!sub.empty()) resource += "/" + sub;
    const std::string text = attributes.value("verb", "") + " " + resource;
    reviewed_.push_back(text);
    const bool allowed = std::ranges::find(denied_, text) == denied_.end();
    return Json{{"status", {{"allowed", allowed}}}}.dump();
  }

  DoctorReport Examine() {
    DoctorReport report;
    ExamineCluster(
        exam_, [this](HttpRequest request) { return Serve(request); }, report);
    return report;
  }
  static std::vector<std::string> Checks(const DoctorReport& report) {
    std::vector<std::string> names;
    for (const DoctorFinding& finding : report.findings) names.push_back(finding.check);
    return names;
  }
  static DoctorFinding Find(const DoctorReport& report, const std::string& check) {
    const auto found = std::ranges::find(report.findings, check, &DoctorFinding::check);
    return found == report.findings.end() ? DoctorFinding{} : *found;
  }

  ClusterExam exam_;
  int64_t now_ns_ = ParseTime("2026-01-10T08:00:00.5Z").value();
  int64_t date_ns_ = ParseTime("2026-01-10T08:00:00Z").value();
  std::map<std::string, std::pair<uint32_t, std::string>> answers_;  // Status 0: no answer.
  std::vector<std::string> denied_;
  std::string too_large_;  // A part of a request whose answer is too large. Empty: none.
  std::vector<std::string> sent_;
  std::vector<std::string> reviewed_;
};

TEST_F(ClusterExamTest, EverythingIsRight) {
  std::vector<std::string> progress;
  exam_.progress = [&progress](std::string_view check) { progress.emplace_back(check); };
  const DoctorReport report = Examine();
  for (const DoctorFinding& finding : report.findings) {
    EXPECT_EQ(finding.level, Level::kOk) << finding.check << ": " << finding.found;
  }
  EXPECT_THAT(Checks(report), ElementsAre("connection", "credentials", "version", "kinds",
                                          "permissions", "clock", "lease", "pods", "placement"));
  EXPECT_THAT(progress, ElementsAre("connection", "credentials", "version", "kinds", "permissions",
                                    "lease", "pods"));
  EXPECT_EQ(report.server, "https://10.0.0.1:6443");
  EXPECT_EQ(report.user, "berth");
  EXPECT_EQ(report.missing_roles, "");
  EXPECT_FALSE(report.has_failure());
  EXPECT_EQ(Find(report, "connection").found, "https://10.0.0.1:6443, 1 ms");
}

TEST_F(ClusterExamTest, OnlyReviewsAndGetRequestsAreSent) {
  Examine();
  for (const std::string& request : sent_) {
    EXPECT_TRUE(request.starts_with("GET ") || request == kReview || request == kWhoAmI) << request;
  }
}

TEST_F(ClusterExamTest, AServerThatIsAwayEndsTheReport) {
  Set("GET /version", 0, "connection refused");
  const DoctorReport report = Examine();
  EXPECT_THAT(Checks(report), ElementsAre("connection"));
  EXPECT_TRUE(report.has_failure());
  EXPECT_EQ(sent_.size(), 1U);
}

TEST_F(ClusterExamTest, RefusedCredentialsEndTheReport) {
  Set("GET /version", 401, "{}");
  Set(kWhoAmI, 401, "{}");
  const DoctorReport report = Examine();
  EXPECT_THAT(Checks(report), ElementsAre("connection", "credentials"));
  EXPECT_EQ(Find(report, "credentials").level, Level::kFailure);
}

TEST_F(ClusterExamTest, AfterALostAnswerNothingMoreIsSent) {
  Set(kReview, 0, "connection reset");
  const DoctorReport report = Examine();
  EXPECT_THAT(Checks(report), ElementsAre("connection", "credentials", "version", "kinds",
                                          "permissions", "clock", "lease", "pods"));
  EXPECT_EQ(std::ranges::count(sent_, kReview), 1);
  EXPECT_EQ(sent_.back(), kReview);
  for (const char* check : {"permissions", "lease", "pods"}) {
    EXPECT_EQ(Find(report, check).level, Level::kWarning) << check;
    EXPECT_THAT(Find(report, check).found, HasSubstr("connection reset")) << check;
  }
}

TEST_F(ClusterExamTest, MissingRulesArePrintedAsRoles) {
  denied_ = {"create pods/binding", "list nodes"};
  const DoctorReport report = Examine();
  const DoctorFinding finding = Find(report, "permissions");
  EXPECT_EQ(finding.level, Level::kFailure);
  EXPECT_THAT(finding.found, HasSubstr("create pods/binding"));
  EXPECT_THAT(finding.found, HasSubstr("list nodes"));
  EXPECT_THAT(report.missing_roles, HasSubstr("pods/binding"));
  EXPECT_THAT(report.missing_roles, HasSubstr("ClusterRole"));
  // The checks that follow still run.
  EXPECT_EQ(Find(report, "pods").level, Level::kOk);
}

// `kubectl apply` replaces the rules of a role with the same name.
TEST_F(ClusterExamTest, RolesForOtherRulesHaveOtherNames) {
  const auto first_line_with = [](const std::string& yaml, const std::string& text) {
    const size_t at = yaml.find(text);
    return at == std::string::npos ? "" : yaml.substr(at, yaml.find('\n', at) - at);
  };
  denied_ = {"list nodes"};
  const std::string name = first_line_with(Examine().missing_roles, "name: ");
  EXPECT_THAT(name, ::testing::MatchesRegex("name: \"berth-[0-9a-f]+\""));
  EXPECT_EQ(first_line_with(Examine().missing_roles, "name: "), name);
  denied_ = {"watch nodes"};
  EXPECT_NE(first_line_with(Examine().missing_roles, "name: "), name);
}

TEST_F(ClusterExamTest, RolesNameTheUserIfTheServerDoes) {
  denied_ = {"list nodes"};
  EXPECT_THAT(Examine().missing_roles, HasSubstr("name: \"berth\"\n"));
  Set(kWhoAmI, 404, "");
  EXPECT_THAT(Examine().missing_roles, HasSubstr("name: \"name-of-the-user\"\n"));
}

TEST_F(ClusterExamTest, ShadowModeNeedsNeitherWritesNorLease) {
  exam_.shadow = true;
  exam_.evicts = true;
  denied_ = {"create pods/binding", "patch pods/status", "create leases", "delete pods"};
  const DoctorReport report = Examine();
  EXPECT_EQ(Find(report, "permissions").level, Level::kOk) << Find(report, "permissions").found;
  for (const std::string& review : reviewed_) {
    const std::string verb = review.substr(0, review.find(' '));
    EXPECT_THAT((std::vector<std::string>{"get", "list", "watch"}), Contains(verb)) << review;
  }
  EXPECT_THAT(Checks(report), Not(Contains("lease")));
  EXPECT_THAT(sent_, Not(Contains(kTheirs)));
}

TEST_F(ClusterExamTest, EvictingPluginsNeedPermissionToDeletePods) {
  Examine();
  EXPECT_THAT(reviewed_, Not(Contains("delete pods")));
  exam_.evicts = true;
  reviewed_.clear();
  Examine();
  EXPECT_THAT(reviewed_, Contains("delete pods"));
}

TEST_F(ClusterExamTest, WithoutLeaderElectionNoLeaseIsNeeded) {
  exam_.leader_elect = false;
  const DoctorReport report = Examine();
  EXPECT_EQ(Find(report, "lease").level, Level::kNote);
  for (const std::string& review : reviewed_) EXPECT_THAT(review, Not(HasSubstr("leases")));
  EXPECT_THAT(sent_, Not(Contains(kTheirs)));
}

TEST_F(ClusterExamTest, TheClockIsThatOfTheAnswers) {
  now_ns_ += 10 * kSecond;
  const DoctorReport report = Examine();
  const DoctorFinding finding = Find(report, "clock");
  EXPECT_EQ(finding.level, Level::kWarning);
  EXPECT_THAT(finding.found, HasSubstr("ahead of the API server"));
}

// The lease was renewed a second before the server's present time; this machine is ten seconds
// behind.
TEST_F(ClusterExamTest, AgeOfLeaseIsByClockOfServer) {
  now_ns_ -= 10 * kSecond;
  Set(kTheirs, 200,
      R"({"metadata":{"namespace":"kube-system","name":"kube-scheduler","resourceVersion":"1"},
          "spec":{"holderIdentity":"cp-1","leaseDurationSeconds":15,
                  "renewTime":"2026-01-10T07:59:59.000000Z"}})");
  const DoctorFinding finding = Find(Examine(), "lease");
  EXPECT_EQ(finding.level, Level::kNote);
  EXPECT_THAT(finding.found, HasSubstr("is held by cp-1 (renewed 1.0s ago)"));
}

TEST_F(ClusterExamTest, AnotherLeaderThatPlacesSamePodsIsWarning) {
  exam_.profiles = {"default-scheduler"};
  exam_.election.name = "berth";
  Set(kTheirs, 200,
      R"({"metadata":{"namespace":"kube-system","name":"kube-scheduler","resourceVersion":"1"},
          "spec":{"holderIdentity":"cp-1","leaseDurationSeconds":15,
                  "renewTime":"2026-01-10T08:00:00.000000Z"}})");
  EXPECT_EQ(Find(Examine(), "pods").level, Level::kWarning);
  // Other profiles do not compete.
  exam_.profiles = {"acme"};
  EXPECT_EQ(Find(Examine(), "pods").level, Level::kOk);
  // With the same lease, one of the two waits.
  exam_.profiles = {"default-scheduler"};
  exam_.election.name = "kube-scheduler";
  EXPECT_EQ(Find(Examine(), "pods").level, Level::kOk);
}

TEST_F(ClusterExamTest, PodsAreReadInPagesUpToLimit) {
  std::string items;
  for (int i = 0; i < 250; ++i) {
    items += std::string(i == 0 ? "" : ",") + R"({"spec":{"schedulerName":"acme"}})";
  }
  Set("GET /api/v1/pods", 200, R"({"metadata":{"continue":"more"},"items":[)" + items + "]}");
  const DoctorFinding finding = Find(Examine(), "pods");
  EXPECT_EQ(finding.found,
            "there are more; of those that were read: 10,000 pending pods name acme");
  EXPECT_THAT(sent_.back(), HasSubstr("continue=more"));
  EXPECT_THAT(sent_.back(), HasSubstr("fieldSelector=spec.nodeName%3D%2Cstatus.phase"));
}

TEST_F(ClusterExamTest, TooLargePagesAreReadInParts) {
  // The transport reads an answer up to a limit.
  too_large_ = "limit=250&";
  const DoctorReport report = Examine();
  EXPECT_EQ(Find(report, "pods").found, "1 pending pod names acme");
  EXPECT_THAT(sent_.back(), HasSubstr("limit=31&"));
  too_large_ = "/api/v1/pods?";
  EXPECT_EQ(Find(Examine(), "pods").level, Level::kWarning);
  EXPECT_THAT(sent_.back(), HasSubstr("limit=1&"));
}

TEST_F(ClusterExamTest, EmptyPagesOfPodsHaveALimit) {
  Set("GET /api/v1/pods", 200, R"({"metadata":{"continue":"more"},"items":[]})");
  const DoctorFinding finding = Find(Examine(), "pods");
  EXPECT_THAT(finding.found, StartsWith("there are more"));
  EXPECT_EQ(
      std::ranges::count_if(
          sent_, [](const std::string& text) { return text.starts_with("GET /api/v1/pods?"); }),
      80);
}

class ClusterExamKindsTest : public ClusterExamTest {
 protected:
  ClusterExamKindsTest() {
    EXPECT_TRUE(plugins_.AddDirectory(DefaultPluginDirectory()).ok());
    EXPECT_TRUE(plugins_.AddDirectory(TestPluginDirectory()).ok());
    PlanSpec spec;
    spec.plugins = {{"test.Observer", nullptr, ""}, {"VolumeZone", nullptr, ""}};
    exam_.users = KindUsers(plugins_.catalog(), {&spec, 1});
  }

  PluginSet plugins_{::testing::TempDir(), [] { return int64_t{0}; }};
};

TEST_F(ClusterExamKindsTest, TheFirstServedVersionOfAKindCounts) {
  Set("GET /apis/example.com/v1", 200,
      R"({"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[
          {"name":"racks","namespaced":false,"kind":"Rack","verbs":["get","list","watch"]}]})");
  const DoctorReport report = Examine();
  EXPECT_THAT(reviewed_, Contains("list racks"));
  EXPECT_THAT(Find(report, "kinds").found, Not(HasSubstr("Rack")));
  EXPECT_THAT(Find(report, "kinds").found,
              HasSubstr("storage.k8s.io/v1/StorageClass (the plugin VolumeZone)"));
  EXPECT_EQ(Find(report, "kinds").level, Level::kNote);
}

TEST_F(ClusterExamKindsTest, EachGroupAndVersionIsAskedOnce) {
  Examine();
  std::ranges::sort(sent_);
  for (size_t i = 1; i < sent_.size(); ++i) {
    if (sent_[i].starts_with("GET /api")) {
      EXPECT_NE(sent_[i], sent_[i - 1]);
    }
  }
}

TEST_F(ClusterExamKindsTest, PluginIsNamedForRuleThatItNeeds) {
  Set("GET /apis/storage.k8s.io/v1", 200,
      R"({"kind":"APIResourceList","groupVersion":"storage.k8s.io/v1","resources":[
          {"name":"storageclasses","namespaced":false,"kind":"StorageClass",
           "verbs":["get","list","watch"]}]})");
  denied_ = {"list storageclasses"};
  const DoctorFinding finding = Find(Examine(), "permissions");
  EXPECT_EQ(finding.level, Level::kFailure);
  EXPECT_THAT(finding.found, HasSubstr("list storage.k8s.io/storageclasses (VolumeZone)"));
}

}  // namespace
}  // namespace berth::host

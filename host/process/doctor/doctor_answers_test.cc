#include "host/process/doctor/doctor_answers.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "host/base/base64.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/process/doctor/doctor_testing.h"
#include "tests/harness/api_server/test_certificates.h"

namespace berth::host {
namespace {

std::string Forbidden(const std::string& message) {
  return R"({"kind":"Status","apiVersion":"v1","reason":"Forbidden","message":")" + message +
         R"(","code":403})";
}

// ---- the user -----------------------------------------------------------------------------------

TEST(ReadSelfSubjectReviewTest, NamesTheUser) {
  struct Case {
    const char* name;
    HttpResponse response;
    std::string user;
    bool is_refused;
    std::string error;
  };
  const Case cases[] = {
      {"an answer",
       Answer(201, R"({"status":{"userInfo":{"username":"admin","groups":["system:masters"]}}})"),
       "admin", false, ""},
      {"an answer without a user", Answer(201, R"({"status":{}})"), "", false,
       "the answer has no status.userInfo"},
      {"an answer that is no object", Answer(200, "[]"), "", false,
       "the answer has no status.userInfo"},
      {"a refusal", Answer(401, R"({"kind":"Status","message":"Unauthorized","code":401})"), "",
       true, "Unauthorized"},
      {"a denial that names the user",
       Answer(403, Forbidden(R"(selfsubjectreviews is forbidden: User \"system:anonymous\" cannot)"
                             R"( create resource)")),
       "system:anonymous", false,
       "selfsubjectreviews is forbidden: User \"system:anonymous\" cannot create resource"},
      {"a denial that names nobody", Answer(403, Forbidden("forbidden")), "", false, "forbidden"},
      {"a denial whose name does not end", Answer(403, Forbidden(R"(User \"a)")), "", false,
       "User \"a"},
      {"an old server", Answer(404, "404 page not found"), "", false,
       "the server responded with 404 Not Found"},
      {"no answer", NoAnswer(Status::Unavailable("connection refused")), "", false,
       "connection refused"},
  };
  for (const Case& c : cases) {
    const ServerUser user = ReadSelfSubjectReview(c.response);
    EXPECT_EQ(user.name, c.user) << c.name;
    EXPECT_EQ(user.is_refused, c.is_refused) << c.name;
    EXPECT_EQ(user.error.message(), c.error) << c.name;
  }
}

// ---- the lease ----------------------------------------------------------------------------------

HttpResponse LeaseAnswer(const std::string& spec) {
  return Answer(200, R"({"kind":"Lease","metadata":{"namespace":"kube-system","name":"berth",)"
                     R"("resourceVersion":"7"},"spec":{)" +
                         spec + "}}");
}

TEST(ReadLeaseStateTest, TellsWhoHoldsIt) {
  const int64_t now_ns = ParseTime("2026-01-10T08:00:20Z").value();
  const std::string held =
      R"("holderIdentity":"a_1","leaseDurationSeconds":15,"renewTime":"2026-01-10T08:00:)";
  struct Case {
    const char* name;
    HttpResponse response;
    bool exists;
    std::string holder;
    int64_t renewed_ns;
    bool is_expired;
  };
  const Case cases[] = {
      {"fresh", LeaseAnswer(held + R"(19.000000Z")"), true, "a_1", kSecond, false},
      {"at its end", LeaseAnswer(held + R"(05.000000Z")"), true, "a_1", 15 * kSecond, false},
      {"past its end", LeaseAnswer(held + R"(04.999999Z")"), true, "a_1",
       15 * kSecond + kMicrosecond, true},
      {"renewed by a clock that is ahead", LeaseAnswer(held + R"(25.000000Z")"), true, "a_1", 0,
       false},
      {"without a holder",
       LeaseAnswer(R"("holderIdentity":"","leaseDurationSeconds":1,)"
                   R"("renewTime":"2026-01-10T08:00:19.000000Z")"),
       true, "", kSecond, false},
      {"absent", Answer(404, Forbidden("not found")), false, "", 0, false},
  };
  for (const Case& c : cases) {
    const LeaseState state = ReadLeaseState("kube-system", "berth", c.response, now_ns);
    EXPECT_TRUE(state.error.ok()) << c.name << ": " << state.error.message();
    EXPECT_EQ(state.name, "kube-system/berth") << c.name;
    EXPECT_EQ(state.exists, c.exists) << c.name;
    EXPECT_EQ(state.holder, c.holder) << c.name;
    EXPECT_EQ(state.renewed_ns, c.renewed_ns) << c.name;
    EXPECT_EQ(state.is_expired, c.is_expired) << c.name;
    EXPECT_EQ(state.is_held(), !c.holder.empty() && !c.is_expired) << c.name;
  }
}

TEST(ReadLeaseStateTest, KeepsTheError) {
  const LeaseState denied = ReadLeaseState("kube-system", "berth", Answer(403, Forbidden("no")), 0);
  EXPECT_EQ(denied.error.code(), ErrorCode::kPermissionDenied);
  EXPECT_TRUE(denied.is_forbidden);
  EXPECT_FALSE(denied.is_held());
  EXPECT_FALSE(ReadLeaseState("n", "l", Answer(401, Forbidden("no")), 0).is_forbidden);
  const LeaseState untrusted =
      ReadLeaseState("n", "l", NoAnswer(Status::PermissionDenied("not trusted")), 0);
  EXPECT_EQ(untrusted.error, Status::PermissionDenied("not trusted"));
  EXPECT_FALSE(untrusted.is_forbidden);
  EXPECT_FALSE(
      ReadLeaseState("n", "l", NoAnswer(Status::Unavailable("connection refused")), 0).error.ok());
  EXPECT_FALSE(ReadLeaseState("n", "l", Answer(200, "{}"), 0).error.ok());
}

// ---- pods ---------------------------------------------------------------------------------------

TEST(AddPendingPodsTest, CountsByTheNameOfTheScheduler) {
  PendingPods pods;
  const Result<std::string> next = AddPendingPods(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"tok"},
          "items":[{"spec":{"schedulerName":"acme"}},{"spec":{"schedulerName":"acme"}},
                   {"spec":{"schedulerName":"other"}},{"metadata":{}}]})",
      {}, pods);
  ASSERT_TRUE(next.ok()) << next.status().message();
  EXPECT_EQ(*next, "tok");
  const Result<std::string> last =
      AddPendingPods(R"({"items":[{"spec":{"schedulerName":"acme"}}],"metadata":{}})", {}, pods);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(*last, "");
  EXPECT_EQ(pods.by_scheduler.at("acme"), 3U);
  EXPECT_EQ(pods.by_scheduler.at("other"), 1U);
  EXPECT_EQ(pods.by_scheduler.at(""), 1U);
  EXPECT_EQ(pods.total(), 5U);
}

TEST(AddPendingPodsTest, TellsWhyPodsHaveNoPlace) {
  PendingPods pods;
  const auto pod = [](const std::string& name, const std::string& spec, const std::string& why) {
    return R"({"metadata":{"namespace":"shop","name":")" + name +
           R"("},"spec":{"schedulerName":"acme")" + spec + R"(},"status":{"conditions":[)" +
           R"({"type":"Ready","status":"False"},{"type":"PodScheduled","status":")" +
           (why.empty() ? R"(True"}]}})"
                        : R"(False","reason":"Unschedulable","message":")" + why + R"("}]}})");
  };
  const std::string bad = R"(,"containers":[{"name":"c","resources":{"requests":{"cpu":"much"}}}])";
  ASSERT_TRUE(AddPendingPods(R"({"items":[)" + pod("a", "", "no room\\nat all") + "," +
                                 pod("b", "", "no room\\nat all") + "," + pod("c", "", "") + "," +
                                 pod("d", bad, "") + "," + pod("e", bad, std::string(500, 'x')) +
                                 R"(],"metadata":{}})",
                             {}, pods)
                  .ok());
  const std::map<std::string, size_t>& rejected = pods.rejected["acme"];
  ASSERT_EQ(rejected.size(), 2U);
  EXPECT_EQ(rejected.at("Unschedulable: no room; at all"), 2U);
  EXPECT_EQ(rejected.rbegin()->first.size(), 300U) << "a long message is cut";
  EXPECT_EQ(pods.unreadable["acme"].count, 2U);
  EXPECT_TRUE(pods.unreadable["acme"].example.starts_with(
      "shop/d: /spec/containers/0/resources/requests/cpu: quantity"))
      << pods.unreadable["acme"].example;
}

TEST(AddPendingPodsTest, CountsGatedPodsApart) {
  PendingPods pods;
  ASSERT_TRUE(AddPendingPods(R"({"items":[{"metadata":{"name":"a","namespace":"d"},
      "spec":{"schedulerName":"acme"},"status":{"conditions":[{"type":"PodScheduled",
      "status":"False","reason":"SchedulingGated","message":"gates"}]}}],"metadata":{}})",
                             {}, pods)
                  .ok());
  EXPECT_EQ(pods.gated["acme"], 1U);
  EXPECT_TRUE(pods.rejected.empty());
}

// An API server writes "<" with six bytes, so that the pod has more bytes than a request may have.
TEST(AddPendingPodsTest, ReadsAPodLargerThanARequest) {
  PendingPods pods;
  std::string escaped;
  for (int i = 0; i < 1'500'000; ++i) escaped += "\\u003c";
  const std::string long_name(100'000, 'x');
  ASSERT_TRUE(AddPendingPods(R"({"items":[{"metadata":{"name":"a","namespace":"d"},
      "spec":{"schedulerName":")" +
                                 long_name + R"(","containers":[{"name":"c","args":[")" + escaped +
                                 R"("]}]}}],"metadata":{}})",
                             {}, pods)
                  .ok());
  ASSERT_EQ(pods.by_scheduler.size(), 1U);
  EXPECT_EQ(pods.by_scheduler.begin()->first.size(), 300U);
  EXPECT_TRUE(pods.unreadable.empty());
}

TEST(AddPendingPodsTest, RefusesWhatIsNoList) {
  for (const char* page : {"", "[]", R"({"items":[)", R"({"items":[{]}})", "<html>"}) {
    PendingPods pods;
    EXPECT_FALSE(AddPendingPods(page, {}, pods).ok()) << page;
  }
}

// Encodes base64url without padding.
std::string Part(const std::string& json) {
  std::string text = EncodeBase64(json);
  for (char& c : text) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::string Token(const std::string& claims) {
  return Part(R"({"alg":"ES256"})") + "." + Part(claims) + ".c2lnbmF0dXJl";
}

TEST(JwtExpiryTest, ReadsTheClaim) {
  struct Case {
    std::string token;
    std::optional<int64_t> seconds;
  };
  const Case cases[] = {
      {Token(R"({"exp":1700000000})"), 1'700'000'000},
      {Token(R"({"sub":"a","exp":1700000000.9})"), 1'700'000'000},
      {Token(R"({"exp":1,"kubernetes.io":{"namespace":"kube-system"}})"), 1},
      // These texts need one and two bytes of padding, and '-' and '_'.
      {Token(R"({"exp":1700000000,"a":"b"})"), 1'700'000'000},
      {Token(R"({"exp":1700000000,"a":"bc"})"), 1'700'000'000},
      {Token(R"({"exp":1700000000,"a":"?>?>~~"})"), 1'700'000'000},
      // No expiry.
      {Token("{}"), std::nullopt},
      {Token(R"({"exp":"1700000000"})"), std::nullopt},
      {Token(R"({"exp":null})"), std::nullopt},
      {Token(R"({"exp":0})"), std::nullopt},
      {Token(R"({"exp":-5})"), std::nullopt},
      {Token(R"({"exp":1e300})"), std::nullopt},
      {Token("[1]"), std::nullopt},
      {Token("{"), std::nullopt},
      // No JSON Web Token.
      {"", std::nullopt},
      {"opaque", std::nullopt},
      {"a.b", std::nullopt},
      {Token(R"({"exp":1700000000})") + ".more", std::nullopt},
      {"a." + Part(R"({"exp":1700000000})") + "=.c", std::nullopt},
      {"a.%%%.c", std::nullopt},
  };
  for (const Case& c : cases) {
    const std::optional<int64_t> ns = JwtExpiryNs(c.token);
    EXPECT_EQ(ns, c.seconds.has_value() ? std::optional(*c.seconds * kSecond) : std::nullopt)
        << c.token;
  }
}

Credential WithHeaders(const std::string& headers, int64_t expires_ns = 0) {
  Credential credential;
  credential.headers = Secret(headers);
  credential.expires_ns = expires_ns;
  return credential;
}

TEST(CredentialExpiryTest, TokenOfTheKubeconfig) {
  const CredentialExpiry expiry =
      ExpiryOf(WithHeaders("Authorization: Bearer " + Token(R"({"exp":1700000000})") + "\r\n"), {});
  EXPECT_TRUE(expiry.has_credentials);
  EXPECT_EQ(expiry.token_ns, 1'700'000'000 * kSecond);
  EXPECT_FALSE(expiry.token_is_renewed);
  EXPECT_EQ(expiry.certificate_ns, std::nullopt);
}

TEST(CredentialExpiryTest, TokensOfFilesAndPluginsAreRenewed) {
  AuthConfig file;
  file.token_file = "/token";
  const std::string header = "Authorization: Bearer opaque\r\n";
  EXPECT_TRUE(ExpiryOf(WithHeaders(header), file).token_is_renewed);
  EXPECT_EQ(ExpiryOf(WithHeaders(header), file).token_ns, std::nullopt);
  AuthConfig plugin;
  plugin.exec.emplace();
  // A plugin states when its token expires; the token itself may be opaque.
  const CredentialExpiry expiry = ExpiryOf(WithHeaders(header, 7 * kSecond), plugin);
  EXPECT_TRUE(expiry.token_is_renewed);
  EXPECT_EQ(expiry.token_ns, 7 * kSecond);
}

TEST(CredentialExpiryTest, ClientWithoutCredentials) {
  EXPECT_FALSE(ExpiryOf({}, {}).has_credentials);
  EXPECT_FALSE(ExpiryOf(WithHeaders("Impersonate-User: a\r\n"), {}).has_credentials);
  EXPECT_TRUE(ExpiryOf(WithHeaders("Authorization: Basic YTpi\r\n"), {}).has_credentials);
}

TEST(CredentialExpiryTest, ClientCertificate) {
  const TestCertificates& certificates = Certificates();
  const auto tls = TlsContext::Create(
      {.ca_pem = certificates.ca_pem}, "127.0.0.1",
      {.chain_pem = certificates.expired_pem, .key_pem = Secret(certificates.expired_key_pem)});
  ASSERT_TRUE(tls.ok()) << tls.status().message();
  Credential credential;
  credential.tls = *tls;
  const CredentialExpiry expiry = ExpiryOf(credential, {});
  EXPECT_TRUE(expiry.has_credentials);
  EXPECT_EQ(expiry.certificate_ns, 1'577'836'800 * kSecond);  // 2020-01-01T00:00:00Z
  EXPECT_EQ(expiry.token_ns, std::nullopt);
}

constexpr int64_t kNoon = 1'700'000'000 * kSecond;

TEST(ClockSkewTest, NothingIsKnownWithoutADate) {
  ClockSkew skew;
  EXPECT_EQ(skew.AheadNs(), std::nullopt);
  skew.Add(kNoon, kNoon + kMillisecond, 0);
  EXPECT_EQ(skew.AheadNs(), std::nullopt);
}

TEST(ClockSkewTest, AnswerGivesARangeIncludingTheRequestsTime) {
  struct Case {
    const char* name;
    int64_t ahead_ns;  // This machine's clock at the start of the server's second.
    int64_t took_ns;
    int64_t expected_ns;
  };
  const Case cases[] = {
      {"equal", 0, 0, 0},
      {"within the second", 900 * kMillisecond, 2 * kMillisecond, 0},
      {"the last moment of the second", kSecond, 0, 0},
      {"one millisecond beyond the second", kSecond + kMillisecond, 0, kMillisecond},
      {"ahead", 8 * kSecond, 0, 7 * kSecond},
      {"behind", -8 * kSecond, 0, -8 * kSecond},
      {"behind by less than the request took", -kMillisecond, 2 * kMillisecond, 0},
  };
  for (const Case& c : cases) {
    ClockSkew skew;
    skew.Add(kNoon + c.ahead_ns, kNoon + c.ahead_ns + c.took_ns, kNoon);
    EXPECT_EQ(skew.AheadNs(), c.expected_ns) << c.name;
  }
}

TEST(ClockSkewTest, SeveralAnswersNarrowTheRange) {
  ClockSkew skew;
  // This machine is 5.3 s ahead. The answers come at 0.0 s, 0.4 s and 0.9 s of the server's second.
  const int64_t ahead_ns = 5'300 * kMillisecond;
  for (const int64_t at_ms : {0, 400, 900}) {
    const int64_t now_ns = kNoon + at_ms * kMillisecond + ahead_ns;
    skew.Add(now_ns, now_ns, kNoon);
  }
  // At 0.9 s the range ended 0.1 s before the true value.
  EXPECT_EQ(skew.AheadNs(), 5'200 * kMillisecond);
}

TEST(ClockSkewTest, AClockThatWasSetStartsAnew) {
  ClockSkew skew;
  skew.Add(kNoon + 8 * kSecond, kNoon + 8 * kSecond, kNoon);
  EXPECT_EQ(skew.AheadNs(), 7 * kSecond);
  skew.Add(kNoon, kNoon, kNoon);
  EXPECT_EQ(skew.AheadNs(), 0);
  // The clock was set back while the request was under way.
  skew.Add(kNoon + 9 * kSecond, kNoon, kNoon);
  EXPECT_EQ(skew.AheadNs(), 0);
}

}  // namespace
}  // namespace berth::host

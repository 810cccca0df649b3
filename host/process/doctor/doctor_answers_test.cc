#include "host/process/doctor/doctor_answers.h"

#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/process/doctor/doctor_testing.h"

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
      pods);
  ASSERT_TRUE(next.ok()) << next.status().message();
  EXPECT_EQ(*next, "tok");
  const Result<std::string> last =
      AddPendingPods(R"({"items":[{"spec":{"schedulerName":"acme"}}],"metadata":{}})", pods);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(*last, "");
  EXPECT_EQ(pods.by_scheduler.at("acme"), 3U);
  EXPECT_EQ(pods.by_scheduler.at("other"), 1U);
  EXPECT_EQ(pods.by_scheduler.at(""), 1U);
  EXPECT_EQ(pods.total(), 5U);
}

TEST(AddPendingPodsTest, RefusesWhatIsNoList) {
  for (const char* page : {"", "[]", R"({"items":[)", R"({"items":[{]}})", "<html>"}) {
    PendingPods pods;
    EXPECT_FALSE(AddPendingPods(page, pods).ok()) << page;
  }
}

}  // namespace
}  // namespace berth::host

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/test_log.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/write/pod_writer.h"
#include "tests/harness/pod_writer_fixture.h"

namespace berth::host {
namespace {

using BindOutcomes = std::vector<std::string>;

// ---- The outcome of a binding -------------------------------------------------------------------

struct BindStep {
  const char* request;
  Reply reply;
};

struct BindCase {
  const char* name;
  std::vector<BindStep> steps;
  const char* outcome;
  PodWriterCounts counts;
};

BindStep OnBind(Reply reply) { return {kBindTarget, std::move(reply)}; }
BindStep OnRead(Reply reply) { return {kReadTarget, std::move(reply)}; }

std::vector<BindCase> CasesWithoutARead() {
  return {
      // The first request decides.
      {"created", {OnBind(Created())}, "Ok", {.binds = 1, .bound = 1}},
      {"conflict of the only request",
       {OnBind(ErrorReply(409, "Conflict"))},
       "Conflict: server: Conflict",
       {.binds = 1, .conflicts = 1}},
      {"bound by another client",
       {OnBind(ErrorReply(409, R"(pod p is already assigned to node \"n2\")"))},
       R"(Conflict: server: pod p is already assigned to node "n2")",
       {.binds = 1, .conflicts = 1, .foreign = 1}},
      {"no pod", {OnBind(ErrorReply(404, "NotFound"))}, "NotFound: server: NotFound", {.binds = 1}},
      {"bad request",
       {OnBind(ErrorReply(400, "BadRequest"))},
       "InvalidArgument: server: BadRequest",
       {.binds = 1}},
      {"unauthorized",
       {OnBind(ErrorReply(401, "Unauthorized"))},
       "PermissionDenied: server: Unauthorized",
       {.binds = 1}},
      {"forbidden",
       {OnBind(ErrorReply(403, "Forbidden"))},
       "PermissionDenied: server: Forbidden",
       {.binds = 1}},
      {"invalid",
       {OnBind(ErrorReply(422, "Invalid"))},
       "InvalidArgument: server: Invalid",
       {.binds = 1}},
      {"too large",
       {OnBind(ErrorReply(413, "RequestEntityTooLarge"))},
       "OutOfRange: server: RequestEntityTooLarge",
       {.binds = 1}},
      // Not executed.
      {"too many requests, then created",
       {OnBind(ErrorReply(429, "TooManyRequests", kSecond)), OnBind(Created())},
       "Ok",
       {.binds = 2, .bound = 1}},
      {"overloaded, then a conflict",
       {OnBind(ErrorReply(503, "ServiceUnavailable", kSecond)),
        OnBind(ErrorReply(409, "Conflict"))},
       "Conflict: server: Conflict",
       {.binds = 2, .conflicts = 1}},
      {"not sent, then created",
       {OnBind(NotSent()), OnBind(Created())},
       "Ok",
       {.binds = 2, .bound = 1}},
      {"not sent, then a conflict",
       {OnBind(NotSent()), OnBind(ErrorReply(409, "Conflict"))},
       "Conflict: server: Conflict",
       {.binds = 2, .conflicts = 1}},
  };
}

std::vector<BindCase> CasesThatAReadDecides() {
  return {
      // Unknown, and the pod is read.
      {"lost, but executed",
       {OnBind(Lost()), OnRead(PodIs("u1", "n1"))},
       "Ok",
       {.binds = 1, .bound = 1, .unknown = 1, .recovered = 1}},
      {"internal error, but executed",
       {OnBind(ErrorReply(500, "InternalError")), OnRead(PodIs("u1", "n1"))},
       "Ok",
       {.binds = 1, .bound = 1, .unknown = 1, .recovered = 1}},
      {"overloaded without Retry-After, but executed",
       {OnBind(ErrorReply(503, "ServiceUnavailable")), OnRead(PodIs("u1", "n1"))},
       "Ok",
       {.binds = 1, .bound = 1, .unknown = 1, .recovered = 1}},
      {"timeout of the server, but executed",
       {OnBind(ErrorReply(504, "Timeout")), OnRead(PodIs("u1", "n1"))},
       "Ok",
       {.binds = 1, .bound = 1, .unknown = 1, .recovered = 1}},
      {"lost, executed, and now deleting",
       {OnBind(Lost()), OnRead(PodIs("u1", "n1", true))},
       "Ok",
       {.binds = 1, .bound = 1, .unknown = 1, .recovered = 1}},
      {"lost, and on another node",
       {OnBind(Lost()), OnRead(PodIs("u1", "n2"))},
       "Conflict: pod default/p was bound to node n2 by another client",
       {.binds = 1, .conflicts = 1, .foreign = 1, .unknown = 1}},
      {"lost, and another pod with the name",
       {OnBind(Lost()), OnRead(PodIs("u2", "n1"))},
       "Conflict: pod default/p was deleted and created again",
       {.binds = 1, .conflicts = 1, .unknown = 1}},
      {"lost, and deleting",
       {OnBind(Lost()), OnRead(PodIs("u1", "", true))},
       "Conflict: pod default/p is being deleted",
       {.binds = 1, .conflicts = 1, .unknown = 1}},
      {"lost, and no pod",
       {OnBind(Lost()), OnRead(ErrorReply(404, "NotFound"))},
       "NotFound: server: NotFound",
       {.binds = 1, .unknown = 1}},
      // The read is repeated until it is answered.
      {"lost, and reads are lost too",
       {OnBind(Lost()), OnRead(Lost()), OnRead(NotSent()), OnRead(ErrorReply(500, "InternalError")),
        OnRead(ErrorReply(429, "TooManyRequests", kSecond)), OnRead(ErrorReply(403, "Forbidden")),
        OnRead({.http_status = 200, .body = "<html>"}), OnRead({.http_status = 200, .body = "{}"}),
        OnRead(PodIs("u1", "n1"))},
       "Ok",
       {.binds = 1, .bound = 1, .unknown = 1, .recovered = 1}},
  };
}

std::vector<BindCase> CasesWithARepetition() {
  return {
      // The pod has no node: the request is sent again.
      {"lost before it was executed",
       {OnBind(Lost()), OnRead(PodIs("u1", "")), OnBind(Created())},
       "Ok",
       {.binds = 2, .bound = 1, .unknown = 1}},
      {"executed between read and repetition",
       {OnBind(Lost()), OnRead(PodIs("u1", "")), OnBind(ErrorReply(409, "Conflict")),
        OnRead(PodIs("u1", "n1"))},
       "Ok",
       {.binds = 2, .bound = 1, .unknown = 1, .recovered = 1}},
      {"bound by another client between read and repetition",
       {OnBind(Lost()), OnRead(PodIs("u1", "")), OnBind(ErrorReply(409, "Conflict")),
        OnRead(PodIs("u1", "n2"))},
       "Conflict: pod default/p was bound to node n2 by another client",
       {.binds = 2, .conflicts = 1, .foreign = 1, .unknown = 1}},
      {"deleted between read and repetition",
       {OnBind(Lost()), OnRead(PodIs("u1", "")), OnBind(ErrorReply(404, "NotFound"))},
       "NotFound: server: NotFound",
       {.binds = 2, .unknown = 1}},
      {"lost twice, executed once",
       {OnBind(Lost()), OnRead(PodIs("u1", "")), OnBind(Lost()), OnRead(PodIs("u1", "n1"))},
       "Ok",
       {.binds = 2, .bound = 1, .unknown = 2, .recovered = 1}},
      {"lost, then not sent, then created",
       {OnBind(Lost()), OnRead(PodIs("u1", "")), OnBind(NotSent()), OnRead(PodIs("u1", "")),
        OnBind(Created())},
       "Ok",
       {.binds = 3, .bound = 1, .unknown = 1}},
      {"lost, then too many requests, then executed",
       {OnBind(Lost()), OnRead(PodIs("u1", "")),
        OnBind(ErrorReply(429, "TooManyRequests", kSecond)), OnRead(PodIs("u1", "n1"))},
       "Ok",
       {.binds = 2, .bound = 1, .unknown = 1, .recovered = 1}},
      {"lost, then forbidden, but executed",
       {OnBind(Lost()), OnRead(PodIs("u1", "")), OnBind(ErrorReply(403, "Forbidden")),
        OnRead(PodIs("u1", "n1"))},
       "Ok",
       {.binds = 2, .bound = 1, .unknown = 1, .recovered = 1}},
  };
}

class BindTaskTest : public PodWriterTest {
 protected:
  void Check(const std::vector<BindCase>& cases) {
    for (const BindCase& c : cases) {
      SCOPED_TRACE(c.name);
      outcomes_.clear();
      Bind();
      EXPECT_EQ(writer_.open(), 1U);
      for (const BindStep& step : c.steps) {
        EXPECT_TRUE(outcomes_.empty());
        Expect(step.request, step.reply);
        if (HasFatalFailure()) return;
      }
      EXPECT_EQ(outcomes_, (BindOutcomes{std::string("bind ") + c.outcome}));
      EXPECT_TRUE(transport_.open().empty());
      EXPECT_EQ(writer_.open(), 0U);
      const PodWriterCounts& now = writer_.counts();
      EXPECT_EQ(now.binds - before_.binds, c.counts.binds);
      EXPECT_EQ(now.bound - before_.bound, c.counts.bound);
      EXPECT_EQ(now.conflicts - before_.conflicts, c.counts.conflicts);
      EXPECT_EQ(now.foreign - before_.foreign, c.counts.foreign);
      EXPECT_EQ(now.unknown - before_.unknown, c.counts.unknown);
      EXPECT_EQ(now.recovered - before_.recovered, c.counts.recovered);
      EXPECT_EQ(now.refused_by_fence, 0U);
      before_ = now;
    }
  }

 private:
  PodWriterCounts before_;
};

TEST_F(BindTaskTest, TheFirstAnswerDecides) { Check(CasesWithoutARead()); }

TEST_F(BindTaskTest, AnUnknownOutcomeIsReadBack) { Check(CasesThatAReadDecides()); }

TEST_F(BindTaskTest, RepeatsUnknownRequestsOfANodelessPod) { Check(CasesWithARepetition()); }

TEST_F(BindTaskTest, CountsForbiddenBindingsInARow) {
  const auto bind = [this](const Reply& reply) {
    Bind();
    Expect(kBindTarget, reply);
    return writer_.counts();
  };
  const Reply forbidden = ErrorReply(403, R"(User \"berth\" cannot create pods/binding)");
  const int64_t first_ns = clock_.NowNs();
  EXPECT_EQ(bind(forbidden).forbidden_in_row, 1U);
  RunFor(kMinute);
  const PodWriterCounts counts = bind(forbidden);
  EXPECT_EQ(counts.forbidden_in_row, 2U);
  EXPECT_EQ(counts.first_forbidden_ns, first_ns);
  EXPECT_EQ(counts.last_forbidden_ns, first_ns + kMinute);
  EXPECT_EQ(bind(ErrorReply(401, "Unauthorized")).forbidden_in_row, 2U) << "tells nothing";
  // These answers tell that this client may bind. The second is that of an admission plugin.
  for (const Reply& other :
       {ErrorReply(404, "NotFound"), ErrorReply(403, "pods p is forbidden: namespace n is gone"),
        ErrorReply(409, "Conflict"), ErrorReply(422, "Invalid"), Created()}) {
    EXPECT_EQ(bind(other).forbidden_in_row, 0U) << other.http_status;
    EXPECT_EQ(bind(forbidden).forbidden_in_row, 1U) << other.http_status;
  }
  // After a long pause, another row begins.
  RunFor(kMinute + 1);
  const PodWriterCounts later = bind(forbidden);
  EXPECT_EQ(later.forbidden_in_row, 1U);
  EXPECT_EQ(later.first_forbidden_ns, clock_.NowNs());
}

TEST_F(BindTaskTest, ABindingThatIsReadBackWasAllowed) {
  Bind();
  Expect(kBindTarget, ErrorReply(403, R"(User \"berth\" cannot create pods/binding)"));
  Bind();
  Expect(kBindTarget, Lost());
  EXPECT_EQ(writer_.counts().forbidden_in_row, 1U);
  Expect(kReadTarget, PodIs("u1", "n1"));
  EXPECT_EQ(writer_.counts().forbidden_in_row, 0U);
}

TEST_F(BindTaskTest, EveryRequestOfABindingIsTheSame) {
  Bind();
  RunUntilOpen();
  const std::string body = transport_.BodyOf(0);
  EXPECT_EQ(body,
            R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p","namespace":"default",)"
            R"("uid":"u1"},"target":{"kind":"Node","name":"n1"}})");
  EXPECT_EQ(transport_.RequestAt(0).content_type, kJson);
  EXPECT_EQ(transport_.RequestAt(0).timeout_ns, 34 * kSecond);
  Expect(kBindTarget, Lost());
  RunUntilOpen();
  EXPECT_FALSE(transport_.RequestAt(0).may_send) << "a process that does not lead may read";
  Expect(kReadTarget, PodIs("u1", ""));
  RunUntilOpen();
  EXPECT_EQ(transport_.BodyOf(0), body);
}

TEST_F(BindTaskTest, GivesUpARequestThatIsNeverExecuted) {
  Bind();
  int requests = 0;
  for (; requests < 1000 && outcomes_.empty(); ++requests) {
    Expect(kBindTarget, ErrorReply(429, "TooManyRequests", kSecond));
  }
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind Unavailable: server: TooManyRequests"}));
  EXPECT_GT(requests, 5);
  EXPECT_LE(requests, 31);
  EXPECT_LE(Elapsed(), 30 * kSecond);
}

TEST_F(BindTaskTest, TriesFourTimes) {
  const struct {
    const char* description;
    Reply reply;
    bool is_read_back;  // The request may have been executed.
    int64_t settled_after_ns;
    const char* outcome;
  } cases[] = {
      {"the connection is refused", NotSent(), false, 0, "bind Unavailable: connection lost"},
      {"ServiceUnavailable with a time", ErrorReply(503, "ServiceUnavailable", kSecond), false, 0,
       "bind Unavailable: server: ServiceUnavailable"},
      {"InternalError", ErrorReply(500, "InternalError"), true, 10 * kSecond,
       "bind Unavailable: the pod was not bound: server: InternalError"},
      {"ServiceUnavailable", ErrorReply(503, "ServiceUnavailable"), true, 10 * kSecond,
       "bind Unavailable: the pod was not bound: server: ServiceUnavailable"},
      {"the server timed out and may go on", ErrorReply(504, "Timeout"), true, 75 * kSecond,
       "bind Unavailable: the pod was not bound: server: Timeout"},
      {"no answer", Lost(), true, 75 * kSecond,
       "bind Unavailable: the pod was not bound: connection lost"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.description);
    outcomes_.clear();
    const uint64_t before = writer_.counts().binds;
    Bind();
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(outcomes_.empty());
      Expect(kBindTarget, c.reply);
      if (c.is_read_back) Expect(kReadTarget, PodIs("u1", ""));
    }
    const int64_t last_ns = clock_.NowNs();
    while (outcomes_.empty()) Expect(kReadTarget, PodIs("u1", ""));
    EXPECT_EQ(outcomes_, (BindOutcomes{c.outcome}));
    EXPECT_EQ(writer_.counts().binds - before, 4U);
    EXPECT_LE(clock_.NowNs() - last_ns, c.settled_after_ns);
    EXPECT_GE(clock_.NowNs() - last_ns, c.settled_after_ns - kSecond);
  }
}

TEST_F(BindTaskTest, FailuresOfAllKindsCountTogether) {
  Bind();
  for (int i = 0; i < 3; ++i) Expect(kBindTarget, NotSent());
  Expect(kBindTarget, ErrorReply(500, "InternalError"));
  while (outcomes_.empty()) Expect(kReadTarget, PodIs("u1", ""));
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind Unavailable: the pod was not bound: server: "
                                     "InternalError"}));
  EXPECT_EQ(writer_.counts().binds, 4U);
}

TEST_F(BindTaskTest, RefusalsWith429AreNoTries) {
  Bind();
  for (int i = 0; i < 4; ++i) Expect(kBindTarget, ErrorReply(429, "TooManyRequests", 1));
  for (int i = 0; i < 3; ++i) Expect(kBindTarget, NotSent());
  Expect(kBindTarget, Created());
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind Ok"}));
}

TEST_F(BindTaskTest, LogsErrorOfTheReadsWhenItChanges) {
  TestLog log(BERTH_LOG_ERROR);
  PodWriter writer(transport_, executor_, fence_, {}, Log(log, "writes"));
  writer.Bind({"default", "p", "u1"}, "n1", nullptr);
  Expect(kBindTarget, Lost());
  for (int i = 0; i < 3; ++i) Expect(kReadTarget, ErrorReply(403, "Forbidden"));
  const std::string text = "writes: Cannot read back a pod whose binding is unknown: server: ";
  EXPECT_EQ(log.lines(), (std::vector<std::string>{text + "Forbidden pod=default/p node=n1"}));
  Expect(kReadTarget, ErrorReply(500, "InternalError"));
  ASSERT_EQ(log.lines().size(), 2U);
  EXPECT_EQ(log.lines()[1], text + "InternalError pod=default/p node=n1");
}

TEST_F(BindTaskTest, RespectsALongRetryAfter) {
  Bind();
  Expect(kBindTarget, ErrorReply(503, "ServiceUnavailable", 31 * kSecond));
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind Unavailable: server: ServiceUnavailable"}));
  Bind();
  Expect(kBindTarget, ErrorReply(503, "ServiceUnavailable", 20 * kSecond));
  RunFor(20 * kSecond - 1);
  EXPECT_TRUE(transport_.open().empty());
  Expect(kBindTarget, Created());
  EXPECT_EQ(outcomes_.back(), "bind Ok");
}

TEST_F(BindTaskTest, ReadsAnUnknownBindingWithinAMinuteRegardless) {
  Bind();
  Expect(kBindTarget, ErrorReply(500, "InternalError", INT64_MAX));
  for (int i = 0; i < 3; ++i) {
    RunFor(kMinute - 1);
    EXPECT_TRUE(transport_.open().empty()) << i;
    RunFor(1);
    ASSERT_FALSE(transport_.open().empty()) << i;
    Expect(kReadTarget, ErrorReply(429, "TooManyRequests", kHour));
  }
  Expect(kReadTarget, PodIs("u1", "n1"));
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind Ok"}));
}

TEST_F(BindTaskTest, WaitsUntilAnUnknownRequestHasExpired) {
  Bind();
  Expect(kBindTarget, Lost());
  fence_.Close();
  const int64_t lost_ns = clock_.NowNs();
  int reads = 0;
  while (outcomes_.empty() && reads < 1000) {
    Expect(kReadTarget, PodIs("u1", ""));
    ++reads;
  }
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind Unavailable: the pod was not bound: connection lost"}));
  EXPECT_EQ(clock_.NowNs() - lost_ns, 75 * kSecond);
  EXPECT_GT(reads, 5);
  EXPECT_EQ(writer_.counts().binds, 1U);
}

TEST_F(BindTaskTest, FindsLateExecutionAfterTheFenceHasClosed) {
  Bind();
  Expect(kBindTarget, Lost());
  fence_.Close();
  Expect(kReadTarget, PodIs("u1", ""));
  Expect(kReadTarget, PodIs("u1", ""));
  Expect(kReadTarget, PodIs("u1", "n1"));
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind Ok"}));
}

TEST_F(BindTaskTest, DoesNotBelieveAReadSentTooEarly) {
  Bind();
  Expect(kBindTarget, Lost());
  fence_.Close();
  RunUntilOpen();
  // The answer to the first read takes longer than the time after which requests are settled.
  clock_.AdvanceTo(clock_.NowNs() + 80 * kSecond);
  Expect(kReadTarget, PodIs("u1", ""));
  EXPECT_TRUE(outcomes_.empty());
  Expect(kReadTarget, PodIs("u1", "n1"));
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind Ok"}));
}

TEST_F(BindTaskTest, KeepsTheFinalErrorOfARepetition) {
  Bind();
  Expect(kBindTarget, Lost());
  Expect(kReadTarget, PodIs("u1", ""));
  Expect(kBindTarget, ErrorReply(403, "Forbidden"));
  while (outcomes_.empty()) {
    Expect(kReadTarget, PodIs("u1", ""));
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind PermissionDenied: server: Forbidden"}));
  EXPECT_GE(Elapsed(), 75 * kSecond);
}

TEST_F(BindTaskTest, RepeatsOnceEvenAfterALongTimeOut) {
  Bind();
  RunUntilOpen();
  clock_.AdvanceTo(clock_.NowNs() + 34 * kSecond);
  Expect(kBindTarget, Lost());
  Expect(kReadTarget, PodIs("u1", ""));
  Expect(kBindTarget, Created());
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind Ok"}));
}

// ---- The fence ----------------------------------------------------------------------------------

TEST_F(BindTaskTest, SendsNothingWithAClosedFence) {
  fence_.Close();
  Bind("p");
  Patch("q");
  Delete("r");
  Expect(kBindTarget, Created());
  Expect("PATCH /api/v1/namespaces/default/pods/q/status", {.http_status = 200, .body = "{}"});
  Expect("DELETE /api/v1/namespaces/default/pods/r", {.http_status = 200, .body = "{}"});
  const std::string why = "Unavailable: this process does not lead any more";
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind " + why, "patch " + why, "delete " + why}));
  EXPECT_EQ(writer_.counts().refused_by_fence, 3U);
  EXPECT_EQ(fence_.refusals(), 3U);
}

TEST_F(BindTaskTest, AsksTheFenceAgainBeforeARepetition) {
  Bind();
  Expect(kBindTarget, ErrorReply(429, "TooManyRequests", kSecond));
  RunUntilOpen();
  fence_.Close();
  Expect(kBindTarget, Created());
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind Unavailable: this process does not lead any more"}));
}

TEST_F(BindTaskTest, ReadsOnIfTheFenceRefusesARepetition) {
  Bind();
  Expect(kBindTarget, Lost());
  Expect(kReadTarget, PodIs("u1", ""));
  RunUntilOpen();
  fence_.Close();
  Expect(kBindTarget, Created());  // Refused.
  EXPECT_TRUE(outcomes_.empty());
  Expect(kReadTarget, PodIs("u1", "n1"));
  EXPECT_EQ(outcomes_, (BindOutcomes{"bind Ok"}));
  EXPECT_EQ(writer_.counts().refused_by_fence, 1U);
}

}  // namespace
}  // namespace berth::host

#include "host/cluster/kubernetes/write/pod_writer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/clock.h"
#include "host/base/time_units.h"
#include "tests/harness/pod_writer_fixture.h"
#include "tests/harness/scripted_transport.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {
namespace {

using WriterOutcomes = std::vector<std::string>;

// ---- Patches and deletions ----------------------------------------------------------------------

TEST_F(PodWriterTest, RepeatsPatchesAndDeletions) {
  struct Case {
    const char* name;
    Reply first;
    Reply second;
    const char* patch_outcome;
    const char* delete_outcome;
  };
  const Reply done = {.http_status = 200, .body = "{}"};
  const Case cases[] = {
      {"lost", Lost(), done, "Ok", "Ok"},
      {"not sent", NotSent(), done, "Ok", "Ok"},
      {"internal error", ErrorReply(500, "InternalError"), done, "Ok", "Ok"},
      {"overloaded", ErrorReply(429, "TooManyRequests", kSecond), done, "Ok", "Ok"},
      {"lost, then gone", Lost(), ErrorReply(404, "NotFound"), "NotFound: server: NotFound", "Ok"},
      {"not sent, then gone", NotSent(), ErrorReply(404, "NotFound"), "NotFound: server: NotFound",
       "NotFound: server: NotFound"},
      {"lost, then another uid", Lost(), ErrorReply(409, "Conflict"), "Conflict: server: Conflict",
       "Conflict: server: Conflict"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    outcomes_.clear();
    Patch();
    Expect("PATCH /api/v1/namespaces/default/pods/p/status", c.first);
    EXPECT_TRUE(outcomes_.empty());
    Expect("PATCH /api/v1/namespaces/default/pods/p/status", c.second);
    Delete();
    Expect("DELETE /api/v1/namespaces/default/pods/p", c.first);
    Expect("DELETE /api/v1/namespaces/default/pods/p", c.second);
    EXPECT_EQ(outcomes_, (WriterOutcomes{std::string("patch ") + c.patch_outcome,
                                         std::string("delete ") + c.delete_outcome}));
    EXPECT_EQ(writer_.open(), 0U);
  }
}

TEST_F(PodWriterTest, GivesUpPatchesAfterAWhile) {
  Patch();
  for (int i = 0; i < 1000 && outcomes_.empty(); ++i) {
    Expect("PATCH /api/v1/namespaces/default/pods/p/status", ErrorReply(500, "InternalError"));
  }
  EXPECT_EQ(outcomes_, (WriterOutcomes{"patch Internal: server: InternalError"}));
  EXPECT_GT(Elapsed(), 15 * kSecond);
  EXPECT_LE(Elapsed(), 30 * kSecond);
}

TEST_F(PodWriterTest, LogsTheFirstRefusalInARow) {
  const Reply forbidden = ErrorReply(403, "Forbidden");
  const Reply done = {.http_status = 200, .body = "{}"};
  const auto patch = [this](const Reply& reply) {
    Patch();
    Expect("PATCH /api/v1/namespaces/default/pods/p/status", reply);
  };
  const std::string refused =
      "pods: The server refused to patch a pod's status: server: Forbidden pod=default/p";
  // A pod that is gone is no refusal.
  for (const Reply& reply : {ErrorReply(404, "NotFound"), ErrorReply(409, "Conflict")}) {
    patch(reply);
  }
  EXPECT_TRUE(log_.lines().empty());
  for (int i = 0; i < 3; ++i) patch(forbidden);
  EXPECT_EQ(log_.lines(), (std::vector<std::string>{refused}));
  patch(done);
  patch(forbidden);
  EXPECT_EQ(log_.lines(), (std::vector<std::string>{refused, refused}));
  patch(done);
  log_.lines().clear();
  Delete();
  Expect("DELETE /api/v1/namespaces/default/pods/p", forbidden);
  EXPECT_EQ(log_.lines(),
            (std::vector<std::string>{
                "pods: The server refused to delete a pod: server: Forbidden pod=default/p"}));
}

TEST_F(PodWriterTest, RefusesPodsWithoutNames) {
  writer_.Delete({"default", "", "u1"}, std::nullopt, Record("delete"));
  writer_.Bind({"", "p", "u1"}, "n1", Record("bind"));
  EXPECT_TRUE(outcomes_.empty()) << "callbacks are never called within the call";
  executor_.RunAll();
  EXPECT_EQ(
      outcomes_,
      (WriterOutcomes{R"(delete InvalidArgument: expected the namespace and the name of a pod, )"
                      R"(found "default/")",
                      R"(bind InvalidArgument: expected the namespace and the name of a pod, )"
                      R"(found "/p")"}));
  EXPECT_TRUE(transport_.open().empty());
}

TEST_F(PodWriterTest, AcceptsEmptyCallbacks) {
  writer_.Bind({"default", "p", "u1"}, "n1", nullptr);
  Expect(kBindTarget, Created());
  writer_.Bind({"default", "", "u1"}, "n1", nullptr);
  executor_.RunAll();
  EXPECT_EQ(writer_.open(), 0U);
}

// ---- Order --------------------------------------------------------------------------------------

TEST_F(PodWriterTest, KeepsOrderOfTheRequestsForOnePod) {
  Patch("p");
  Bind("p");
  Delete("p");
  Bind("q");
  EXPECT_EQ(transport_.open(),
            (std::vector<std::string>{"PATCH /api/v1/namespaces/default/pods/p/status",
                                      "POST /api/v1/namespaces/default/pods/q/binding"}));
  transport_.Answer(1, 201, "{}");
  executor_.RunAll();
  EXPECT_EQ(outcomes_, (WriterOutcomes{"bind Ok"}));
  Expect("PATCH /api/v1/namespaces/default/pods/p/status", {.http_status = 200, .body = "{}"});
  Expect(kBindTarget, Lost());
  EXPECT_EQ(outcomes_.size(), 2U);
  Expect(kReadTarget, PodIs("u1", "n1"));
  Expect("DELETE /api/v1/namespaces/default/pods/p", {.http_status = 200, .body = "{}"});
  EXPECT_EQ(outcomes_, (WriterOutcomes{"bind Ok", "patch Ok", "bind Ok", "delete Ok"}));
}

TEST_F(PodWriterTest, StartsTheNextRequestAfterTheCallback) {
  writer_.Bind({"default", "p", "u1"}, "n1", [this](const Status& status) {
    outcomes_.push_back("bind " + status.ToString());
    EXPECT_TRUE(transport_.open().empty());
    Patch();
    EXPECT_TRUE(transport_.open().empty()) << "the binding is under way until its callback returns";
  });
  Expect(kBindTarget, Created());
  Expect("PATCH /api/v1/namespaces/default/pods/p/status", {.http_status = 200, .body = "{}"});
  EXPECT_EQ(outcomes_, (WriterOutcomes{"bind Ok", "patch Ok"}));
}

// ---- Stop ---------------------------------------------------------------------------------------

class PodWriterStopTest : public PodWriterTest {
 protected:
  void Stop() {
    writer_.Stop(20 * kSecond, [this] { outcomes_.emplace_back("stopped"); });
  }
};

TEST_F(PodWriterStopTest, EndsAtOnceWithoutRequests) {
  Stop();
  EXPECT_TRUE(outcomes_.empty());
  executor_.RunAll();
  EXPECT_EQ(outcomes_, (WriterOutcomes{"stopped"}));
  Bind();
  executor_.RunAll();
  EXPECT_EQ(outcomes_.back(), "bind Unavailable: the client was stopped");
}

TEST_F(PodWriterStopTest, EndsRequestsThatWait) {
  Bind("p");
  Expect(kBindTarget, ErrorReply(429, "TooManyRequests", kSecond));
  Bind("p");
  Patch("q");
  Expect("PATCH /api/v1/namespaces/default/pods/q/status",
         ErrorReply(429, "TooManyRequests", kSecond));
  Stop();
  executor_.RunAll();
  const std::string why = " Unavailable: the client was stopped";
  EXPECT_EQ(outcomes_, (WriterOutcomes{"bind" + why, "patch" + why, "bind" + why, "stopped"}));
}

TEST_F(PodWriterStopTest, WaitsForAnswersToWhatWasSent) {
  Bind("p");
  Bind("q");
  Stop();
  transport_.Answer(0, 201, "{}");
  executor_.RunAll();
  EXPECT_EQ(outcomes_, (WriterOutcomes{"bind Ok"}));
  transport_.Answer(0, 409, "{}");
  executor_.RunAll();
  ASSERT_EQ(outcomes_.size(), 3U);
  EXPECT_TRUE(outcomes_[1].starts_with("bind Conflict")) << outcomes_[1];
  EXPECT_EQ(outcomes_[2], "stopped");
}

TEST_F(PodWriterStopTest, SendsNothingThatHasNotLeft) {
  Bind("p");
  Stop();
  Expect(kBindTarget, Created());  // Refused by may_send.
  EXPECT_EQ(outcomes_, (WriterOutcomes{"bind Unavailable: the client was stopped", "stopped"}));
  EXPECT_EQ(writer_.counts().refused_by_fence, 0U);
}

TEST_F(PodWriterStopTest, ReadsUnknownBindingsBack) {
  Bind("p");
  Expect(kBindTarget, Lost());
  Stop();
  Expect(kReadTarget, PodIs("u1", ""));
  EXPECT_TRUE(outcomes_.empty());
  Expect(kReadTarget, PodIs("u1", "n1"));
  EXPECT_EQ(outcomes_, (WriterOutcomes{"bind Ok", "stopped"}));
  EXPECT_EQ(writer_.counts().binds, 1U);
}

TEST_F(PodWriterStopTest, GivesUpAtItsLimit) {
  Bind("p");
  Patch("p");
  Delete("q");
  RunUntilOpen();
  Stop();
  clock_.AdvanceTo(clock_.NowNs() + 20 * kSecond - 1);
  executor_.RunAll();
  EXPECT_TRUE(outcomes_.empty());
  clock_.AdvanceTo(clock_.NowNs() + 1);
  executor_.RunAll();
  const std::string unknown =
      " Unavailable: the client was stopped; it is unknown whether the request was executed";
  EXPECT_EQ(outcomes_, (WriterOutcomes{"bind" + unknown, "delete" + unknown,
                                       "patch Unavailable: the client was stopped", "stopped"}));
  // Late answers change nothing.
  transport_.Answer(0, 201, "{}");
  executor_.RunAll();
  EXPECT_EQ(outcomes_.size(), 4U);
}

TEST(PodWriterLifetimeTest, CallsNoCallbackAfterItsDestruction) {
  VirtualClock clock(0);
  VirtualExecutor executor(clock);
  ScriptedTransport transport(executor);
  BindFence fence([&clock] { return clock.NowNs(); });
  fence.OpenUntil(BindFence::kForever);
  int calls = 0;
  auto writer =
      std::make_unique<PodWriter>(transport, executor, fence, PodWriter::Options(), Log());
  writer->Bind({"default", "p", "u1"}, "n1", [&calls](const Status&) { ++calls; });
  writer->Bind({"default", "q", "u1"}, "n1", [&calls](const Status&) { ++calls; });
  transport.Answer(0, 201, "{}");
  writer.reset();
  executor.RunAll();
  EXPECT_FALSE(transport.RequestAt(0).may_send().ok());
  transport.Answer(0, 201, "{}");
  executor.RunAll();
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace berth::host

#include "tests/harness/api_server/faulty_transport.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/harness/api_server/api_model_fixture.h"
#include "tests/harness/api_server/model_transport.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

// Counts what reaches the network and the server.
struct CountingAudit final : TransportAudit {
  void OnSent(const HttpRequest& /*request*/) override { ++sent; }
  void OnExecuted(const HttpRequest& /*request*/, const HttpResponse& /*response*/) override {
    ++executed;
  }
  int sent = 0;
  int executed = 0;
};

class FaultyTransportTest : public ApiModelTest {
 protected:
  static constexpr int64_t kLongest = 100 * kSecond;

  void SetUp() override {
    Start();
    CreateNode("a");
    inner_ = std::make_unique<ModelTransport>(*model_, server_);
    Reset(1);
  }
  void Reset(uint64_t seed) {
    transport_.reset();
    audit_ = {};
    transport_ = std::make_unique<FaultyTransport>(
        *inner_, FaultyTransport::Options{
                     .client = &executor_, .server = &server_, .seed = seed, .audit = &audit_});
  }
  // Runs both sides.
  void Run(int64_t duration_ns) {
    const int64_t end_ns = clock_.NowNs() + duration_ns;
    while (true) {
      while (server_.RunOne() || (!is_paused_ && executor_.RunOne())) {
      }
      int64_t next_ns = server_.NextNs().value_or(INT64_MAX);
      if (!is_paused_) next_ns = std::min(next_ns, executor_.NextNs().value_or(INT64_MAX));
      if (next_ns > end_ns) break;
      clock_.AdvanceTo(std::max(next_ns, clock_.NowNs()));
    }
    clock_.AdvanceTo(end_ns);
  }
  // Sends a request, and returns its answer after the longest time.
  HttpResponse Exchange(HttpRequest request = Get("/api/v1/nodes")) {
    int answers = 0;
    HttpResponse answer;
    transport_->Send(std::move(request), [&](HttpResponse response) {
      ++answers;
      answer = std::move(response);
    });
    EXPECT_EQ(answers, 0);
    Run(kLongest);
    EXPECT_EQ(answers, 1);
    EXPECT_EQ(transport_->open(), 0u);
    return answer;
  }
  static std::string Text(const HttpResponse& response) {
    if (response.status.ok()) return std::to_string(response.head.http_status);
    return response.delivery == Delivery::kNotSent ? "not sent" : "unknown";
  }

  VirtualExecutor server_{clock_};
  CountingAudit audit_;
  std::unique_ptr<ModelTransport> inner_;
  std::unique_ptr<FaultyTransport> transport_;
  bool is_paused_ = false;
};

// ---- Requests -----------------------------------------------------------------------------------

TEST_F(FaultyTransportTest, EachFaultAnswersAndExecutesAsDescribed) {
  struct Case {
    const char* name;
    TransportFaults faults;
    std::vector<std::string> answers;  // Each occurs, and no other.
    std::vector<int> executed;
    int sent;
  };
  const std::vector<Case> cases = {
      {"none", {}, {"200"}, {1}, 1},
      {"refused", {.refused = 100}, {"not sent"}, {0}, 0},
      {"lost before", {.lost_before = 100}, {"unknown"}, {0}, 1},
      {"lost after", {.lost_after = 100}, {"unknown"}, {1}, 1},
      {"duplicated", {.duplicated = 100, .max_late_ns = kSecond}, {"200"}, {2}, 1},
      {"late", {.late = 100, .max_late_ns = 60 * kSecond}, {"200", "unknown"}, {1}, 1},
      {"429", {.status_429 = 100}, {"429"}, {0}, 1},
      {"500", {.status_500 = 100}, {"500"}, {0, 1}, 1},
      {"503", {.status_503 = 100}, {"503"}, {0, 1}, 1},
      {"truncated", {.truncated = 100}, {"200", "unknown"}, {1}, 1}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::set<std::string> answers;
    std::set<int> executed;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      Reset(seed);
      transport_->SetFaults(c.faults);
      const HttpResponse answer = Exchange();
      answers.insert(Text(answer));
      executed.insert(audit_.executed);
      EXPECT_EQ(audit_.sent, c.sent);
      EXPECT_EQ(answer.sent_ns != 0, c.sent > 0);
      // Only a 503 without Retry-After may have been executed.
      if (answer.head.retry_after_ns > 0) {
        EXPECT_EQ(audit_.executed, 0);
      }
    }
    EXPECT_THAT(answers, ::testing::UnorderedElementsAreArray(c.answers));
    EXPECT_THAT(executed, ::testing::UnorderedElementsAreArray(c.executed));
  }
}

TEST_F(FaultyTransportTest, TheFirstAnswerToADuplicatedRequestCounts) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Reset(seed);
    transport_->SetFaults({.duplicated = 100});
    const std::string name = "p" + std::to_string(seed);
    CreatePod(name);
    const HttpResponse answer = Exchange({.verb = "POST",
                                          .target = std::string(kPods) + "/" + name + "/binding",
                                          .body = BindingText(name, "u-" + name, "n1"),
                                          .content_type = kJson});
    EXPECT_EQ(Text(answer), "201");
    EXPECT_EQ(audit_.executed, 2);
  }
}

TEST_F(FaultyTransportTest, EqualSeedsGiveEqualFaults) {
  const auto play = [this](uint64_t seed) {
    Reset(seed);
    transport_->SetFaults({.refused = 20, .lost_after = 20, .status_429 = 20});
    std::string answers;
    for (int i = 0; i < 20; ++i) answers += Text(Exchange()) + " ";
    return answers;
  };
  EXPECT_EQ(play(7), play(7));
  EXPECT_NE(play(7), play(8));
}

TEST_F(FaultyTransportTest, FaultsMayBeLimitedToSomeTargets) {
  transport_->SetFaults({.refused = 100}, "/nodes");
  EXPECT_EQ(Text(Exchange()), "not sent");
  EXPECT_EQ(Text(Exchange(Get("/version"))), "200");
}

TEST_F(FaultyTransportTest, AsksTheFenceImmediatelyBeforeTheFirstByte) {
  HttpRequest request = Get("/api/v1/nodes");
  int asked = 0;
  request.may_send = [&] {
    ++asked;
    return Status::Unavailable("closed");
  };
  const HttpResponse answer = Exchange(request);
  EXPECT_EQ(answer.status.message(), "closed");
  EXPECT_EQ(Text(answer), "not sent");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(audit_.sent, 0);
}

TEST_F(FaultyTransportTest, AProcessStoppedReceivesItsAnswersLater) {
  int answers = 0;
  transport_->Send(Get("/version"), [&](const HttpResponse&) { ++answers; });
  while (audit_.sent == 0) Run(kMillisecond);
  is_paused_ = true;
  Run(kLongest);
  EXPECT_EQ(audit_.executed, 1);
  EXPECT_EQ(answers, 0);
  is_paused_ = false;
  Run(kSecond);
  EXPECT_EQ(answers, 1);
}

TEST_F(FaultyTransportTest, TheEndOfTheProcessCallsNothing) {
  int executed = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Reset(seed);
    transport_->SetFaults({.late = 100, .max_late_ns = 60 * kSecond});
    transport_->Send(Get("/version"), [](const HttpResponse&) { FAIL(); });
    while (audit_.sent == 0) Run(kMillisecond);
    transport_->EndProcess();
    Run(kLongest);
    executed += audit_.executed;
  }
  EXPECT_GT(executed, 2);
  EXPECT_LT(executed, 18);
}

TEST_F(FaultyTransportTest, CloseCompletesEverything) {
  RecordingStreamSink sink;
  const auto stream = transport_->Open(Get("/api/v1/nodes?watch=true&resourceVersion=1"), sink);
  std::string answer;
  transport_->Send(Get("/version"), [&](const HttpResponse& response) { answer = Text(response); });
  transport_->Close();
  EXPECT_EQ(answer, "not sent");
  EXPECT_THAT(sink.end, HasSubstr("closed"));
  transport_->Send(Get("/version"),
                   [&](const HttpResponse& response) { answer += Text(response); });
  EXPECT_EQ(answer, "not sent");
  Run(kSecond);
  EXPECT_EQ(answer, "not sentnot sent");
}

// ---- Streams ------------------------------------------------------------------------------------

// The parts that a watch of one node delivers, for some seeds.
struct Played {
  std::set<std::string> ends;
  std::set<std::string> lines;
  int most_parts = 0;
};

class FaultyStreamTest : public FaultyTransportTest {
 protected:
  Played Play(const TransportFaults& faults, const std::string& target) {
    Played played;
    const bool is_list = target.find("watch") == std::string::npos;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      Reset(seed);
      transport_->SetFaults(faults);
      RecordingStreamSink sink;
      const auto stream = transport_->Open(Get(target), sink);
      stream->SetSilenceLimit(30 * kSecond);
      Run(29 * kSecond);
      const bool was_over = !sink.end.empty();
      Run(kLongest);
      played.ends.insert(was_over ? sink.end : sink.end + " later");
      played.lines.insert(is_list ? sink.bytes : Lines(sink.bytes));
      played.most_parts = std::max(played.most_parts, sink.parts);
    }
    return played;
  }
  static constexpr const char* kWatch = "/api/v1/nodes?watch=true&resourceVersion=0";
  static constexpr const char* kSilent = "Unavailable: no byte has arrived in time later";
};

TEST_F(FaultyStreamTest, EachFaultChangesAWatchAsDescribed) {
  struct Case {
    const char* name;
    TransportFaults faults;
    std::vector<std::string> ends;
    std::vector<std::string> lines;  // Empty: any.
  };
  const std::vector<Case> cases = {
      {"none", {}, {kSilent}, {"ADDED a@1 "}},
      {"refused", {.refused = 100}, {"Unavailable: connection refused"}, {""}},
      {"gone", {.gone = 100}, {"410", "200"}, {"", "ERROR 410 "}},
      {"early end", {.early_end = 100}, {"200"}, {""}},
      {"429", {.status_429 = 100}, {"429"}, {""}},
      {"cut", {.cut = 100}, {"Unavailable: connection reset"}, {}},
      {"stalled", {.stalled = 100}, {kSilent}, {}},
      {"doubled", {.doubled = 100}, {kSilent}, {"ADDED a@1 ADDED a@1 "}},
      {"slow", {.max_late_ns = 20 * kSecond, .slow = 100}, {kSilent}, {"ADDED a@1 "}},
      {"chopped", {.chopped = 100}, {kSilent}, {"ADDED a@1 "}},
      {"foreign line", {.foreign_line = 100}, {kSilent}, {"PATCHED @ ADDED a@1 "}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Played played = Play(c.faults, kWatch);
    EXPECT_THAT(played.ends, ::testing::UnorderedElementsAreArray(c.ends));
    if (!c.lines.empty()) {
      EXPECT_THAT(played.lines, ::testing::UnorderedElementsAreArray(c.lines));
    }
    if (c.faults.chopped > 0) {
      EXPECT_GT(played.most_parts, 3);
    }
  }
}

TEST_F(FaultyStreamTest, AListIsNeverChangedWithoutAnError) {
  const Played whole = Play({}, "/api/v1/nodes");
  EXPECT_THAT(whole.ends, ::testing::ElementsAre("200"));
  // These faults apply to watches only.
  const Played same =
      Play({.gone = 100, .doubled = 100, .early_end = 100, .foreign_line = 100}, "/api/v1/nodes");
  EXPECT_EQ(same.ends, whole.ends);
  EXPECT_EQ(same.lines, whole.lines);
  const Played cut = Play({.truncated = 100}, "/api/v1/nodes");
  EXPECT_THAT(cut.ends, ::testing::ElementsAre("Unavailable: connection reset"));
}

TEST_F(FaultyStreamTest, CutEverythingEndsStreamsAndRequestsSent) {
  RecordingStreamSink sink;
  const auto stream = transport_->Open(Get(kWatch), sink);
  Run(kSecond);
  EXPECT_EQ(Lines(sink.bytes), "ADDED a@1 ");
  transport_->SetFaults({.late = 100, .max_late_ns = 60 * kSecond});
  std::string answer;
  transport_->Send(Get("/version"), [&](const HttpResponse& response) { answer = Text(response); });
  while (audit_.sent < 2) Run(kMillisecond);
  transport_->CutEverything();
  Run(kSecond);
  EXPECT_EQ(answer, "unknown");
  EXPECT_EQ(sink.end, "Unavailable: connection reset");
}

}  // namespace
}  // namespace berth::host

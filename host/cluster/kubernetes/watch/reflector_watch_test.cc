// How a reflector goes on after each event and each end of a watch.
#include <string>
#include <vector>

#include "host/cluster/client.h"
#include "tests/harness/reflector_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- Lines --------------------------------------------------------------------------------------

TEST_F(ReflectorTest, DeliversEventsOfAPartTogetherInOrder) {
  StartWatching();
  transport_.Bytes(0, Line("MODIFIED", "n1", 11) + Line("DELETED", "n2", 12) +
                          Line("ADDED", "n3", 13) + Line("MODIFIED", "n1", 14));
  EXPECT_THAT(Seen(), ElementsAre("~n1@11(5)", "-n2@12(6)", "+n3@13", "~n1@14(11)", "|"));
}

TEST_F(ReflectorTest, ReadsLinesInPiecesOfAnySize) {
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{64}, size_t{10'000}}) {
    StartWatching();
    const std::string text = Line("MODIFIED", "n1", 11) + "\n" + Line("DELETED", "n2", 12);
    for (size_t at = 0; at < text.size(); at += piece) {
      transport_.Bytes(0, std::string_view(text).substr(at, piece));
    }
    std::vector<std::string> seen = Seen();
    std::erase(seen, "|");
    EXPECT_THAT(seen, ElementsAre("~n1@11(5)", "-n2@12(6)")) << piece;
    reflector_.reset();
  }
}

TEST_F(ReflectorTest, DropsALineThatWasSentTwice) {
  StartWatching();
  const std::string change = Line("MODIFIED", "n1", 11);
  transport_.Bytes(0, change + change);
  transport_.Bytes(0, change + Line("DELETED", "n2", 12) + Line("DELETED", "n2", 12));
  EXPECT_THAT(Seen(), ElementsAre("~n1@11(5)", "|", "-n2@12(6)", "|"));
  EXPECT_EQ(reflector_->state(), Reflector::State::kWatching);
}

TEST_F(ReflectorTest, ABookmarkOnlyAdvancesTheVersion) {
  StartWatching();
  transport_.Bytes(0, Bookmark(40));
  EXPECT_THAT(Seen(), IsEmpty());
  Advance(2 * kSecond);
  transport_.End(0);
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("40")));
}

TEST_F(ReflectorTest, ABookmarkThatGoesBackChangesNothing) {
  StartWatching();
  transport_.Bytes(0, Bookmark(40) + Bookmark(7) + Line("MODIFIED", "n1", 30));
  EXPECT_THAT(Seen(), ElementsAre("~n1@30(5)", "|"));
  EXPECT_EQ(reflector_->state(), Reflector::State::kWatching);
  Advance(2 * kSecond);
  transport_.End(0);
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("40")));
}

TEST_F(ReflectorTest, OlderStateCausesAList) {
  struct Case {
    const char* name;
    std::string line;
  };
  const std::vector<Case> cases = {
      {"an older change", Line("MODIFIED", "n1", 4)},
      {"an older deletion", Line("DELETED", "n1", 4)},
      {"an older deletion without its state", Line("DELETED", BrokenNodeText("n1", 4))},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    StartWatching();
    const std::string watch = Open().front();
    transport_.Bytes(0, Line("MODIFIED", "n2", 11) + c.line + Line("MODIFIED", "n2", 12));
    EXPECT_THAT(Seen(), ElementsAre("error: Unavailable: the server sent the resourceVersion 4, "
                                    "which is older than a state that it sent before",
                                    "~n2@11(6)", "~n2@12(11)", "|"));
    EXPECT_EQ(reflector_->counts().relists_error, 1u);
    // The watch goes on until the list begins, and the same error is not reported again.
    Advance(800 * kMillisecond - 1);
    transport_.Bytes(0, c.line + Line("MODIFIED", "n2", 13) + Line("MODIFIED", "n1", 3));
    EXPECT_THAT(Seen(), ElementsAre("~n2@13(12)", "|"));
    EXPECT_THAT(Open(), ElementsAre(watch));
    Advance(800 * kMillisecond + 1);
    EXPECT_THAT(Open(), ElementsAre(AgainFrom("13")));
    EXPECT_EQ(reflector_->counts().relists_error, 1u);
    transport_.Head(0);
    transport_.Bytes(0, Line("ADDED", "n1", 5) + Line("ADDED", "n2", 13) + Bookmark(14, true));
    EXPECT_THAT(Seen(), ElementsAre("ok"));
    Advance(kMinute);
    EXPECT_EQ(reflector_->state(), Reflector::State::kWatching);
    reflector_.reset();
  }
}

TEST_F(ReflectorTest, OlderStateCausesAListAfterItsWatch) {
  StartWatching();
  transport_.Bytes(0, Line("MODIFIED", "n1", 4));
  transport_.End(0);
  ASSERT_THAT(Open(), ElementsAre(WatchFrom("10")));
  Advance(2 * kSecond);
  EXPECT_THAT(Open(), ElementsAre(AgainFrom("10")));
  reflector_.reset();
  // The next watch cannot start.
  StartWatching();
  transport_.Bytes(0, Line("MODIFIED", "n1", 4));
  transport_.End(0);
  transport_.Answer(0, 429, StatusText(429, "TooManyRequests"), 20 * kSecond);
  Advance(20 * kSecond - 1);
  EXPECT_THAT(Open(), IsEmpty());
  Advance(1);
  EXPECT_THAT(Open(), ElementsAre(AgainFrom("10")));
}

TEST_F(ReflectorTest, OlderStateWaitsForTheFirstDelay) {
  const struct {
    const char* name;
    std::string bytes;
  } cases[] = {{"an older state", Line("MODIFIED", "n1", 4)}, {"no event", "<html>\n"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    StartWatching();
    transport_.End(0);
    for (int round = 0; round < 5; ++round) {
      transport_.Lose(0, Delivery::kNotSent);
      ExpectDelay(round);
    }
    transport_.Head(0);
    transport_.Bytes(0, c.bytes);
    Advance(1600 * kMillisecond);
    ASSERT_THAT(Open(), ElementsAre(AgainFrom("10")));
    // A server that sends it after each list is asked less and less often.
    transport_.Head(0);
    transport_.Bytes(0, Line("ADDED", "n1", 5) + Line("ADDED", "n2", 6) + Bookmark(10, true));
    transport_.Bytes(0, c.bytes);
    const std::vector<std::string> before = Open();
    Advance(1600 * kMillisecond - 1);
    EXPECT_EQ(Open(), before);
    Advance(1600 * kMillisecond + 1);
    EXPECT_THAT(Open(), ElementsAre(AgainFrom("10")));
    reflector_.reset();
  }
}

TEST_F(ReflectorTest, LineWithoutAnEventCausesADelayedList) {
  struct Case {
    const char* name;
    std::string bytes;
  };
  const std::vector<Case> cases = {
      {"no JSON", "<html>\n"},
      {"no event", "{}\n"},
      {"two events in one line", R"({"type":"ADDED","object":{}}{})"
                                 "\n"},
      {"a line that is too long", std::string(ObjectReader::kMaxLineBytes + 1, 'x')},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    StartWatching();
    transport_.Bytes(0, c.bytes);
    EXPECT_EQ(Seen().size(), 1u);
    EXPECT_EQ(reflector_->counts().relists_error, 1u);
    ExpectDelay();
    EXPECT_THAT(Open(), ElementsAre(AgainFrom("10")));
    reflector_.reset();
  }
}

TEST_F(ReflectorTest, SkipsOtherKindsAndUnknownEventTypes) {
  StartWatching();
  transport_.Bytes(0, Line("ADDED", R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p",)"
                                    R"("namespace":"ns","resourceVersion":"20"}})"));
  transport_.Bytes(0, Line("MOVED", "n1", 21));
  EXPECT_THAT(Seen(), IsEmpty());
  EXPECT_EQ(reflector_->counts().undecodable, 2u);
  Advance(2 * kSecond);
  transport_.End(0);
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("21")));
}

// ---- The end of a watch -------------------------------------------------------------------------

TEST_F(ReflectorTest, WatchesAgainFromTheLastVersionAtOnce) {
  struct Case {
    const char* name;
    Status status;
  };
  const std::vector<Case> cases = {
      {"in order", {}},
      {"the connection is lost", Status::Unavailable("connection reset by peer")},
      {"silence", Status::Unavailable("no byte arrived for 150s")},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    StartWatching();
    transport_.Bytes(0, Line("MODIFIED", "n1", 11));
    Seen();
    transport_.Bytes(0, R"({"type":"MODI)");
    Advance(kMinute);
    transport_.End(0, c.status);
    EXPECT_THAT(Open(), ElementsAre(WatchFrom("11")));
    EXPECT_THAT(Seen(), IsEmpty());
    EXPECT_EQ(reflector_->counts().lists, 1u);
    reflector_.reset();
  }
}

TEST_F(ReflectorTest, DelaysNextWatchAfterShortOneWithoutLine) {
  StartWatchingWithPages();
  Advance(kSecond - 1);
  transport_.End(0);
  ExpectDelay();
  ASSERT_THAT(Open(), ElementsAre(WatchFrom("10")));
  transport_.Head(0);
  Advance(kSecond);
  transport_.End(0);
  ASSERT_THAT(Open(), ElementsAre(WatchFrom("10")));
  // A line makes a short watch useful.
  transport_.Head(0);
  transport_.Bytes(0, Bookmark(11));
  transport_.End(0);
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("11")));
}

TEST_F(ReflectorTest, LimitsTheSilenceOfAWatch) {
  StartWatchingWithPages();
  Advance(2 * kSecond);
  transport_.End(0);
  ASSERT_EQ(Open().size(), 1u);
  EXPECT_EQ(transport_.SilenceLimitNs(0), (last_timeout_seconds_ + 30) * kSecond);
  transport_.Head(0);
  transport_.Bytes(0, Line("MODIFIED", "n1", 11));
  EXPECT_EQ(transport_.SilenceLimitNs(0), (last_timeout_seconds_ + 30) * kSecond);
  // A server that sends bookmarks sends one about every minute.
  transport_.Bytes(0, Bookmark(12));
  EXPECT_EQ(transport_.SilenceLimitNs(0), 150 * kSecond);
}

TEST_F(ReflectorTest, LimitsTheSilenceAfterTheInitialEvents) {
  Start();
  transport_.Answer(0, 200, ResourcesText());
  ASSERT_EQ(Open().size(), 1u);
  transport_.Head(0);
  transport_.Bytes(0, Bookmark(10, true));
  EXPECT_EQ(transport_.SilenceLimitNs(0), (last_timeout_seconds_ + 30) * kSecond);
}

TEST_F(ReflectorTest, RepeatsAWatchThatCannotStart) {
  struct Case {
    const char* name;
    uint32_t http_status;  // 0: the connection is refused.
    const char* error;
  };
  const std::vector<Case> cases = {
      {"connection refused", 0, "error: Unavailable: connection refused"},
      {"429", 429, "error: Unavailable: text"},
  };
  StartWatching();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Advance(10 * kMinute);
    transport_.End(0);
    Seen();
    for (int round = 0; round < 5; ++round) {
      ASSERT_THAT(Open(), ElementsAre(WatchFrom("10")));
      if (c.http_status == 0) {
        transport_.Lose(0, Delivery::kNotSent);
      } else {
        transport_.Answer(0, c.http_status, StatusText(429, "TooManyRequests"));
      }
      ExpectDelay(round);
    }
    EXPECT_THAT(Seen(), ElementsAre(c.error));
    EXPECT_EQ(reflector_->counts().lists, 1u);
    transport_.Head(0);
    EXPECT_THAT(Seen(), ElementsAre("ok"));
  }
}

TEST_F(ReflectorTest, WaitsAtLeastAsLongAsRetryAfter) {
  StartWatching();
  Advance(kMinute);
  transport_.End(0);
  transport_.Answer(0, 429, StatusText(429, "TooManyRequests"), 40 * kSecond);
  Advance(40 * kSecond - 1);
  EXPECT_THAT(Open(), IsEmpty());
  Advance(40 * kSecond);
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("10")));
}

TEST_F(ReflectorTest, NoAnswerStopsWatchForLongerThanMinute) {
  StartWatching();
  Advance(kMinute);
  transport_.End(0);
  transport_.Answer(0, 429, StatusText(429, "TooManyRequests"), 4'294'967'295 * kSecond);
  Advance(kMinute - 1);
  EXPECT_THAT(Open(), IsEmpty());
  Advance(1);
  ASSERT_THAT(Open(), ElementsAre(WatchFrom("10")));
  // The Status object of an ERROR event counts as the header does.
  transport_.Head(0);
  transport_.Bytes(0, Line("ERROR", R"({"kind":"Status","status":"Failure","message":"text",)"
                                    R"("details":{"retryAfterSeconds":2147483647},"code":429})"));
  Advance(kMinute - 1);
  EXPECT_THAT(Open(), IsEmpty());
  Advance(1);
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("10")));
}

TEST_F(ReflectorTest, ListsAtOnceAfter410ThenDelayed) {
  StartWatchingWithPages();
  transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
  ASSERT_THAT(Open(), ElementsAre(kPage));
  transport_.Answer(0, 200, ListText(20, ""));
  ASSERT_THAT(Open(), ElementsAre(WatchFrom("20")));
  transport_.Answer(0, 410, StatusText(410, "Gone"));
  ExpectDelay();
  EXPECT_THAT(Open(), ElementsAre(kPage));
  EXPECT_EQ(reflector_->counts().relists_expired, 2u);
  // A gap is no error.
  EXPECT_THAT(Seen(), ElementsAre("-n1@5(5)?", "-n2@6(6)?", "|"));
}

TEST_F(ReflectorTest, InitialEventsKeepARowOf410) {
  StartWatching();
  const std::string expired = Line("ERROR", StatusText(410, "Expired"));
  transport_.Bytes(0, expired);
  ASSERT_THAT(Open(), ElementsAre(AgainFrom("10")));
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", "n1", 5) + Bookmark(20, true) + expired);
  ExpectDelay();
  EXPECT_THAT(Open(), ElementsAre(AgainFrom("20")));
  EXPECT_EQ(reflector_->counts().relists_expired, 2u);
  // A line of the watch itself does.
  transport_.Head(0);
  transport_.Bytes(0, Bookmark(30, true) + Bookmark(31) + expired);
  EXPECT_THAT(Open(), ElementsAre(AgainFrom("31")));
}

TEST_F(ReflectorTest, RepeatsTheWatchAndListsAfterThreeErrors) {
  struct Case {
    const char* name;
    bool is_event;  // An ERROR event, otherwise an answer.
    uint32_t code;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {"an ERROR event with 500", true, 500, "InternalError"},
      {"an ERROR event with 504", true, 504, "Timeout"},
      {"an answer with 500", false, 500, "InternalError"},
      {"an answer with 503", false, 503, "ServiceUnavailable"},
      {"an answer with 400", false, 400, "BadRequest"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    StartWatching();
    Advance(kMinute);
    transport_.End(0);
    for (int round = 0; round < 3; ++round) {
      ASSERT_THAT(Open(), ElementsAre(WatchFrom("10")));
      const std::string text = StatusText(static_cast<int>(c.code), c.reason);
      if (c.is_event) {
        transport_.Head(0);
        transport_.Bytes(0, Line("ERROR", text));
      } else {
        transport_.Answer(0, c.code, text);
      }
      ExpectDelay(round);
    }
    // The third error in a row casts doubt on the version: the list is a consistent read.
    EXPECT_THAT(Open(), ElementsAre(kFirst));
    EXPECT_EQ(reflector_->counts().relists_error, 1u);
    reflector_.reset();
    Seen();
  }
}

TEST_F(ReflectorTest, ALineEndsARowOfErrors) {
  StartWatching();
  for (int i = 0; i < 4; ++i) {
    transport_.Bytes(0, Bookmark(11 + i) + Line("ERROR", StatusText(500, "InternalError")));
    Advance(kMinute);
    ASSERT_THAT(Open(), ElementsAre(WatchFrom(std::to_string(11 + i))));
    transport_.Head(0);
  }
  EXPECT_EQ(reflector_->counts().lists, 1u);
}

TEST_F(ReflectorTest, RepeatsWatchUntilServerHasReachedTheVersion) {
  StartWatching();
  Advance(kMinute);
  transport_.End(0);
  transport_.Answer(0, 504, TooLargeText());
  ExpectDelay();
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("10")));
}

TEST_F(ReflectorTest, KeepsTheStateWhileAWatchIsDenied) {
  StartWatching();
  Advance(kMinute);
  transport_.End(0);
  for (int round = 0; round < 5; ++round) {
    transport_.Answer(0, 403, StatusText(403, "Forbidden", R"(User \"u\" cannot watch)"));
    ExpectDelay(round);
    ASSERT_THAT(Open(), ElementsAre(WatchFrom("10")));
  }
  EXPECT_EQ(reflector_->objects(), 2u);
  EXPECT_EQ(Seen().size(), 1u);
}

TEST_F(ReflectorTest, AsksDiscoveryAndListsAfter404) {
  StartWatching();
  Advance(kMinute);
  transport_.End(0);
  transport_.Answer(0, 404, StatusText(404, "NotFound"));
  ASSERT_THAT(Open(), ElementsAre("GET /api/v1"));
  transport_.Answer(0, 200, ResourcesText());
  ExpectDelay();
  EXPECT_THAT(Open(), ElementsAre(AgainFrom("10")));
}

TEST_F(ReflectorTest, SendsNothingAfterItsDestruction) {
  StartWatching();
  transport_.Bytes(0, Line("ERROR", StatusText(500, "InternalError")));
  reflector_->Refresh(kSecond, [] { FAIL(); });
  reflector_.reset();
  ASSERT_THAT(Open(), ElementsAre("GET /api/v1/nodes?limit=1"));
  transport_.Answer(0, 200, ListText(10, ""));
  Advance(10 * kMinute);
  EXPECT_THAT(Open(), IsEmpty());
}

// ---- Refresh ------------------------------------------------------------------------------------

class ReflectorRefreshTest : public ReflectorTest {
 protected:
  void Refresh() {
    reflector_->Refresh(kSecond, [this] { ++done_; });
  }
  int done_ = 0;
};

TEST_F(ReflectorRefreshTest, EndsWhenTheServerHasNothingNewer) {
  StartWatching();
  Refresh();
  ASSERT_EQ(Open().size(), 2u);
  EXPECT_EQ(Open()[1], "GET /api/v1/nodes?limit=1");
  EXPECT_EQ(done_, 0);
  transport_.Answer(1, 200, ListText(10, NodeText("n1", 5), "token"));
  EXPECT_EQ(done_, 1);
  Advance(kMinute);
  EXPECT_EQ(Open().size(), 1u);
}

TEST_F(ReflectorRefreshTest, EndsWhenTheWatchHasDeliveredTheVersion) {
  StartWatching();
  Refresh();
  transport_.Answer(1, 200, ListText(15, ""));
  transport_.Bytes(0, Line("MODIFIED", "n1", 14));
  EXPECT_EQ(done_, 0);
  transport_.Bytes(0, Line("MODIFIED", "n1", 16));
  EXPECT_EQ(done_, 1);
  EXPECT_EQ(reflector_->counts().lists, 1u);
}

TEST_F(ReflectorRefreshTest, ListsIfTheWatchMissesTheVersion) {
  StartWatching();
  Refresh();
  transport_.Answer(1, 200, ListText(15, ""));
  Advance(kSecond - 1);
  EXPECT_EQ(reflector_->state(), Reflector::State::kWatching);
  Advance(1);
  EXPECT_THAT(Open(), ElementsAre(AgainFrom("15")));
  // The list that is under way is not started again.
  Advance(10 * kSecond);
  EXPECT_THAT(Open(), ElementsAre(AgainFrom("15")));
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", "n1", 5) + Line("ADDED", "n2", 12) + Bookmark(15, true));
  EXPECT_THAT(Seen(), ElementsAre("~n2@12(6)", "|"));
  EXPECT_EQ(done_, 1);
}

TEST_F(ReflectorRefreshTest, RepeatsAQuestionThatFails) {
  StartWatching();
  Refresh();
  transport_.Lose(1, Delivery::kUnknown);
  for (const char* text : {"<html>", R"({"kind":"Status"})"}) {
    Advance(20 * kSecond);
    ASSERT_EQ(Open().size(), 2u);
    transport_.Answer(1, 200, text);
  }
  Advance(20 * kSecond);
  transport_.Answer(1, 200, ListText(10, ""));
  EXPECT_EQ(done_, 1);
}

TEST_F(ReflectorRefreshTest, WaitsForTheFirstList) {
  Start();
  Refresh();
  executor_.RunAll();
  transport_.Answer(0, 200, ResourcesText());
  ASSERT_THAT(Open(), ElementsAre(kFirst, "GET /api/v1/nodes?limit=1"));
  transport_.Answer(1, 200, ListText(9, ""));
  EXPECT_EQ(done_, 0);
  transport_.Head(0);
  transport_.Bytes(0, Bookmark(10, true));
  EXPECT_EQ(done_, 1);
}

TEST_F(ReflectorRefreshTest, EndsAtOnceForAnUnservedKind) {
  Start({.kind = "v1/Other"});
  Refresh();
  transport_.Answer(0, 200, ResourcesText());
  EXPECT_EQ(done_, 1);
  Refresh();
  EXPECT_EQ(done_, 1);
  executor_.RunAll();
  EXPECT_EQ(done_, 2);
}

}  // namespace
}  // namespace berth::host

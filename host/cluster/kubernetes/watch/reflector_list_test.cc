// How a reflector reads the first state and later ones.
#include <cstddef>
#include <string>
#include <vector>

#include "host/cluster/client.h"
#include "host/cluster/kubernetes/watch/list_and_watch.h"
#include "host/cluster/kubernetes/watch/page_progress.h"
#include "host/cluster/kubernetes/watch/reflector.h"
#include "tests/harness/reflector_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- Initial events -----------------------------------------------------------------------------

TEST_F(ReflectorTest, InitialEventsAreASortedList) {
  Start();
  EXPECT_EQ(reflector_->state(), Reflector::State::kDiscovering);
  transport_.Answer(0, 200, ResourcesText());
  EXPECT_THAT(Open(), ElementsAre(kFirst));
  EXPECT_EQ(reflector_->state(), Reflector::State::kListing);
  EXPECT_EQ(transport_.SilenceLimitNs(0), 60 * kSecond);
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", "n2", 6));
  transport_.Bytes(0, Line("ADDED", "n1", 5) + Line("ADDED", "n3", 7));
  // A change before the bookmark is part of the first state.
  transport_.Bytes(0, Line("MODIFIED", "n2", 8) + Line("DELETED", "n3", 9));
  EXPECT_THAT(Seen(), IsEmpty());
  EXPECT_FALSE(reflector_->is_synced());
  transport_.Bytes(0, Bookmark(10, true) + Line("ADDED", "n4", 11));
  EXPECT_THAT(Seen(), ElementsAre("+n1@5", "+n2@8", "synced", "|", "+n4@11", "|"));
  EXPECT_TRUE(reflector_->is_synced());
  EXPECT_EQ(reflector_->state(), Reflector::State::kWatching);
  EXPECT_EQ(reflector_->objects(), 3u);
  EXPECT_EQ(reflector_->counts().lists, 1u);
  EXPECT_EQ(reflector_->counts().watches, 1u);
}

TEST_F(ReflectorTest, DeliversSyncedForAKindWithoutObjects) {
  Start();
  transport_.Answer(0, 200, ResourcesText());
  transport_.Head(0);
  transport_.Bytes(0, Bookmark(10, true));
  EXPECT_THAT(Seen(), ElementsAre("synced", "|"));
}

TEST_F(ReflectorTest, AsksWithTheFieldSelector) {
  Start({.kind = "v1/Node", .field_selector = "status.phase!=Succeeded,status.phase!=Failed"});
  transport_.Answer(0, 200, ResourcesText());
  const std::string selector =
      "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";
  EXPECT_THAT(Open(), ElementsAre(HasSubstr(selector)));
  transport_.Answer(0, 400, StatusText(400, "BadRequest"));
  EXPECT_THAT(Open(), ElementsAre("GET /api/v1/nodes?" + selector + "&limit=500"));
  transport_.Answer(0, 200, ListText(10, ""));
  EXPECT_THAT(Open(), ElementsAre(HasSubstr(selector)));
}

TEST_F(ReflectorTest, RefusedInitialEventsMeanPagesForGood) {
  for (const uint32_t code : {400u, 422u}) {
    Start();
    transport_.Answer(0, 200, ResourcesText());
    ASSERT_THAT(Open(), ElementsAre(kFirst));
    transport_.Answer(0, code, StatusText(static_cast<int>(code), "Invalid"));
    EXPECT_THAT(Open(), ElementsAre(kPage));
    transport_.Answer(0, 200, ListText(10, NodeText("n2", 6) + "," + NodeText("n1", 5)));
    EXPECT_THAT(Seen(), ElementsAre("+n1@5", "+n2@6", "synced", "|"));
    EXPECT_THAT(Open(), ElementsAre(WatchFrom("10")));
    // A later list has pages at once, and no resourceVersion.
    transport_.Answer(0, 410, StatusText(410, "Expired"));
    EXPECT_THAT(Open(), ElementsAre(kPage));
    reflector_.reset();
    Seen();
  }
}

TEST_F(ReflectorTest, EndlessInitialEventsCauseAListWithPages) {
  struct Case {
    const char* name;
    Status status;  // How the stream ends.
  };
  const std::vector<Case> cases = {
      {"the server ends the stream", {}},
      {"silence", Status::Unavailable("no byte arrived for 60s")},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Start();
    transport_.Answer(0, 200, ResourcesText());
    transport_.Head(0);
    transport_.Bytes(0, Line("ADDED", "n1", 5) + Bookmark(9));
    transport_.End(0, c.status);
    EXPECT_EQ(Seen().size(), 1u);
    Advance(2 * kSecond);
    EXPECT_THAT(Open(), ElementsAre(kPage));
    transport_.Answer(0, 200, ListText(10, NodeText("n1", 5)));
    EXPECT_THAT(Seen(), ElementsAre("+n1@5", "synced", "|", "ok"));
    transport_.Answer(0, 410, StatusText(410, "Expired"));
    EXPECT_THAT(Open(), ElementsAre(AgainFrom("10")));
    reflector_.reset();
  }
}

TEST_F(ReflectorTest, TooManyInitialEventsCausePages) {
  Start();
  transport_.Answer(0, 200, ResourcesText());
  transport_.Head(0);
  // The server is never silent.
  constexpr int64_t kPart = 30 * kSecond;
  int version = 5;
  for (int64_t ns = kPart; ns < WatchStream::kMaxCollectNs; ns += kPart) {
    Advance(kPart);
    transport_.Bytes(0, Line("MODIFIED", "n1", version) + Bookmark(version));
    ++version;
  }
  Advance(kPart - 1);
  EXPECT_THAT(Seen(), IsEmpty());
  EXPECT_THAT(Open(), ElementsAre(kFirst));
  Advance(1);
  EXPECT_THAT(Seen(), ElementsAre("error: Unavailable: the initial events had no end within 2m0s"));
  Advance(2 * kSecond);
  EXPECT_THAT(Open(), ElementsAre(kPage));
  transport_.Answer(0, 200, ListText(10, NodeText("n1", 8)));
  EXPECT_THAT(Seen(), ElementsAre("+n1@8", "synced", "|", "ok"));
  transport_.Answer(0, 410, StatusText(410, "Expired"));
  EXPECT_THAT(Open(), ElementsAre(AgainFrom("10")));
}

TEST_F(ReflectorTest, WatchHasNoLimitAfterItsInitialEvents) {
  StartWatching();
  Advance(2 * WatchStream::kMaxCollectNs);
  transport_.Bytes(0, Line("MODIFIED", "n1", 11));
  EXPECT_THAT(Seen(), ElementsAre("~n1@11(5)", "|"));
}

TEST_F(ReflectorTest, ListsLaterNotOlderThanWhatWasSeen) {
  StartWatching();
  transport_.Bytes(0, Line("MODIFIED", "n1", 15));
  transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
  EXPECT_THAT(Open(), ElementsAre(AgainFrom("15")));
  transport_.Head(0);
  Seen();
  transport_.Bytes(0, Line("ADDED", "n1", 15) + Line("ADDED", "n3", 18) + Bookmark(20, true));
  // The deletion of n2 was not observed. There is no second kSynced.
  EXPECT_THAT(Seen(), ElementsAre("-n2@6(6)?", "+n3@18", "|"));
  EXPECT_EQ(reflector_->counts().relists_expired, 1u);
}

TEST_F(ReflectorTest, ExpiredOrTooLargeVersionIsLeftOut) {
  struct Case {
    const char* name;
    uint32_t http_status;
    std::string body;
  };
  const std::vector<Case> cases = {
      {"410 Expired", 410, StatusText(410, "Expired")},
      {"410 Gone", 410, StatusText(410, "Gone")},
      {"504 ResourceVersionTooLarge", 504, TooLargeText()},
  };
  StartWatching();
  std::string version = "10";
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
    ASSERT_THAT(Open(), ElementsAre(AgainFrom(version)));
    transport_.Answer(0, c.http_status, c.body);
    // At once, as a consistent read.
    ASSERT_THAT(Open(), ElementsAre(kFirst));
    // A second refusal is an error with a delay.
    transport_.Answer(0, c.http_status, c.body);
    EXPECT_THAT(Open(), IsEmpty());
    Advance(kMinute);
    ASSERT_THAT(Open(), ElementsAre(kFirst));
    transport_.Head(0);
    version = std::to_string(std::stoi(version) + 10);
    // The bookmark of the watch ends the row of expired versions.
    transport_.Bytes(0, Bookmark(std::stoi(version), true) + Bookmark(std::stoi(version)));
    Advance(10 * kMinute);
  }
}

TEST_F(ReflectorTest, ErrorEventWithinInitialEventsStartsThemAgain) {
  Start();
  transport_.Answer(0, 200, ResourcesText());
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", "n1", 5) + Line("ERROR", StatusText(500, "InternalError")));
  EXPECT_THAT(Seen(), ElementsAre("error: Unavailable: text"));
  ExpectDelay();
  EXPECT_THAT(Open(), ElementsAre(kFirst));
}

// ---- Pages --------------------------------------------------------------------------------------

TEST_F(ReflectorTest, ReadsAllPagesThenWatchesFromTheirVersion) {
  StartWatchingWithPages();
  transport_.End(0);
  Advance(2 * kSecond);
  transport_.Answer(0, 410, StatusText(410, "Expired"));
  ASSERT_THAT(Open(), ElementsAre(kPage));
  transport_.Head(0);
  const std::string page = ListText(20, NodeText("n3", 12), "token=/+");
  transport_.Bytes(0, page.substr(0, 100));
  transport_.Bytes(0, page.substr(100));
  transport_.End(0);
  EXPECT_THAT(Open(), ElementsAre("GET /api/v1/nodes?continue=token%3D%2F%2B&limit=500"));
  EXPECT_THAT(Seen(), IsEmpty());
  transport_.Answer(0, 200, ListText(20, NodeText("n1", 5)));
  EXPECT_THAT(Seen(), ElementsAre("-n2@6(6)?", "+n3@12", "|"));
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("20")));
}

TEST_F(ReflectorTest, ExpiredPageTokenCausesAListWithoutPages) {
  StartWatchingWithPages();
  transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
  transport_.Answer(0, 200, ListText(20, NodeText("n3", 12), "token"));
  transport_.Answer(0, 410, StatusText(410, "Expired"));
  EXPECT_THAT(Open(), ElementsAre("GET /api/v1/nodes"));
  transport_.Answer(0, 200, ListText(21, NodeText("n1", 5) + "," + NodeText("n4", 21)));
  EXPECT_THAT(Seen(), ElementsAre("-n2@6(6)?", "+n4@21", "|"));
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("21")));
  // The list after it has pages again.
  transport_.Head(0);
  transport_.Bytes(0, Bookmark(22) + Line("ERROR", StatusText(410, "Expired")));
  EXPECT_THAT(Open(), ElementsAre(kPage));
}

TEST_F(ReflectorTest, ListWithoutEndOrProgressBacksOff) {
  const struct {
    const char* name;
    size_t pages;  // The requests before the delay.
    bool has_items;
    bool has_new_tokens;
  } cases[] = {
      {"the same token and page", 2, true, false},
      {"the same token without objects", 2, false, false},
      {"other tokens with the same page", PageProgress::kMaxIdlePages + 1, true, true},
      {"other tokens without objects", PageProgress::kMaxIdlePages, false, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    StartWatchingWithPages();
    transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
    int token = 0;
    for (int round = 0; round < 3; ++round) {
      size_t pages = 0;
      while (reflector_->state() == Reflector::State::kListing && pages < 100) {
        if (c.has_new_tokens) ++token;
        transport_.Answer(
            0, 200,
            ListText(20, c.has_items ? NodeText("n1", 5) + "," + NodeText("n2", 6) : "",
                     "token" + std::to_string(token)));
        ++pages;
      }
      EXPECT_EQ(pages, c.pages);
      ExpectDelay(round);
      ASSERT_THAT(Open(), ElementsAre(kPage));
    }
    EXPECT_EQ(reflector_->counts().relists_error, 3u);
    // Every object stays, and the next complete list ends the error.
    EXPECT_EQ(Seen().size(), 1u);
    transport_.Answer(0, 200, ListText(20, NodeText("n1", 5) + "," + NodeText("n2", 6)));
    EXPECT_THAT(Seen(), ElementsAre("ok"));
    reflector_.reset();
  }
}

TEST_F(ReflectorTest, TokenOfAListWithoutPagesExpiresOnce) {
  StartWatchingWithPages();
  transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
  transport_.Answer(0, 200, ListText(20, NodeText("n3", 12), "token"));
  transport_.Answer(0, 410, StatusText(410, "Expired"));
  ASSERT_THAT(Open(), ElementsAre("GET /api/v1/nodes"));
  transport_.Answer(0, 200, ListText(20, NodeText("n3", 12), "token"));
  transport_.Answer(0, 410, StatusText(410, "Expired"));
  ExpectDelay();
  EXPECT_THAT(Open(), ElementsAre(kPage));
}

TEST_F(ReflectorTest, RepeatsListWithADelayAfterAnyError) {
  struct Case {
    const char* name;
    uint32_t http_status;  // 0: the connection is refused.
    std::string body;
    const char* error;
  };
  const std::vector<Case> cases = {
      {"no connection", 0, "", "error: Unavailable: connection refused"},
      {"500", 500, StatusText(500, "InternalError"), "error: Internal: text"},
      {"410 for the first page", 410, StatusText(410, "Expired"), "error: OutOfRange: text"},
      {"text that is no list", 200, "<html>",
       "error: InvalidArgument: item 0, byte 0: expected '{', found '<'"},
      {"a list without a version", 200, R"({"kind":"NodeList","metadata":{},"items":[]})",
       "error: InvalidArgument: /metadata/resourceVersion: expected a text, found nothing"},
  };
  StartWatchingWithPages();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    transport_.Bytes(0, Bookmark(10) + Line("ERROR", StatusText(410, "Expired")));
    ASSERT_THAT(Open(), ElementsAre(kPage));
    if (c.http_status == 0) {
      transport_.Lose(0, Delivery::kNotSent);
    } else {
      transport_.Answer(0, c.http_status, c.body);
    }
    EXPECT_THAT(Seen(), ElementsAre(c.error));
    ExpectDelay();
    ASSERT_THAT(Open(), ElementsAre(kPage));
    transport_.Answer(0, 200, ListText(10, NodeText("n1", 5) + "," + NodeText("n2", 6)));
    EXPECT_THAT(Seen(), ElementsAre("ok"));
    transport_.Head(0);
    Advance(10 * kMinute);
  }
}

TEST_F(ReflectorTest, DelayGrowsObeysRetryAfterAndStartsAgain) {
  Start();
  transport_.Answer(0, 200, ResourcesText());
  transport_.Answer(0, 503, StatusText(503, "ServiceUnavailable"));
  ExpectDelay(0);
  transport_.Answer(0, 503, StatusText(503, "ServiceUnavailable"));
  ExpectDelay(1);
  // An error that repeats is reported once.
  EXPECT_THAT(Seen(), ElementsAre("error: Unavailable: text"));
  transport_.Answer(0, 429, StatusText(429, "TooManyRequests"), 20 * kSecond);
  Advance(20 * kSecond - 1);
  EXPECT_THAT(Open(), IsEmpty());
  Advance(15 * kSecond);
  ASSERT_THAT(Open(), ElementsAre(kFirst));
  // After two minutes the delay starts again.
  Advance(150 * kSecond);
  transport_.Answer(0, 503, StatusText(503, "ServiceUnavailable"));
  ExpectDelay(0);
}

// ---- Lists that are refused ---------------------------------------------------------------------

TEST_F(ReflectorTest, RefusesAListOlderThanWhatWasSeen) {
  StartWatchingWithPages();
  transport_.Bytes(0, Bookmark(30) + Line("ERROR", StatusText(410, "Expired")));
  transport_.Answer(0, 200, ListText(29, ""));
  EXPECT_THAT(Seen(), ElementsAre("error: Unavailable: the list has the resourceVersion 29, but 30 "
                                  "was seen"));
  EXPECT_EQ(reflector_->objects(), 2u);
  EXPECT_EQ(reflector_->counts().relists_error, 1u);
  ExpectDelay();
  transport_.Answer(0, 200, ListText(30, NodeText("n1", 5)));
  EXPECT_THAT(Seen(), ElementsAre("-n2@6(6)?", "|", "ok"));
}

TEST_F(ReflectorTest, AcceptsOlderListIfThreeConsistentReadsAgree) {
  StartWatchingWithPages();
  transport_.Bytes(0, Bookmark(30) + Line("ERROR", StatusText(410, "Expired")));
  for (int i = 0; i < 2; ++i) {
    transport_.Answer(0, 200, ListText(4, NodeText("n1", 4)));
    Advance(10 * kSecond);
    ASSERT_THAT(Open(), ElementsAre(kPage));
  }
  Seen();
  transport_.Answer(0, 200, ListText(4, NodeText("n1", 4)));
  EXPECT_THAT(Seen(), ElementsAre("-n2@6(6)?", "~n1@4(5)", "|", "ok"));
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("4")));
}

// ---- Objects that cannot be decoded -------------------------------------------------------------

TEST_F(ReflectorTest, KeepsTheLastStateOfUndecodableListItems) {
  StartWatching();
  transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", BrokenNodeText("n1", 12)) + Line("ADDED", "n2", 6) +
                          Line("ADDED", BrokenNodeText("n9", 13)) + Bookmark(20, true));
  EXPECT_THAT(Seen(), IsEmpty());
  EXPECT_EQ(reflector_->objects(), 2u);
  EXPECT_EQ(reflector_->counts().undecodable, 2u);
}

TEST_F(ReflectorTest, KeepsTheLastStateOfUndecodablePageItems) {
  for (const std::string& item : {BrokenNodeText("n1", 12), NotUtf8NodeText("n1", 12)}) {
    StartWatchingWithPages();
    transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
    transport_.Answer(0, 200, ListText(20, item + "," + NodeText("n2", 6)));
    EXPECT_THAT(Seen(), IsEmpty());
    EXPECT_EQ(reflector_->objects(), 2u);
    EXPECT_EQ(reflector_->counts().undecodable, 1u);
    reflector_.reset();
  }
}

TEST_F(ReflectorTest, ListsNodesWithoutTheUnreadableValue) {
  StartWatching();
  transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
  transport_.Head(0);
  transport_.Bytes(
      0, Line("ADDED", PartialNodeText("n1", 12)) + Line("ADDED", "n2", 6) + Bookmark(20, true));
  EXPECT_THAT(Seen(), ElementsAre("~n1@12(5)", "|"));
  EXPECT_EQ(reflector_->counts().undecodable, 1u);
}

TEST_F(ReflectorTest, PagesHaveNodesWithoutTheUnreadableValue) {
  StartWatchingWithPages();
  transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
  transport_.Answer(0, 200, ListText(20, PartialNodeText("n1", 12) + "," + NodeText("n2", 6)));
  EXPECT_THAT(Seen(), ElementsAre("~n1@12(5)", "|"));
  EXPECT_EQ(reflector_->counts().undecodable, 1u);
}

// ---- Discovery and permissions ------------------------------------------------------------------

TEST_F(ReflectorTest, DeliversNotServedForAnUnservedKind) {
  Start({.kind = "v1/Other"});
  transport_.Answer(0, 200, ResourcesText());
  EXPECT_THAT(Seen(), ElementsAre("not served", "|"));
  EXPECT_EQ(reflector_->state(), Reflector::State::kNotServed);
  EXPECT_FALSE(reflector_->is_synced());
}

TEST_F(ReflectorTest, FollowsAKindThatStopsAndRestartsServing) {
  StartWatching();
  transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
  transport_.Answer(0, 404, StatusText(404, "NotFound"));
  EXPECT_THAT(Seen(), ElementsAre("error: NotFound: text"));
  ASSERT_THAT(Open(), ElementsAre("GET /api/v1"));
  transport_.Answer(0, 404, "{}");
  EXPECT_THAT(Seen(), ElementsAre("-n1@5(5)?", "-n2@6(6)?", "not served", "|"));
  EXPECT_EQ(reflector_->objects(), 0u);
  Advance(Discovery::kRefreshMissingNs);
  ASSERT_THAT(Open(), ElementsAre(kFirst));
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", "n1", 3) + Bookmark(4, true));
  EXPECT_THAT(Seen(), ElementsAre("+n1@3", "synced", "|", "ok"));
}

TEST_F(ReflectorTest, ListsAgainAfter404IfKindIsServed) {
  Start();
  transport_.Answer(0, 200, ResourcesText());
  transport_.Answer(0, 404, StatusText(404, "NotFound"));
  transport_.Answer(0, 200, ResourcesText());
  ExpectDelay();
  EXPECT_THAT(Open(), ElementsAre(kFirst));
}

TEST_F(ReflectorTest, ListsUnderTheNewNameOfTheResource) {
  StartWatching();
  discovery_.OnNotFound("v1/Node");
  ASSERT_EQ(Open().size(), 2u);
  transport_.Answer(1, 200, ResourcesText("machines"));
  EXPECT_THAT(Open(), ElementsAre(HasSubstr("GET /api/v1/machines?")));
}

TEST_F(ReflectorTest, NamesTheRuleThatIsMissing) {
  Start();
  transport_.Answer(0, 200, ResourcesText());
  transport_.Answer(0, 403,
                    StatusText(403, "Forbidden",
                               R"(nodes is forbidden: User \"system:a\" cannot list resource)"));
  EXPECT_THAT(Seen(),
              ElementsAre(R"(error: PermissionDenied: cannot list nodes (needed by the host): the )"
                          R"(user "system:a" may not. Add this rule to one of its roles: )"
                          R"({apiGroups: [""], resources: [nodes], verbs: [get, list, watch]})"));
  ExpectDelay();
  EXPECT_THAT(Open(), ElementsAre(kFirst));
}

TEST(MissingRuleText, NamesTheGroupAndKeepsAnUnknownMessage) {
  Resource resource;
  resource.group = "storage.k8s.io";
  resource.plural = "csinodes";
  EXPECT_EQ(MissingRuleText(resource, "watch", "", "denied"),
            "cannot watch csinodes: denied. Add this rule to one of its roles: "
            "{apiGroups: [storage.k8s.io], resources: [csinodes], verbs: [get, list, watch]}");
}

}  // namespace
}  // namespace berth::host

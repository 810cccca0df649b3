// Tests that the kit's services give the answers of the host's.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

#include "testing_found.h"
#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSecondNs = 1'000'000'000;

// Runs `act` in Reserve of pod "p" on node "a".
std::vector<std::string> FindingsInReserve(
    std::function<void(const berth_cycle&, const berth_target&)> act,
    const std::function<void(PluginUnderTest&)>& before = nullptr,
    const std::function<void(PluginUnderTest&)>& after = nullptr) {
  static std::function<void(const berth_cycle&, const berth_target&)> reserve;
  reserve = std::move(act);
  Parts parts;
  parts.create = &FindServices;
  parts.reserve = {sizeof(berth_reserve), 0,
                   [](void*, const berth_cycle* cycle, const berth_target* target,
                      berth_status*) noexcept -> berth_code {
                     reserve(*cycle, *target);
                     return BERTH_SUCCESS;
                   },
                   [](void*, const berth_binding*) noexcept {}};
  return FindingsOf(parts, [&](PluginUnderTest& plugin) {
    if (before) before(plugin);
    plugin.Reserve(MakePod("p"), "a");
    if (after) after(plugin);
  });
}

// --- time ----------------------------------------------------------------------------------------

// Sends a request each second, after the answer to the one before.
struct Poller {
  static inline int requests = 0;

  static void Wait() {
    uint64_t timer = 0;
    EXPECT_EQ(found.timer->start(found.host, kSecondNs, &Send, nullptr, &timer), BERTH_SUCCESS);
  }
  static void Send(void*) noexcept {
    berth_api_request request{};
    request.struct_size = sizeof request;
    request.verb = ToAbi("GET");
    request.path = ToAbi("/load");
    ++requests;
    const auto answer = [](void*, const berth_api_result*) noexcept { Wait(); };
    EXPECT_EQ(found.api->request(found.host, &request, answer, nullptr), BERTH_SUCCESS);
  }
};

TEST(TimeAsInTheHost, AnswersArriveBetweenTimers) {
  Poller::requests = 0;
  EXPECT_THAT(FindingsInReserve([](const auto&, const auto&) { Poller::Wait(); }, nullptr,
                                [](PluginUnderTest& plugin) {
                                  plugin.Advance(10 * kSecondNs);
                                  EXPECT_EQ(Poller::requests, 10);
                                  EXPECT_THAT(plugin.api().calls(), SizeIs(10));
                                }),
              IsEmpty());
}

TEST(TimeAsInTheHost, PostsRunBetweenTimers) {
  static std::vector<std::string> order;
  order.clear();
  const auto act = [](const auto&, const auto&) {
    uint64_t timer = 0;
    const auto first = [](void*) noexcept {
      order.push_back("first timer");
      found.timer->post(
          found.host,
          [](void*, berth_code) noexcept {
            order.push_back("post at " + std::to_string(found.timer->now_ns(found.host)));
          },
          nullptr);
    };
    found.timer->start(found.host, 1, first, nullptr, &timer);
    found.timer->start(
        found.host, 2, [](void*) noexcept { order.push_back("second timer"); }, nullptr, &timer);
  };
  EXPECT_THAT(FindingsInReserve(act, nullptr, [](PluginUnderTest& plugin) { plugin.Advance(5); }),
              IsEmpty());
  EXPECT_THAT(order, ElementsAre("first timer", "post at 1", "second timer"));
}

TEST(TimeAsInTheHost, AdvanceEndsThoughAPluginPostsForEver) {
  static int calls = 0;
  calls = 0;
  struct Post {
    static void Again(void*, berth_code code) noexcept {
      ++calls;
      if (code == BERTH_SUCCESS) found.timer->post(found.host, &Again, nullptr);
    }
  };
  EXPECT_THAT(FindingsInReserve(
                  [](const auto&, const auto&) { Post::Again(nullptr, BERTH_SUCCESS); }, nullptr,
                  [](PluginUnderTest& plugin) {
                    plugin.Advance(0);
                    EXPECT_EQ(calls, 1 + 16);
                    plugin.Advance(0);
                    EXPECT_EQ(calls, 1 + 32);
                  }),
              IsEmpty());
}

// --- metrics -------------------------------------------------------------------------------------

struct Definition {
  const char* name;
  berth_metric metric;
  berth_code code;
  const char* finding;  // NULL: none
};

std::vector<Definition> Definitions() {
  static constexpr double kEqual[] = {1, 1};
  static constexpr double kFalling[] = {2, 1};
  static constexpr double kNan[] = {std::numeric_limits<double>::quiet_NaN()};
  static constexpr double kEndless[] = {1, HUGE_VAL};
  static constexpr double kRising[] = {1, 2};
  static const berth_str kPlugin = ToAbi("plugin");
  static const berth_str kProfile = ToAbi("profile");
  static const berth_str kLe = ToAbi("le");
  static const berth_str kPrivate = ToAbi("__name");
  static const berth_str kColon = ToAbi("a:b");
  static const berth_str kEmpty = ToAbi("");
  static const berth_str kTwice[] = {ToAbi("l"), ToAbi("m"), ToAbi("l")};
  static const berth_str kGood[] = {ToAbi("_a1"), ToAbi("B")};
  constexpr uint32_t kCounter = BERTH_METRIC_COUNTER;
  constexpr uint32_t kHistogram = BERTH_METRIC_HISTOGRAM;
  constexpr uint32_t kSize = sizeof(berth_metric);
  constexpr berth_code kBad = BERTH_BAD_ARGUMENT;
  const auto named = [&](const char* name) {
    return berth_metric{kSize, kCounter, ToAbi(name), {}, nullptr, 0, nullptr, 0};
  };
  const auto labelled = [&](const berth_str* labels, uint64_t n,
                            uint32_t kind = BERTH_METRIC_COUNTER) {
    return berth_metric{kSize, kind, ToAbi("a"), {}, labels, n, nullptr, 0};
  };
  const auto with = [&](const double* buckets, uint64_t n) {
    return berth_metric{kSize, kHistogram, ToAbi("a"), {}, nullptr, 0, buckets, n};
  };
  const auto of = [&](uint32_t size, uint32_t kind) {
    return berth_metric{size, kind, ToAbi("a"), {}, nullptr, 0, nullptr, 0};
  };
  const char* const label = "is not a valid label name, or is reserved [kShape]";
  const char* const bounds = "metric a: expected finite bucket bounds in ascending order [kShape]";
  const char* const name = "is not a valid metric name [kShape]";
  return {
      {"a name", named("a:b_1"), BERTH_SUCCESS, nullptr},
      {"no name", named(""), kBad, name},
      {"a name that begins with a digit", named("1a"), kBad, name},
      {"a name with a dash", named("a-b"), kBad, name},
      {"labels", labelled(kGood, 2), BERTH_SUCCESS, nullptr},
      {"the label plugin", labelled(&kPlugin, 1), kBad, label},
      {"the label profile", labelled(&kProfile, 1), kBad, label},
      {"a private label", labelled(&kPrivate, 1), kBad, label},
      {"a label with a colon", labelled(&kColon, 1), kBad, label},
      {"an empty label", labelled(&kEmpty, 1), kBad, label},
      {"le of a histogram", labelled(&kLe, 1, kHistogram), kBad, label},
      {"le of a counter", labelled(&kLe, 1), BERTH_SUCCESS, nullptr},
      {"a label twice", labelled(kTwice, 3), kBad, "metric a: a label is named twice [kShape]"},
      {"rising bounds", with(kRising, 2), BERTH_SUCCESS, nullptr},
      {"equal bounds", with(kEqual, 2), kBad, bounds},
      {"falling bounds", with(kFalling, 2), kBad, bounds},
      {"no number", with(kNan, 1), kBad, bounds},
      {"an infinite bound", with(kEndless, 2), kBad, bounds},
      {"no kind", of(kSize, 0), kBad, "with the unknown kind 0 [kShape]"},
      {"an unknown kind", of(kSize, 4), kBad, "with the unknown kind 4 [kShape]"},
      {"too small", of(kSize - 1, kCounter), kBad,
       "calls metrics.define with a struct_size of 71; expected at least 72 [kShape]"},
      {"of a later version", of(kSize + 8, kCounter), BERTH_SUCCESS, nullptr},
  };
}

TEST(MetricsAsInTheHost, DefinitionsFollowTheRules) {
  static berth_metric metric;
  static berth_code code;
  for (const Definition& definition : Definitions()) {
    SCOPED_TRACE(definition.name);
    metric = definition.metric;
    Parts parts = CorrectFilter();
    parts.create = [](const berth_host* host, const berth_value* args, berth_status* status) {
      const berth_code created = FindServices(host, args, status);
      uint32_t index = 0;
      code = found.metrics->define(host, &metric, &index);
      return created;
    };
    const auto findings = FindingsOf(parts, [&](PluginUnderTest& plugin) {
      const bool is_known = plugin.metrics().contains(std::string(FromAbi(metric.name)));
      EXPECT_EQ(is_known, code == BERTH_SUCCESS);
    });
    EXPECT_EQ(code, definition.code);
    if (definition.finding == nullptr) {
      EXPECT_THAT(findings, IsEmpty());
    } else {
      EXPECT_THAT(findings, ElementsAre(HasSubstr(definition.finding)));
    }
  }
}

TEST(MetricsAsInTheHost, AHistogramWithoutBoundsHasTheDefaultOnes) {
  Parts parts = CorrectFilter();
  parts.create = [](const berth_host* host, const berth_value* args, berth_status* status) {
    const berth_code created = FindServices(host, args, status);
    const berth_metric metric{
        sizeof metric, BERTH_METRIC_HISTOGRAM, ToAbi("h"), {}, nullptr, 0, nullptr, 0};
    uint32_t index = 0;
    EXPECT_EQ(found.metrics->define(host, &metric, &index), BERTH_SUCCESS);
    EXPECT_EQ(found.metrics->define(host, &metric, &index), BERTH_CONFLICT);
    return created;
  };
  EXPECT_THAT(FindingsOf(parts,
                         [](PluginUnderTest& plugin) {
                           const std::vector<double>& bounds = plugin.metrics().at("h").buckets;
                           ASSERT_THAT(bounds, SizeIs(15));
                           EXPECT_EQ(bounds.front(), 0.001);
                           EXPECT_EQ(bounds.back(), 16.384);
                           EXPECT_THAT(plugin.metrics().at("sample_total").buckets, IsEmpty());
                         }),
              IsEmpty());
}

TEST(MetricsAsInTheHost, AMetricHasAtMost2000Series) {
  const auto act = [](const auto&, const auto&) {
    const auto series_of = [](int i, uint64_t* series) {
      const std::string value = std::to_string(i);
      const berth_str label = ToAbi(value);
      return found.metrics->series(found.host, found.metric, &label, series);
    };
    uint64_t series = 0;
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(series_of(i, &series), BERTH_SUCCESS);
    EXPECT_EQ(series, 2000U);
    EXPECT_EQ(series_of(2000, &series), BERTH_BUG);
    EXPECT_EQ(series_of(7, &series), BERTH_SUCCESS) << "a series that exists";
    EXPECT_EQ(series, 8U);
  };
  EXPECT_THAT(FindingsInReserve(act),
              ElementsAre(HasSubstr("metric sample_total has more than 2000 series [kShape]")));
}

// --- the API server, waiting pods ----------------------------------------------------------------

TEST(ApiAsInTheHost, AnEventRefersToAKnownKind) {
  const auto act = [](const berth_cycle& cycle, const berth_target& target) {
    const berth_tagged pod{BERTH_KIND_POD, 0, cycle.pod};
    const struct {
      const char* name;
      berth_tagged regarding;
      berth_tagged related;
      berth_code code;
    } cases[] = {
        {"a node", pod, {BERTH_KIND_NODE, 0, target.node}, BERTH_SUCCESS},
        {"nothing", pod, {0, 0, nullptr}, BERTH_SUCCESS},
        {"no object", pod, {BERTH_KIND_NODE, 0, nullptr}, BERTH_SUCCESS},
        {"no kind", pod, {0, 0, target.node}, BERTH_SUCCESS},
        {"an unknown kind", pod, {99, 0, target.node}, BERTH_BAD_ARGUMENT},
        {"about an unknown kind", {99, 0, cycle.pod}, pod, BERTH_BAD_ARGUMENT},
        {"about nothing", {0, 0, nullptr}, pod, BERTH_BAD_ARGUMENT},
    };
    for (const auto& c : cases) {
      const berth_api_event event{sizeof event,    0,          &c.regarding, &c.related,
                                  ToAbi("Normal"), ToAbi("R"), ToAbi("A"),   ToAbi("N")};
      EXPECT_EQ(found.api->event(found.host, &event), c.code) << c.name;
    }
  };
  EXPECT_THAT(FindingsInReserve(act), IsEmpty());
}

TEST(ApiAsInTheHost, APatchNamesThePod) {
  const struct {
    const char* given;
    const char* sent;
  } cases[] = {
      {"{}", R"({"metadata":{"uid":"uid-p"}})"},
      {R"({"metadata":null,"status":{}})", R"({"status":{},"metadata":{"uid":"uid-p"}})"},
      {R"({"metadata":{"labels":{"a":"b"}}})",
       R"({"metadata":{"labels":{"a":"b"},"uid":"uid-p"}})"},
      {R"({"metadata":{"uid":"other"}})", R"({"metadata":{"uid":"uid-p"}})"},
  };
  for (const auto& c : cases) {
    const auto act = [&](const berth_cycle& cycle, const auto&) {
      const berth_status_patch patch{sizeof patch, 0, cycle.pod, ToAbi(c.given)};
      const auto answer = [](void*, const berth_api_result*) noexcept {};
      EXPECT_EQ(found.api->patch_status(found.host, &patch, answer, nullptr), BERTH_SUCCESS);
    };
    EXPECT_THAT(FindingsInReserve(act, nullptr,
                                  [&](PluginUnderTest& plugin) {
                                    ASSERT_THAT(plugin.api().calls(), SizeIs(1));
                                    EXPECT_EQ(plugin.api().calls()[0].body, c.sent);
                                  }),
                IsEmpty());
  }
}

TEST(WaitingAsInTheHost, ARejectionHasAReason) {
  const auto reject = [](const char* uid, berth_str reason) {
    const berth_rejection rejection{sizeof rejection, 0, ToAbi(uid), reason};
    EXPECT_EQ(found.waiting->reject(found.host, &rejection), BERTH_SUCCESS);
  };
  const auto act = [&](const auto&, const auto&) {
    reject("uid-a", ToAbi("late"));
    reject("uid-b", ToAbi(""));
    reject("uid-c", {nullptr, 4});
  };
  using Rejection = SchedulingServices::Rejection;
  const auto findings = FindingsInReserve(
      act,
      [](PluginUnderTest& plugin) {
        for (const char* name : {"a", "b", "c"}) plugin.AddWaiting(MakePod(name));
      },
      [](PluginUnderTest& plugin) {
        EXPECT_THAT(
            plugin.scheduling().rejected(),
            ElementsAre(Rejection{"uid-a", "late"}, Rejection{"uid-b", "Sample gave no reason"},
                        Rejection{"uid-c", "Sample gave a reason that is NULL"}));
      });
  EXPECT_THAT(findings, ElementsAre(HasSubstr("calls waiting.reject with a reason that is NULL")));
}

// --- faults --------------------------------------------------------------------------------------

TEST(FaultsAsInTheHost, AreReported) {
  const auto act = [](const auto&, const auto&) { found.host->fault(found.host, ToAbi("lost")); };
  EXPECT_THAT(FindingsInReserve(act),
              ElementsAre("Sample: Reserve reports a fault: lost [kFaults]"));
}

// Fails when a pod is removed.
class LosesPods : public Plugin {
 public:
  static constexpr std::string_view kName = "test.LosesPods";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Fails in OnChange.";
  static constexpr Dependence kScoreDependence{.cluster = kOther, .pod_parts = 0};
  using Node = NodeRow<berth::Columns<>>;

  void OnChange(const Change& change) {
    if (change.kind == BERTH_CHANGE_POD_REMOVED) throw berth::Error("index lost");
  }
  int64_t Score(const berth::Cycle& /*cycle*/, const Node& /*node*/) const { return 0; }
  Stale ScoreChanged(const berth::Cycle& /*cycle*/, uint64_t& /*token*/, RowSink& /*rows*/) const {
    return Stale::kAll;
  }
};

TEST(FaultsAsInTheHost, InOtherInstancesAreReported) {
  std::vector<std::string> findings;
  PluginUnderTest plugin(kEntryOf<LosesPods>,
                         {.nodes = {MakeNode("a")}, .on_failure = [&](const std::string& text) {
                            findings.push_back(text);
                          }});
  plugin.AddPod(MakePod("p"), "a");
  EXPECT_THAT(findings, IsEmpty());
  plugin.RemovePod("p", "a");
  const auto fault = HasSubstr("change reports a fault: OnChange: index lost [kFaults]");
  EXPECT_THAT(findings, ElementsAre(fault));
  findings.clear();
  plugin.Score(MakePod("q"));
  EXPECT_THAT(findings, Contains(fault)) << "a check removes pods in an instance of its own";
}

// --- identities ----------------------------------------------------------------------------------

// Rejects nodes with a pod, by a book of the node of each uid.
class Book : public Plugin {
 public:
  static constexpr std::string_view kName = "test.Book";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Rejects nodes that have a pod.";
  static constexpr berth::Reasons kReasons{"used"};
  static constexpr Dependence kFilterDependence{.cluster = kNodePods, .pod_parts = 0};
  using Node = NodeRow<berth::Columns<>>;

  void OnChange(const Change& change) {
    if (change.pod == nullptr) return;
    const std::string uid(berth::Pod(*change.pod).uid());
    if (change.kind == BERTH_CHANGE_POD_ADDED) rows_[uid] = change.row;
    if (change.kind == BERTH_CHANGE_POD_REMOVED) rows_.erase(uid);
  }
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& node) const {
    const auto is_here = [&](const auto& entry) { return entry.second == node.row(); };
    return UnschedulableIf(std::ranges::any_of(rows_, is_here), 0);
  }

 private:
  std::map<std::string, uint32_t> rows_;
};

TEST(IdentitiesAsInTheHost, NoTwoPodsHaveOneUid) {
  std::vector<std::string> findings;
  const NodeSpec used = MakeNode("b").Pod(MakePod("old"));
  PluginUnderTest plugin(
      kEntryOf<Book>, {.nodes = {MakeNode("a"), used},
                       .on_failure = [&](const std::string& text) { findings.push_back(text); }});
  plugin.Filter(MakePod("web"));
  // The book knows nothing of what-if questions, but does not depend on other nodes.
  EXPECT_THAT(findings, Each(HasSubstr("[kWhatIf]")));
}

TEST(IdentitiesAsInTheHost, ACopiedNodeHasNewNamesAndUids) {
  const NodeSpec node = MakeNode("a")
                            .Label("kubernetes.io/hostname", "a")
                            .Label("zone", "a")
                            .Pod(MakePod("p"))
                            .Pod(MakePod("q").Phase(BERTH_PHASE_SUCCEEDED));
  const NodeSpec copy = CopyOf(node, "copy");
  EXPECT_EQ(copy.labels.at("kubernetes.io/hostname"), "a-copy");
  EXPECT_EQ(copy.labels.at("zone"), "a");
  EXPECT_EQ(copy.name, "a-copy");
  EXPECT_EQ(copy.uid, node.uid + "-copy");
  ASSERT_THAT(copy.pods, SizeIs(2));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(copy.pods[i].name, node.pods[i].name + "-copy");
    EXPECT_EQ(copy.pods[i].uid, node.pods[i].uid + "-copy");
    EXPECT_EQ(copy.pods[i].node_name, "a-copy");
    EXPECT_EQ(copy.pods[i].phase, node.pods[i].phase);
  }
}

}  // namespace
}  // namespace berth::testing

// Tests that the kit detects a `changed` that leaves out nodes whose results differ.
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/fake_host.h>

namespace berth {
namespace {

// How the plugins of this file answer `changed`.
enum class Answers {
  kRows,        // reports the right rows
  kAll,         // reports that everything changed
  kNone,        // reports that nothing changed
  kOtherRows,   // reports rows that did not change
  kOnlyLast,    // reports the rows of the last change, whatever the token is
  kKeepsToken,  // never replaces the first token
  kNoToken,     // reports that nothing changed, and the token 0
  kTokenLater,  // reports the right rows, and the token 0 before the first change
  kUsedRows     // does not report a row that belonged to another node before
};

class Indexed : public Plugin {
 public:
  static constexpr std::string_view kName = "test.Indexed";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Depends on an index.";
};

// Scores a node by the number of pods on the node of the next row.
template <Answers kAnswers, uint32_t kCluster = kOther>
class Neighbours : public Indexed {
 public:
  static constexpr Dependence kScoreDependence{.cluster = kCluster, .pod_parts = 0};
  using Node = NodeRow<Columns>;

  void OnChange(const Change& change) {
    if (change.kind == BERTH_CHANGE_POD_ADDED) Count(change, 1);
    if (change.kind == BERTH_CHANGE_POD_REMOVED) Count(change, -1);
    if (change.kind == BERTH_CHANGE_NODE_ADDED && !rows_.insert(change.row).second) {
      used_.insert(change.row);
    }
  }
  int64_t Score(const Cycle& /*cycle*/, const Node& node) const {
    const auto next = pods_.find(node.row() + 1);
    return next == pods_.end() ? 0 : next->second;
  }
  Stale ScoreChanged(const Cycle& /*cycle*/, uint64_t& token, RowSink& rows) const {
    const uint64_t more = kAnswers == Answers::kTokenLater ? 0 : 1;
    const uint64_t now = kAnswers == Answers::kNoToken ? 0 : sequence_ + more;  // 0 is no token.
    const bool keeps = kAnswers == Answers::kKeepsToken && token != 0;
    const uint64_t before = keeps ? token : std::exchange(token, now);
    if (kAnswers == Answers::kAll) return Stale::kAll;
    if (kAnswers == Answers::kNone || kAnswers == Answers::kNoToken) return Stale::kNone;
    for (const auto& [row, sequence] : changes_) {
      const bool is_last = sequence == sequence_;
      if (kAnswers == Answers::kOnlyLast ? !is_last : sequence < before) continue;
      if (kAnswers == Answers::kUsedRows && used_.contains(row)) continue;
      rows.Put(row - (kAnswers == Answers::kOtherRows ? 0 : 1));
    }
    return Stale::kRows;
  }

 private:
  void Count(const Change& change, int64_t more) {
    pods_[change.row] += more;
    sequence_ = change.sequence;
    changes_[change.row] = sequence_;
  }

  std::map<uint32_t, int64_t> pods_;
  std::map<uint32_t, uint64_t> changes_;  // The number of the last change of each row.
  std::set<uint32_t> rows_;               // All rows that had a node.
  std::set<uint32_t> used_;
  uint64_t sequence_ = 0;
};

// Scores a node by the number of nodes that were added before it. A node that is added on the row
// of another one, or that comes back, has another score.
class ByArrival : public Indexed {
 public:
  static constexpr Dependence kScoreDependence{.cluster = kOther, .pod_parts = 0};
  using Node = NodeRow<Columns>;

  void OnChange(const Change& change) {
    if (change.kind == BERTH_CHANGE_NODE_ADDED) added_[change.row] = count_++;
  }
  int64_t Score(const Cycle& /*cycle*/, const Node& node) const { return added_.at(node.row()); }
  Stale ScoreChanged(const Cycle& /*cycle*/, uint64_t& token, RowSink& /*rows*/) const {
    token = 1;
    return Stale::kNone;
  }

 private:
  std::map<uint32_t, int64_t> added_;
  int64_t count_ = 0;
};

// Scores every node by the number of pending pods, of their priorities, or of nominated pods.
enum class Counted { kPending, kPriorities, kNominated };
template <Counted kCounted, bool kReports>
class ByPods : public Indexed {
 public:
  static constexpr std::array kServices{BERTH_SERVICE_NOMINATOR};
  static constexpr bool kPendingChanges = kCounted != Counted::kNominated;
  static constexpr Dependence kScoreDependence{.cluster = kNodePods | kOther, .pod_parts = 0};
  using Node = NodeRow<Columns>;
  struct State {
    int64_t count = 0;
  };

  explicit ByPods(const Host& host) : host_(host) {}
  void OnChange(const Change& change) {
    if (change.kind == BERTH_CHANGE_PENDING_ADDED) count_ += Worth(*change.pod);
    if (change.kind == BERTH_CHANGE_PENDING_CHANGED) {
      count_ += Worth(*change.pod) - Worth(*change.old_pod);
    }
    if (change.kind == BERTH_CHANGE_PENDING_REMOVED) count_ -= Worth(*change.pod);
  }
  Status PreScore(Cycle& cycle, const Nodes& /*feasible*/, const Nodes& /*all*/) {
    State& state = cycle.Emplace<State>(count_);
    if (kCounted != Counted::kNominated) return Status::Success();
    return host_.nominator().ForEach(
        [&state](const berth_pod&, std::string_view) { ++state.count; });
  }
  int64_t Score(const Cycle& cycle, const Node& /*node*/) const {
    return cycle.State<State>().count;
  }
  Stale ScoreChanged(const Cycle& cycle, uint64_t& token, RowSink& /*rows*/) const {
    const uint64_t now = static_cast<uint64_t>(cycle.State<State>().count) + 1;
    const bool is_same = std::exchange(token, now) == now;
    return kReports && !is_same ? Stale::kAll : Stale::kNone;
  }

 private:
  static int64_t Worth(const Pod& pod) {
    return kCounted == Counted::kPriorities ? pod->priority : 1;
  }

  Host host_;
  int64_t count_ = 0;
};

// Scores every node by the number of pods on all nodes that changed, or whose labels changed.
template <bool kLabels>
class ByChangedPods : public Indexed {
 public:
  static constexpr Dependence kScoreDependence{.cluster = kNodePods | kOther, .pod_parts = 0};
  using Node = NodeRow<Columns>;

  void OnChange(const Change& change) {
    if (change.kind != BERTH_CHANGE_POD_CHANGED) return;
    const bool counts = change.pod->meta->labels.count != change.old_pod->meta->labels.count;
    changed_ += counts || !kLabels ? 1 : 0;
  }
  int64_t Score(const Cycle& /*cycle*/, const Node& /*node*/) const { return changed_; }
  Stale ScoreChanged(const Cycle& /*cycle*/, uint64_t& token, RowSink& /*rows*/) const {
    token = 1;
    return Stale::kNone;
  }

 private:
  int64_t changed_ = 0;
};

// Scores every node by whether the server serves a kind.
template <bool kReports>
class ByServed : public Indexed {
 public:
  static constexpr std::array kServices{BERTH_SERVICE_OBJECTS};
  static constexpr std::array kKinds{"example.com/v1/Rack"};
  static constexpr Dependence kScoreDependence{.cluster = kOther, .pod_parts = 0};
  using Node = NodeRow<Columns>;
  struct State {
    bool is_served = false;
  };

  explicit ByServed(const Host& host) : host_(host) {}
  Status PreScore(Cycle& cycle, const Nodes& /*feasible*/, const Nodes& /*all*/) {
    cycle.Emplace<State>(host_.objects().Served(kKinds[0]));
    return Status::Success();
  }
  int64_t Score(const Cycle& cycle, const Node& /*node*/) const {
    return cycle.State<State>().is_served ? 1 : 0;
  }
  Stale ScoreChanged(const Cycle& cycle, uint64_t& token, RowSink& /*rows*/) const {
    const uint64_t now = cycle.State<State>().is_served ? 1 : 2;
    const bool is_same = std::exchange(token, now) == now;
    return kReports && !is_same ? Stale::kAll : Stale::kNone;
  }

 private:
  Host host_;
};

// Scores a node by the column of its object, whose change is a change of the node.
template <uint32_t kCluster>
class ByObject : public Indexed {
 public:
  static constexpr std::array kServices{BERTH_SERVICE_OBJECTS};
  static constexpr std::array kKinds{"example.com/v1/Rack"};
  static constexpr Dependence kScoreDependence{.cluster = kCluster, .pod_parts = 0};
  using RackObject = NodeObject<"example.com/v1/Rack">;
  using Columns = berth::Columns<RackObject>;
  using Node = NodeRow<Columns>;

  int64_t Score(const Cycle& /*cycle*/, const Node& node) const {
    return node[RackObject{}] != nullptr ? 1 : 0;
  }
  Stale ScoreChanged(const Cycle& /*cycle*/, uint64_t& token, RowSink& /*rows*/) const {
    token = 1;
    return Stale::kNone;
  }
};

// Scores every node by the cpu of all nodes, whose changes it does not report.
class ByAllNodes : public Indexed {
 public:
  static constexpr Normalize kNormalize = Normalize::kMinMax;
  static constexpr Dependence kScoreDependence{.cluster = kNode | kOther, .pod_parts = 0};
  using Node = NodeRow<Columns>;
  struct State {
    int64_t cpu = 0;
  };

  Status PreScore(Cycle& cycle, const Nodes& /*feasible*/, const Nodes& all) {
    State& state = cycle.Emplace<State>();
    all.ForEach<Columns>(
        [&](const Node& node) { state.cpu += node.view()->allocatable->milli_cpu; });
    return Status::Success();
  }
  int64_t Score(const Cycle& cycle, const Node& /*node*/) const { return cycle.State<State>().cpu; }
  Stale ScoreChanged(const Cycle& /*cycle*/, uint64_t& token, RowSink& /*rows*/) const {
    token = 1;
    return Stale::kNone;
  }
};

// Does the same, with a signature.
class SignedByAllNodes : public ByAllNodes {
 public:
  explicit SignedByAllNodes(const Host& host) : host_(host) {}
  std::optional<Signature> SignScore(const Cycle& cycle) const {
    return host_.NewSigner().Add(cycle.State<State>().cpu).Take();
  }

 private:
  Host host_;
};

// Has no signature for any pod, so that no result is reused, and leaves the token at 0.
class NeverSigned : public ByAllNodes {
 public:
  std::optional<Signature> SignScore(const Cycle& /*cycle*/) const { return std::nullopt; }
  Stale ScoreChanged(const Cycle& /*cycle*/, uint64_t& /*token*/, RowSink& /*rows*/) const {
    return Stale::kAll;
  }
};

// Rejects all nodes while an object exists.
class Switch : public Indexed {
 public:
  static constexpr std::array kServices{BERTH_SERVICE_OBJECTS};
  static constexpr std::array kKinds{"v1/ConfigMap"};
  static constexpr Reasons kReasons{"switched off"};
  static constexpr Dependence kFilterDependence{.cluster = kOther, .pod_parts = 0};
  using Node = NodeRow<Columns>;
  struct State {
    bool is_off = false;
  };

  explicit Switch(const Host& host) : host_(host) {}
  Status PreFilter(Cycle& cycle, const Nodes& /*all*/, PreFilterOut& /*out*/) {
    cycle.Emplace<State>(host_.objects().Get("v1/ConfigMap", "default", "off") != nullptr);
    return Status::Success();
  }
  Verdict Filter(const Cycle& cycle, const Node& /*node*/) const {
    return UnschedulableIf(cycle.State<State>().is_off, 0);
  }
  Stale FilterChanged(const Cycle& /*cycle*/, uint64_t& token, RowSink& /*rows*/) const {
    token = 1;
    return Stale::kNone;
  }

 private:
  Host host_;
};

// Scores by the clock.
class Clock : public Indexed {
 public:
  static constexpr std::array kServices{BERTH_SERVICE_TIMER};
  static constexpr Dependence kScoreDependence{.cluster = kOther, .pod_parts = 0};
  using Node = NodeRow<Columns>;

  explicit Clock(const Host& host) : host_(host) {}
  int64_t Score(const Cycle& /*cycle*/, const Node& /*node*/) const {
    return host_.timers().Now() / std::chrono::minutes(1) % 100;
  }
  Stale ScoreChanged(const Cycle& /*cycle*/, uint64_t& token, RowSink& /*rows*/) const {
    token = 1;
    return Stale::kNone;
  }

 private:
  Host host_;
};

}  // namespace

namespace testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns the findings of the check.
template <class P>
std::vector<std::string> FindingsOf() {
  std::vector<std::string> findings;
  Scenario scenario{
      .nodes = {MakeNode("a").CpuMilli(1000), MakeNode("b").CpuMilli(2000),
                MakeNode("c").CpuMilli(3000).Pod(MakePod("old"))},
      .objects = {MakeObject("v1/ConfigMap", "default", "off"),
                  MakeObject("example.com/v1/Rack", "", "a")},
      .on_failure = [&findings](const std::string& text) { findings.push_back(text); }};
  PluginUnderTest plugin(kEntryOf<P>, std::move(scenario));
  if constexpr (berth::internal::kHasFilter<P>) {
    plugin.Filter(MakePod("web"));
  } else {
    plugin.Score(MakePod("web"));
  }
  return findings;
}

TEST(Changed, AcceptsAReportOfAllRowsThatDiffer) {
  EXPECT_THAT((FindingsOf<Neighbours<Answers::kRows>>()), IsEmpty());
  EXPECT_THAT((FindingsOf<Neighbours<Answers::kAll>>()), IsEmpty());
  EXPECT_THAT((FindingsOf<Neighbours<Answers::kRows, kOther | kNodePods>>()), IsEmpty());
  EXPECT_THAT((FindingsOf<Neighbours<Answers::kKeepsToken>>()), IsEmpty())
      << "a token of the first state reports more than needed";
  EXPECT_THAT(FindingsOf<SignedByAllNodes>(), IsEmpty()) << "the signature covers the difference";
}

TEST(Changed, ReportsATokenThatStaysZero) {
  EXPECT_THAT((FindingsOf<Neighbours<Answers::kNoToken>>()),
              ElementsAre(AllOf(
                  HasSubstr("Score of pod default/web: changed leaves *token at 0 in each of "),
                  HasSubstr(" states of the cluster, so that no result is ever reused"),
                  HasSubstr("kDependence"))));
  EXPECT_THAT((FindingsOf<Neighbours<Answers::kTokenLater>>()), IsEmpty())
      << "the results of some states need not be reused";
  EXPECT_THAT(FindingsOf<NeverSigned>(), IsEmpty()) << "sign excludes the pod";
}

TEST(Changed, ReportsARowThatIsLeftOut) {
  EXPECT_THAT((FindingsOf<Neighbours<Answers::kNone>>()),
              ElementsAre(AllOf(
                  HasSubstr("Score of pod default/web: changed reports that no result differs, but "
                            "leaves out a row whose result differs: node \"a\": 0, then 1 after "),
                  HasSubstr("was added to node \"b\""), HasSubstr("kDependence"))));
  EXPECT_THAT((FindingsOf<Neighbours<Answers::kNone, kOther | kNodePods>>()),
              ElementsAre(HasSubstr("node \"a\": 0, then 1")))
      << "kNodePods declares only the pods of the node itself";
  EXPECT_THAT((FindingsOf<Neighbours<Answers::kOtherRows>>()),
              ElementsAre(HasSubstr("changed reports 1 row, but leaves out a row whose result "
                                    "differs: node \"a\": 0, then 1")));
}

TEST(Changed, AsksAboutEveryEarlierState) {
  EXPECT_THAT((FindingsOf<Neighbours<Answers::kOnlyLast>>()),
              ElementsAre(AllOf(HasSubstr("node \"a\": 0, then 1"), HasSubstr(", then "))));
}

TEST(Changed, AddsNodesOnRowsOfRemovedOnes) {
  EXPECT_THAT(
      (FindingsOf<Neighbours<Answers::kUsedRows>>()),
      ElementsAre(AllOf(HasSubstr("node \"b\": 1, then 0"),
                        HasSubstr("the last node was removed, then node \"a-added\" was"))));
  EXPECT_THAT(FindingsOf<ByArrival>(), IsEmpty())
      << "a row whose node was added need not be reported";
}

TEST(Changed, ChangesPendingPods) {
  EXPECT_THAT((FindingsOf<ByPods<Counted::kPending, true>>()), IsEmpty());
  EXPECT_THAT((FindingsOf<ByPods<Counted::kPending, false>>()),
              ElementsAre(HasSubstr("0, then 1 after pending pod web-pending was added")));
  EXPECT_THAT((FindingsOf<ByPods<Counted::kPriorities, true>>()), IsEmpty());
  EXPECT_THAT(
      (FindingsOf<ByPods<Counted::kPriorities, false>>()),
      ElementsAre(HasSubstr(
          "0, then 7 after the labels and the priority of pending pod web-pending changed")));
}

TEST(Changed, ChangesPodsOnNodes) {
  EXPECT_THAT((FindingsOf<ByChangedPods<false>>()),
              ElementsAre(HasSubstr("0, then 1 after pod web-guest on node \"a\" was confirmed")));
  EXPECT_THAT((FindingsOf<ByChangedPods<true>>()),
              ElementsAre(HasSubstr("0, then 1 after pod web-guest on node \"a\" got another label "
                                    "and another request")));
}

TEST(Changed, ChangesNominations) {
  EXPECT_THAT((FindingsOf<ByPods<Counted::kNominated, true>>()), IsEmpty());
  EXPECT_THAT((FindingsOf<ByPods<Counted::kNominated, false>>()),
              ElementsAre(HasSubstr("0, then 1 after pod web-nominated was nominated to node")));
}

TEST(Changed, ChangesWhichKindsAreServed) {
  EXPECT_THAT(FindingsOf<ByServed<true>>(), IsEmpty());
  EXPECT_THAT(FindingsOf<ByServed<false>>(),
              ElementsAre(HasSubstr("after the server ended to serve example.com/v1/Rack")));
}

TEST(Changed, ObjectInColumnIsPartOfTheNode) {
  EXPECT_THAT((FindingsOf<ByObject<kNode | kOther>>()), IsEmpty());
  EXPECT_THAT((FindingsOf<ByObject<kOther>>()),
              ElementsAre(AllOf(HasSubstr("node \"a\": 1, then 0 after "),
                                HasSubstr("example.com/v1/Rack \"a\" was removed"))));
}

TEST(Changed, ChangesNodesObjectsAndTime) {
  EXPECT_THAT(FindingsOf<ByAllNodes>(),
              ElementsAre(HasSubstr("after node \"b\" got the labels, taints, images and")));
  EXPECT_THAT(FindingsOf<Switch>(),
              ElementsAre(HasSubstr("Success after v1/ConfigMap \"off\" was removed")));
  EXPECT_THAT(FindingsOf<Clock>(), ElementsAre(HasSubstr("0, then 60 after an hour passed")));
}

}  // namespace
}  // namespace testing
}  // namespace berth

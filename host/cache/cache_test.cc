#include "host/cache/cache.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

enum class State : uint8_t { kAbsent, kAssumed, kAdded };
enum class Operation : uint8_t { kAssume, kForget, kAdd, kUpdate, kRemove };

class CacheTest : public ::testing::Test {
 protected:
  CacheTest() { cache_.SetNode(objects_.Node({.name = "n1"})); }

  Row RowOfNode(std::string_view name) { return cache_.table().FindNode(name); }
  PodRef OnNode(const std::string& name, const std::string& node, const std::string& cpu = "1") {
    return objects_.Pod({.name = name, .node = node, .requests = "\"cpu\":\"" + cpu + '"'});
  }

  State StateOf(std::string_view uid) {
    if (cache_.RowOf(uid) == kNoRow) return State::kAbsent;
    return cache_.IsAssumed(uid) ? State::kAssumed : State::kAdded;
  }
  void Establish(const PodRef& pod, State state) {
    if (state == State::kAssumed) {
      ASSERT_TRUE(cache_.AssumePod(pod, RowOfNode("n1")).ok());
    } else if (state == State::kAdded) {
      ASSERT_TRUE(cache_.AddPod(pod).ok());
    }
  }
  Status Execute(Operation operation, const PodRef& pod) {
    switch (operation) {
      case Operation::kAssume: return cache_.AssumePod(pod, RowOfNode("n1"));
      case Operation::kForget: return cache_.ForgetPod(pod->uid());
      case Operation::kAdd: return cache_.AddPod(pod);
      case Operation::kUpdate: return cache_.UpdatePod(pod);
      case Operation::kRemove: return cache_.RemovePod(pod->uid());
    }
    return Status::Internal("no such operation");
  }
  int64_t Column(const char* name, Row row) {
    const auto column = cache_.table().ColumnFor(name);
    return static_cast<const int64_t*>(cache_.table().column_data(*column))[row];
  }

  TestObjects objects_;
  Cache cache_{objects_.interner()};
};

struct Transition {
  State before;
  Operation operation;
  ErrorCode code;
  State after;
};

TEST_F(CacheTest, EveryOperationInEveryStateGivesExpectedResult) {
  using enum State;
  using enum Operation;
  constexpr Transition kTable[] = {
      {kAbsent, kAssume, ErrorCode::kOk, kAssumed},
      {kAbsent, kForget, ErrorCode::kOk, kAbsent},
      {kAbsent, kAdd, ErrorCode::kOk, kAdded},
      {kAbsent, kUpdate, ErrorCode::kNotFound, kAbsent},
      {kAbsent, kRemove, ErrorCode::kNotFound, kAbsent},
      {kAssumed, kAssume, ErrorCode::kAlreadyExists, kAssumed},
      {kAssumed, kForget, ErrorCode::kOk, kAbsent},
      {kAssumed, kAdd, ErrorCode::kOk, kAdded},
      {kAssumed, kUpdate, ErrorCode::kNotFound, kAssumed},
      {kAssumed, kRemove, ErrorCode::kOk, kAbsent},
      {kAdded, kAssume, ErrorCode::kAlreadyExists, kAdded},
      {kAdded, kForget, ErrorCode::kConflict, kAdded},
      {kAdded, kAdd, ErrorCode::kAlreadyExists, kAdded},
      {kAdded, kUpdate, ErrorCode::kOk, kAdded},
      {kAdded, kRemove, ErrorCode::kOk, kAbsent},
  };
  int number = 0;
  for (const Transition& row : kTable) {
    SCOPED_TRACE("row " + std::to_string(number));
    const PodRef pod = OnNode("p" + std::to_string(number++), "n1");
    Establish(pod, row.before);
    ASSERT_EQ(StateOf(pod->uid()), row.before);
    EXPECT_EQ(Execute(row.operation, pod).code(), row.code);
    EXPECT_EQ(StateOf(pod->uid()), row.after);
    const bool counts = row.after != kAbsent;
    EXPECT_EQ(cache_.pod_count(), counts ? 1U : 0U);
    EXPECT_EQ(cache_.assumed_count(), row.after == kAssumed ? 1U : 0U);
    EXPECT_EQ(Column("req.cpu", RowOfNode("n1")), counts ? 1000 : 0);
    EXPECT_EQ(Column("pods.count", RowOfNode("n1")), counts ? 1 : 0);
    if (counts) {
      ASSERT_TRUE(cache_.RemovePod(pod->uid()).ok());
    }
  }
}

TEST_F(CacheTest, ErrorsNameThePod) {
  const PodRef pod = OnNode("p", "n1");
  ASSERT_TRUE(cache_.AddPod(pod).ok());
  EXPECT_EQ(cache_.AssumePod(pod, 0).message(),
            "pod default/p is in the cache, so it can't be assumed");
  EXPECT_EQ(cache_.AddPod(pod).message(), "pod default/p was already in added state");
  EXPECT_EQ(cache_.ForgetPod("uid-p").message(),
            "pod default/p was confirmed by the cluster, so it can't be forgotten");
  EXPECT_EQ(cache_.RemovePod("uid-q").message(), "pod uid-q is not in the cache");
  EXPECT_EQ(cache_.UpdatePod(OnNode("q", "n1")).message(),
            "pod default/q is not added to the cache, so it can't be updated");
}

TEST_F(CacheTest, AddPodRequiresANode) {
  const Status status = cache_.AddPod(objects_.Pod({.name = "p"}));
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "pod default/p has no node");
  EXPECT_EQ(cache_.pod_count(), 0U);
}

TEST_F(CacheTest, UpdatePodRejectsAnotherNode) {
  ASSERT_TRUE(cache_.AddPod(OnNode("p", "n1")).ok());
  const Status status = cache_.UpdatePod(OnNode("p", "n2"));
  EXPECT_EQ(status.code(), ErrorCode::kConflict);
  EXPECT_EQ(status.message(), "pod default/p moved from node n1 to n2");
  EXPECT_EQ(cache_.RowOf("uid-p"), RowOfNode("n1"));
  EXPECT_EQ(Column("req.cpu", RowOfNode("n1")), 1000);
}

TEST_F(CacheTest, UpdatePodReplacesTheObjectAndItsAmounts) {
  const PodRef before = OnNode("p", "n1", "1");
  const PodRef after = OnNode("p", "n1", "3");
  ASSERT_TRUE(cache_.AddPod(before).ok());
  const uint64_t generation = cache_.table().Generation(RowOfNode("n1"));
  ASSERT_TRUE(cache_.UpdatePod(after).ok());
  EXPECT_EQ(Column("req.cpu", RowOfNode("n1")), 3000);
  EXPECT_GT(cache_.table().Generation(RowOfNode("n1")), generation);
  EXPECT_THAT(cache_.table().pods(RowOfNode("n1")), ::testing::ElementsAre(after));
}

TEST_F(CacheTest, ConfirmsAnAssumedPodOnItsRow) {
  const PodRef assumed = OnNode("p", "n1", "1");
  const PodRef confirmed = OnNode("p", "n1", "2");
  const Row row = RowOfNode("n1");
  ASSERT_TRUE(cache_.AssumePod(assumed, row).ok());
  ASSERT_TRUE(cache_.AddPod(confirmed).ok());
  EXPECT_EQ(cache_.RowOf("uid-p"), row);
  EXPECT_THAT(cache_.table().pods(row), ::testing::ElementsAre(confirmed));
  EXPECT_EQ(Column("req.cpu", row), 2000);
}

TEST_F(CacheTest, MovesAnAssumedPodConfirmedOnAnotherNode) {
  cache_.SetNode(objects_.Node({.name = "n2"}));
  ASSERT_TRUE(cache_.AssumePod(OnNode("p", "n1"), RowOfNode("n1")).ok());
  ASSERT_TRUE(cache_.AddPod(OnNode("p", "n2")).ok());
  EXPECT_EQ(cache_.RowOf("uid-p"), RowOfNode("n2"));
  EXPECT_EQ(Column("req.cpu", RowOfNode("n1")), 0);
  EXPECT_EQ(Column("req.cpu", RowOfNode("n2")), 1000);
  EXPECT_EQ(cache_.pod_count(), 1U);
  EXPECT_EQ(cache_.assumed_count(), 0U);
}

TEST_F(CacheTest, ConfirmsAssumedPodAfterItsNodeWasDeleted) {
  ASSERT_TRUE(cache_.AssumePod(OnNode("p", "n1"), RowOfNode("n1")).ok());
  cache_.RemoveNode("n1");
  ASSERT_TRUE(cache_.AddPod(OnNode("p", "n1")).ok());
  ASSERT_NE(cache_.RowOf("uid-p"), kNoRow);
  EXPECT_FALSE(cache_.table().IsLive(cache_.RowOf("uid-p")));
  cache_.SetNode(objects_.Node({.name = "n1"}));
  EXPECT_EQ(RowOfNode("n1"), cache_.RowOf("uid-p"));
  EXPECT_EQ(Column("req.cpu", RowOfNode("n1")), 1000);
}

TEST_F(CacheTest, PodBeforeItsNodeCreatesRowWithoutNode) {
  ASSERT_TRUE(cache_.AddPod(OnNode("p", "late")).ok());
  const Row row = cache_.RowOf("uid-p");
  EXPECT_EQ(RowOfNode("late"), kNoRow);
  EXPECT_FALSE(cache_.table().IsLive(row));
  EXPECT_EQ(cache_.table().node_count(), 1U);
  const uint64_t generation = cache_.table().node_set_generation();

  cache_.SetNode(objects_.Node({.name = "late"}));
  EXPECT_EQ(RowOfNode("late"), row);
  EXPECT_EQ(cache_.table().node_count(), 2U);
  EXPECT_GT(cache_.table().node_set_generation(), generation);
  EXPECT_EQ(Column("req.cpu", row), 1000);
}

TEST_F(CacheTest, DeletedNodeKeepsItsRowWhilePodsRemain) {
  ASSERT_TRUE(cache_.AddPod(OnNode("p", "n1")).ok());
  ASSERT_TRUE(cache_.AddPod(OnNode("q", "n1")).ok());
  const Row row = RowOfNode("n1");
  cache_.RemoveNode("n1");
  EXPECT_EQ(RowOfNode("n1"), kNoRow);
  EXPECT_EQ(cache_.table().node_count(), 0U);
  EXPECT_EQ(cache_.RowOf("uid-p"), row);

  ASSERT_TRUE(cache_.RemovePod("uid-p").ok());
  cache_.SetNode(objects_.Node({.name = "other"}));
  EXPECT_NE(RowOfNode("other"), row);  // The row of n1 is still in use.

  ASSERT_TRUE(cache_.RemovePod("uid-q").ok());
  cache_.SetNode(objects_.Node({.name = "third"}));
  EXPECT_EQ(RowOfNode("third"), row);
  EXPECT_EQ(Column("req.cpu", row), 0);
  EXPECT_EQ(Column("pods.count", row), 0);
}

TEST_F(CacheTest, ANodeAddedAgainGetsItsOldRow) {
  ASSERT_TRUE(cache_.AddPod(OnNode("p", "n1")).ok());
  const Row row = RowOfNode("n1");
  cache_.RemoveNode("n1");
  cache_.SetNode(objects_.Node({.name = "n1"}));
  EXPECT_EQ(RowOfNode("n1"), row);
  EXPECT_EQ(Column("req.cpu", row), 1000);
}

TEST_F(CacheTest, UpdatingTheOnlyPodKeepsANodelessRow) {
  ASSERT_TRUE(cache_.AddPod(OnNode("p", "late", "1")).ok());
  const Row row = cache_.RowOf("uid-p");
  ASSERT_TRUE(cache_.UpdatePod(OnNode("p", "late", "2")).ok());
  EXPECT_EQ(cache_.RowOf("uid-p"), row);
  cache_.SetNode(objects_.Node({.name = "late"}));
  EXPECT_EQ(RowOfNode("late"), row);
  EXPECT_EQ(Column("req.cpu", row), 2000);
}

TEST_F(CacheTest, ForgettingTheOnlyPodReleasesANodelessRow) {
  ASSERT_TRUE(cache_.AssumePod(OnNode("p", "n1"), RowOfNode("n1")).ok());
  const Row row = RowOfNode("n1");
  cache_.RemoveNode("n1");
  ASSERT_TRUE(cache_.ForgetPod("uid-p").ok());
  cache_.SetNode(objects_.Node({.name = "other"}));
  EXPECT_EQ(RowOfNode("other"), row);
}

TEST_F(CacheTest, RemovingAnUnknownNodeChangesNothing) {
  const uint64_t generation = cache_.table().generation();
  cache_.RemoveNode("unknown");
  EXPECT_EQ(cache_.table().generation(), generation);
  EXPECT_EQ(cache_.table().node_count(), 1U);
}

TEST_F(CacheTest, ConfirmingTheOnlyPodKeepsANodelessRow) {
  cache_.SetNode(objects_.Node({.name = "n2"}));
  const Row row = RowOfNode("n2");
  ASSERT_TRUE(cache_.AssumePod(OnNode("p", "n2"), row).ok());
  cache_.RemoveNode("n2");
  cache_.RemoveNode("n1");  // Leaves a lower row free.
  ASSERT_TRUE(cache_.AddPod(OnNode("p", "n2")).ok());
  EXPECT_EQ(cache_.RowOf("uid-p"), row);
  EXPECT_EQ(cache_.assumed_count(), 0U);
}

// --- the observer -------------------------------------------------------------------------------

// Records its calls, and checks that the object is in the table at that moment.
class Recorder final : public CacheObserver {
 public:
  explicit Recorder(const Cache& cache) : cache_(cache) {}

  void OnPodAdded(Row row, const PodRef& pod, bool assumed) override {
    Record(assumed ? "assumed" : "added", row, pod->Key(), pod);
  }
  void OnPodChanged(Row row, const PodRef& old, const PodRef& pod) override {
    EXPECT_THAT(cache_.table().pods(row), ::testing::Not(::testing::Contains(old)));
    Record("changed", row, pod->Key() + " " + Cpu(old) + "->" + Cpu(pod), pod);
  }
  void OnPodRemoved(Row row, const PodRef& pod, bool forgotten) override {
    Record(forgotten ? "forgotten" : "removed", row, pod->Key(), pod);
  }
  void OnNodeAdded(Row row, const NodeRef& node) override { Record("node added", row, node); }
  void OnNodeChanged(Row row, const NodeRef& old, const NodeRef& node) override {
    EXPECT_NE(old, node);
    EXPECT_EQ(old->name(), node->name());
    Record("node changed", row, node);
  }
  void OnNodeRemoved(Row row, const NodeRef& node) override { Record("node removed", row, node); }

  std::vector<std::string> Take() { return std::exchange(lines_, {}); }

 private:
  static std::string Cpu(const PodRef& pod) {
    return std::to_string(pod->view().request->milli_cpu);
  }
  void Record(const std::string& what, Row row, const std::string& pod_key, const PodRef& pod) {
    EXPECT_THAT(cache_.table().pods(row), ::testing::Contains(pod)) << what;
    lines_.push_back(what + " " + pod_key + " at " + std::to_string(row));
  }
  void Record(const std::string& what, Row row, const NodeRef& node) {
    EXPECT_EQ(cache_.table().node(row), node) << what;
    lines_.push_back(what + " " + std::string(node->name()) + " at " + std::to_string(row));
  }

  const Cache& cache_;
  std::vector<std::string> lines_;
};

class CacheObserverTest : public CacheTest {
 protected:
  CacheObserverTest() {
    cache_.SetNode(objects_.Node({.name = "n2"}));
    cache_.SetObserver(&recorder_);
  }

  // Returns the calls while `operation` is done for default/p, which is in `state` on n1.
  std::vector<std::string> RecordedCalls(State state, Operation operation,
                                         const char* node = "n1") {
    Establish(OnNode("p", "n1", "1"), state);
    recorder_.Take();
    const Status status = Execute(operation, OnNode("p", node, "2"));
    auto calls = recorder_.Take();
    if (!status.ok()) calls.emplace_back("error");
    if (cache_.RowOf("uid-p") != kNoRow) {
      EXPECT_TRUE(cache_.RemovePod("uid-p").ok());
    }
    return calls;
  }

  Recorder recorder_{cache_};
};

TEST_F(CacheObserverTest, IsCalledForEveryChangeOfAPod) {
  using enum State;
  using enum Operation;
  const std::vector<std::string> nothing;
  const std::vector<std::string> error{"error"};
  const struct {
    State before;
    Operation operation;
    const char* node;
    std::vector<std::string> calls;
  } table[] = {
      {kAbsent, kAssume, "n1", {"assumed default/p at 0"}},
      {kAbsent, kForget, "n1", nothing},
      {kAbsent, kAdd, "n1", {"added default/p at 0"}},
      {kAbsent, kUpdate, "n1", error},
      {kAbsent, kRemove, "n1", error},
      {kAssumed, kAssume, "n1", error},
      {kAssumed, kForget, "n1", {"forgotten default/p at 0"}},
      {kAssumed, kAdd, "n1", {"changed default/p 1000->2000 at 0"}},
      {kAssumed, kAdd, "n2", {"removed default/p at 0", "added default/p at 1"}},
      {kAssumed, kUpdate, "n1", error},
      {kAssumed, kRemove, "n1", {"removed default/p at 0"}},
      {kAdded, kAssume, "n1", error},
      {kAdded, kForget, "n1", error},
      {kAdded, kAdd, "n1", error},
      {kAdded, kUpdate, "n1", {"changed default/p 1000->2000 at 0"}},
      {kAdded, kUpdate, "n2", error},
      {kAdded, kRemove, "n1", {"removed default/p at 0"}},
  };
  int number = 0;
  for (const auto& row : table) {
    SCOPED_TRACE("row " + std::to_string(number++));
    EXPECT_EQ(RecordedCalls(row.before, row.operation, row.node), row.calls);
  }
}

TEST_F(CacheObserverTest, IsCalledForEveryChangeOfANode) {
  cache_.SetNode(objects_.Node({.name = "n3"}));
  EXPECT_THAT(recorder_.Take(), ::testing::ElementsAre("node added n3 at 2"));
  cache_.SetNode(objects_.Node({.name = "n3"}));
  EXPECT_THAT(recorder_.Take(), ::testing::ElementsAre("node changed n3 at 2"));
  cache_.RemoveNode("n3");
  EXPECT_THAT(recorder_.Take(), ::testing::ElementsAre("node removed n3 at 2"));
  cache_.RemoveNode("n3");
  EXPECT_THAT(recorder_.Take(), ::testing::IsEmpty());
}

TEST_F(CacheObserverTest, PodMayPrecedeAndOutliveItsNode) {
  ASSERT_TRUE(cache_.AddPod(OnNode("p", "late")).ok());
  cache_.SetNode(objects_.Node({.name = "late"}));
  cache_.RemoveNode("late");
  ASSERT_TRUE(cache_.RemovePod("uid-p").ok());
  EXPECT_THAT(recorder_.Take(),
              ::testing::ElementsAre("added default/p at 2", "node added late at 2",
                                     "node removed late at 2", "removed default/p at 2"));
}

TEST_F(CacheObserverTest, MovedPodDoesNotReuseItsFormerRow) {
  ASSERT_TRUE(cache_.AssumePod(OnNode("p", "n1"), RowOfNode("n1")).ok());
  cache_.RemoveNode("n1");
  recorder_.Take();
  ASSERT_TRUE(cache_.AddPod(OnNode("p", "late")).ok());
  EXPECT_THAT(recorder_.Take(),
              ::testing::ElementsAre("removed default/p at 0", "added default/p at 2"));
}

TEST_F(CacheObserverTest, IsNotCalledAfterItWasReplaced) {
  cache_.SetObserver(nullptr);
  ASSERT_TRUE(cache_.AddPod(OnNode("p", "n1")).ok());
  EXPECT_THAT(recorder_.Take(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace berth::host

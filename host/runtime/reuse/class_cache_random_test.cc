// ReusedEvaluation on random clusters and plugins: every result equals an evaluation of every node.
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/class_cache_fixture.h"

namespace berth::host {
namespace {

constexpr int kSteps = 400;

// Draws the reuse of a plugin: by row, by token, or nothing declared.
enum class Kind { kRow, kToken, kNothing };

class ClassCacheRandomTest : public ClassCacheTest, public ::testing::WithParamInterface<uint32_t> {
 protected:
  std::optional<PuppetDependence> DependenceOf(Kind kind) {
    switch (kind) {
      case Kind::kRow: return PuppetDependence{BERTH_DEPENDS_NODE_PODS, BERTH_PART(LABELS)};
      case Kind::kToken:
        return PuppetDependence{BERTH_DEPENDS_NODE_PODS | BERTH_DEPENDS_OTHER, BERTH_PART(LABELS)};
      case Kind::kNothing: break;
    }
    return std::nullopt;
  }

  // A Filter whose verdict depends on the pod's label, the node's pods and, unless it declares
  // rows only, on a number of its own that changes.
  void AddRandomFilter(const std::string& name, Kind kind) {
    Puppet& puppet = stage_.Add(name, {Point::kFilter});
    puppet.filter_dependence = DependenceOf(kind);
    puppet.reasons = {AsStr("one"), AsStr("two")};
    const uint32_t salt = Draw(1000);
    puppet.filter = [this, kind, salt](const berth_cycle& cycle, const berth_block& block,
                                       berth_filter_out& out, berth_status*) {
      ForEachSelected(block, [&](uint32_t i) {
        uint32_t mix = salt + LabelOf(cycle) * 7 + static_cast<uint32_t>(block.pods[i].count) * 13;
        if (kind != Kind::kRow) mix += outside_[block.rows[i]] * 31;
        mix = (mix ^ (mix >> 3)) * 2654435761U >> 24;
        out.codes[i] = mix % 3 != 0   ? BERTH_SUCCESS
                       : mix % 2 == 0 ? BERTH_UNSCHEDULABLE
                                      : BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
        out.reasons[i] = out.codes[i] == BERTH_SUCCESS ? 0 : 1 + mix % 2;
      });
      return BERTH_SUCCESS;
    };
    if (kind != Kind::kToken) return;
    puppet.changed = [this](uint64_t& token, const auto& put) -> uint32_t {
      const uint64_t since = std::exchange(token, changes_.size() + 1);
      if (since == 0 || Draw(8) == 0) return BERTH_STALE_ALL;
      if (since == token) return BERTH_STALE_NONE;
      for (size_t i = since - 1; i < changes_.size(); ++i) put(changes_[i]);
      return BERTH_STALE_ROWS;
    };
  }

  // A whole Filter whose verdicts depend on how many nodes are left, and on a number of its own.
  void AddRandomWhole(const std::string& name) {
    Puppet& puppet = stage_.Add(name, {Point::kFilter});
    puppet.reasons = {AsStr("whole")};
    puppet.filter_whole = [this](const berth_cycle&, const berth_nodes& survivors,
                                 berth_filter_whole_out& out, berth_status*) {
      for (uint32_t b = 0; b < survivors.n_blocks; ++b) {
        const berth_block* const block = survivors.block(&survivors, b);
        ForEachSelected(*block, [&](uint32_t i) {
          const uint32_t row = block->rows[i];
          const bool passes = (survivors.n_nodes + row + outside_[row]) % 4 != 0;
          const auto rejection =
              row % 3 == 0 ? BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE : BERTH_UNSCHEDULABLE;
          out.codes[row] = static_cast<uint8_t>(passes ? BERTH_SUCCESS : rejection);
          out.reasons[row] = passes ? 0 : 1;
        });
      }
      return BERTH_SUCCESS;
    };
  }

  void AddRandomScore(const std::string& name, Kind kind, uint32_t mode) {
    Puppet& puppet = stage_.Add(name, {Point::kScore});
    puppet.score_dependence = DependenceOf(kind);
    puppet.normalize_mode = mode;
    const uint32_t salt = Draw(1000);
    puppet.score = [this, kind, salt](const berth_cycle& cycle, const berth_block& block,
                                      int64_t* out, berth_status*) {
      ForEachSelected(block, [&](uint32_t i) {
        uint32_t mix = salt + LabelOf(cycle) * 5 + static_cast<uint32_t>(block.pods[i].count) * 11;
        if (kind != Kind::kRow) mix += outside_[block.rows[i]] * 17;
        out[i] = mix * 2654435761U >> 26;  // 0..63
      });
      return BERTH_SUCCESS;
    };
  }

  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  static uint32_t LabelOf(const berth_cycle& cycle) {
    return static_cast<uint32_t>(
        cycle.pod->meta->labels.count > 0 ? Text(cycle.pod->meta->name).back() : 0);
  }

  void ChangeCluster() {
    const std::string node = "n" + std::to_string(Draw(nodes_));
    switch (Draw(6)) {
      case 0: stage_.cache().SetNode(stage_.objects().Node({.name = node})); break;
      case 1:
        if (Draw(3) == 0) stage_.cache().RemoveNode(node);
        break;
      case 2:
      case 3: {
        const std::string name = "q" + std::to_string(next_pod_++);
        placed_[name] = Put(name, node);
        break;
      }
      case 4:
        if (!placed_.empty()) {
          const auto gone = std::next(placed_.begin(), Draw(static_cast<uint32_t>(placed_.size())));
          ASSERT_TRUE(stage_.cache().RemovePod(gone->second->uid()).ok());
          placed_.erase(gone);
        }
        break;
      case 5: {
        const uint32_t row = Draw(nodes_ + 4);
        ++outside_[row];
        changes_.push_back(row);
        break;
      }
    }
  }

  std::mt19937 random_{GetParam()};
  std::map<uint32_t, uint32_t> outside_;  // By row: what plugins know apart from the node.
  std::vector<uint32_t> changes_;         // Of outside_.
  std::map<std::string, PodRef> placed_;
  int next_pod_ = 0;
  // Some clusters have several blocks of rows and a tree of several levels.
  const uint32_t nodes_ = GetParam() % 4 == 0 ? 300 + Draw(500) : 4 + Draw(40);
};

TEST_P(ClassCacheRandomTest, EveryResultEqualsAnEvaluationOfEveryNode) {
  constexpr Kind kKinds[] = {Kind::kRow, Kind::kToken, Kind::kNothing};
  for (const char* name : {"puppet.A", "puppet.B", "puppet.C"}) {
    if (Draw(5) == 0) {
      AddRandomWhole(name);
    } else {
      AddRandomFilter(name, kKinds[Draw(3)]);
    }
  }
  AddRandomScore("puppet.Slow", kKinds[Draw(4) % 3], BERTH_NORMALIZE_NONE);
  constexpr uint32_t kModes[] = {BERTH_NORMALIZE_MAX, BERTH_NORMALIZE_MAX_REVERSED,
                                 BERTH_NORMALIZE_MIN_MAX, BERTH_NORMALIZE_MIN_MAX_FLOAT};
  AddRandomScore("puppet.Slower", Kind::kRow, kModes[Draw(4)]);
  options_.bytes = Draw(2) == 0 ? 4'000 : 1'000'000;
  for (uint32_t i = 0; nodes_ > 100 && i < nodes_; ++i) {
    stage_.cache().SetNode(stage_.objects().Node({.name = "n" + std::to_string(i)}));
  }
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    for (uint32_t i = Draw(20) == 0 ? 2 * nodes_ : Draw(4); i > 0; --i) ChangeCluster();
    if (Draw(10) == 0) nominator_.Add(MakePod("z"), "n" + std::to_string(Draw(nodes_)));
    if (Draw(10) == 0) nominator_ = Nominator();
    const std::string label(1, static_cast<char>('a' + Draw(4)));
    Run(MakePod(label, label));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ClassCacheRandomTest, ::testing::Range(1U, 41U));

}  // namespace
}  // namespace berth::host

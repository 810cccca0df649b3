// Fixture of the tests of ReusedEvaluation.
#ifndef BERTH_TESTS_HARNESS_CLASS_CACHE_FIXTURE_H_
#define BERTH_TESTS_HARNESS_CLASS_CACHE_FIXTURE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/queue/nominator.h"
#include "host/runtime/points/fresh_evaluation.h"
#include "host/runtime/points/run_pre_filter.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/reuse/reused_evaluation.h"
#include "tests/harness/run_filter_fixture.h"
#include "tests/harness/stage.h"

namespace berth::host {

// Attempts on the nodes n0, n1 and n2 with a cache. Each result is compared with an evaluation of
// every node.
class ClassCacheTest : public ::testing::Test {
 protected:
  // Adds a Filter that rejects nodes with `limit` pods or more, and records the nodes that it is
  // asked about: "A n0".
  Puppet& AddLimit(const std::string& name, size_t limit,
                   std::optional<PuppetDependence> dependence = PuppetDependence{
                       BERTH_DEPENDS_NODE_PODS, BERTH_PART(LABELS)}) {
    Puppet& puppet = stage_.Add(name, {Point::kPreFilter, Point::kFilter});
    puppet.filter_dependence = dependence;
    puppet.reasons = {AsStr("full")};
    puppet.filter = [this, name, limit](const berth_cycle&, const berth_block& block,
                                        berth_filter_out& out, berth_status*) {
      ForEachSelected(block, [&](uint32_t i) {
        Note(name, block, i);
        const bool fits = block.pods[i].count < limit;
        out.codes[i] = fits ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
        out.reasons[i] = fits ? 0 : 1;
      });
      return BERTH_SUCCESS;
    };
    return puppet;
  }

  // Adds a whole Filter that passes the nodes for whose number of pods `passes` holds, and records
  // the nodes that it is asked about. It fails while `fails` returns true.
  Puppet& AddWhole(
      const std::string& name, std::function<bool(size_t pods)> passes,
      std::function<bool()> fails = [] { return false; }) {
    Puppet& puppet = stage_.Add(name, {Point::kFilter});
    puppet.reasons = {AsStr("alone")};
    puppet.filter_whole = [this, name, passes = std::move(passes), fails = std::move(fails)](
                              const berth_cycle&, const berth_nodes& survivors,
                              berth_filter_whole_out& out, berth_status*) {
      if (fails()) return BERTH_ERROR;
      for (uint32_t b = 0; b < survivors.n_blocks; ++b) {
        const berth_block* const block = survivors.block(&survivors, b);
        ForEachSelected(*block, [&](uint32_t i) {
          Note(name, *block, i);
          const bool pass = passes(block->pods[i].count);
          out.codes[block->rows[i]] = pass ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
          out.reasons[block->rows[i]] = pass ? 0 : 1;
        });
      }
      return BERTH_SUCCESS;
    };
    return puppet;
  }

  // Adds a Score of `base` minus the number of the node's pods.
  Puppet& AddScore(const std::string& name, int64_t base,
                   std::optional<PuppetDependence> dependence = PuppetDependence{
                       BERTH_DEPENDS_NODE_PODS, BERTH_PART(LABELS)}) {
    Puppet& puppet = stage_.Add(name, {Point::kPreScore, Point::kScore});
    puppet.score_dependence = dependence;
    puppet.score = [this, name, base](const berth_cycle&, const berth_block& block, int64_t* out,
                                      berth_status*) {
      ForEachSelected(block, [&](uint32_t i) {
        Note(name, block, i);
        out[i] = base - static_cast<int64_t>(block.pods[i].count);
      });
      return BERTH_SUCCESS;
    };
    return puppet;
  }

  PodRef MakePod(const std::string& name, const std::string& label = "x") {
    return stage_.objects().Pod({.name = name, .meta = R"("labels":{"app":")" + label + "\"}"});
  }
  PodRef Put(const std::string& name, const std::string& node) {
    PodRef pod = stage_.objects().Pod({.name = name, .node = node});
    EXPECT_TRUE(stage_.cache().AddPod(pod).ok());
    return pod;
  }

  // Runs PreFilter to Score and returns the verdicts and totals: "n0 12, n1 A: full, n2 12".
  std::string Run(const PodRef& pod) {
    if (!is_built_) stage_.Build();
    is_built_ = true;
    Attempt& attempt = stage_.Begin(pod);
    std::string text = RunIn(attempt);
    return text;
  }
  std::string Run(const std::string& name = "p") { return Run(MakePod(name)); }

  // Returns the nodes that plugins were asked about since the last call.
  std::vector<std::string> Asked() { return std::exchange(stage_.log, {}); }

  Stage stage_;
  ReuseOptions options_{.sightings = 1};
  std::optional<ReusedEvaluation> cache_;
  Nominator nominator_;

 private:
  void Note(const std::string& name, const berth_block& block, uint32_t i) {
    if (!is_checking_)
      stage_.log.push_back(name.substr(name.find('.') + 1) + " " + NodeNameIn(block, i));
  }

  static std::string DifferenceText(const std::optional<ReuseDifference>& difference) {
    return difference.has_value() ? difference->text : "";
  }
  // Returns the result of a fresh evaluation, without recording calls.
  template <class F>
  auto Fresh(F&& evaluate) {
    is_checking_ = true;
    auto result = evaluate(fresh_);
    is_checking_ = false;
    return result;
  }

  std::string RunIn(Attempt& attempt) {
    if (!cache_.has_value()) cache_.emplace(options_);
    if (PreFilterResult result = RunPreFilter(attempt); !result.status.ok()) {
      return TextOf(result.status);
    }
    const Selection& nodes = attempt.live_rows();
    const Filtered filtered = cache_->Filter(attempt, nodes, nominator_);
    if (!filtered.status.ok()) return TextOf(filtered.status);
    const Filtered fresh = Fresh(
        [&](FreshEvaluation& evaluation) { return evaluation.Filter(attempt, nodes, nominator_); });
    EXPECT_EQ(DifferenceText(FindDifference(attempt, filtered, fresh)), "");
    const Selection& feasible = *filtered.feasible;
    if (feasible.size() == 0) return Rejections(attempt, filtered);
    if (PluginStatus status = RunPreScore(attempt, feasible); !status.ok()) return TextOf(status);
    const Ranked ranked = cache_->Score(attempt, filtered);
    if (!ranked.status().ok()) return TextOf(ranked.status());
    const Ranked fresh_ranked =
        Fresh([&](FreshEvaluation& evaluation) { return evaluation.Score(attempt, filtered); });
    EXPECT_EQ(DifferenceText(FindDifference(attempt, feasible, ranked, fresh_ranked)), "");
    return TotalsText(attempt, feasible, ranked);
  }

  static std::string Rejections(const Attempt& attempt, const Filtered& filtered) {
    std::vector<std::string> texts;
    attempt.live_rows().ForEachRow([&](Row row) {
      const RowVerdict& verdict = filtered.VerdictOf(row);
      const PluginCycle& cycle = attempt.cycle(verdict.plugin);
      texts.push_back(std::string(attempt.table().node(row)->name()) + " " + cycle.plugin().name +
                      ": " + Join(cycle.ReasonTexts(verdict.reasons), ", "));
    });
    return Join(texts, ", ");
  }

  static std::string TotalsText(const Attempt& attempt, const Selection& feasible,
                                const Ranked& ranked) {
    std::vector<std::string> texts;
    const std::vector<int64_t> totals = ranked.Totals();
    feasible.ForEachRow([&](Row row) {
      texts.push_back(std::string(attempt.table().node(row)->name()) + " " +
                      std::to_string(totals[texts.size()]));
    });
    return Join(texts, ", ");
  }

  FreshEvaluation fresh_;
  bool is_built_ = false;
  bool is_checking_ = false;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_CLASS_CACHE_FIXTURE_H_
